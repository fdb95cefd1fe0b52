"""Tells the meter what the release protocol reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final

from stream.errors import Fenced, PublishFailed
from stream.fields.choices import FieldsTold
from stream.metrics.meter import BlockCounts, Meter
from stream.protocol.effects import BlockReport
from stream.protocol.inputs import InputBlock
from stream.protocol.limits import wall_clock_ms
from stream.protocol.observer import Recovery
from stream.protocol.ports import Heads
from stream.watch import Watched

# Within a block the delay falls evenly from the first record to the last, so 64 of them draw the curve.
_LATENCY_SAMPLES: Final = 64


class MeterObserver:
    """An `Observer`. `users_of` gives the heads of all users of a partition as stored, in pieces of any size."""

    def __init__(
        self,
        meter: Meter,
        users_of: Callable[[int], Iterable[Heads]],
        wall_clock_ms: Callable[[], int] = wall_clock_ms,
    ) -> None:
        self._meter = meter
        self._users_of = users_of
        self._wall_clock_ms = wall_clock_ms

    def assigned(self, partitions: Collection[int]) -> None:
        self._meter.progress.joined = True
        for partition in partitions:
            self._meter.assigned(partition)

    def recovering(self, recovery: Recovery) -> None:
        self._meter.progress.recovering(recovery.partition, recovery.position, recovery.end)

    def ready(self, recovery: Recovery, seconds: float) -> None:  # noqa: ARG002
        for heads in self._users_of(recovery.partition):
            self._meter.loaded(recovery.partition, heads)
        self._meter.waiting(recovery.partition, recovery.waiting)
        self._meter.quarantined(recovery.partition, recovery.unreadable)
        self._meter.progress.recovered(recovery.partition)

    def revoked(self, partitions: Collection[int]) -> None:
        for partition in partitions:
            self._meter.lost(partition)
            if self._meter.witness is not None:
                self._meter.witness.lost(partition)

    def block_started(self, partition: int, records: int) -> None:
        self._meter.progress.at_least(partition, records)

    def block_committed(self, report: BlockReport) -> None:
        effects = report.effects
        times, weight = _append_times(report.records) if effects.appended is None else (effects.appended, 1)
        self._meter.block(
            report.partition,
            BlockCounts(
                outcomes=effects.outcomes,
                reasons=effects.reasons,
                upper=effects.upper_units,
                lower=effects.lower_units,
                old_heads=effects.before,
                new_heads=effects.heads,
                append_times_ms=times,
                append_time_weight=weight,
                committed_at_ms=self._wall_clock_ms(),
                compute_seconds=report.prepare_seconds,
                publish_seconds=report.publish_seconds,
                uncertified=effects.uncertified,
                cut_short=effects.cut_short,
                waiting_change=effects.held_change,
            ),
        )
        self._meter.progress.lag(report.partition, report.lag)
        if self._meter.fields is not None and isinstance(effects.fields, FieldsTold):
            self._meter.fields.told(effects.fields)
        if self._meter.gathered is not None:
            self._meter.gathered.told(report.partition, effects.aggregates)
        if self._meter.witness is not None and isinstance(effects.watched, Watched):
            self._meter.witness.look(report.partition, effects.watched)

    def lag(self, partition: int, records: int) -> None:
        self._meter.progress.lag(partition, records)

    def repeated(self, partition: int, records: int) -> None:  # noqa: ARG002
        self._meter.repeated_records += records

    def gap(self, partition: int, expected: int, found: int) -> None:  # noqa: ARG002
        self._meter.missing_offsets += found - expected

    def failed(self, partition: int, error: BaseException) -> None:  # noqa: ARG002
        self._meter.failures[named_failure(error)] += 1


def named_failure(error: BaseException) -> str:
    """Three names and no more: an error's own text has no place in a label."""
    if isinstance(error, Fenced):
        return "fenced"
    return "publish_failed" if isinstance(error, PublishFailed) else "other"


def _append_times(records: InputBlock) -> tuple[Heads, int]:
    step = max(1, -(-len(records) // _LATENCY_SAMPLES))
    return records.timestamps[::step], step
