"""Keyed events that keep coming, thousands a second, with some that nobody can release; and how far commits are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from fault_kinds import Kind
from fault_recount import MARK

from stream.engine.connection import Connection
from stream.engine.lookups import Lookups
from stream.errors import PublishFailed

USERS = 200
EVENTS_A_SECOND = 3_000
ROUND_SECONDS = 0.05
BACKLOG_MAX = 6_000
"""So many events wait at most while nobody works: enough for several blocks of each partition, little to recount."""
MARKED_EVERY = 997
EVENT_MILLISECONDS = 10
"""Event time between two events of the pipeline: a user has one each two seconds."""
BEGAN_MILLISECONDS_AGO = 3_600_000
"""Not long ago: after a restart a broker forgets idempotent producers whose records bear times of yesterday, and writes
a repeated batch of theirs a second time."""
AWAY_SECONDS_MAX = 120.0
OPEN_SECONDS_MAX = 60.0

# What cannot be released, by the reason that the dead letter must name.
MARKED: tuple[tuple[bytes, bytes | None], ...] = (
    (b"outside_alphabet", b'{"activity": STRANGER, "n": 1}'),
    (b"not_json", b'{"activity": "still", "n": '),
    (b"field_missing", b'{"n": 1}'),
    (b"tombstone", None),
)


class Feeder:
    """Writes to the raw topic until told to stop; what it was told to write is acknowledged when `run` returns."""

    def __init__(self, broker: str, topic: str, partitions: int, seed: int, kind: Kind, events_a_second: int) -> None:
        self._broker = broker
        self._topic = topic
        self._partitions = partitions
        self._random = Random(seed)
        self._kind = kind
        self._a_round = int(events_a_second * ROUND_SECONDS)
        self._first_time = int(time.time() * 1000) - BEGAN_MILLISECONDS_AGO
        self.fed = 0

    async def run(self, stop: asyncio.Event, done: Callable[[], int], most: int) -> None:
        """At most `most` events in all, and never more than the backlog ahead of `done`."""
        async with self._producing() as producer:
            sending: list[asyncio.Future[Any]] = []
            while not stop.is_set() and self.fed < most:
                began = time.monotonic()
                room = min(BACKLOG_MAX - (self.fed - done()), most - self.fed)
                sending += await self._round(producer, max(0, min(room, self._a_round)))
                for finished in [future for future in sending if future.done()]:
                    finished.result()  # raises what went wrong, if anything did
                    sending.remove(finished)
                await asyncio.sleep(max(0.005, ROUND_SECONDS - (time.monotonic() - began)))
            await asyncio.gather(*sending)

    async def write(self, count: int) -> None:
        """Just so many, at once."""
        async with self._producing() as producer:
            await asyncio.gather(*await self._round(producer, count))

    @asynccontextmanager
    async def _producing(self) -> AsyncIterator[AIOKafkaProducer]:
        """Idempotent, so that what a broken connection repeats is one input and stays in order."""
        producer = AIOKafkaProducer(
            bootstrap_servers=self._broker,
            acks="all",
            enable_idempotence=True,
            retry_backoff_ms=50,
            request_timeout_ms=int(AWAY_SECONDS_MAX * 1000),
        )
        await producer.start()
        try:
            yield producer
        finally:
            await producer.stop()

    async def _round(self, producer: AIOKafkaProducer, count: int) -> list[asyncio.Future[Any]]:
        batches = [producer.create_batch() for _ in range(self._partitions)]
        sending = []
        for number in range(self.fed, self.fed + count):
            user, value, headers = self._event(number)
            home = user % self._partitions  # a user stays in one partition, as any keyed producer would have it
            record = {
                "key": b"user-%03d" % user,
                "value": value,
                "timestamp": self._first_time + number * EVENT_MILLISECONDS,
                "headers": headers,
            }
            if batches[home].append(**record) is None:
                sending.append(await self._send(producer, batches[home], home))
                batches[home] = producer.create_batch()
                batches[home].append(**record)
        for home, batch in enumerate(batches):
            if batch.record_count():
                sending.append(await self._send(producer, batch, home))
        self.fed += count
        return sending

    def _event(self, number: int) -> tuple[int, bytes | None, list[tuple[str, bytes]]]:
        user = self._random.randrange(USERS)
        if number % MARKED_EVERY == MARKED_EVERY - 1:
            reason, value = MARKED[number // MARKED_EVERY % len(MARKED)]
            known = value and value.replace(b"STRANGER", self._kind.stranger.encode())
            return user, known, [(MARK, reason)]
        text = f'{{"activity": {self._random.choice(self._kind.values)}, "n": {number}, "secret": "s"}}'
        return user, text.encode(), []

    async def _send(self, producer: AIOKafkaProducer, batch: Any, partition: int) -> asyncio.Future[Any]:
        batch.close()
        future: asyncio.Future[Any] = await producer.send_batch(batch, self._topic, partition=partition)
        return future


class Commits:
    """How far the pipeline's group has committed; while the broker is away it is where it was."""

    def __init__(self, broker: str, topic: str, partitions: int, group: str) -> None:
        self._lookups = Lookups(Connection((broker,)))
        self._parts = [TopicPartition(topic, number) for number in range(partitions)]
        self._group = group
        self.at = dict.fromkeys(range(partitions), 0)

    @property
    def total(self) -> int:
        return sum(self.at.values())

    async def __aenter__(self) -> Commits:
        await self._lookups.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._lookups.close()

    async def look(self) -> bool:
        """False when nobody answered."""
        try:
            for part in self._parts:
                self.at[part.partition] = await self._lookups.group_offset(self._group, part) or 0
        except (PublishFailed, TimeoutError):
            return False
        return True


async def decided(broker: str, parts: Sequence[TopicPartition]) -> None:
    """Returns when no transaction is open in these partitions: the group's offsets may be visible a moment before the
    records that were committed with them, and what a killed worker left open ends when its time is over."""
    ends = []
    async with AsyncExitStack() as readers:
        for level in ("read_committed", "read_uncommitted"):
            reader = AIOKafkaConsumer(bootstrap_servers=broker, isolation_level=level, enable_auto_commit=False)
            await reader.start()
            readers.push_async_callback(reader.stop)
            ends.append(reader.end_offsets)
        async with asyncio.timeout(OPEN_SECONDS_MAX):
            while await ends[0](parts) != await ends[1](parts):
                await asyncio.sleep(0.05)
