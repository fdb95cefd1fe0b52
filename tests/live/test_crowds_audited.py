"""Crowds from the real broker, audited: workers are killed, and the broker, and the auditor agrees; somebody else
writes, and it does not.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random

import pytest
from broker import Broker
from crowd_lives import MEAN, RECORDS, SUM
from fault_workers import command
from live_crowds import NOTHING, TOPPED, housed, walked
from live_flows import FlowHouse
from live_house import lived_in
from live_kafka import consume_all, produce
from live_stream import moment, now_ms, write_for

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


@pytest.mark.parametrize(
    ("over", "release", "believes"), [("all", SUM, TOPPED), ("partition", MEAN, NOTHING), ("all", RECORDS, NOTHING)]
)
async def test_windows_agree_whoever_is_killed(
    broker: Broker, tmp_path: Path, over: str, release: str, believes: str
) -> None:
    start = now_ms() // 1000 * 1000 - 5_000
    async with housed(broker.bootstrap, tmp_path, moment(start), release, believes, over) as house:
        first = await house.start("w1")
        writing = asyncio.create_task(write_for(house, 16, start, walked))
        await asyncio.sleep(4)
        await first.kill_child()
        await asyncio.sleep(4)
        await house.check_audit()
        await first.kill_child()
        last = await writing
        await house.released_past(last)
        await house.check_audit()
        assert (await house.check(last))["None"] > 5


async def test_windows_agree_although_the_broker_is_killed_and_not_when_somebody_else_writes(
    broker: Broker, tmp_path: Path
) -> None:
    start = now_ms() // 1000 * 1000 - 5_000
    async with housed(broker.bootstrap, tmp_path, moment(start), SUM, TOPPED) as house:
        await house.start("w1")
        await write_for(house, 5, start, walked)
        await asyncio.to_thread(broker.kill9)
        await asyncio.sleep(2)
        await asyncio.to_thread(broker.start)
        last = await write_for(house, 5, start, walked)
        await house.released_past(last)
        await house.check_audit()
        record = (await consume_all(house.broker, house.out))[-1]
        await produce(house.broker, house.out, [(record.key, record.value)])
        answer = await command("audit", str(house.files[0]), "--json")
        assert answer.status == 1, answer.out + answer.said
        found = {finding["code"] for finding in json.loads(answer.out)["findings"]}
        assert {"crowd_twice", "crowd_strange", "crowd_policy"} <= found


@pytest.mark.parametrize(("grouper", "over"), [("castle", "all"), ("fads", "partition"), ("sky", "all")])
async def test_flows_agree_whoever_is_killed(broker: Broker, tmp_path: Path, grouper: str, over: str) -> None:
    chance = Random(grouper)
    async with lived_in(FlowHouse(broker.bootstrap, tmp_path, grouper, over)) as house:
        worker = await house.start("w1")
        writing = asyncio.create_task(house.write_for(10))
        for _ in range(3):
            await asyncio.sleep(1 + 2 * chance.random())
            await worker.kill_child()
        await house.check_audit()
        await writing
        await house.everything_is_out()
        await house.check_audit()
        assert (await house.check()).outcomes["crowd"] > 5
