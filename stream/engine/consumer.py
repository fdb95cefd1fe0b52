"""Faust's consumer, taught three things: blocks for records, no fetch for a full lane, no word about offsets.

Offsets of the raw topic travel in the lanes' transactions. Faust would commit past offsets that nobody has carried out
(`_new_offset`), and counts a block's own offset twice as a gap (`_add_gap`); so the raw topic is taken out of that
arithmetic.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from stream.engine.blocks import Continuity
from stream.engine.gate import Gate, gate_of
from stream.engine.seams import as_blocks, high_watermark, positions
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Block

# A fetch waits at the broker until there is something, at most this long. A partition whose records have just been
# taken is not in a fetch that is under way, so this bounds how long its next record may wait behind an idle partition.
FETCH_WAIT_MS = 50
# A partition without room is looked at again after this time; its lane holds tens of milliseconds of work meanwhile.
ROOM_WAIT_SECONDS = 0.01
FETCH_BYTES = 1 << 20
FETCH_RECORDS = 8_000
# Three heartbeats may be lost before the session of 10 s is over.
HEARTBEAT_PARTS = 4
REBALANCE_TIMEOUT_MS = 60_000
REQUEST_TIMEOUT_MS = 30_000


class FetchThread(driver.AIOKafkaConsumerThread):
    """The thread that fetches; it has an event loop of its own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._continuity = Continuity()

    @property
    def gate(self) -> Gate:
        return gate_of(self.app)

    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:  # noqa: ARG002 Faust's signature
        """As Faust's, but every setting that matters to latency, safety and secrecy is ours and not a default."""
        plan = self.gate.plan
        self._assignor = self.app.assignor
        return AIOKafkaConsumer(
            **plan.connection.arguments(),
            group_id=plan.pipeline,
            group_instance_id=plan.instance_id,
            partition_assignment_strategy=[self._assignor],
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            key_deserializer=as_blocks,
            fetch_max_wait_ms=FETCH_WAIT_MS,
            max_partition_fetch_bytes=max(FETCH_BYTES, plan.fetch_bytes),
            max_poll_records=FETCH_RECORDS,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            session_timeout_ms=plan.session_timeout_ms,
            heartbeat_interval_ms=plan.session_timeout_ms // HEARTBEAT_PARTS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            max_poll_interval_ms=10 * REBALANCE_TIMEOUT_MS,
        )

    async def _fetch_records(
        self,
        consumer: AIOKafkaConsumer,
        active_partitions: set[TP],
        timeout: float | None = None,  # noqa: ASYNC109 Faust's signature
        max_records: int | None = None,
    ) -> dict[TP, Any]:
        takes = {part for part in active_partitions if self.gate.has_room(part.partition)}
        if not takes:
            await asyncio.sleep(ROOM_WAIT_SECONDS)
            return {}
        if len(takes) < len(active_partitions):
            timeout = ROOM_WAIT_SECONDS
        self._continuity.before(positions(consumer, takes))
        fetched: Mapping[TP, Any] = await super()._fetch_records(
            consumer, takes, timeout=timeout, max_records=max_records
        )
        after = positions(consumer, takes)
        blocks: dict[TP, Any] = {
            part: self._block(consumer, part, records, after) for part, records in fetched.items() if part in after
        }
        self._continuity.after(after)
        self.gate.nothing.update({part.partition: self._continuity.nothing(part) for part in after})
        return blocks

    def _block(self, consumer: Any, part: TP, records: InputBlock, after: Mapping[TP, int]) -> Block:
        end = after[part]
        return self._continuity.block(part, records, end, high_watermark(consumer, part, end))

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """A partition without a committed offset is sought to its first record; aiokafka would leave it as it is."""
        committed: Mapping[TP, int] = await self.call_thread(self._seek_to_committed)
        return committed

    async def _seek_to_committed(self) -> Mapping[TP, int]:
        consumer = self._ensure_consumer()
        source = [part for part in consumer.assignment() if part.topic == self.gate.plan.topics.raw]
        if not source:
            return {}
        committed: Mapping[TP, int] = await consumer.seek_to_committed(*source)
        new = [part for part, offset in committed.items() if not offset]
        if new:
            await consumer.seek_to_beginning(*new)
        return committed

    async def rest_changelog(self) -> None:
        """Nobody reads the changelog through this consumer, so it shall not be fetched either."""
        await self.call_thread(self._rest_changelog)

    async def _rest_changelog(self) -> None:
        consumer = self._ensure_consumer()
        consumer.pause(*[part for part in consumer.assignment() if part.topic != self.gate.plan.topics.raw])


class BlockConsumer(driver.Consumer):
    """Runs in the main thread."""

    _thread: FetchThread

    def _new_consumer_thread(self) -> FetchThread:
        return FetchThread(self, loop=self.loop, beacon=self.beacon)

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        await gate_of(self.app).revoked()
        await super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        gate_of(self.app).assigned({part.partition for part in assigned if self._is_source(part)})
        await self._thread.rest_changelog()
        await super().on_partitions_assigned(assigned, generation_id)

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        if not self._is_source(tp):
            await super()._add_gap(tp, offset_from, offset_to)

    def _new_offset(self, tp: TP) -> int | None:
        if not self._is_source(tp):
            offset: int | None = super()._new_offset(tp)
            return offset
        self._acked[tp].clear()
        self._acked_index[tp].clear()
        return None

    def _is_source(self, part: TP) -> bool:
        return part.topic == gate_of(self.app).plan.topics.raw


class Transport(driver.Transport):
    Consumer = BlockConsumer
