"""The two jobs of a worker of aggregates: which topics they read and write, and whose state is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

from aggregate_world import aggregate_text, opened_aggregates

from stream.aggregates.opening import open_aggregates
from stream.commands.aggregate_worker import AggregateStages, aggregate_task
from stream.engine.connection import Connection
from stream.engine.topic_ids import TopicFacts
from stream.gathering.second import WINDOWS_AT_ONCE
from stream.keys import add_epoch
from stream.metrics.meter import Meter
from stream.protocol.control import differences, may_change

RAW = TopicFacts("walkers.raw", UUID(int=7), 3, led=True)
PARTIALS = TopicFacts("walkers-partials", UUID(int=8), 1, led=True)


def stages_of(folder: Path, text: str | None = None) -> AggregateStages:
    return AggregateStages(opened_aggregates(folder, text), Connection(("127.0.0.1:9092",)))


def meter_of(folder: Path) -> Meter:
    return aggregate_task(folder / "c.yaml", {}).meter


def test_the_second_stage_reads_what_the_first_writes(tmp_path: Path) -> None:
    stages = stages_of(tmp_path)
    first, second = stages.first(meter_of(tmp_path)).plan, stages.second(meter_of(tmp_path))(RAW).plan
    assert (first.pipeline, second.pipeline) == ("walkers", "walkers-total")
    assert first.topics.raw == "walkers.raw"
    assert first.topics.released == second.topics.raw == "walkers-partials"
    assert second.topics.released == "walkers.out"
    assert first.topics.dead_letters == second.topics.dead_letters == "w.dead"
    assert (first.topics.changelog, second.topics.changelog) == (
        "walkers-beliefs-changelog",
        "walkers-total-beliefs-changelog",
    )
    assert (first.single, first.elsewhere) == ({"walkers-partials"}, set())
    assert (second.single, second.elsewhere) == ({"walkers.out"}, {"w.dead"})
    assert first.released_bytes is not None
    assert first.released_bytes <= second.record_bytes == second.held_bytes


def test_a_block_of_the_second_stage_releases_no_more_windows_than_heartbeats_allow(tmp_path: Path) -> None:
    """At 1.5 ms a window, with a month of minutes in the account, it is over in half of the shortest session."""
    plan = stages_of(tmp_path).second(meter_of(tmp_path))(RAW).plan
    assert plan.limits.max_block_records * WINDOWS_AT_ONCE <= 2_048


def test_each_stage_says_whose_state_it_is(tmp_path: Path) -> None:
    stages = stages_of(tmp_path)
    first = stages.first(meter_of(tmp_path)).control(RAW)
    second = stages.second(meter_of(tmp_path))(RAW).control(PARTIALS)
    assert first.is_of_windows
    assert second.is_of_windows
    assert (first.partitions, second.partitions) == (3, 3)
    assert {difference.field for difference in differences(first, second)} == {"pipeline", "topic_id"}
    again = stages.second(meter_of(tmp_path))(RAW).control(replace(PARTIALS, id=UUID(int=9)))
    assert [difference.field for difference in differences(second, again)] == ["topic_id"]
    other = stages.second(meter_of(tmp_path))(replace(RAW, partitions=4)).control(PARTIALS)
    assert [difference.field for difference in differences(second, other)] == ["partitions"]


def test_a_new_key_epoch_waits_in_the_first_stage_alone(tmp_path: Path) -> None:
    """There what was begun must be repeated with its key; in the second the sums say which key it is."""
    before, meter = stages_of(tmp_path), meter_of(tmp_path)
    add_epoch(tmp_path / "keys.json")
    after = AggregateStages(open_aggregates(tmp_path / "c.yaml", {}), before.connection)
    first = [each.first(meter).control(RAW) for each in (before, after)]
    second = [each.second(meter)(RAW).control(PARTIALS) for each in (before, after)]
    assert {difference.field for difference in differences(*first)} == {"key_epoch", "key_fingerprint"}
    assert differences(*second) == []


def test_no_setting_of_aggregates_may_change(tmp_path: Path) -> None:
    before = stages_of(tmp_path).first(meter_of(tmp_path)).control(RAW)
    text = aggregate_text().replace("nats: 2.0", "nats: 3.0")
    after = stages_of(tmp_path, text).first(meter_of(tmp_path)).control(RAW)
    found = differences(before, after)
    assert {difference.field for difference in found} == {"policy", "model"}
    assert not may_change(found)


def test_everything_is_compiled_before_the_group_is_joined(tmp_path: Path) -> None:
    opened_aggregates(tmp_path)
    task = aggregate_task(tmp_path / "c.yaml", {})
    task.warm_up()
    assert task.then is not None
    assert task.job.pipelines(RAW)(2).deadlines is not None
    second = task.then(RAW)
    assert second.pipelines(PARTIALS)(0).deadlines is None
    assert task.meter.progress.then is not None


def test_the_disk_stores_of_the_stages_are_apart(tmp_path: Path) -> None:
    text = aggregate_text() + f"store: {{kind: disk, folder: {tmp_path}}}\n"
    stages = stages_of(tmp_path, text)
    first, second = stages.first(meter_of(tmp_path)).plan, stages.second(meter_of(tmp_path))(RAW).plan
    assert {first.store_folder, second.store_folder} == {tmp_path / "walkers", tmp_path / "walkers-total"}
