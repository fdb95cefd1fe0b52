"""Models with memory, a clock, cells or a tail, and windows of one channel, where processes die: nothing is lost, and
nothing is drawn twice.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from broker import Broker
from fault_kinds import EVERYDAY, Kind, remembering, walk_on, with_tail
from fault_stage import Say, a_stage, assert_stops, assert_whole, teller, under_load
from fault_storm import assert_all_released, one_kill, storm

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SEED = 41
EVENTS = 4_000
EVENTS_A_SECOND = 400
KINDS: dict[str, Kind] = {
    "by the clock": replace(EVERYDAY, follows="step: 1s", on_disk=True),
    "cells joined, on the globe": walk_on(11, 12, names=("lat", "lon"), distance="haversine"),
    "cells, in a plane": walk_on(4, 5, names=None, distance="euclidean"),
    "tail": with_tail(300, listed=40),
    "windows over a longer memory": replace(remembering(), window="{events: 3, stretch: 20s, deadline: 1s}"),
    "windows of one channel": replace(EVERYDAY, window="{events: 3, stretch: 20s, deadline: 1s, order: dual}"),
}


async def test_a_longer_memory_under_kills_and_rebalances(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with a_stage(broker.bootstrap, tmp_path, teller(capsys), seed=SEED, kind=remembering()) as stage:
        worker, second = await storm(stage, broker, Random(SEED))
        async with under_load(stage, most=stage.feeder.fed + 60_000):
            await stage.moving([worker, second], partitions=True)
            await assert_stops(stage, second)
            await stage.moving([worker], partitions=True)
        await assert_whole(stage, [worker])
        await assert_stops(stage, worker)


async def test_each_other_kind_under_a_kill(broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All on one broker and at the same time, because most of what a kill takes is waiting."""
    say = teller(capsys)
    async with asyncio.TaskGroup() as together:
        for number, (name, kind) in enumerate(KINDS.items()):
            folder = tmp_path / f"kind-{number}"
            together.create_task(_under_a_kill(kind, broker.bootstrap, folder, _labelled(say, name), SEED + number))


def _labelled(say: Say, name: str) -> Say:
    return lambda text: say(f"{name}: {text}")


async def _under_a_kill(kind: Kind, broker: str, folder: Path, say: Say, seed: int) -> None:
    async with a_stage(broker, folder, say, seed=seed, kind=kind, events_a_second=EVENTS_A_SECOND) as stage:
        worker = await one_kill(stage, Random(seed), most=EVENTS)
        await assert_all_released(stage, worker)
        assert worker.said().count("killed by SIGKILL") == 1
        await assert_stops(stage, worker)
