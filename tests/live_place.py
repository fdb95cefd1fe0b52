"""Topics of a pipeline on the real broker, and the engine's own hands to them, without any worker."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from live_kafka import consume_all, create_topic, delete_topics

from stream.engine.changelog import KafkaChangelog, KafkaSource
from stream.engine.connection import Connection
from stream.engine.lookups import Lookups
from stream.engine.plan import Plan
from stream.engine.producer import KafkaProducer
from stream.engine.topics import facts_of, prepare_topics
from stream.protocol.ports import ChangelogChunk, Outgoing
from stream.protocol.publish import Topics


@dataclass
class Place:
    """Topics of one pipeline on the broker, and what reaches them."""

    connection: Connection
    lookups: Lookups
    pipeline: str
    topics: Topics
    partitions: int

    def plan(self) -> Plan:
        return Plan(self.pipeline, self.connection, self.topics, None, record_bytes=1_000, row_bytes=100)

    def producer(self, batch_bytes: int = 100_000) -> KafkaProducer:
        names = (self.topics.released, self.topics.dead_letters, self.topics.changelog)
        return KafkaProducer(
            self.connection, pipeline=self.pipeline, raw_topic=self.topics.raw, partition=1, topics=names,
            batch_bytes=batch_bytes,
        )  # fmt: skip

    @property
    def source(self) -> KafkaSource:
        return KafkaSource(self.connection, self.lookups, self.topics.raw, self.pipeline)

    async def changelog(self, after: int = 0) -> list[ChangelogChunk]:
        reader = KafkaChangelog(self.connection, self.lookups, self.topics.changelog)
        return [chunk async for chunk in reader.read(1, after)]

    async def values(self, topic: str) -> list[bytes]:
        """As a reader of committed records sees them."""
        return [record.value for record in await consume_all(self.connection.brokers[0], topic)]

    async def holds(self, topic: str, values: list[bytes]) -> bool:
        """Whether the topic comes to hold these: the brokers write a commit's markers after they have answered."""
        for _ in range(50):
            if await self.values(topic) == values:
                return True
            await asyncio.sleep(0.05)
        return False


@asynccontextmanager
async def a_place(bootstrap: str) -> AsyncIterator[Place]:
    name = f"ports-{uuid.uuid4().hex[:8]}"
    connection = Connection((bootstrap,))
    topics = Topics(f"{name}-raw", f"{name}-released", f"{name}-dead", f"{name}-beliefs-changelog")
    await create_topic(bootstrap, topics.raw, partitions=2)
    lookups = Lookups(connection)
    await lookups.start()
    made = Place(connection, lookups, name, topics, 2)
    await prepare_topics(made.plan())
    yield made
    await lookups.close()
    there = await facts_of(connection, [topics.raw, topics.released, topics.dead_letters, topics.changelog])
    await delete_topics(bootstrap, list(there))


@asynccontextmanager
async def started(producer: KafkaProducer) -> AsyncIterator[KafkaProducer]:
    try:
        await producer.start()
        yield producer
    finally:
        await producer.stop()


def records(*values: bytes) -> list[Outgoing]:
    return [Outgoing(b"k", value, 1_000, [("h", b"1")]) for value in values]
