"""The topics that must be there before anything is read: the raw topic as it is found, the others made or checked."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.client import AIOKafkaClient
from aiokafka.errors import TopicAlreadyExistsError, for_code

from stream.engine.connection import Connection
from stream.engine.failures import publishing
from stream.engine.plan import Plan
from stream.engine.topic_ids import TopicFacts, describe
from stream.engine.way_in import require_way_in
from stream.errors import StateRefused

READY_SECONDS = 30.0
# What stands beside the value of a released record, at most: its key of 1 KiB, chosen headers of 12 KiB, our own.
HEADER_BYTES = 16 << 10
# A public value is written anew: `1e15,` becomes `1000000000000000.0,`, which is 3.8 times as long, and nothing grows
# more than that (`0,` before a chosen place of an array becomes `null,`, 2.5 times).
GROWTH = 4
# Kafka's own default; a batch of ours is kept below the smallest limit of the three topics.
MESSAGE_BYTES = 1_048_588
BATCH_BYTES_MAX = 1_000_000
# Event times come from the events. By default brokers refuse timestamps more than an hour ahead of their clock, and one
# such record would fail its whole block for ever.
ANY_TIME = str(2**63 - 1)
TIME_LIMIT = "message.timestamp.after.max.ms"
SIZE_LIMIT = "max.message.bytes"
TIME_KIND = "message.timestamp.type"
BROKERS_TIME = "LogAppendTime"


async def prepare_topics(plan: Plan) -> tuple[TopicFacts, int]:
    """Check or make every topic; the raw topic's facts, and how large a batch may be."""
    with publishing("Looking at the topics", f"brokers {','.join(plan.connection.brokers)}"):
        client = AIOKafkaClient(**plan.connection.arguments())
        admin = AIOKafkaAdminClient(**plan.connection.arguments())
        try:
            await client.bootstrap()
            await admin.start()
            return await _prepare(plan, client, admin)
        finally:
            await admin.close()
            await client.close()


async def facts_of(connection: Connection, topics: Sequence[str]) -> dict[str, TopicFacts]:
    """What the brokers say about those of these topics that exist."""
    await require_way_in(connection)
    with publishing("Looking at the topics", f"brokers {','.join(connection.brokers)}"):
        client = AIOKafkaClient(**connection.arguments())
        try:
            await client.bootstrap()
            return await describe(client, topics)
        finally:
            await client.close()


async def _prepare(plan: Plan, client: Any, admin: Any) -> tuple[TopicFacts, int]:
    released = GROWTH * plan.record_bytes if plan.released_bytes is None else plan.released_bytes
    written = {
        plan.topics.released: released + HEADER_BYTES,
        plan.topics.dead_letters: HEADER_BYTES,
        plan.topics.changelog: max(plan.row_bytes, plan.held_bytes, plan.mark_bytes) + HEADER_BYTES,
    }
    facts = await describe(client, [plan.topics.raw, *written])
    raw = facts.get(plan.topics.raw)
    if raw is None:
        raise StateRefused(
            f"The raw topic {plan.topics.raw} does not exist.",
            where=f"brokers {','.join(plan.connection.brokers)}",
            why="it is made by whoever writes the raw events, with the partition count that they need",
            fix="make the topic, or correct kafka.raw_topic in the settings",
        )
    for name, found in facts.items():
        if name not in plan.elsewhere:
            _check_count(found, raw, alone=name in plan.single)
        if name in written:
            _check_settings(plan, name, await _settings(admin, name), written[name])
    for name, size in written.items():
        if name not in facts:
            await _make(plan, admin, name, 1 if name in plan.single else raw.partitions, size)
    await _wait_for_leaders(client, [plan.topics.raw, *written])
    limits = [int((await _settings(admin, name))[SIZE_LIMIT]) for name in written]
    return raw, min(BATCH_BYTES_MAX, *limits)


def _check_count(found: TopicFacts, raw: TopicFacts, *, alone: bool) -> None:
    wanted = 1 if alone else raw.partitions
    if found.partitions == wanted:
        return
    what = f"Topic {found.name} has {found.partitions} partitions, the raw topic {raw.name} has {wanted}."
    why = "everything that comes from a partition goes to the partition of the same number"
    if alone:
        what = f"Topic {found.name} has {found.partitions} partitions, and it must have one."
        why = "windows of all partitions stand in one order there"
    raise StateRefused(
        what,
        where=f"topic {found.name}",
        why=why,
        fix=f"make {found.name} anew with {wanted} partition{'' if wanted == 1 else 's'}, or name another topic in the "
        "settings",
    )


def _check_settings(plan: Plan, topic: str, found: Mapping[str, str], size: int) -> None:
    if topic == plan.topics.changelog and found["cleanup.policy"] != "compact":
        raise _setting(topic, found, "cleanup.policy", "compact", "a belief that is deleted is told a second time")
    if int(found[SIZE_LIMIT]) < size:
        raise _setting(
            topic, found, SIZE_LIMIT, f"at least {size}", "a record that does not fit would stop its partition"
        )
    if topic in plan.stamped and found[TIME_KIND] != BROKERS_TIME:
        raise _setting(topic, found, TIME_KIND, BROKERS_TIME, "one wrong clock would cut everybody's delay short")
    if found[TIME_KIND] == "CreateTime" and int(found.get(TIME_LIMIT, ANY_TIME)) < int(ANY_TIME):
        raise _setting(topic, found, TIME_LIMIT, ANY_TIME, "an event dated in the future would stop its partition")


def _setting(topic: str, found: Mapping[str, str], name: str, wanted: str, why: str) -> StateRefused:
    value = wanted.removeprefix("at least ")
    return StateRefused(
        f"Topic {topic} has {name}={found[name]}, it must be {wanted}.",
        where=f"topic {topic}",
        why=why,
        fix=f"kafka-configs.sh --alter --entity-type topics --entity-name {topic} --add-config {name}={value}",
    )


async def _settings(admin: Any, topic: str) -> dict[str, str]:
    (answer,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    ((error, _, _, _, entries),) = answer.resources
    if error:
        raise for_code(error)
    return {entry[0]: entry[1] for entry in entries}


async def _make(plan: Plan, admin: Any, topic: str, partitions: int, size: int) -> None:
    settings = {SIZE_LIMIT: str(max(MESSAGE_BYTES, size)), TIME_LIMIT: ANY_TIME}
    settings["cleanup.policy"] = "compact" if topic == plan.topics.changelog else "delete"
    if topic in plan.stamped:
        settings[TIME_KIND] = BROKERS_TIME
    answer = await admin.create_topics([NewTopic(topic, partitions, plan.replication_factor, topic_configs=settings)])
    for _, error, *_ in answer.topic_errors:
        # Another worker of this pipeline may have made it a moment ago, in the same way.
        if error and for_code(error) is not TopicAlreadyExistsError:
            raise for_code(error)


async def _wait_for_leaders(client: Any, topics: list[str]) -> None:
    async with asyncio.timeout(READY_SECONDS):
        while True:
            facts = await describe(client, topics)
            if len(facts) == len(set(topics)) and all(found.led for found in facts.values()):
                return
            await asyncio.sleep(0.05)
