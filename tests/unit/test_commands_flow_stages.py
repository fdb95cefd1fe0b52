"""The two jobs of a worker whose crowds have no windows: their topics, how large records are, and whose state it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from aggregate_lives import SECOND, START, Raw
from aggregate_world import aggregate_house
from flow_lives import GROUPERS, Sent, flow_text, people, raw_block

from stream.commands.crowd_worker import crowd_task
from stream.commands.flow_stages import FlowStages
from stream.crowds.opening import open_crowds
from stream.engine.connection import Connection
from stream.engine.topic_ids import TopicFacts
from stream.engine.worker import Job
from stream.keys import add_epoch
from stream.metrics.meter import Meter
from stream.protocol.control import AGGREGATE_KEY, differences, may_change
from stream.protocol.inputs import InputBlock
from stream.stores.memory import MemoryStore

RAW = TopicFacts("walkers.raw", UUID(int=7), 3, led=True)
BETWEEN = TopicFacts("walkers-crowds", UUID(int=8), 1, led=True)


def stages_of(file: Path) -> tuple[FlowStages, Meter]:
    return FlowStages(open_crowds(file, {}), Connection(("127.0.0.1:9092",))), crowd_task(file, {}).meter


def plans(file: Path) -> tuple[Job, Job]:
    stages, meter = stages_of(file)
    return stages.first(meter), stages.second(meter)(RAW)


@pytest.mark.parametrize("over", ["all", "partition"])
def test_the_second_stage_reads_what_the_first_writes(tmp_path: Path, over: str) -> None:
    """By the brokers' time, in one partition or in as many as the raw topic has."""
    first, second = (job.plan for job in plans(aggregate_house(tmp_path, flow_text(over=over))))
    assert (first.pipeline, second.pipeline) == ("walkers", "walkers-total")
    assert first.topics.released == second.topics.raw == "walkers-crowds"
    assert second.topics.released == "walkers.out"
    assert first.topics.dead_letters == second.topics.dead_letters == "w.dead"
    assert [first.stamped, second.stamped] == [{"walkers-crowds"}, set()]
    assert second.elsewhere == {"w.dead"}
    meeting = [{"walkers-crowds"}, {"walkers.out"}] if over == "all" else [set(), set()]
    assert [first.single, second.single] == meeting


def test_each_stage_says_whose_state_it_is(tmp_path: Path) -> None:
    file = aggregate_house(tmp_path, flow_text())
    first, second = (job.control(facts) for job, facts in zip(plans(file), (RAW, BETWEEN), strict=True))
    assert first.model == second.model
    assert first.is_of_windows
    assert {difference.field for difference in differences(first, second)} == {"pipeline", "topic_id"}
    again = plans(file)[1].control(replace(BETWEEN, id=UUID(int=9)))
    assert not may_change(differences(second, again))
    other = plans(aggregate_house(tmp_path, flow_text(k=4)))
    assert not may_change(differences(second, other[1].control(BETWEEN)))
    before = plans(aggregate_house(tmp_path, flow_text()))
    add_epoch(tmp_path / "keys.json")
    after = plans(file)
    assert may_change(differences(before[0].control(RAW), after[0].control(RAW)))
    assert differences(before[1].control(BETWEEN), after[1].control(BETWEEN)) == []


@pytest.mark.parametrize("grouper", GROUPERS)
def test_what_both_stages_make_of_events_has_the_sizes_that_are_planned(tmp_path: Path, grouper: str) -> None:
    task = crowd_task(aggregate_house(tmp_path, flow_text(grouper)), {})
    task.warm_up()
    assert task.then is not None
    first, second = task.job, task.then(RAW)
    sent: list[Sent] = people(40)
    forward = first.pipelines(RAW)(2)
    passed = forward.prepare(raw_block(sent), MemoryStore(first.codec))
    assert passed.outcomes["taken"] == 40
    assert {len(record.value or b"") for record in passed.releases} == {first.plan.released_bytes}
    flow, store = second.pipelines(BETWEEN)(0), MemoryStore(second.codec)
    flow.adopt(store)
    records = [Raw(place, START, None, record.value) for place, record in enumerate(passed.releases)]
    effects = flow.prepare(InputBlock.of(records[:-3]), store)
    store.apply([], effects.heads, effects.codes, 1, effects.marks, effects.held)
    assert effects.outcomes == {"taken": 37}
    assert {len(record) for record in effects.held.values()} <= {second.plan.held_bytes}
    assert len(effects.marks[AGGREGATE_KEY]) < second.plan.mark_bytes
    assert second.plan.released_bytes is not None
    overdue = flow.prepare_overdue(store, START + 90 * SECOND)
    released = [*effects.releases, *([] if overdue is None else overdue.releases)]
    assert max(len(record.value or b"") for record in released) < second.plan.released_bytes


def test_flows_of_partitions_take_what_comes_from_theirs_alone(tmp_path: Path) -> None:
    task = crowd_task(aggregate_house(tmp_path, flow_text(over="partition")), {})
    assert task.then is not None
    first, second = task.job, task.then(RAW)
    store = MemoryStore(second.codec)
    passed = first.pipelines(RAW)(2).prepare(raw_block(people(1)), store).releases
    block = InputBlock.of([Raw(0, START, None, record.value) for record in passed])
    assert second.pipelines(BETWEEN)(2).prepare(block, store).outcomes == {"taken": 1}
    assert second.pipelines(BETWEEN)(1).prepare(block, store).outcomes == {"dead_lettered": 1}
