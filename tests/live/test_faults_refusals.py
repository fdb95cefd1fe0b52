"""What a worker refuses to start on, with exit status 2 and its reason; and what is planted in real topics is found."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import live_kafka
import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, RecordsToDelete
from broker import Broker
from fault_kinds import VALUES
from fault_recount import header
from fault_stage import Stage, a_stage, assert_stops, assert_whole, teller, write_model
from live_kafka import consume_all
from live_writing import write_transaction

from stream.keys import new_ring

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
EVENTS = 3_000
MORE_EVENTS = 500
MORE_PARTITIONS = 6
ANY_TIME = {"message.timestamp.after.max.ms": str(2**63 - 1)}


async def copied_beliefs(stage: Stage, other: str) -> None:
    """The belief changelog under another pipeline's name, as a hasty operator would copy it."""
    changelog = f"{other}-beliefs-changelog"
    await live_kafka.create_topic(stage.broker, changelog, partitions=stage.partitions, compact=True, settings=ANY_TIME)
    for record in await consume_all(stage.broker, f"{stage.name}-beliefs-changelog"):
        await write(stage, changelog, record.partition, [record])


async def write(stage: Stage, topic: str, partition: int, records: Sequence[Any], *, commit: bool = True) -> None:
    """One transaction of somebody else."""
    await write_transaction(stage.broker, f"{topic}-stranger", topic, partition, records, commit=commit)


async def with_admin(stage: Stage, name: str, *arguments: Any) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=stage.broker)
    await admin.start()
    try:
        await getattr(admin, name)(*arguments)
    finally:
        await admin.close()


async def grown(stage: Stage, *topics: str) -> None:
    await with_admin(stage, "create_partitions", {topic: NewPartitions(MORE_PARTITIONS) for topic in topics})


async def made_again(stage: Stage, topic: str, partitions: int) -> None:
    await live_kafka.delete_topics(stage.broker, [topic])
    async with asyncio.timeout(60):
        while topic in await live_topics(stage):
            await asyncio.sleep(0.1)
    await live_kafka.create_topic(stage.broker, topic, partitions=partitions)


async def live_topics(stage: Stage) -> list[str]:
    admin = AIOKafkaAdminClient(bootstrap_servers=stage.broker)
    await admin.start()
    try:
        return list(await admin.list_topics())
    finally:
        await admin.close()


async def a_finished_run(stage: Stage) -> None:
    await stage.feeder.write(EVENTS)
    worker = stage.start("w1")
    await stage.ready(worker)
    await stage.drained([worker])
    await assert_stops(stage, worker)


async def test_a_worker_refuses_what_is_not_its_own(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with a_stage(broker.bootstrap, tmp_path, teller(capsys)) as stage:
        await a_finished_run(stage)
        released = f"{stage.name}-released"
        before = await consume_all(stage.broker, released, committed=False)
        new_ring(tmp_path / "other-keys.json")
        write_model(tmp_path / "other-model.json", stay=0.6)
        other = f"{stage.name}-b"
        await copied_beliefs(stage, other)
        other_key, other_state = await asyncio.gather(
            stage.refused("another key", keys=tmp_path / "other-keys.json"),
            stage.refused("another pipeline's state", name=other),
        )
        assert "The stored beliefs have first_key_fingerprint" in other_key
        assert "put the old ring back" in other_key
        assert f"The stored beliefs have pipeline {stage.name}, this worker has {other}." in other_state
        other_model = await stage.refused("another model", model=tmp_path / "other-model.json")
        assert "the stored beliefs are probabilities under another model" in other_model
        await stage.feeder.write(MORE_EVENTS)
        assert "records wait that the old policy may have begun to release" in await stage.refused(
            "another policy while records wait", policy_version=2
        )
        assert await consume_all(stage.broker, released, committed=False) == before
        worker = stage.start("w1")
        await assert_whole(stage, [worker])
        await assert_stops(stage, worker)


async def test_a_worker_refuses_other_partitions_and_a_topic_that_was_made_again(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with a_stage(broker.bootstrap, tmp_path, teller(capsys)) as stage:
        await a_finished_run(stage)
        released = f"{stage.name}-released"
        before = await consume_all(stage.broker, released, committed=False)
        raw, *others = stage.topics
        await grown(stage, raw)
        assert f"partitions, the raw topic {raw} has {MORE_PARTITIONS}." in await stage.refused("more raw partitions")
        await grown(stage, *others)
        assert f"have partitions {stage.partitions}, this worker has {MORE_PARTITIONS}." in await stage.refused(
            "more partitions everywhere"
        )
        await made_again(stage, raw, MORE_PARTITIONS)
        assert "the raw topic was deleted and made again" in await stage.refused("a raw topic that was made again")
        assert await consume_all(stage.broker, released, committed=False) == before


async def test_what_is_planted_in_the_real_topics_is_found(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the recount nor the audit says yes to everything."""
    async with a_stage(broker.bootstrap, tmp_path, teller(capsys)) as stage:
        await a_finished_run(stage)
        released, settings = f"{stage.name}-released", stage.settings("w1", 0)
        first, second = (await consume_all(stage.broker, released, partitions=[0]))[:2]
        shown = json.loads(first.value)["activity"]
        another = next(value for value in VALUES if value != shown)
        other = replace(first, value=first.value.replace(shown.encode(), another.encode()))
        await write(stage, released, 0, [second], commit=False)
        assert (await stage.recount()).faults.found == {}
        await write(stage, released, 0, [other], commit=False)
        found = (await stage.recount()).faults.found
        assert found["two_values"] == 1
        assert not {"lost", "twice"} & set(found)
        report = await stage.audit(settings)
        assert (report["status"], [finding["code"] for finding in report["findings"]]) == (1, ["two_values"])
        await write(stage, released, 0, [second])
        assert (await stage.recount()).faults.found["twice"] == 1
        assert "released_twice" in {finding["code"] for finding in (await stage.audit(settings))["findings"]}
        await with_admin(stage, "delete_records", {TopicPartition(released, 0): RecordsToDelete(first.offset + 1)})
        lost = await stage.recount()
        assert lost.faults.found["lost"] == 1
        assert header(first, "release-id") not in {
            header(record, "release-id") for record in await consume_all(stage.broker, released)
        }
