"""How far a worker is: joined, partitions recovered, records waiting, and since when nothing has moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

_SECOND_STAGE: Final = "the second stage"


@dataclass(slots=True)
class PartitionProgress:
    recovered_ratio: float = 0.0
    recovered: bool = False
    lag_records: int = 0
    waiting_since: float | None = None
    """Set while records wait: the later of the last commit and the moment when they began to wait."""


class Stall(NamedTuple):
    partition: int
    lag_records: int
    seconds: float
    where: str


@dataclass
class Progress:
    """Times are readings of a monotonic clock that the owner gives, so a changed wall clock makes nobody look dead."""

    clock: Callable[[], float]
    joined: bool = False
    partitions: dict[int, PartitionProgress] = field(default_factory=dict)
    then: Progress | None = None
    """Of the stage that adds partitions up, where there is one."""

    def assigned(self, partition: int) -> None:
        self.partitions[partition] = PartitionProgress()

    def lost(self, partition: int) -> None:
        self.partitions.pop(partition, None)

    def recovering(self, partition: int, done: int, total: int) -> None:
        """An empty changelog is recovered whole; an estimate that was too low never shows more than 1."""
        state = self.partitions.setdefault(partition, PartitionProgress())
        state.recovered_ratio = min(1.0, done / total) if total > 0 else 1.0

    def recovered(self, partition: int) -> None:
        state = self.partitions.setdefault(partition, PartitionProgress())
        state.recovered_ratio, state.recovered = 1.0, True
        if state.lag_records:
            state.waiting_since = self.clock()

    def lag(self, partition: int, records: int) -> None:
        """Ignored for a partition that is not ours (any more): a late report must not bring it back."""
        state = self.partitions.get(partition)
        if state is None:
            return
        state.lag_records = max(0, records)
        if not state.lag_records:
            state.waiting_since = None
        elif state.waiting_since is None:
            state.waiting_since = self.clock()

    def at_least(self, partition: int, records: int) -> None:
        """So many records are at work; how many more wait behind them is not known yet."""
        state = self.partitions.get(partition)
        if state is not None and records > state.lag_records:
            self.lag(partition, records)

    def committed(self, partition: int) -> None:
        state = self.partitions.get(partition)
        if state is not None and state.waiting_since is not None:
            state.waiting_since = self.clock()

    def stalls(self) -> list[Stall]:
        """Recovered partitions with waiting records, and how long ago each moved last; recovery has its own ratio."""
        now = self.clock()
        found = [
            Stall(partition, state.lag_records, now - state.waiting_since, f"partition {partition}")
            for partition, state in sorted(self.partitions.items())
            if state.recovered and state.waiting_since is not None
        ]
        later = [] if self.then is None else self.then.stalls()
        return found + [stall._replace(where=_SECOND_STAGE) for stall in later]

    def not_ready(self) -> list[str]:
        """Every reason why this worker does not serve yet; none when it does, even with no partition to serve."""
        if not self.joined:
            return ["the worker has not joined its consumer group"]
        found = [
            f"partition {partition} is being recovered, {state.recovered_ratio:.0%} done"
            for partition, state in sorted(self.partitions.items())
            if not state.recovered
        ]
        later = [] if self.then is None else self.then.not_ready()
        return found + [f"{_SECOND_STAGE}: {reason}" for reason in later]
