"""Workers come, go, freeze and wake under load; whoever was replaced meanwhile writes nothing."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from random import Random

import pytest
from broker import Broker
from fault_stage import Stage, a_stage, assert_stops, assert_whole, teller, under_load
from fault_workers import FaultWorker, lives
from worker import WorkerError

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SEED = 22


async def partitions_of(*workers: FaultWorker) -> list[int]:
    """How many partitions each worker holds, as it says itself; none where nobody answers."""
    found = []
    for worker in workers:
        try:
            found.append(int((await worker.metrics()).value("sottovoce_assigned_partitions")))
        except WorkerError:  # between a worker that was fenced and its successor
            found.append(0)
    return found


async def until_spread(stage: Stage, wanted: list[int], *workers: FaultWorker) -> None:
    async with asyncio.timeout(180):
        while sorted(await partitions_of(*workers)) != wanted:
            await asyncio.sleep(0.2)
    stage.say(f"{len(workers)} workers hold {wanted} partitions; {stage.progress()}")


async def test_one_worker_three_workers_one_worker(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each keeps its beliefs on disk, so that the first one meets old ones of its own when partitions come back."""
    random, say = Random(SEED), teller(capsys)
    async with a_stage(broker.bootstrap, tmp_path, say, seed=SEED) as stage:
        await stage.feeder.write(1_000)
        first = stage.start("w1", store=f"{{kind: disk, folder: {tmp_path / 'beliefs-w1'}}}")
        await stage.ready(first)
        async with under_load(stage, most=80_000):
            await stage.moving([first])
            await asyncio.sleep(random.uniform(0.2, 1.5))
            others = [
                stage.start(name, store=f"{{kind: disk, folder: {tmp_path / f'beliefs-{name}'}}}")
                for name in ("w2", "w3")
            ]
            await stage.ready(*others)
            await until_spread(stage, [1, 1, 2], first, *others)
            await stage.moving([first, *others], partitions=True)
            await asyncio.sleep(random.uniform(0.2, 1.5))
            await assert_stops(stage, *others)
            await until_spread(stage, [4], first)
            await stage.moving([first], partitions=True)
        await assert_whole(stage, [first])
        await assert_stops(stage, first)


async def test_a_frozen_worker_that_wakes_writes_nothing(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random, say = Random(SEED + 1), teller(capsys)
    async with a_stage(broker.bootstrap, tmp_path, say, seed=SEED + 1) as stage:
        await stage.feeder.write(1_000)
        workers = [stage.start("w1"), stage.start("w2")]
        await stage.ready(*workers)
        async with under_load(stage, most=80_000):
            await until_spread(stage, [2, 2], *workers)
            await stage.moving(workers, partitions=True)
            await asyncio.sleep(random.uniform(0.2, 1.5))
            frozen = await workers[0].child()
            os.kill(frozen, signal.SIGSTOP)
            say(f"one worker is frozen; {stage.progress()}")
            await asyncio.sleep(2 * stage.session_seconds)
            await until_spread(stage, [4], workers[1])
            await stage.moving(workers, partitions=True)
            os.kill(frozen, signal.SIGCONT)
            say(f"it wakes up; {stage.progress()}")
            await until_spread(stage, [2, 2], *workers)
            await stage.moving(workers, partitions=True)
            say(f"the one that was frozen {'lives on' if lives(frozen) else 'ended and has a successor'}")
        await assert_whole(stage, workers)
        await assert_stops(stage, *workers)
