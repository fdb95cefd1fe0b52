"""`kill -9` under load: the worker at random moments, and its supervisor. Nothing is lost, nothing is drawn twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest
from broker import Broker
from fault_stage import a_stage, assert_stops, assert_whole, teller, under_load
from fault_workers import gone

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SEED = 20
KILLS_AT_WORK = 5
KILLS_AT_ANY_MOMENT = 2


async def test_kill_9_of_the_worker_and_of_its_supervisor(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the supervisor's own death the beliefs move from memory to disk, and the kills go on."""
    random, say = Random(SEED), teller(capsys)
    async with a_stage(broker.bootstrap, tmp_path, say, seed=SEED) as stage:
        await stage.feeder.write(1_000)
        worker = stage.start("w1")
        await stage.ready(worker)
        async with under_load(stage, most=120_000):
            for number in range(KILLS_AT_WORK):
                await stage.moving([worker])
                await asyncio.sleep(random.uniform(0.0, 1.5))
                await worker.kill_child()
                say(f"kill -9 of the worker at work, {number + 1} of {KILLS_AT_WORK}; {stage.progress()}")
            await stage.moving([worker])
            await asyncio.sleep(random.uniform(0.0, 1.5))
            orphan = await worker.kill_supervisor()
            say(f"kill -9 of the supervisor; {stage.progress()}")
            second = stage.start("w1", store=f"{{kind: disk, folder: {tmp_path / 'beliefs'}}}")
            await gone(orphan)
            await stage.moving([second])
            for number in range(KILLS_AT_ANY_MOMENT):
                await second.kill_child()
                say(f"kill -9 with the beliefs on disk, {number + 1} of {KILLS_AT_ANY_MOMENT}; {stage.progress()}")
                await asyncio.sleep(random.uniform(0.5, 5.0))
            await stage.moving([second])
        await assert_whole(stage, [second])
        assert second.said().count("killed by SIGKILL") == KILLS_AT_WORK + KILLS_AT_ANY_MOMENT
        await assert_stops(stage, second)
