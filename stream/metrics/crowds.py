"""Crowds, for Prometheus: how large they are, what they tell, what they lose and how long they take. No value of
theirs, and nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from beliefs.crowd.account import Told
from stream import names
from stream.crowds.flow import Crowd, FlowTold
from stream.crowds.promise import CrowdPromise
from stream.crowds.told import CrowdsTold, CrowdWindow
from stream.gathering.first import GatherTold
from stream.metrics import crowd_table as metrics
from stream.metrics.bins import Tally
from stream.metrics.gathered import Labels, Samples, Tallies
from stream.metrics.window_progress import Released, WindowProgress
from stream.protocol.limits import wall_clock_ms

REUSED: Final = "reused"
"""Released in the box of an earlier crowd."""

_USER_EDGES: Final = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
_MILLIONTHS: Final = 1_000_000
_LOSS_EDGES: Final = tuple(range(50_000, _MILLIONTHS + 1, 50_000))
_SIXTEENTHS: Final = (1, 2, 4, 8, 12, 16, 20, 24, 32, 64, 256)
"""Of the longest delay."""


class GroupSizes:
    """How large groups are. Who could be counted one by one is not counted."""

    def __init__(self, floor: int) -> None:
        self._floor, self.sizes = floor, Tally(np.array(_USER_EDGES, np.int64), 1)

    def add(self, users: int) -> None:
        if users >= self._floor:
            self.sizes.add_one(users)

    def shown(self, users: int) -> int:
        return users if users >= self._floor else 0


def _losses() -> Tally:
    return Tally(np.array(_LOSS_EDGES, np.int64), _MILLIONTHS)


def _millionths(loss: float) -> int:
    """Upwards: a loss is told as too large rather than too small."""
    return -round(-loss * _MILLIONTHS // 1)


class CrowdCounts:
    """Windows of one worker: the partitions that it has, and the windows that it has released, if any."""

    def __init__(self, promise: CrowdPromise, floor: int, clock_ms: Callable[[], int] = wall_clock_ms) -> None:
        self.promise, self.progress = promise, WindowProgress(promise.windowed, clock_ms)
        self.released = self.topped_up = self.crowds = 0
        self.withheld: Counter[str] = Counter(dict.fromkeys(names.CROWD_REASONS, 0))
        self.latest: dict[int, CrowdWindow] = {}
        """Of each partition of the second stage the last window that was released."""
        self.worst: float | None = None
        self.groups, self.losses = GroupSizes(floor), _losses()
        self._suppressed = 0

    def told(self, partition: int, told: object) -> None:
        if isinstance(told, GatherTold):
            self.progress.partitions[partition] = told
        elif isinstance(told, CrowdsTold):
            self.progress.second[partition] = Released(told.released_to, told.waiting)
            for window in told.windows:
                self._has_its_record(partition, window)

    def lost(self, partition: int) -> None:
        self.progress.partitions.pop(partition, None)

    def second_lost(self, partition: int) -> None:
        self.progress.second.pop(partition, None)
        self.latest.pop(partition, None)

    def _has_its_record(self, partition: int, window: CrowdWindow) -> None:
        if window.reason is not None:
            self.withheld[window.reason] += 1
            return
        self.released += 1
        self.latest[partition] = window
        self.topped_up += window.noise is not None
        self.groups.add(window.users or 0)
        if window.told:
            self.worst = max(self.worst or 0.0, *(each.delta for each in window.told))
        if window.loss is not None:
            self.losses.add_one(_millionths(window.loss))
        self.crowds += window.crowds or 0
        self._suppressed += window.suppressed

    @property
    def suppressed(self) -> int:
        return self.groups.shown(self._suppressed)

    def deltas(self) -> dict[str, float]:
        """By adversary, the largest of the latest windows."""
        return self._largest((each.adversary, each.delta) for each in self._told())

    def epsilons(self) -> dict[str, float]:
        return self._largest((each.adversary, each.epsilon) for each in self._told())

    def methods(self) -> dict[str, str]:
        return {each.adversary: each.method for each in self._told()}

    def total(self) -> float | None:
        """Of the target's windows together; of one window, where it is the target's, before the worst adversary."""
        totals = [window.total for window in self.latest.values() if window.total is not None]
        return max([*totals, *self.deltas().values()] if self.promise.horizon == 1 else totals, default=None)

    def _told(self) -> Iterator[Told]:
        return (each for window in self.latest.values() for each in window.told)

    @staticmethod
    def _largest(amounts: Iterator[tuple[str, float]]) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, amount in amounts:
            found[name] = max(found.get(name, 0.0), amount)
        return found

    def samples(self) -> Iterator[Samples]:
        windows: dict[Labels, float] = {(names.RELEASED, ""): float(self.released)}
        windows |= {(names.WITHHELD, reason): float(count) for reason, count in self.withheld.items()}
        yield metrics.CROWD_WINDOWS, windows
        yield metrics.CROWD_TOPPED_UP, {(): float(self.topped_up)}
        yield metrics.CROWD_DELTA, {(name,): delta for name, delta in self.deltas().items()}
        yield metrics.CROWD_EPSILON, {(name,): epsilon for name, epsilon in self.epsilons().items()}
        yield metrics.CROWD_WORST, {} if self.worst is None else {(): self.worst}
        total, target = self.total(), self.promise.target
        yield metrics.CROWD_TOTAL, {} if total is None else {(): total}
        yield metrics.CROWD_TARGET_DELTA, {} if target is None else {(): target.delta}
        yield metrics.CROWD_TARGET_EPSILON, {} if target is None else {(): target.epsilon}
        yield metrics.CROWD_CROWDS, {(names.RELEASED, ""): float(self.crowds)}
        yield metrics.CROWD_SUPPRESSED, {(): float(self.suppressed)}
        yield from self.progress.samples(metrics.CROWD_PROGRESS)

    def tallies(self) -> Iterator[Tallies]:
        yield metrics.CROWD_USERS, {(): self.groups.sizes}
        yield metrics.CROWD_LOSS, {(): self.losses}


class FlowCounts:
    """Crowds that come out of a delay, on one worker."""

    def __init__(self, promise: CrowdPromise, floor: int) -> None:
        self.promise = promise
        limit = promise.flowing.time
        kinds = [(names.RELEASED, ""), (REUSED, ""), *((names.WITHHELD, reason) for reason in names.FLOW_REASONS)]
        self.crowds: Counter[Labels] = Counter(dict.fromkeys(kinds, 0))
        self.events: Counter[Labels] = Counter(dict.fromkeys(kinds, 0))
        self.waiting: dict[int, int] = {}
        self.merged = 0
        self.groups, self.losses = GroupSizes(floor), _losses()
        edges = sorted({-(-limit * part // 16) for part in _SIXTEENTHS})
        self.delays = Tally(np.array(edges, np.int64), 1_000)

    def told(self, partition: int, told: object) -> None:
        """The first stage only passes events on, and tells nothing."""
        if isinstance(told, FlowTold):
            self.waiting[partition] = told.waiting
            self.merged += told.merged
            self._came_out(told.crowds)

    def _came_out(self, crowds: Sequence[Crowd]) -> None:
        for crowd in crowds:
            emitted = crowd.emitted
            kind = _kind_of(crowd)
            self.crowds[kind] += 1
            self.events[kind] += len(crowd.waits)
            self.delays.add(np.array(crowd.waits, np.int64))
            if emitted.reason is None:
                self.losses.add_one(_millionths(emitted.loss))
                if not emitted.reused:
                    self.groups.add(emitted.users)

    def lost(self, partition: int) -> None:
        """What is known of a partition is of the second stage."""

    def second_lost(self, partition: int) -> None:
        self.waiting.pop(partition, None)

    def samples(self) -> Iterator[Samples]:
        yield metrics.CROWD_CROWDS, {kind: float(count) for kind, count in self.crowds.items()}
        yield metrics.CROWD_EVENTS, {kind: float(count) for kind, count in self.events.items()}
        yield metrics.CROWD_MERGED, {(): float(self.merged)}
        yield metrics.CROWD_DELAY_LIMIT, {(): self.promise.flowing.time / 1_000}
        yield metrics.CROWD_WAITING, {(): float(sum(self.waiting.values()))} if self.waiting else {}

    def tallies(self) -> Iterator[Tallies]:
        yield metrics.CROWD_USERS, {(): self.groups.sizes}
        yield metrics.CROWD_LOSS, {(): self.losses}
        yield metrics.CROWD_DELAY, {(): self.delays}


def _kind_of(crowd: Crowd) -> Labels:
    if crowd.emitted.reason is not None:
        return names.WITHHELD, crowd.emitted.reason
    return (REUSED if crowd.emitted.reused else names.RELEASED), ""


def crowd_counts(promise: CrowdPromise, floor: int) -> CrowdCounts | FlowCounts:
    """Of windows, or of a delay."""
    return FlowCounts(promise, floor) if promise.timing is None else CrowdCounts(promise, floor)
