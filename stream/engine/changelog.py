"""Read the belief changelog, and look into the raw topic, with consumers of our own that join no group.

Faust's own recovery waits for ever when a changelog ends in aborted records, so it is given nothing to do.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from stream.engine.connection import Connection
from stream.engine.failures import publishing
from stream.engine.lookups import Lookups
from stream.engine.seams import as_blocks
from stream.errors import PublishFailed
from stream.protocol.inputs import KEY, NOTHING, VALUE
from stream.protocol.ports import ChangelogChunk

# Rows of 10,000 users are about 1 MB; a chunk is sorted, checked and stored in some tens of milliseconds.
CHUNK_RECORDS = 10_000
WAIT_MS = 200
# Markers of transactions move the position without a record, and a call that waits for records does not return for
# them. Every changelog ends in a marker, so we look at the position often.
LOOK_MS = 20
RETRY_MS = 20
STALL_SECONDS = 60.0


@asynccontextmanager
async def _reader(connection: Connection, part: TopicPartition, start: int) -> AsyncIterator[Any]:
    """A reader of one partition's committed records."""
    consumer = AIOKafkaConsumer(
        **connection.arguments(),
        group_id=None,
        isolation_level="read_committed",
        key_deserializer=as_blocks,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=4 << 20,
        fetch_max_wait_ms=WAIT_MS,
        retry_backoff_ms=RETRY_MS,
    )
    try:
        await consumer.start()
        consumer.assign([part])
        consumer.seek(part, start)
        yield consumer
    finally:
        # aiokafka's stop raises CancelledError, as if we were cancelled, when a task of its own has not begun yet.
        await asyncio.sleep(0)
        await consumer.stop()


class KafkaChangelog:
    """Keeps the promises of `stream.protocol.ports.Changelog`.

    The end is that of the whole log, not of its stable part: should a stranger hold a transaction open in this
    partition, committed beliefs may stand behind it, and stopping before them would mean to forget what was released.
    """

    def __init__(self, connection: Connection, lookups: Lookups, topic: str) -> None:
        self._connection = connection
        self._lookups = lookups
        self._topic = topic

    async def read(self, partition: int, after: int) -> AsyncIterator[ChangelogChunk]:
        part = TopicPartition(self._topic, partition)
        where = f"topic {self._topic}, partition {partition}"
        beginning, end = await self._lookups.extent(part)
        if after > end:
            raise PublishFailed(
                "The belief changelog ends before the stored beliefs do.",
                where=where,
                why=f"the store was filled up to offset {after}, the changelog ends at {end}",
                fix="delete the store's folder: it is filled again from the changelog",
            )
        start = max(after, beginning)
        if start >= end:
            return
        with publishing("Reading the belief changelog", where):
            async with _reader(self._connection, part, start) as consumer:
                async for chunk in _chunks(consumer, part, end, where):
                    yield chunk


async def _chunks(consumer: Any, part: TopicPartition, end: int, where: str) -> AsyncIterator[ChangelogChunk]:
    loop = asyncio.get_running_loop()
    position = await consumer.position(part)
    moved = loop.time()
    while position < end:
        fetched = await consumer.getmany(part, timeout_ms=LOOK_MS, max_records=CHUNK_RECORDS)
        now = await consumer.position(part)
        if now == position:
            if loop.time() - moved > STALL_SECONDS:
                raise PublishFailed(
                    "The belief changelog cannot be read to its end.",
                    where=where,
                    why=f"nothing came after offset {position} of {end} for {STALL_SECONDS:g} s",
                    fix="look for another writer with an open transaction here; only this pipeline may",
                )
            continue
        position, moved = now, loop.time()
        records = fetched.get(part, NOTHING)
        pairs = [(key, value) for key, value in zip(records.texts(KEY), records.texts(VALUE), strict=True) if key]
        yield ChangelogChunk(position, end, pairs)


class KafkaSource:
    """Keeps the promises of `stream.protocol.ports.Source`."""

    def __init__(self, connection: Connection, lookups: Lookups, topic: str, group: str) -> None:
        self._connection = connection
        self._lookups = lookups
        self._topic = topic
        self._group = group

    async def committed(self, partition: int) -> int | None:
        return await self._lookups.group_offset(self._group, TopicPartition(self._topic, partition))

    async def beginning(self, partition: int) -> int:
        beginning, _ = await self._lookups.extent(TopicPartition(self._topic, partition))
        return beginning

    async def end(self, partition: int) -> int:
        _, end = await self._lookups.extent(TopicPartition(self._topic, partition))
        return end

    async def drained(self, partition: int, since: int) -> bool:
        """Markers of transactions may stand behind the last record, so the end alone does not tell."""
        part = TopicPartition(self._topic, partition)
        beginning, end = await self._lookups.extent(part)
        start = max(since, beginning)
        if start >= end:
            return True
        with publishing("Looking for waiting records", f"topic {self._topic}, partition {partition}"):
            async with _reader(self._connection, part, start) as consumer:
                stable = (await consumer.end_offsets([part]))[part]
                while await consumer.position(part) < stable:
                    if await consumer.getmany(part, timeout_ms=LOOK_MS, max_records=1):
                        return False
        return bool(stable >= end)
