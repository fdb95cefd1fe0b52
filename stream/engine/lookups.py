"""Questions to the brokers about offsets, over connections that stay open: each rebalance asks for every partition."""

import asyncio
from collections.abc import Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import GroupCoordinatorNotAvailableError, GroupLoadInProgressError, NotCoordinatorForGroupError

from stream.engine.connection import Connection
from stream.engine.failures import publishing

COORDINATOR_SECONDS = 30.0
RETRY_SECONDS = 0.02


class Lookups:
    """Start it before the first question and close it after the last."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._consumer: Any = None
        self._decided: Any = None
        self._admin: Any = None

    async def start(self) -> None:
        arguments = self._connection.arguments()
        # Not only committed records count here: see KafkaChangelog.
        self._consumer = AIOKafkaConsumer(
            **arguments, group_id=None, enable_auto_commit=False, retry_backoff_ms=int(RETRY_SECONDS * 1000)
        )
        self._decided = AIOKafkaConsumer(
            **arguments, group_id=None, enable_auto_commit=False, isolation_level="read_committed"
        )
        self._admin = AIOKafkaAdminClient(**arguments)
        with publishing("Connecting to the brokers", ",".join(self._connection.brokers)):
            await self._consumer.start()
            await self._decided.start()
            await self._admin.start()

    async def close(self) -> None:
        with publishing("Leaving the brokers", ",".join(self._connection.brokers)):
            await self._consumer.stop()
            await self._decided.stop()
            await self._admin.close()

    async def extent(self, part: TopicPartition) -> tuple[int, int]:
        """The first offset that still exists, and the offset after the last record, committed or not."""
        with publishing("Asking for the ends of a partition", f"topic {part.topic}, partition {part.partition}"):
            beginning = await self._consumer.beginning_offsets([part])
            end = await self._consumer.end_offsets([part])
        return int(beginning[part]), int(end[part])

    async def decided_ends(self, topic: str, partitions: Sequence[int]) -> dict[int, int]:
        """The offset after the last record that a reader of committed records may be given, of each partition."""
        with publishing("Asking for the ends of partitions", f"topic {topic}"):
            ends = await self._decided.end_offsets([TopicPartition(topic, partition) for partition in partitions])
        return {part.partition: int(end) for part, end in ends.items()}

    async def group_offset(self, group: str, part: TopicPartition) -> int | None:
        """The group's committed offset. A new cluster has no coordinator until it was asked for one."""
        with publishing("Asking for the group's offset", f"topic {part.topic}, partition {part.partition}"):
            async with asyncio.timeout(COORDINATOR_SECONDS):
                while True:
                    try:
                        found = await self._admin.list_consumer_group_offsets(group, partitions=[part])
                    except (GroupCoordinatorNotAvailableError, GroupLoadInProgressError, NotCoordinatorForGroupError):
                        await asyncio.sleep(RETRY_SECONDS)
                    else:
                        return int(found[part].offset) if part in found and found[part].offset >= 0 else None
