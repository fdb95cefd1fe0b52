"""The broker itself is killed under load and comes back on the same data: it costs time and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest
from broker import Broker
from fault_stage import a_stage, assert_stops, assert_whole, teller, under_load

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SEED = 21
AWAY_SECONDS = 3.0


async def test_the_broker_dies_and_comes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broker of its own, so that no other test meets a dead one."""
    random, say = Random(SEED), teller(capsys)
    with Broker() as broker:
        async with a_stage(broker.bootstrap, tmp_path, say, seed=SEED) as stage:
            await stage.feeder.write(1_000)
            worker = stage.start("w1")
            await stage.ready(worker)
            async with under_load(stage, most=60_000):
                await stage.moving([worker])
                await asyncio.sleep(random.uniform(0.5, 2.0))
                await asyncio.to_thread(broker.kill9)
                say(f"kill -9 of the broker; {stage.progress()}")
                await asyncio.sleep(AWAY_SECONDS)
                await asyncio.to_thread(broker.start)
                say("the broker is back")
                await stage.moving([worker], partitions=True)
                await asyncio.sleep(random.uniform(0.5, 2.0))
            await assert_whole(stage, [worker])
            await assert_stops(stage, worker)
