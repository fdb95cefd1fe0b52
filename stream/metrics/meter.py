"""What one worker has done and how its users stand, counted once a block, with no user in it.

Everything runs on the worker's one event loop, so a block is counted whole before anybody can look; and it is counted
after its commit, so what is shown has happened.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from beliefs.checks import require
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from stream.learning.learners import Learners
from stream.metrics.about import About
from stream.metrics.bins import RELEASE_EDGES, Integers, Tally, edges_in_units
from stream.metrics.fields import FieldCounts
from stream.metrics.gathered import Gathered
from stream.metrics.progress import Progress
from stream.metrics.throughput import Throughput
from stream.metrics.users import Shares, UserBins, largest_drift
from stream.metrics.witness import Witness
from stream.names import OUTCOMES

SIDES: Final = ("upper", "lower")

_USERS_AT_ONCE: Final = 4_096  # 256 KiB of heads, which stay in a processor's cache while they are binned
_MILLISECONDS: Final = 1000
_MICROSECONDS: Final = 1_000_000
_EVENT_EDGES: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 3000, 4000, 8000)
_LATENCY_EDGES_MS: Final = (1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10_000, 60_000)
_DURATION_EDGES_MS: Final = (0.1, 0.2, 0.5, 1, 2, 3, 5, 7.5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


@dataclass(frozen=True, slots=True)
class MeterSettings:
    """What a worker says about itself. Amounts are units of 2^-40 nat; a budget of INFINITE is no budget."""

    pipeline: str
    policy: str
    """`<version>:<8 hex>`, as in the released records' header; so is `model`."""
    model: str
    mechanism: str
    epsilon: int
    upper_budget: int
    lower_budget: int
    row_bytes: int
    version: str
    near_share: float = 0.8
    small_count_floor: int = 10
    restarts: int = 0
    windows: bool = False
    """Whether values are released in windows."""
    follows: bool = True
    """Whether a field is protected whose values follow one another."""
    outcomes: tuple[str, ...] = OUTCOMES
    """What may become of a record."""
    about: About = field(default=About())
    """What the settings say beside that, in words."""

    def __post_init__(self) -> None:
        require(0 <= self.epsilon <= INFINITE, "epsilon is between 0 and INFINITE units")
        require(0 < self.upper_budget <= INFINITE, "the upper budget is between 1 and INFINITE units")
        require(0 < self.lower_budget <= INFINITE, "the lower budget is between 1 and INFINITE units")
        require(0 < self.near_share <= 1, "the near share is above 0 and at most 1")
        require(self.small_count_floor >= 1, "the small-count floor is at least 1, which shows every count")
        require(self.row_bytes > 0, "a user row has bytes")

    @property
    def budgeted(self) -> bool:
        return min(self.upper_budget, self.lower_budget) < INFINITE


@dataclass(frozen=True, slots=True)
class BlockCounts:
    """One committed block. `old_heads` and `new_heads` are the changed users before and after it, in the same order."""

    outcomes: Mapping[str, int]
    reasons: Mapping[str, int]
    upper: Integers
    """What each release told, in units; so does `lower` for the other side."""
    lower: Integers
    old_heads: Integers
    new_heads: Integers
    append_times_ms: Integers
    """Kafka timestamps of evenly spaced records of the block, each of which stands for `append_time_weight` records."""
    append_time_weight: int
    committed_at_ms: int
    compute_seconds: float
    publish_seconds: float
    uncertified: int = 0
    cut_short: int = 0
    waiting_change: int = 0


class Meter:
    """One worker's counters. What is known of users and progress is kept by partition and leaves with the partition."""

    def __init__(
        self,
        settings: MeterSettings,
        clock: Callable[[], float] = time.monotonic,
        witness: Witness | None = None,
    ) -> None:
        self.settings, self.witness = settings, witness
        self.learners: Learners | None = None
        self.fields: FieldCounts | None = None
        self.gathered: Gathered | None = None
        self.progress = Progress(clock)
        self.throughput = Throughput(clock)
        self.outcomes: Counter[str] = Counter(dict.fromkeys(settings.outcomes, 0))
        self.dead_letters: Counter[str] = Counter()
        self.above_epsilon = dict.fromkeys(SIDES, 0)
        self.leakage = {side: Tally(edges_in_units(RELEASE_EDGES), UNITS_PER_NAT) for side in SIDES}
        durations = np.array([round(ms * 1000) for ms in _DURATION_EDGES_MS], np.int64)
        self.block_events = Tally(np.array(_EVENT_EDGES, np.int64), 1)
        self.compute = Tally(durations, _MICROSECONDS)
        self.publish = Tally(durations, _MICROSECONDS)
        self.latency = Tally(np.array(_LATENCY_EDGES_MS, np.int64), _MILLISECONDS)
        self.uncertified_fallbacks = 0
        self.near_cut_short = 0
        self.largest_drift = 0
        self.repeated_records = 0
        self.missing_offsets = 0
        self.failures: Counter[str] = Counter()
        self._users: dict[int, UserBins] = {}
        self._quarantined: dict[int, int] = {}
        self._waiting: Counter[int] = Counter()
        self._shares = Shares(settings.upper_budget, settings.lower_budget) if settings.budgeted else None

    def block(self, partition: int, counts: BlockCounts) -> None:
        """Count one block, after its commit."""
        self.outcomes.update(counts.outcomes)
        self.dead_letters.update(counts.reasons)
        for side, amounts in zip(SIDES, (counts.upper, counts.lower), strict=True):
            if self.leakage[side].add(amounts) > self.settings.epsilon:
                self.above_epsilon[side] += int(np.count_nonzero(amounts > self.settings.epsilon))
        self.users(partition, counts.old_heads, counts.new_heads)
        events = sum(counts.outcomes.values())
        self.block_events.add_one(events)
        self.throughput.add(events)
        self.compute.add_one(round(counts.compute_seconds * _MICROSECONDS))
        self.publish.add_one(round(counts.publish_seconds * _MICROSECONDS))
        self.latency.add(np.maximum(counts.committed_at_ms - counts.append_times_ms, 0), counts.append_time_weight)
        self.uncertified_fallbacks += counts.uncertified
        self.near_cut_short += counts.cut_short
        self._waiting[partition] += counts.waiting_change
        self.progress.committed(partition)

    def users(self, partition: int, old_heads: Integers, new_heads: Integers) -> None:
        """Move users from where they stood to where they stand; a row of `old_heads` without a step is a new user."""
        require(len(old_heads) == len(new_heads), "every changed user has a row before and a row after")
        self._users_of(partition).change(old_heads, new_heads, self._shares)
        if self.fields is not None:
            self.fields.change(partition, old_heads, new_heads)
        self.largest_drift = max(self.largest_drift, largest_drift(new_heads))

    def loaded(self, partition: int, heads: Integers) -> None:
        """Users of a partition as they are found in the store, each once, in as many calls as are convenient."""
        bins = self._users_of(partition)
        if self.fields is not None:
            self.fields.change(partition, heads[:0], heads)
        self.largest_drift = max(self.largest_drift, largest_drift(heads))
        for start in range(0, len(heads), _USERS_AT_ONCE):
            bins.add(heads[start : start + _USERS_AT_ONCE], self._shares)

    def _users_of(self, partition: int) -> UserBins:
        bins = self._users.get(partition)
        if bins is None:
            bins = self._users[partition] = UserBins()
        return bins

    def quarantined(self, partition: int, users: int) -> None:
        """So many users of the partition cannot be read, in all."""
        self._quarantined[partition] = users

    def waiting(self, partition: int, events: int) -> None:
        """So many events of the partition wait in windows, as its store was found."""
        self._waiting[partition] = events

    def assigned(self, partition: int) -> None:
        """The partition is ours and its users are about to be loaded; whatever was known of it is void."""
        self.lost(partition)
        self.progress.assigned(partition)

    def lost(self, partition: int) -> None:
        """The partition went to another worker, which counts its users from now on. What was released stays counted."""
        self.progress.lost(partition)
        self._users.pop(partition, None)
        self._quarantined.pop(partition, None)
        self._waiting.pop(partition, None)
        if self.fields is not None:
            self.fields.lost(partition)
        if self.gathered is not None:
            self.gathered.lost(partition)

    def all_users(self) -> UserBins:
        together = UserBins()
        for users in self._users.values():
            together.include(users)
        return together

    def waiting_events(self) -> int:
        return self._waiting.total()

    def quarantined_users(self) -> int:
        return sum(self._quarantined.values())
