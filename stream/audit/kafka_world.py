"""A real broker, read by consumers that join no group and commit nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError, TopicAuthorizationFailedError

from stream.audit.records import Record
from stream.audit.world import Bounds
from stream.engine.connection import Connection
from stream.engine.way_in import require_way_in
from stream.errors import CannotAudit, PublishFailed

CHUNK_RECORDS = 8_000
WAIT_MS = 300
# Markers of transactions move the position without a record, and a call that waits for records does not return for
# them. Every committed topic ends in a marker, so we look at the position often.
LOOK_MS = 20
RETRY_MS = 20
FETCH_BYTES = 4 << 20
STALL_SECONDS = 90.0
"""An open transaction ends after its producer's transaction.timeout.ms, by default 60 s; then reading goes on."""


class KafkaTopics:
    """Keeps the promises of `stream.audit.world.Topics`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def partitions(self, topic: str) -> Sequence[int]:
        with _reading(f"topic {topic}"):
            await require_way_in(self._connection)
            admin = AIOKafkaAdminClient(**self._connection.arguments())
            try:
                await admin.start()
                (described,) = await admin.describe_topics([topic])
            finally:
                await admin.close()
            if described["error_code"] == TopicAuthorizationFailedError.errno:
                raise TopicAuthorizationFailedError(topic)
        return sorted(int(part["partition"]) for part in described["partitions"])

    async def bounds(self, topic: str, partition: int) -> Bounds:
        part = TopicPartition(topic, partition)
        with _reading(_name(part)):
            async with self._reader(committed=True) as reader, self._reader(committed=False) as all_reader:
                first = await all_reader.beginning_offsets([part])
                stable = await reader.end_offsets([part])
                end = await all_reader.end_offsets([part])
        return Bounds(int(first[part]), int(stable[part]), int(end[part]))

    async def read(
        self, topic: str, partition: int, until: int, *, committed: bool, first: int = 0
    ) -> AsyncIterator[Sequence[Record]]:
        part = TopicPartition(topic, partition)
        if 0 < until <= first:
            return
        with _reading(_name(part)):
            async with self._reader(committed=committed) as reader:
                reader.assign([part])
                if first:
                    reader.seek(part, first)
                else:
                    await reader.seek_to_beginning(part)
                async for chunk in _chunks(reader, part, until):
                    yield [record for record in chunk if record.offset < until]

    async def count(self, topic: str, partition: int, until: int) -> tuple[int, bool]:
        part = TopicPartition(topic, partition)
        try:
            return await self._count(part, until), True
        except UnicodeDecodeError:
            # Loaded for this case alone: what audits shares no code with what it audits.
            from stream.engine.seams import as_blocks

            return await self._count(part, until, key_deserializer=as_blocks), False

    async def _count(self, part: TopicPartition, until: int, **options: Any) -> int:
        count = 0
        with _answering(_name(part)):
            async with self._reader(committed=True, **options) as reader:
                reader.assign([part])
                await reader.seek_to_beginning(part)
                async for records in _chunks(reader, part, until):
                    count += sum([record.offset < until for record in records])
        return count

    async def group_offsets(self, group: str, topic: str) -> Mapping[int, int] | None:
        admin = AIOKafkaAdminClient(**self._connection.arguments())
        try:
            await admin.start()
            found = await admin.list_consumer_group_offsets(group)
        except (KafkaError, OSError):
            return None
        finally:
            await admin.close()
        return {part.partition: int(at.offset) for part, at in found.items() if part.topic == topic and at.offset >= 0}

    @asynccontextmanager
    async def _reader(self, *, committed: bool, **options: Any) -> AsyncIterator[Any]:
        reader = AIOKafkaConsumer(
            **self._connection.arguments(),
            group_id=None,
            isolation_level="read_committed" if committed else "read_uncommitted",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=FETCH_BYTES,
            fetch_max_wait_ms=WAIT_MS,
            retry_backoff_ms=RETRY_MS,
            **options,
        )
        try:
            await reader.start()
            yield reader
        finally:
            await reader.stop()


async def _chunks(reader: Any, part: TopicPartition, until: int) -> AsyncIterator[Any]:
    """What each fetch gave; the last may go beyond `until`."""
    loop = asyncio.get_running_loop()
    position, moved = await reader.position(part), loop.time()
    while position < until:
        fetched = await reader.getmany(part, timeout_ms=LOOK_MS, max_records=CHUNK_RECORDS)
        now = await reader.position(part)
        if now == position and loop.time() - moved > STALL_SECONDS:
            raise CannotAudit(
                "A topic cannot be read to its end.",
                where=_name(part),
                why=f"nothing came after offset {position} of {until} for {STALL_SECONDS:g} s",
                fix="look for a producer with an open transaction in this topic, and audit again when it has ended",
            )
        if now > position:
            position, moved = now, loop.time()
        if part in fetched:
            yield fetched[part]


def _name(part: TopicPartition) -> str:
    return f"topic {part.topic}, partition {part.partition}"


@contextmanager
def _reading(where: str) -> Iterator[None]:
    try:
        with _answering(where):
            yield
    except UnicodeDecodeError:
        raise CannotAudit(
            "A record cannot be read.",
            where=where,
            why="a header has a name that is no text, and the pipeline writes none such",
            fix="let nobody but the pipeline write to this topic; delete the records before that one, and it, by hand",
        ) from None


@contextmanager
def _answering(where: str) -> Iterator[None]:
    """Only the kind of an error is passed on: a client's text may quote a record."""
    try:
        yield
    except TopicAuthorizationFailedError:
        fix = "give it the permissions that `sottovoce acls --for audit` prints for these settings"
        raise CannotAudit("The brokers forbid it.", where, "this login may not read the topic", fix) from None
    except (KafkaError, OSError, PublishFailed) as error:
        raise CannotAudit(
            "The brokers did not answer.",
            where=where,
            why=error.why if isinstance(error, PublishFailed) else type(error).__name__,
            fix="see whether the brokers are up, and whether this login may read the topic",
        ) from None
