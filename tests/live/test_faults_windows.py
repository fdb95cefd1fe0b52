"""Windows under `kill -9`, a broker that dies, and a rebalance: every event is released once, with the same others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import live_kafka
import pytest
from broker import Broker
from fault_recount import header
from fault_stage import Stage, a_stage, assert_audited, assert_stops, teller, under_load

from stream.names import CHANGELOG_HELD_PREFIX

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SEED = 31
CLOSING_SECONDS_MAX = 60.0
WINDOWS = {
    "bisect": "{events: 5, stretch: 20s, deadline: 2s}",
    "natural": "{events: 5, stretch: 20s, order: natural}",
}


@pytest.mark.parametrize("order", WINDOWS)
async def test_windows_under_kills_and_a_rebalance(
    order: str, broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    random, say = Random(SEED), teller(capsys)
    async with a_stage(broker.bootstrap, tmp_path, say, seed=SEED, window=WINDOWS[order]) as stage:
        await stage.feeder.write(1_000)
        worker = stage.start("w1")
        await stage.ready(worker)
        async with under_load(stage, most=60_000):
            for number in range(3):
                await stage.moving([worker])
                await asyncio.sleep(random.uniform(0.0, 1.0))
                await worker.kill_child()
                say(f"kill -9 of the worker, {number + 1} of 3; {stage.progress()}")
            second = stage.start("w2", store=f"{{kind: disk, folder: {tmp_path / 'beliefs'}}}")
            await stage.moving([worker, second])
            await asyncio.to_thread(broker.kill9)
            say(f"kill -9 of the broker; {stage.progress()}")
            await asyncio.to_thread(broker.start)
            await stage.moving([worker, second])
            await worker.kill_child()
            await stage.moving([worker, second])
        await stage.drained([worker, second])
        counted = await _when_closed(stage)
        say(str(counted))
        assert counted.faults.found == {}, counted
        assert (counted.inputs, counted.suppressed) == (stage.feeder.fed, 0)
        assert counted.released > 0
        await assert_audited(stage, worker, counted)
        await _assert_sealed(stage)
        await assert_stops(stage, worker, second)


async def _when_closed(stage: Stage):  # type: ignore[no-untyped-def]
    """Windows of users who stay silent end when their deadline has passed."""
    end = asyncio.get_running_loop().time() + CLOSING_SECONDS_MAX
    while True:
        counted = await stage.recount()
        if counted.faults.lost == 0 or asyncio.get_running_loop().time() > end:
            return counted
        stage.say(f"{counted.faults.lost:,} events wait in windows")
        await asyncio.sleep(0.5)


async def _assert_sealed(stage: Stage) -> None:
    """What was held went through the changelog, aborted transactions included, and no raw text of it is there."""
    released, changelog = (f"{stage.name}-{end}" for end in ("released", "beliefs-changelog"))
    records = await live_kafka.consume_all(stage.broker, changelog, committed=False)
    held = [record.value for record in records if record.key.startswith(CHANGELOG_HELD_PREFIX) and record.value]
    assert len(held) > 100
    assert not any(b"activity" in record or b'"n"' in record for record in held)
    shown = await live_kafka.consume_all(stage.broker, released, committed=True)
    places = {header(record, "window").split(b"/")[0] for record in shown}
    assert places == {b"1", b"2", b"3", b"4", b"5"}
