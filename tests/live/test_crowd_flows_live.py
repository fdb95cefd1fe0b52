"""Flows of crowds on the real broker: each event out once, in a crowd or withheld, whoever is killed when."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest
from broker import Broker
from live_flows import DELAY_MS, FlowHouse
from live_house import lived_in
from live_kafka import consume_all

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


@pytest.mark.parametrize("grouper", ["castle", "fads", "sky"])
async def test_every_event_goes_out_once_under_kills_with_two_workers(
    broker: Broker, tmp_path: Path, grouper: str
) -> None:
    chance = Random(grouper)
    async with lived_in(FlowHouse(broker.bootstrap, tmp_path, grouper)) as house:
        first = await house.start("w1")
        writing = asyncio.create_task(house.write_for(30))
        await asyncio.sleep(2)
        await first.kill_child()
        second = await house.start("w2", f"{{kind: disk, folder: {tmp_path / 'disk'}}}")
        while not writing.done():
            await asyncio.sleep(1 + 3 * chance.random())
            await chance.choice((first, second)).kill_child()
        await writing
        await house.everything_is_out()
        checked = await house.check()
        assert min(checked.outcomes["crowd"], checked.events["taken"], checked.events["repeated"]) > 5
        assert checked.events["replayed"] == 0
        await house.check_nobody_is_named(b"person-", b"clerk", b"doctor", b'"flu"')
        for worker in (second, first):
            status, _ = await worker.terminate()
            assert status == 0, worker.log_tail()


@pytest.mark.parametrize("grouper", ["castle", "fads", "sky"])
async def test_a_calm_worker_keeps_the_delay(broker: Broker, tmp_path: Path, grouper: str) -> None:
    """What waits for nobody goes out by the clock, within a second of its delay; and metrics count what is read."""
    async with lived_in(FlowHouse(broker.bootstrap, tmp_path, grouper)) as house:
        worker = await house.start("w1")
        await house.write_for(4)
        await house.everything_is_out()
        checked = await house.check()
        assert max(checked.waits) <= DELAY_MS + 1_000
        metrics = await worker.metrics()
        raw = await consume_all(house.broker, house.raw)
        counts = {
            name: metrics.value("sottovoce_events_total", outcome=name)
            for name in ("taken", "repeated", "replayed", "dead_lettered")
        }
        assert sum(counts.values()) == len(raw)
        assert counts["taken"] == checked.events["taken"] + checked.events["repeated"]
        status, seconds = await worker.terminate()
        assert (status, seconds < 15) == (0, True), worker.log_tail()


async def test_every_event_goes_out_once_although_the_broker_is_killed(broker: Broker, tmp_path: Path) -> None:
    async with lived_in(FlowHouse(broker.bootstrap, tmp_path, "castle")) as house:
        await house.start("w1")
        await house.write_for(4)
        await asyncio.to_thread(broker.kill9)
        await asyncio.sleep(2)
        await asyncio.to_thread(broker.start)
        await house.write_for(4)
        await house.everything_is_out()
        assert (await house.check()).outcomes["crowd"] > 5


async def test_each_partition_makes_crowds_of_its_own(broker: Broker, tmp_path: Path) -> None:
    async with lived_in(FlowHouse(broker.bootstrap, tmp_path, "castle", over="partition")) as house:
        first, second = await house.start("w1"), await house.start("w2")
        writing = asyncio.create_task(house.write_for(12))
        for victim in (first, second):
            await asyncio.sleep(3)
            await victim.kill_child()
        await writing
        await house.everything_is_out()
        checked = await house.check()
        assert checked.outcomes["crowd"] > 5
        assert {each.partition for each in await consume_all(house.broker, house.out)} == {0, 1, 2}
