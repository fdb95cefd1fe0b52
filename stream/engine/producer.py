"""The transactional producer of one source partition: whole blocks as hand-built batches, one transaction at a time.

A transaction costs round trips, not bytes, so they overlap where nothing is lost: all batches are handed over first,
the offset travels beside them, and `commit` waits for every one of them before it asks for the end. It must wait
itself: the library commits a transaction although one of its batches has failed.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import IllegalOperation

from stream.engine.batches import encode
from stream.engine.connection import Connection
from stream.engine.failures import publishing
from stream.engine.seams import ReadyBatch, shorten_wait_between_transactions
from stream.errors import PublishFailed
from stream.names import TRANSACTIONAL_ID_PREFIX
from stream.protocol.columns import RecordBlock
from stream.protocol.ports import Outgoing

# The brokers end a transaction of a worker that fell silent after this time, so that readers of committed records do
# not wait for it. It is longer than a lane waits for a transaction, so that it is the lane that gives up first.
TRANSACTION_TIMEOUT_MS = 15_000
# The library's default of 100 would be the latency of a block whenever the brokers answer "not yet".
RETRY_BACKOFF_MS = 5
REQUEST_TIMEOUT_MS = 8_000


def transactional_id(pipeline: str, partition: int) -> str:
    """One id for each source partition: starting a producer with it fences whoever had the partition before."""
    return f"{TRANSACTIONAL_ID_PREFIX}-{pipeline}-{partition}"


class KafkaProducer:
    """Keeps the promises of `stream.protocol.ports.Producer`. Topics in `single` have one partition, which is written
    to whatever partition the input came from.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        pipeline: str,
        raw_topic: str,
        partition: int,
        topics: Sequence[str],
        batch_bytes: int,
        single: Collection[str] = (),
    ) -> None:
        self._connection = connection
        self._group = pipeline
        self._source = TopicPartition(raw_topic, partition)
        self._partition = partition
        self._topics = topics
        self._single = frozenset(single)
        self._batch_bytes = batch_bytes
        self._where = f"topic {raw_topic}, partition {partition}"
        self._producer: AIOKafkaProducer | None = None
        self._underway: list[asyncio.Future[Any]] = []
        self._last_batches: dict[str, tuple[asyncio.Future[Any], int]] = {}
        self._committing = False

    async def start(self) -> None:
        shorten_wait_between_transactions()
        producer = AIOKafkaProducer(
            **self._connection.arguments(),
            transactional_id=transactional_id(self._group, self._partition),
            transaction_timeout_ms=TRANSACTION_TIMEOUT_MS,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            retry_backoff_ms=RETRY_BACKOFF_MS,
            max_batch_size=self._batch_bytes,
            linger_ms=0,
            acks="all",
        )
        self._producer = producer
        with publishing("Starting the partition's producer", self._where):
            await producer.start()
            for topic in self._topics:
                await producer.partitions_for(topic)

    async def begin(self) -> None:
        self._underway, self._last_batches, self._committing = [], {}, False
        with publishing("Beginning a transaction", self._where):
            await self._running().begin_transaction()

    async def send(self, topic: str, records: Sequence[Outgoing]) -> None:
        with publishing(f"Writing to topic {topic}", self._where):
            if isinstance(records, RecordBlock) and records.extra is None:
                for batch in encode(records, self._batch_bytes):
                    await self._hand_over(topic, ReadyBatch(batch))
            else:
                await self._send_one_by_one(topic, records)

    async def _send_one_by_one(self, topic: str, records: Sequence[Outgoing]) -> None:
        producer = self._running()
        batch = producer.create_batch()
        for key, value, timestamp, headers in records:
            listed = headers if type(headers) is list else list(headers)
            if batch.append(key=key, value=value, timestamp=timestamp, headers=listed) is None:
                await self._hand_over(topic, batch)
                batch = producer.create_batch()
                batch.append(key=key, value=value, timestamp=timestamp, headers=listed)
        await self._hand_over(topic, batch)

    async def send_offset(self, next_offset: int) -> None:
        sending = self._running().send_offsets_to_transaction({self._source: next_offset}, self._group)
        self._underway.append(asyncio.ensure_future(sending))

    async def commit(self) -> Mapping[str, int]:
        with publishing("Writing a transaction", self._where):
            await asyncio.gather(*self._underway)
        ends = {topic: future.result().offset + count for topic, (future, count) in self._last_batches.items()}
        self._committing = True
        with publishing("Committing a transaction", self._where):
            await self._running().commit_transaction()
        return ends

    async def abort(self) -> None:
        for future in self._underway:
            future.cancel()
        if self._producer is None or self._committing:
            return
        with publishing("Aborting a transaction", self._where):
            await self._producer.abort_transaction()

    async def stop(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            with publishing("Stopping the partition's producer", self._where):
                await producer.stop()

    async def _hand_over(self, topic: str, batch: Any) -> None:
        batch.close()
        partition = 0 if topic in self._single else self._partition
        try:
            future = await self._running().send_batch(batch, topic, partition=partition)
        except IllegalOperation:
            await asyncio.gather(*self._underway)  # what failed before this says why the transaction is over
            raise
        self._underway.append(future)
        self._last_batches[topic] = (future, batch.record_count())

    def _running(self) -> AIOKafkaProducer:
        if self._producer is None:
            raise PublishFailed("The partition's producer is not running.", where=self._where)
        return self._producer
