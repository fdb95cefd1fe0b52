"""A worker of both stages of aggregates, told by hand what its blocks did."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from aggregate_world import opened_aggregates
from prometheus_client.parser import text_string_to_metric_families

from beliefs.rounding import UNITS_PER_NAT
from stream import names
from stream.aggregates.ledger import Decision
from stream.aggregates.total import TotalTold, Window
from stream.commands.meter_settings import aggregate_meter_settings_of
from stream.gathering.first import GatherTold
from stream.metrics import Meter
from stream.metrics.aggregates import AggregateCounts
from stream.metrics.families import exposition, registry_of
from stream.metrics.observer import MeterObserver
from stream.metrics.total_observer import TotalObserver
from stream.protocol.effects import BlockReport, Effects, only_offset
from stream.protocol.inputs import InputBlock
from stream.protocol.observer import Recovery

NAT = UNITS_PER_NAT
MINUTE = 60_000


class World:
    """A worker of both stages, at a clock that stands 100 s after the first window began."""

    def __init__(self, folder: Path, text: str | None = None) -> None:
        self.opened = opened_aggregates(folder, text)
        self.start = self.opened.promise.start
        self.meter = Meter(aggregate_meter_settings_of(self.opened))
        self.meter.gathered = AggregateCounts(self.opened.promise, lambda: self.start + 100_000)
        self.gather, self.total = MeterObserver(self.meter, lambda _: []), TotalObserver(self.meter)

    def work(self) -> None:
        """Blocks of two partitions, and four windows, one of each kind."""
        self.gather.assigned([0, 1])
        for partition in (0, 1):
            self.gather.ready(Recovery(partition, 0, 0, users=0, unreadable=0), 0.0)
            told = GatherTold(self.start + MINUTE, self.start + (2 + partition) * MINUTE)
            outcomes = {names.TAKEN: 4_000, names.REPEATED: 30, names.DEAD_LETTERED: 3}
            self.gather.block_committed(report(partition, told, outcomes, {names.LATE: 2, names.BEFORE_START: 1}))
        released = decided(RELEASED, WITHHELD, MISSING, MORE_NOISE, until=self.start + MINUTE, waiting=2)
        self.total.block_committed(report(0, released, {names.TAKEN: 2}, {}))

    def series(self) -> dict[str, float]:
        text = exposition(registry_of(self.meter), "")[0].decode()
        return {
            sample.name + "".join(f"|{label}" for _, label in sorted(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name.startswith("sottovoce_aggregate_")
        }


def report(partition: int, aggregates: object, outcomes: dict[str, int], reasons: dict[str, int]) -> BlockReport:
    effects: Effects = only_offset(1)
    effects.outcomes, effects.reasons, effects.aggregates = outcomes, reasons, aggregates
    return BlockReport(partition, InputBlock.of([]), effects, 0, 0, 0, 0.0, 0.0, 0.0)


RELEASED = Decision(None, NAT // 2, NAT, 3 * NAT)
WITHHELD = Decision(names.WITHHELD_BUDGET, 0, 0, 3 * NAT)
MISSING = Decision(names.WITHHELD_PARTIAL, 0, 0, 3 * NAT)
MORE_NOISE = Decision(None, NAT // 4, NAT // 2, 2 * NAT, Fraction(2))


def decided(*decisions: Decision, until: int, waiting: int = 0) -> TotalTold:
    return TotalTold([Window(i, each) for i, each in enumerate(decisions)], until, waiting, (until,))
