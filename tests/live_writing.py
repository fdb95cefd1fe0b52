"""Raw records of any kind, written fast: keys, values, headers and timestamps as a test wants them, good or not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiokafka import AIOKafkaProducer
from live_kafka import create_topic

PARTITIONS = 3
FIRST_TIME = 1_700_000_000_000


class Raw(NamedTuple):
    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    timestamp: int = FIRST_TIME


async def create_raw(broker: str, name: str) -> None:
    """Takes any timestamp and records of up to 4 MB."""
    limits = {"message.timestamp.after.max.ms": str(2**63 - 1), "max.message.bytes": "4200000", "retention.ms": "-1"}
    await create_topic(broker, name, partitions=PARTITIONS, settings=limits)


@asynccontextmanager
async def producing(broker: str, **options: Any) -> AsyncIterator[AIOKafkaProducer]:
    producer = AIOKafkaProducer(
        bootstrap_servers=broker, acks="all", max_batch_size=400_000, max_request_size=4_200_000, **options
    )
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


async def write(broker: str, topic: str, records: Iterable[Raw]) -> int:
    """Writes in whole batches, in order, and returns how many when all are acknowledged."""
    async with producing(broker) as producer:
        return await write_with(producer, topic, records)


async def write_with(producer: AIOKafkaProducer, topic: str, records: Iterable[Raw]) -> int:
    batches: dict[int, Any] = {}
    sent, count = [], 0
    for count, record in enumerate(records, 1):  # noqa: B007 the last number is the answer
        part = record.partition
        given = {
            "key": record.key,
            "value": record.value,
            "timestamp": record.timestamp,
            "headers": list(record.headers),
        }
        batch = batches.setdefault(part, producer.create_batch())
        if batch.append(**given) is None:
            batch.close()
            sent.append(await producer.send_batch(batch, topic, partition=part))
            batches[part] = producer.create_batch()
            batches[part].append(**given)
    for part, batch in batches.items():
        batch.close()
        sent.append(await producer.send_batch(batch, topic, partition=part))
    await asyncio.gather(*sent)
    return count


async def write_transaction(
    broker: str, name: str, topic: str, partition: int, records: Iterable[Any], *, commit: bool = True
) -> None:
    """Records in one transaction of the producer `name`, committed or aborted."""
    producer = AIOKafkaProducer(bootstrap_servers=broker, transactional_id=name, retry_backoff_ms=5)
    await producer.start()
    try:
        await producer.begin_transaction()
        for one in records:
            headers = list(one.headers)
            await producer.send(topic, one.value, one.key, partition, timestamp_ms=one.timestamp, headers=headers)
        await (producer.commit_transaction() if commit else producer.abort_transaction())
    finally:
        await producer.stop()
