"""What befalls a pipeline of any kind in the fault tests: the worker dies, another joins, the broker dies, one dies."""

from __future__ import annotations

import asyncio
from random import Random

from broker import Broker
from fault_recount import Recount
from fault_stage import Stage, assert_audited, under_load
from fault_workers import FaultWorker

KILLS = 3
CLOSING_SECONDS_MAX = 60.0


async def storm(stage: Stage, broker: Broker, random: Random) -> tuple[FaultWorker, FaultWorker]:
    """Under load; the second of the workers has its beliefs on disk."""
    await stage.feeder.write(1_000)
    worker = stage.start("w1")
    await stage.ready(worker)
    async with under_load(stage, most=60_000):
        for number in range(KILLS):
            await stage.moving([worker])
            await asyncio.sleep(random.uniform(0.0, 1.0))
            await worker.kill_child()
            stage.say(f"kill -9 of the worker, {number + 1} of {KILLS}; {stage.progress()}")
        second = stage.start("w2", store=f"{{kind: disk, folder: {stage.folder / 'beliefs-w2'}}}")
        await stage.moving([worker, second])
        await asyncio.to_thread(broker.kill9)
        stage.say(f"kill -9 of the broker; {stage.progress()}")
        await asyncio.to_thread(broker.start)
        await stage.moving([worker, second])
        await worker.kill_child()
        await stage.moving([worker, second])
    return worker, second


async def one_kill(stage: Stage, random: Random, *, most: int) -> FaultWorker:
    """Only the worker dies, in the middle of at most `most` events."""
    await stage.feeder.write(1_000)
    worker = stage.start("w1")
    await stage.ready(worker)
    async with under_load(stage, most=most):
        await stage.moving([worker])
        await asyncio.sleep(random.uniform(0.0, 1.0))
        await worker.kill_child()
        stage.say(f"kill -9 of the worker; {stage.progress()}")
        await stage.moving([worker])
    return worker


async def assert_all_released(stage: Stage, *workers: FaultWorker) -> Recount:
    """Every event once, with the same value for every reader, and the auditor agrees."""
    await stage.drained(workers)
    counted = await _when_closed(stage)
    stage.say(str(counted))
    assert counted.faults.found == {}, counted
    assert (counted.inputs, counted.suppressed) == (stage.feeder.fed, 0)
    assert counted.released > 0
    assert counted.dead_lettered > 0
    await assert_audited(stage, workers[0], counted)
    return counted


async def _when_closed(stage: Stage) -> Recount:
    """Windows of users who stay silent end when their deadline has passed; without windows nothing waits."""
    end = asyncio.get_running_loop().time() + CLOSING_SECONDS_MAX
    while True:
        counted = await stage.recount()
        is_over = not stage.kind.window or asyncio.get_running_loop().time() > end
        if counted.faults.lost == 0 or is_over:
            return counted
        stage.say(f"{counted.faults.lost:,} events wait in windows")
        await asyncio.sleep(0.5)
