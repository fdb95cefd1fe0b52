"""Tells the meter what the second stage of aggregates does. Its input are partials, not events, so neither its blocks
nor its lag count among the worker's.
"""

from __future__ import annotations

from collections.abc import Collection

from stream.metrics.meter import Meter
from stream.metrics.observer import named_failure
from stream.protocol.effects import BlockReport
from stream.protocol.observer import NullObserver


class TotalObserver(NullObserver):
    """An `Observer` of the only partition there is."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def revoked(self, partitions: Collection[int]) -> None:
        if partitions and self._meter.aggregates is not None:
            self._meter.aggregates.total_lost()

    def block_committed(self, report: BlockReport) -> None:
        self._meter.dead_letters.update(report.effects.reasons)
        if self._meter.aggregates is not None:
            self._meter.aggregates.told(report.partition, report.effects.aggregates)

    def failed(self, partition: int, error: BaseException) -> None:  # noqa: ARG002
        self._meter.failures[named_failure(error)] += 1
