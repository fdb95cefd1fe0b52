"""What a metric is; `table` lists all there are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    COUNTER = "counter"
    GAUGE = "gauge"
    INFO = "info"
    HISTOGRAM = "histogram"
    OVER_USERS = "gaugehistogram"
    """A histogram of how things stand now, so its counts also fall."""


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    kind: Kind
    unit: str
    help: str
    labels: tuple[str, ...] = ()

    def sample_names(self) -> tuple[str, ...]:
        """The names of the series, as an expression writes them."""
        match self.kind:
            case Kind.HISTOGRAM:
                return tuple(f"{self.name}_{part}" for part in ("bucket", "count", "sum"))
            case Kind.OVER_USERS:
                return tuple(f"{self.name}_{part}" for part in ("bucket", "gcount", "gsum"))
            case _:
                return (self.name,)
