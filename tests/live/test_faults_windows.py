"""Windows under `kill -9`, a broker that dies, and a rebalance: every event is released once, with the same others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import live_kafka
import pytest
from broker import Broker
from fault_kinds import EVERYDAY
from fault_recount import header
from fault_stage import Stage, a_stage, assert_stops, teller
from fault_storm import assert_all_released, storm

from stream.names import CHANGELOG_HELD_PREFIX

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SEED = 31
WINDOWS = {
    "bisect": "{events: 5, stretch: 20s, deadline: 2s}",
    "natural": "{events: 5, stretch: 20s, order: natural}",
}


@pytest.mark.parametrize("order", WINDOWS)
async def test_windows_under_kills_and_a_rebalance(
    order: str, broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = replace(EVERYDAY, window=WINDOWS[order])
    async with a_stage(broker.bootstrap, tmp_path, teller(capsys), seed=SEED, kind=kind) as stage:
        workers = await storm(stage, broker, Random(SEED))
        await assert_all_released(stage, *workers)
        await _assert_sealed(stage)
        await assert_stops(stage, *workers)


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
