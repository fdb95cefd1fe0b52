"""What the protocol reports arrives in the meter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pytest
from metering import COMMITTED_AT_MS, heads_of, meter_settings
from numpy.typing import NDArray

from beliefs.rounding import UNITS_PER_NAT
from stream.errors import Fenced, PublishFailed
from stream.metrics import Meter
from stream.metrics.observer import MeterObserver
from stream.metrics.progress import Progress
from stream.metrics.total_observer import TotalObserver
from stream.protocol.columns import RecordBlock
from stream.protocol.effects import BlockReport, Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.observer import Observer, Recovery

NAT = UNITS_PER_NAT


@dataclass(frozen=True)
class Record:
    offset: int
    timestamp: int
    key: bytes | None = None
    value: bytes | None = None
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def observed(users: Iterable[NDArray[np.int64]] = ()) -> tuple[Meter, MeterObserver, Clock]:
    clock = Clock()
    meter = Meter(meter_settings(), clock)
    return meter, MeterObserver(meter, lambda _: users, lambda: COMMITTED_AT_MS), clock


def report(records: int, lag: int = 0) -> BlockReport:
    effects = Effects(
        next_offset=records,
        releases=[],
        dead_letters=[],
        changelog=RecordBlock.of([]),
        keys=[b"a", b"b"],
        heads=heads_of([(2 * NAT, NAT), (NAT, NAT)]),
        codes=np.zeros((2, 2), np.uint32),
        outcomes={"released": records - 1, "suppressed": 1},
        upper_units=np.full(records - 1, NAT // 4, np.int64),
        lower_units=np.zeros(records - 1, np.int64),
        before=np.concatenate((heads_of([(NAT, NAT)]), np.zeros((1, 8), np.int64))),
        uncertified=1,
        cut_short=3,
    )
    raw = [Record(offset, COMMITTED_AT_MS - 10) for offset in range(records)]
    return BlockReport(
        partition=2,
        records=InputBlock.of(raw),
        effects=effects,
        users=2,
        waiting=0,
        lag=lag,
        prepare_seconds=0.002,
        publish_seconds=0.005,
        apply_seconds=0.0,
    )


def test_it_is_an_observer() -> None:
    observer: Observer = observed()[1]
    assert callable(observer.block_committed)


def test_a_partition_is_taken_over_recovered_and_given_away() -> None:
    meter, observer, _ = observed([heads_of([(NAT, NAT)] * 7), heads_of([(0, 0)] * 5)])
    assert meter.progress.not_ready() == ["the worker has not joined its consumer group"]
    observer.assigned([2])
    observer.recovering(Recovery(2, 45, 100, 9, 0))
    assert meter.progress.not_ready() == ["partition 2 is being recovered, 45% done"]
    observer.ready(Recovery(2, 100, 100, 12, 3), 1.5)
    assert meter.progress.not_ready() == []
    assert (meter.all_users().tracked, meter.quarantined_users()) == (12, 3)
    observer.revoked([2])
    assert (meter.all_users().tracked, meter.quarantined_users(), meter.progress.partitions) == (0, 0, {})


@pytest.mark.parametrize("records", [2, 64, 65, 1000])
def test_a_block_is_counted_with_its_users_and_sampled_delays(records: int) -> None:
    meter, observer, _ = observed([heads_of([(NAT, NAT)])])
    observer.assigned([2])
    observer.ready(Recovery(2, 0, 0, 1, 0), 0.1)
    observer.block_started(2, records)
    observer.block_committed(report(records, lag=5))
    assert meter.all_users().tracked == 2
    assert meter.outcomes["released"] == records - 1
    assert meter.leakage["upper"].count == records - 1
    assert records <= meter.latency.count < records + 64
    assert meter.latency.sum_exact == 10 * meter.latency.count
    assert meter.progress.partitions[2].lag_records == 5
    assert (meter.compute.sum_exact, meter.publish.sum_exact) == (2000, 5000)
    assert (meter.uncertified_fallbacks, meter.near_cut_short) == (1, 3)


def test_a_transaction_that_hangs_is_a_stall() -> None:
    meter, observer, clock = observed()
    observer.assigned([2])
    observer.ready(Recovery(2, 0, 0, 0, 0), 0.1)
    observer.block_started(2, 50)
    clock.now += 61
    assert [(stall.partition, stall.lag_records, stall.seconds) for stall in meter.progress.stalls()] == [(2, 50, 61.0)]
    observer.block_committed(report(50))
    assert meter.progress.stalls() == []


def test_repeats_gaps_and_failures_are_counted_under_fixed_names() -> None:
    meter, observer, _ = observed()
    observer.repeated(2, 30)
    observer.gap(2, 100, 140)
    for error in (Fenced("a"), PublishFailed("b"), RuntimeError("user 17")):
        observer.failed(2, error)
    assert (meter.repeated_records, meter.missing_offsets) == (30, 40)
    assert meter.failures == {"fenced": 1, "publish_failed": 1, "other": 1}


def test_waiting_starts_when_records_come_and_anew_with_every_commit() -> None:
    clock = Clock()
    progress = Progress(clock)
    progress.lag(0, 9)
    assert progress.partitions == {}  # a late report brings no partition back
    progress.assigned(0)
    progress.lag(0, 9)
    clock.now += 500
    assert progress.stalls() == []  # recovery is not a stall
    progress.recovered(0)
    clock.now += 10
    progress.lag(0, 20)
    assert progress.stalls()[0].seconds == 10
    progress.committed(0)
    assert progress.stalls()[0].seconds == 0
    progress.lag(0, 0)
    clock.now += 1000
    progress.committed(0)
    progress.lag(0, 1)
    assert progress.stalls()[0].seconds == 0


def test_an_empty_changelog_is_recovered_whole() -> None:
    progress = Progress(Clock())
    progress.assigned(0)
    progress.recovering(0, 0, 0)
    assert progress.partitions[0].recovered_ratio == 1.0
    progress.recovering(0, 7, 5)
    assert progress.partitions[0].recovered_ratio == 1.0


def test_a_worker_of_two_stages_is_ready_when_both_are() -> None:
    meter, observer, _ = observed()
    second = TotalObserver(meter)
    observer.assigned([])
    assert meter.progress.not_ready() == ["the second stage: the worker has not joined its consumer group"]
    second.assigned([0])
    second.recovering(Recovery(0, 1, 2, 0, 0))
    assert meter.progress.not_ready() == ["the second stage: partition 0 is being recovered, 50% done"]
    second.ready(Recovery(0, 2, 2, 0, 0), 0.1)
    assert meter.progress.not_ready() == []
    second.assigned([])
    second.revoked([0])
    assert meter.progress.not_ready() == []


def test_a_second_stage_that_stands_still_is_told() -> None:
    now = [0.0]
    progress = Progress(lambda: now[0])
    progress.then = Progress(lambda: now[0])
    for each in (progress, progress.then):
        each.assigned(0)
        each.recovered(0)
    progress.then.lag(0, 7)
    now[0] = 90.0
    assert [(stall.where, stall.lag_records, stall.seconds) for stall in progress.stalls()] == [
        ("the second stage", 7, 90.0)
    ]
    progress.lag(0, 1)
    assert [stall.where for stall in progress.stalls()] == ["partition 0", "the second stage"]
