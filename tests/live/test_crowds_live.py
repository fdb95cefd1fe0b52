"""Windows of crowds on the real broker: every window once, as the raw records have it, whoever is killed when."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest
from broker import Broker
from crowd_lives import MEAN, RECORDS, SUM
from live_crowds import FRESH, TOPPED, housed, walked
from live_stream import moment, now_ms, write_for

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SEED = 11


@pytest.mark.parametrize(("over", "release", "believes"), [("all", SUM, TOPPED), ("partition", MEAN, FRESH)])
async def test_every_window_once_under_kills_at_any_time(
    broker: Broker, tmp_path: Path, over: str, release: str, believes: str
) -> None:
    start, chance = now_ms() // 1000 * 1000 - 5_000, Random(SEED)
    async with housed(broker.bootstrap, tmp_path, moment(start), release, believes, over) as house:
        first = await house.start("w1")
        writing = asyncio.create_task(write_for(house, 40, start, walked))
        await asyncio.sleep(3)
        await first.kill_child()
        second = await house.start("w2", f"{{kind: disk, folder: {tmp_path / 'disk'}}}")
        for victim in (first, second, first, second):
            await asyncio.sleep(1 + 4 * chance.random())
            await victim.kill_child()
        last = await writing
        await house.released_past(last)
        reasons = await house.check(last)
        assert reasons["None"] > 10, reasons
        assert reasons["too_few"] > 3, reasons
        await house.check_audit()
        await house.check_nobody_is_named(b"person-", b'"job"', b'"v": ')
        for worker in (second, first):
            status, _ = await worker.terminate()
            assert status == 0, worker.log_tail()


async def test_records_come_in_crowds(broker: Broker, tmp_path: Path) -> None:
    start = now_ms() // 1000 * 1000 - 5_000
    async with housed(broker.bootstrap, tmp_path, moment(start), RECORDS) as house:
        worker = await house.start("w1")
        last = await write_for(house, 8, start, walked)
        await worker.kill_child()
        await house.released_past(last)
        reasons = await house.check(last)
        assert reasons["None"] > 3, reasons
        status, seconds = await worker.terminate()
        assert (status, seconds < 15) == (0, True), worker.log_tail()
