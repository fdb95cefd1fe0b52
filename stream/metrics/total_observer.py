"""Tells the meter what the second stage does. Its input are parts of windows, or events once more, so neither its
blocks nor its lag count among the worker's; whether it serves, and whether it stands still, does.

It may have fewer partitions than there are workers: whoever has none is ready without.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from stream.metrics.meter import Meter
from stream.metrics.observer import named_failure
from stream.metrics.progress import Progress
from stream.protocol.effects import BlockReport
from stream.protocol.observer import NullObserver, Recovery

log = logging.getLogger("sottovoce.partitions")


class TotalObserver(NullObserver):
    """An `Observer` of the partitions between both stages."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._progress = meter.progress.then = Progress(meter.progress.clock)

    def assigned(self, partitions: Collection[int]) -> None:
        self._progress.joined = True
        for partition in partitions:
            self._progress.assigned(partition)

    def recovering(self, recovery: Recovery) -> None:
        self._progress.recovering(recovery.partition, recovery.position, recovery.end)

    def ready(self, recovery: Recovery, seconds: float) -> None:  # noqa: ARG002
        self._progress.recovered(recovery.partition)
        log.info("This worker releases what was gathered in partition %d.", recovery.partition)

    def revoked(self, partitions: Collection[int]) -> None:
        for partition in partitions:
            self._progress.lost(partition)
            if self._meter.gathered is not None:
                self._meter.gathered.second_lost(partition)

    def block_started(self, partition: int, records: int) -> None:
        self._progress.at_least(partition, records)

    def block_committed(self, report: BlockReport) -> None:
        self._progress.committed(report.partition)
        self._progress.lag(report.partition, report.lag)
        self._meter.dead_letters.update(report.effects.reasons)
        if self._meter.gathered is not None:
            self._meter.gathered.told(report.partition, report.effects.aggregates)

    def lag(self, partition: int, records: int) -> None:
        self._progress.lag(partition, records)

    def failed(self, partition: int, error: BaseException) -> None:  # noqa: ARG002
        self._meter.failures[named_failure(error)] += 1
