"""Workers of crowds, of windows and of a delay, told by hand what their blocks did."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from aggregate_metering import MINUTE, report
from crowd_settings_text import BOXES, LAW, SUM, crowd_text, flow_text, law_text, opened_crowds
from prometheus_client.parser import text_string_to_metric_families

from beliefs.crowd.account import INDEPENDENT, INDEPENDENT_INFORMED, Told
from mechanisms.crowds.flow import Emitted
from stream import names
from stream.commands.meter_settings import crowd_meter_settings_of
from stream.crowds.flow import Crowd, FlowTold
from stream.crowds.opening import OpenedCrowds
from stream.crowds.told import CrowdsTold, CrowdWindow
from stream.gathering.first import GatherTold
from stream.metrics import Meter
from stream.metrics.crowds import CrowdCounts, FlowCounts
from stream.metrics.families import exposition, registry_of
from stream.metrics.observer import MeterObserver
from stream.metrics.total_observer import TotalObserver
from stream.protocol.observer import Recovery

FLOOR = 10
FRESH = f"{LAW[:-1]}, known: 0.2, windows: fresh}}"
TARGET = "{epsilon: 1.0, delta: 0.01, windows: 60, beyond: top_up}"
SUMS = crowd_text(SUM, believes=FRESH, target=TARGET)
RECORDS = crowd_text(BOXES, believes="nothing_declared", target=None)
ANY = crowd_text(SUM)
FOUR = law_text({"default": (0.25,) * 4})


class Worker:
    """Both stages, heard by one meter."""

    def __init__(self, opened: OpenedCrowds, counts: CrowdCounts | FlowCounts) -> None:
        self.opened, self.counts = opened, counts
        self.meter = Meter(crowd_meter_settings_of(opened))
        self.meter.gathered = counts
        self.first, self.second = MeterObserver(self.meter, lambda _: []), TotalObserver(self.meter)

    def joined(self, *partitions: int) -> None:
        self.first.assigned(partitions)
        for partition in partitions:
            self.first.ready(Recovery(partition, 0, 0, users=0, unreadable=0), 0.0)

    def closed(self, partition: int, told: GatherTold) -> None:
        outcomes = {names.TAKEN: 4_000, names.REPEATED: 30, names.DEAD_LETTERED: 3}
        self.first.block_committed(report(partition, told, outcomes, {names.LATE: 2, names.UNKNOWN_TYPE: 1}))

    def released(self, told: CrowdsTold | FlowTold, partition: int = 0) -> None:
        self.second.block_committed(report(partition, told, {names.TAKEN: 2}, {}))

    def series(self) -> dict[str, float]:
        text = exposition(registry_of(self.meter), "")[0].decode()
        return {
            sample.name + "".join(f"|{label}" for _, label in sorted(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name.startswith("sottovoce_crowd_")
        }


def of_windows(folder: Path, text: str = SUMS) -> Worker:
    """At a clock that stands 100 s after the first window began."""
    opened = opened_crowds(folder, text, FOUR)
    start = opened.promise.windowed.start
    return Worker(opened, CrowdCounts(opened.promise, FLOOR, lambda: start + 100_000))


def of_flow(folder: Path) -> Worker:
    opened = opened_crowds(folder, flow_text())
    return Worker(opened, FlowCounts(opened.promise, FLOOR))


def start_of(worker: Worker) -> int:
    return worker.opened.promise.windowed.start


def told(delta: float, informed: float) -> tuple[Told, ...]:
    return (
        Told(INDEPENDENT, delta, 0.5, "exact"),
        Told(INDEPENDENT_INFORMED, informed, 0.75, "exact"),
    )


def until(worker: Worker, *windows: CrowdWindow, waiting: int = 0) -> CrowdsTold:
    """One minute of them has its record."""
    return CrowdsTold(list(windows), start_of(worker) + MINUTE, waiting, (start_of(worker) + MINUTE,))


RELEASED = CrowdWindow(0, 812, None, told(0.001, 0.004), 0.0071)
NOISY = CrowdWindow(1, 40, None, told(0.002, 0.003), 0.0075, Fraction(2))
WITHHELD = [CrowdWindow(2 + place, 9, reason) for place, reason in enumerate(names.CROWD_REASONS)]
DIVIDED = CrowdWindow(0, 60, None, loss=0.21, crowds=4, suppressed=12)


def work(worker: Worker) -> None:
    """Blocks of two partitions, and a window of each kind."""
    worker.joined(0, 1)
    for partition in (0, 1):
        worker.closed(partition, GatherTold(start_of(worker) + MINUTE, start_of(worker) + (2 + partition) * MINUTE))
    worker.released(until(worker, RELEASED, *WITHHELD, NOISY, waiting=2))


def emitted(events: int, users: int, loss: float = 0.25, *, reused: bool = False) -> Emitted:
    return Emitted(tuple(range(events)), users, ((0, 1),), loss, reused, None)


def flow_told(waiting: int = 7) -> FlowTold:
    """A crowd of each kind; the longest delay is a minute."""
    kept_back = Emitted((30, 31, 32), 2, None, 1.0, reused=False, reason="too_few")
    crowds = [
        Crowd(0, emitted(14, 12), (60_000,) * 2 + (1_000,) * 12),
        Crowd(1, emitted(1, 12, 0.5, reused=True), (30_000,)),
        Crowd(2, kept_back, (90_000,) * 3),
    ]
    return FlowTold(crowds, waiting, 0, merged=3)
