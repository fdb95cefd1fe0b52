"""The lag: told while nothing is committed, and without those offsets at which there is no record to wait for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from faust.types import TP
from protocol_fakes import CODEC, TOPICS, CountPipeline, FakeProducer, block, limits_of, until

from stream.engine import lag
from stream.engine.blocks import Continuity
from stream.engine.lag import LagWatch
from stream.errors import PublishFailed
from stream.protocol.lane import Lane
from stream.protocol.observer import NullObserver
from stream.stores.memory import MemoryStore

PART = TP("raw", 0)


class Heard(NullObserver):
    def __init__(self) -> None:
        self.lags: list[tuple[int, int]] = []

    def lag(self, partition: int, records: int) -> None:
        self.lags.append((partition, records))


@dataclass
class Broker:
    """Answers what it is told to, or not at all."""

    ends: dict[int, int] = field(default_factory=dict)
    away: bool = False
    asked: list[list[int]] = field(default_factory=list)

    async def decided_ends(self, topic: str, partitions: Sequence[int]) -> dict[int, int]:
        assert topic == TOPICS.raw
        self.asked.append(list(partitions))
        if self.away:
            raise PublishFailed("Asking failed.", why="nobody answered")
        return {partition: self.ends[partition] for partition in partitions}


@dataclass
class Worker:
    """Lanes and what the consumer has found to be empty."""

    serving: dict[int, Lane] = field(default_factory=dict)
    nothing: dict[int, tuple[int, int]] = field(default_factory=dict)
    broker: Broker = field(default_factory=Broker)
    heard: Heard = field(default_factory=Heard)

    def lanes(self) -> dict[int, Lane]:
        return self.serving

    def watch(self) -> LagWatch:
        return LagWatch(TOPICS.raw, self.broker, self, self.nothing, self.heard)

    async def lag(self) -> list[tuple[int, int]]:
        self.heard.lags.clear()
        await self.watch().look()
        return self.heard.lags


async def nothing_waits(_: int) -> bool:
    return True


def lane_at(expected: int, partition: int = 0) -> Lane:
    return Lane(
        partition, producer=FakeProducer(), pipeline=CountPipeline(), store=MemoryStore(CODEC), topics=TOPICS,
        observer=NullObserver(), expected=expected, limits=limits_of(), drained=nothing_waits,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("nothing", "end", "waits"),
    [
        ((0, 0), 10, 0),
        ((0, 0), 25, 15),
        ((10, 25), 25, 0),  # behind the last commit are markers and aborted records only
        ((10, 20), 25, 5),
        ((4, 9), 25, 15),  # of an earlier ownership: true, and of no use
        ((4, 12), 25, 13),
        ((15, 25), 25, 15),  # a block of ours was fetched and is on its way
        ((10, 25), 20, 0),  # the end was asked for before we looked
    ],
)
def test_an_offset_without_a_record_waits_for_nobody(nothing: tuple[int, int], end: int, waits: int) -> None:
    assert lane_at(10).lag(end, nothing) == waits


async def test_a_block_waits_until_its_commit() -> None:
    lane = lane_at(10)
    task = asyncio.create_task(lane.run())
    lane.accept(block(10, 14, 10, 11, 12))
    assert lane.lag(14, (14, 14)) == 4
    await until(lambda: lane.lag(14, (14, 14)) == 0)
    lane.close()
    await task
    assert lane.lag(20, (14, 14)) == 6


def test_what_the_consumer_passes_without_a_record_is_known_to_be_nothing() -> None:
    continuity = Continuity()
    continuity.before({PART: 10})
    continuity.after({PART: 10})
    assert continuity.nothing(PART) == (10, 10)
    continuity.before({PART: 10})
    continuity.after({PART: 17})
    assert continuity.nothing(PART) == (10, 17)


async def test_all_partitions_that_are_served_are_asked_for_at_once() -> None:
    worker = Worker({2: lane_at(10, 2), 0: lane_at(7)}, {2: (10, 12)}, Broker({0: 9, 2: 12}))
    assert sorted(await worker.lag()) == [(0, 2), (2, 0)]
    assert worker.broker.asked == [[0, 2]]


async def test_nobody_is_asked_while_nothing_is_served() -> None:
    worker = Worker()
    assert await worker.lag() == []
    assert worker.broker.asked == []


async def test_brokers_that_are_away_leave_the_lag_and_do_not_stop_the_watch(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(lag, "EVERY_SECONDS", 0.0)
    caplog.set_level(logging.WARNING)
    worker = Worker({0: lane_at(7)}, broker=Broker({0: 9}, away=True))
    watching = asyncio.create_task(worker.watch().run())
    await until(lambda: len(worker.broker.asked) > 2)
    assert worker.heard.lags == []
    assert caplog.messages[0] == "How many records wait is not known anew: nobody answered"
    worker.broker.away = False
    await until(lambda: worker.heard.lags == [(0, 2)] * len(worker.heard.lags) != [])
    watching.cancel()
    await asyncio.wait({watching})
