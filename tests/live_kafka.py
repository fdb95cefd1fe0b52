"""Short hands to a real broker for tests: topics, writing, and reading everything that is there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

READ_SECONDS_MAX = 60.0

Message = tuple[bytes | None, bytes | None]


async def create_topic(
    bootstrap: str,
    name: str,
    *,
    partitions: int = 4,
    compact: bool = False,
    settings: dict[str, str] | None = None,
) -> None:
    """Makes a topic and returns when its partitions can be written and read."""
    configs = {"cleanup.policy": "compact" if compact else "delete", **(settings or {})}
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name, partitions, 1, topic_configs=configs)])
        while True:
            (described,) = await admin.describe_topics([name])
            led = [p for p in described["partitions"] if p["leader"] >= 0]
            if described["error_code"] == 0 and len(led) == partitions:
                return
            await asyncio.sleep(0.05)
    finally:
        await admin.close()


async def delete_topics(bootstrap: str, names: Sequence[str]) -> None:
    if not names:
        return
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    try:
        await admin.delete_topics(list(names))
    finally:
        await admin.close()


async def produce(
    bootstrap: str,
    topic: str,
    messages: Iterable[Message],
    *,
    partition: int | None = None,
    timestamp: int | None = None,
) -> None:
    """Writes the messages and returns when all are acknowledged. Equal keys go to the same partition."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", linger_ms=5)
    try:
        await producer.start()
        sent = [
            await producer.send(topic, key=key, value=value, partition=partition, timestamp_ms=timestamp)
            for key, value in messages
        ]
        await asyncio.gather(*sent)
    finally:
        await producer.stop()


async def consume_all(
    bootstrap: str,
    topic: str,
    *,
    committed: bool = True,
    partitions: Iterable[int] | None = None,
) -> list[Any]:
    """All records that are there now, by partition and offset; for a reader of committed data or of everything."""
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        isolation_level="read_committed" if committed else "read_uncommitted",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        group_id=None,
    )
    try:
        await consumer.start()
        wanted = sorted(partitions) if partitions is not None else await partitions_of(consumer, topic)
        assigned = [TopicPartition(topic, number) for number in wanted]
        consumer.assign(assigned)
        ends = await consumer.end_offsets(assigned)
        await consumer.seek_to_beginning(*assigned)
        records: list[Any] = []
        async with asyncio.timeout(READ_SECONDS_MAX):
            while any([await consumer.position(part) < ends[part] for part in assigned]):
                for batch in (await consumer.getmany(*assigned, timeout_ms=20)).values():
                    records += batch
        there = (record for record in records if record.offset < ends[TopicPartition(topic, record.partition)])
        return sorted(there, key=lambda record: (record.partition, record.offset))
    finally:
        await consumer.stop()


async def partitions_of(consumer: AIOKafkaConsumer, topic: str) -> list[int]:
    # Public calls know only the topics of a subscription; a reader without a group has to ask the client underneath.
    await consumer._client.set_topics([topic])
    found = consumer.partitions_for_topic(topic)
    assert found, f"topic {topic} is unknown to the broker"
    return sorted(found)
