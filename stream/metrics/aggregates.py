"""Windows of aggregates, for Prometheus: how many were released and what they tell. No value of theirs, and nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from beliefs.rounding import INFINITE, nats
from stream import names
from stream.aggregates.ledger import Decision
from stream.aggregates.promise import AggregatePromise
from stream.aggregates.total import TotalTold
from stream.gathering.first import GatherTold
from stream.metrics.gathered import Labels, Samples, Tallies
from stream.metrics.metric import Kind, Metric
from stream.metrics.window_progress import ProgressMetrics, Released, WindowProgress
from stream.protocol.limits import wall_clock_ms

PARTS: Final[Mapping[str, tuple[str, ...]]] = {"mean": ("sum", "count")}

AGGREGATE_WINDOWS: Final = Metric(
    "sottovoce_aggregate_windows_total",
    Kind.COUNTER,
    "windows",
    "Windows that this worker has given their record: released, or withheld because of the budget or a partition's "
    "missing part.",
    ("outcome", "reason"),
)
AGGREGATE_TOPPED_UP: Final = Metric(
    "sottovoce_aggregate_topped_up_windows_total",
    Kind.COUNTER,
    "windows",
    "Windows among the released ones that have more noise than is declared, so that they fit the target.",
)
AGGREGATE_NOISE: Final = Metric(
    "sottovoce_aggregate_noise_scale",
    Kind.GAUGE,
    "",
    "Scale of the declared noise of each part of an aggregate, in the unit of its field.",
    ("aggregate", "part"),
)
AGGREGATE_LOSS: Final = Metric(
    "sottovoce_aggregate_window_loss_nats",
    Kind.GAUGE,
    "nats",
    "What the latest window changes at most when one user's contribution changes; 0 where it was withheld.",
)
AGGREGATE_LEAK: Final = Metric(
    "sottovoce_aggregate_window_leak_nats",
    Kind.GAUGE,
    "nats",
    "What the latest window alone tells about one user at most, those included on whom he depends.",
)
AGGREGATE_TOTAL: Final = Metric(
    "sottovoce_aggregate_total_nats",
    Kind.GAUGE,
    "nats",
    "What the windows of the target tell about one user at most, up to the latest one.",
)
AGGREGATE_TARGET: Final = Metric(
    "sottovoce_aggregate_target_nats",
    Kind.GAUGE,
    "nats",
    "The most that so many windows in a row may tell about one user; +Inf where there is no target.",
)
AGGREGATE_OPEN: Final = Metric(
    "sottovoce_aggregate_open_windows",
    Kind.GAUGE,
    "windows",
    "Windows of a partition from the first that is open to the one that its events have reached.",
    ("partition",),
)
AGGREGATE_CLOSED_LAG: Final = Metric(
    "sottovoce_aggregate_closed_lag_seconds",
    Kind.GAUGE,
    "seconds",
    "How long ago the windows ended that a partition has closed; a silent one stays within window, lateness and grace.",
    ("partition",),
)
AGGREGATE_RELEASED_LAG: Final = Metric(
    "sottovoce_aggregate_released_lag_seconds",
    Kind.GAUGE,
    "seconds",
    "How long ago the latest window ended that has its record.",
)
AGGREGATE_DUE: Final = Metric(
    "sottovoce_aggregate_due_lag_seconds",
    Kind.GAUGE,
    "seconds",
    "How long after its end a window has its record at the latest while all goes well: lateness and grace, and up to "
    "one more window until the next one ends.",
)
AGGREGATE_WAITING: Final = Metric(
    "sottovoce_aggregate_waiting_partials",
    Kind.GAUGE,
    "partials",
    "Parts of windows that wait, sealed, for other partitions to close the same windows.",
)
AGGREGATE_PROGRESS: Final = ProgressMetrics(
    AGGREGATE_OPEN, AGGREGATE_CLOSED_LAG, AGGREGATE_RELEASED_LAG, AGGREGATE_DUE, AGGREGATE_WAITING
)


class AggregateCounts:
    """Of one worker: the partitions that it has, and the windows that it has released, if any."""

    def __init__(self, promise: AggregatePromise, clock_ms: Callable[[], int] = wall_clock_ms) -> None:
        self.promise, self.progress = promise, WindowProgress(promise, clock_ms)
        self.released = self.topped_up = 0
        self.withheld: Counter[str] = Counter(dict.fromkeys(names.WITHHELD_REASONS, 0))
        self.latest: Decision | None = None

    def told(self, partition: int, told: object) -> None:
        if isinstance(told, GatherTold):
            self.progress.partitions[partition] = told
        elif isinstance(told, TotalTold):
            self.progress.second[partition] = Released(told.released_to, told.waiting)
            for window in told.windows:
                self._decided(window.decision)

    def lost(self, partition: int) -> None:
        self.progress.partitions.pop(partition, None)

    def second_lost(self, partition: int) -> None:
        self.progress.second.pop(partition, None)
        self.latest = None

    def _decided(self, decision: Decision) -> None:
        self.latest = decision
        if decision.reason is not None:
            self.withheld[decision.reason] += 1
            return
        self.released += 1
        self.topped_up += decision.more_noise > 1

    def scales(self) -> dict[Labels, float]:
        """Of a mean the sum in its field's unit and the count in users."""
        found: dict[Labels, float] = {}
        for query in self.promise.queries:
            for part, noise in zip(PARTS.get(query.kind, (query.kind,)), query.noise, strict=True):
                grid = Fraction(1) if part == "count" else Fraction(query.grid)
                found[query.name, part] = float(noise.scale * grid)
        return found

    def samples(self) -> Iterator[Samples]:
        windows: dict[Labels, float] = {(names.RELEASED, ""): float(self.released)}
        windows |= {(names.WITHHELD, reason): float(count) for reason, count in self.withheld.items()}
        yield AGGREGATE_WINDOWS, windows
        yield AGGREGATE_TOPPED_UP, {(): float(self.topped_up)}
        yield AGGREGATE_NOISE, self.scales()
        latest = self.latest
        yield AGGREGATE_LOSS, {} if latest is None else {(): nats(latest.loss)}
        yield AGGREGATE_LEAK, {} if latest is None else {(): nats(latest.leak)}
        yield AGGREGATE_TOTAL, {} if latest is None else {(): nats(latest.total)}
        target = self.promise.target
        yield AGGREGATE_TARGET, {(): nats(INFINITE if target is None else target)}
        yield from self.progress.samples(AGGREGATE_PROGRESS)

    def tallies(self) -> Iterator[Tallies]:
        """Nothing is binned."""
        return iter(())
