"""What a worker of two stages counts, whatever it gathers: `told` hears both stages, each by its partition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from stream.metrics.bins import Tally
from stream.metrics.metric import Metric

Labels = tuple[str, ...]
Samples = tuple[Metric, Mapping[Labels, float]]
Tallies = tuple[Metric, Mapping[Labels, Tally]]


class Gathered(Protocol):
    def told(self, partition: int, told: object) -> None:
        """What a block of either stage did, once it is committed."""

    def lost(self, partition: int) -> None:
        """Another worker has this partition of the first stage from now on."""

    def second_lost(self, partition: int) -> None:
        """Another worker has this partition of the second stage from now on; what was counted stays counted."""

    def samples(self) -> Iterator[Samples]: ...

    def tallies(self) -> Iterator[Tallies]: ...
