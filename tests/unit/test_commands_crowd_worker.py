"""Both jobs of a worker of crowds: the topics they read and write, how large records are, and whose state that is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from aggregate_world import aggregate_house
from crowd_lives import EVERY_KIND, NOTHING, SETTINGS, SUM, TIMES, at, block_of, flat_law

from stream.commands.crowd_worker import CrowdStages, crowd_task
from stream.crowds.opening import open_crowds
from stream.engine.connection import Connection
from stream.engine.topic_ids import TopicFacts
from stream.keys import add_epoch
from stream.metrics.meter import Meter
from stream.protocol.control import differences, may_change
from stream.settings.crowd import MOST_PEOPLE
from stream.stores.memory import MemoryStore

RAW = TopicFacts("walkers.raw", UUID(int=7), 3, led=True)
BETWEEN = TopicFacts("walkers-crowds", UUID(int=8), 1, led=True)


def house(folder: Path, release: str = SUM, believes: str = NOTHING, over: str = "all") -> Path:
    lines = ["k: 3", f"over: {over}", *TIMES.splitlines(), f"release: {{{release}}}", *believes.splitlines()]
    if "law.json" in believes:
        (folder / "law.json").write_bytes(flat_law(release))
    return aggregate_house(folder, SETTINGS + "".join(f"  {line}\n" for line in lines))


def stages_of(file: Path) -> tuple[CrowdStages, Meter]:
    return CrowdStages(open_crowds(file, {}), Connection(("127.0.0.1:9092",))), crowd_task(file, {}).meter


def test_the_second_stage_reads_what_the_first_writes(tmp_path: Path) -> None:
    stages, meter = stages_of(house(tmp_path))
    first, second = stages.first(meter).plan, stages.second(meter)(RAW).plan
    assert (first.pipeline, second.pipeline) == ("walkers", "walkers-total")
    assert first.topics.released == second.topics.raw == "walkers-crowds"
    assert second.topics.released == "walkers.out"
    assert (first.single, second.single) == ({"walkers-crowds"}, {"walkers.out"})
    assert second.elsewhere == {"w.dead"}
    assert first.released_bytes is not None
    assert first.released_bytes <= second.record_bytes <= second.held_bytes


def test_crowds_of_a_partition_stay_in_it(tmp_path: Path) -> None:
    stages, meter = stages_of(house(tmp_path, over="partition"))
    first, second = stages.first(meter).plan, stages.second(meter)(RAW).plan
    assert (first.single, second.single) == (set(), set())


def test_each_stage_says_whose_state_it_is(tmp_path: Path) -> None:
    stages, meter = stages_of(house(tmp_path))
    first, second = stages.first(meter).control(RAW), stages.second(meter)(RAW).control(BETWEEN)
    assert first.is_of_windows
    assert first.model.startswith("crowds@")
    assert {difference.field for difference in differences(first, second)} == {"pipeline", "topic_id"}
    again = stages.second(meter)(RAW).control(replace(BETWEEN, id=UUID(int=9)))
    assert [difference.field for difference in differences(second, again)] == ["topic_id"]


def test_no_setting_may_change_and_a_new_key_waits_for_the_first_stage_alone(tmp_path: Path) -> None:
    before, meter = stages_of(house(tmp_path))
    after, _ = stages_of(house(tmp_path, over="partition"))
    found = differences(before.first(meter).control(RAW), after.first(meter).control(RAW))
    assert not may_change(found)
    before, meter = stages_of(house(tmp_path))
    add_epoch(tmp_path / "keys.json")
    after, _ = stages_of(tmp_path / "c.yaml")
    assert may_change(differences(before.first(meter).control(RAW), after.first(meter).control(RAW)))
    second = [each.second(meter)(RAW).control(BETWEEN) for each in (before, after)]
    assert differences(*second) == []


@pytest.mark.parametrize("release", EVERY_KIND)
def test_a_task_warms_up_and_leaves_nothing(tmp_path: Path, release: str) -> None:
    task = crowd_task(house(tmp_path, release), {})
    task.warm_up()
    assert task.then is not None
    job = task.job
    pipeline, store = job.pipelines(RAW)(0), MemoryStore(job.codec)
    effects = pipeline.prepare(block_of([at(1)]), store)
    assert effects.outcomes["taken"] == 1


def test_no_window_is_larger_than_the_broker_is_told(tmp_path: Path) -> None:
    """A histogram of many long values, and a crowd with every sensitive value."""
    labels = [f"{place:04d}{'x' * 200}" for place in range(400)]
    stages, meter = stages_of(house(tmp_path, f"histogram: $.job, values: [{', '.join(labels)}]"))
    plan = stages.second(meter)(RAW).plan
    assert plan.released_bytes is not None
    assert plan.released_bytes > sum(len(label) + 40 for label in labels)
    assert MOST_PEOPLE * (16 + 2 + 8 + 8 + 8) < 10 << 20
