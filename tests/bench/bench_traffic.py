"""The telemetry every contestant reads: users who move along a known chain, one JSON object of about 60 bytes each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from aiokafka import AIOKafkaProducer
from aiokafka.partitioner import DefaultPartitioner
from bench_broker import PARTITIONS

BATCH_BYTES = 512 * 1024
# 16 batches of 512 KiB are 8 MiB on their way to one partition: enough to keep the broker busy, little to hold.
BATCHES_IN_FLIGHT = 16
TEN_ACTIVITIES = ("still", "walking", "running", "cycling", "driving", "bus", "train", "tram", "ferry", "stairs")
STAY = 0.8

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Alphabet:
    """The values of the protected field: categories (strings) or whole numbers 0 .. size - 1."""

    size: int

    @property
    def values(self) -> list[str | int]:
        if self.size <= len(TEN_ACTIVITIES):
            return list(TEN_ACTIVITIES[: self.size])
        return list(range(self.size))

    @property
    def json_texts(self) -> list[str]:
        return [f'"{value}"' if isinstance(value, str) else str(value) for value in self.values]

    def transitions(self) -> npt.NDArray[np.float64]:
        """A dense chain: a user stays with probability 0.8, else moves, the nearer the value the likelier."""
        index = np.arange(self.size)
        weights = 1.0 / (1.0 + np.abs(index[:, None] - index[None, :]))
        np.fill_diagonal(weights, 0.0)
        rows = weights * ((1.0 - STAY) / weights.sum(axis=1, keepdims=True))
        np.fill_diagonal(rows, STAY)
        return np.asarray(rows, dtype=np.float64)


@dataclass(frozen=True)
class Traffic:
    """For every event in order: the number of its user and the index of its value; and the values as JSON."""

    texts: Sequence[str]
    users: Integers
    values: Integers


@dataclass(frozen=True)
class Load:
    """Events of another kind than those of an `Alphabet`: how many there are, and of how many users."""

    name: str
    events: int
    users: int
    draw: Callable[[int], Traffic]


def draw_traffic(alphabet: Alphabet, events: int, user_count: int, seed: int = 7) -> Traffic:
    generator = np.random.default_rng(seed)
    users = generator.integers(0, user_count, events)
    order = np.argsort(users, kind="stable")
    counts = np.bincount(users, minlength=user_count)
    turn = np.empty(events, dtype=np.int64)  # how many events of the same user came before this one
    turn[order] = np.arange(events) - np.repeat(np.cumsum(counts) - counts, counts)
    cumulative = np.cumsum(alphabet.transitions(), axis=1)
    now = generator.integers(0, alphabet.size, user_count)
    values = np.empty(events, dtype=np.int64)
    by_turn = np.argsort(turn, kind="stable")
    ends = np.cumsum(np.bincount(turn))
    begin = 0
    for end in ends:
        events_of_turn = by_turn[begin:end]
        movers = users[events_of_turn]
        draws = generator.random(movers.size)
        moved = (cumulative[now[movers]] < draws[:, None]).sum(axis=1)
        now[movers] = np.minimum(moved, alphabet.size - 1)
        values[events_of_turn] = now[movers]
        begin = int(end)
    return Traffic(alphabet.json_texts, users, values)


def user_key(number: int) -> bytes:
    return b"user-%06d" % number


def partition_of_users(user_count: int) -> Integers:
    """Where Kafka's own partitioner puts each key, so that the topic is as a client would have filled it."""
    partitioner = DefaultPartitioner()
    everywhere = list(range(PARTITIONS))
    return np.array([partitioner(user_key(user), everywhere, everywhere) for user in range(user_count)])


def records_of(traffic: Traffic, chosen: Integers) -> Iterator[tuple[bytes, bytes]]:
    texts = traffic.texts
    users, values = traffic.users[chosen].tolist(), traffic.values[chosen].tolist()
    for number, user, value in zip(chosen.tolist(), users, values, strict=True):
        battery = 100 - number % 97
        yield (
            b"user-%06d" % user,
            b'{"activity":%b,"battery":%d,"place":"c%04d","steps":%d}'
            % (texts[value].encode(), battery, user, number % 20000),
        )


async def fill(bootstrap: str, topic: str, traffic: Traffic, user_count: int, progress: Callable[[int], None]) -> None:
    """Write the whole traffic, partition after partition, in batches built by hand. Events are 1 ms apart."""
    homes = partition_of_users(user_count)[traffic.users]
    first_timestamp = int(time.time() * 1000) - traffic.users.size
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, max_batch_size=BATCH_BYTES, acks="all")
    await producer.start()
    try:
        for partition in range(PARTITIONS):
            chosen = np.flatnonzero(homes == partition)
            await _fill_partition(producer, topic, partition, traffic, chosen, first_timestamp, progress)
    finally:
        await producer.stop()


async def _fill_partition(
    producer: AIOKafkaProducer,
    topic: str,
    partition: int,
    traffic: Traffic,
    chosen: Integers,
    first_timestamp: int,
    progress: Callable[[int], None],
) -> None:
    batch = producer.create_batch()
    pending = []
    appended = 0
    timestamps = (chosen + first_timestamp).tolist()
    for timestamp, (key, value) in zip(timestamps, records_of(traffic, chosen), strict=True):
        if batch.append(key=key, value=value, timestamp=timestamp) is None:
            pending.append(await producer.send_batch(batch, topic, partition=partition))
            progress(appended)
            appended = 0
            if len(pending) >= BATCHES_IN_FLIGHT:
                await pending.pop(0)
            batch = producer.create_batch()
            batch.append(key=key, value=value, timestamp=timestamp)
        appended += 1
    pending.append(await producer.send_batch(batch, topic, partition=partition))
    for delivered in pending:
        await delivered
    progress(appended)
