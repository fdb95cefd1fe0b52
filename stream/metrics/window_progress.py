"""How far windows of two stages have come: each partition closes its own, and then all have their record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from stream.gathering.first import GatherTold, Timing
from stream.metrics.gathered import Samples
from stream.metrics.metric import Metric
from stream.protocol.limits import wall_clock_ms


class ProgressMetrics(NamedTuple):
    open: Metric
    closed_lag: Metric
    released_lag: Metric
    due: Metric
    waiting: Metric


class Released(NamedTuple):
    """Up to when the windows of a partition of the second stage have their record, and what waits there."""

    released_to: int
    waiting: int


class WindowProgress:
    """Of one worker: the partitions of either stage that it has."""

    def __init__(self, timing: Timing, clock_ms: Callable[[], int] = wall_clock_ms) -> None:
        self._timing, self._clock_ms = timing, clock_ms
        self.partitions: dict[int, GatherTold] = {}
        self.second: dict[int, Released] = {}

    @property
    def released_to(self) -> int | None:
        """By the partition that is least far."""
        return min((each.released_to for each in self.second.values()), default=None)

    @property
    def waiting(self) -> int:
        return sum(each.waiting for each in self.second.values())

    def closed_lags(self) -> dict[int, float]:
        """By partition, in seconds."""
        return {number: self._since(told.closed_to) for number, told in sorted(self.partitions.items())}

    def released_lag(self) -> float | None:
        return None if self.released_to is None else self._since(self.released_to)

    def due_lag(self) -> float:
        return (self._timing.length + self._timing.lateness + self._timing.grace) / 1000

    def open_windows(self) -> dict[int, int]:
        length, start = self._timing.length, self._timing.start
        return {
            number: max(0, (told.latest - start) // length + 1 - (told.closed_to - start) // length)
            for number, told in sorted(self.partitions.items())
        }

    def samples(self, metrics: ProgressMetrics) -> Iterator[Samples]:
        yield metrics.open, {(str(number),): float(count) for number, count in self.open_windows().items()}
        yield metrics.closed_lag, {(str(number),): lag for number, lag in self.closed_lags().items()}
        lag = self.released_lag()
        yield metrics.released_lag, {} if lag is None else {(): lag}
        yield metrics.due, {(): self.due_lag()}
        yield metrics.waiting, {} if lag is None else {(): float(self.waiting)}

    def _since(self, time_ms: int) -> float:
        return max(0.0, (self._clock_ms() - time_ms) / 1000)
