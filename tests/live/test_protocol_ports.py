"""The ports on a real broker: fencing, aborted tails, failed batches, ids of topics, and what topics must allow."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from broker import Broker
from live_kafka import consume_all, create_topic, delete_topics, produce

from stream.engine.changelog import KafkaChangelog, KafkaSource
from stream.engine.connection import Connection
from stream.engine.lookups import Lookups
from stream.engine.plan import Plan
from stream.engine.producer import KafkaProducer
from stream.engine.topics import facts_of, prepare_topics
from stream.errors import Fenced, PublishFailed, StateRefused
from stream.protocol.ports import ChangelogChunk, Outgoing
from stream.protocol.publish import Topics

pytestmark = pytest.mark.live


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


@pytest.fixture
async def place(broker: Broker) -> AsyncIterator[Place]:
    name = f"ports-{uuid.uuid4().hex[:8]}"
    connection = Connection((broker.bootstrap,))
    topics = Topics(f"{name}-raw", f"{name}-released", f"{name}-dead", f"{name}-beliefs-changelog")
    await create_topic(broker.bootstrap, topics.raw, partitions=2)
    lookups = Lookups(connection)
    await lookups.start()
    made = Place(connection, lookups, name, topics, 2)
    await prepare_topics(made.plan())
    yield made
    await lookups.close()
    there = await facts_of(connection, [topics.raw, topics.released, topics.dead_letters, topics.changelog])
    await delete_topics(broker.bootstrap, list(there))


@asynccontextmanager
async def started(producer: KafkaProducer) -> AsyncIterator[KafkaProducer]:
    try:
        await producer.start()
        yield producer
    finally:
        await producer.stop()


def records(*values: bytes) -> list[Outgoing]:
    return [Outgoing(b"k", value, 1_000, [("h", b"1")]) for value in values]


async def test_a_transaction_reaches_every_topic_and_the_group_at_once(place: Place) -> None:
    async with started(place.producer()) as producer:
        await producer.begin()
        await producer.send(place.topics.released, records(b"r1", b"r2"))
        await producer.send(place.topics.dead_letters, [Outgoing(None, b"d", 1_000)])
        await producer.send(place.topics.changelog, [Outgoing(b"uann", b"row", 1_000)])
        await producer.send_offset(7)
        assert await place.values(place.topics.released) == []
        assert await place.source.committed(1) is None
        ends = await producer.commit()
    assert ends == {place.topics.released: 2, place.topics.dead_letters: 1, place.topics.changelog: 1}
    assert await place.holds(place.topics.released, [b"r1", b"r2"])
    assert await place.holds(place.topics.dead_letters, [b"d"])
    assert await place.source.committed(1) == 7
    assert await place.source.committed(0) is None


async def test_a_block_that_needs_several_batches_keeps_its_order(place: Place) -> None:
    values = [b"%06d" % n + b"x" * 100 for n in range(3_000)]
    async with started(place.producer(batch_bytes=20_000)) as producer:
        await producer.begin()
        await producer.send(place.topics.released, records(*values))
        await producer.send_offset(1)
        assert (await producer.commit())[place.topics.released] == 3_000
    assert await place.holds(place.topics.released, values)


async def test_a_batch_that_fails_keeps_the_transaction_from_committing(place: Place) -> None:
    """The library would commit what is left of it."""
    async with started(place.producer(batch_bytes=4_000_000)) as producer:
        await producer.begin()
        await producer.send(place.topics.released, records(b"small"))
        await producer.send(place.topics.changelog, [Outgoing(b"uann", b"x" * 2_000_000, 1_000)])
        await producer.send_offset(1)
        with pytest.raises(PublishFailed):
            await producer.commit()
        await producer.abort()
    assert await place.values(place.topics.released) == []
    assert await place.source.committed(1) is None


FENCED_AT: list[Callable[[KafkaProducer, Place], Awaitable[object]]] = [
    lambda producer, place: producer.send(place.topics.released, records(b"late")),
    lambda producer, _: producer.send_offset(99),
    lambda producer, _: producer.begin(),
]


@pytest.mark.parametrize("late", FENCED_AT[:2])
async def test_an_older_producer_is_fenced_in_the_middle_of_its_transaction(
    place: Place, late: Callable[[KafkaProducer, Place], Awaitable[object]]
) -> None:
    async with started(place.producer()) as zombie:
        await zombie.begin()
        await zombie.send(place.topics.released, records(b"early"))
        await zombie.send_offset(1)
        async with started(place.producer()):
            await late(zombie, place)
            with pytest.raises(Fenced):
                await zombie.commit()
            assert await place.values(place.topics.released) == []
            assert await place.source.committed(1) is None


async def test_starting_ends_what_the_predecessor_left_open(place: Place) -> None:
    """Otherwise readers of committed records would wait for it until its time is over."""
    async with started(place.producer()) as first:
        await first.begin()
        await first.send(place.topics.changelog, [Outgoing(b"uann", b"torn", 1_000)])
        await first.send_offset(5)
        async with started(place.producer()) as second:
            await second.begin()
            await second.send(place.topics.changelog, [Outgoing(b"uann", b"whole", 1_000)])
            await second.send_offset(6)
            await second.commit()
            with pytest.raises(Fenced):
                await first.commit()
    pairs = [pair for chunk in await place.changelog() for pair in chunk.pairs]
    assert pairs == [(b"uann", b"whole")]
    assert await place.source.committed(1) == 6


async def test_the_changelog_is_read_to_its_end_though_it_ends_in_aborted_records(place: Place) -> None:
    async with started(place.producer()) as producer:
        for number in range(3):
            await producer.begin()
            await producer.send(place.topics.changelog, [Outgoing(b"uann", b"%d" % number, 1_000)])
            await producer.send_offset(number)
            await producer.commit()
        await producer.begin()
        await producer.send(place.topics.changelog, [Outgoing(b"uann", b"aborted", 1_000)] * 50)
        await producer.abort()
    _, end = await place.lookups.extent(TopicPartition(place.topics.changelog, 1))
    chunks = await place.changelog()
    assert [pair for chunk in chunks for pair in chunk.pairs] == [(b"uann", b"%d" % n) for n in range(3)]
    assert (chunks[-1].position, chunks[-1].end) == (end, end)
    assert end >= 54
    assert await place.changelog(after=end) == []
    later = await place.changelog(after=3)
    assert [pair for chunk in later for pair in chunk.pairs] == [(b"uann", b"2")]


async def test_a_store_that_is_ahead_of_the_changelog_is_an_error(place: Place) -> None:
    with pytest.raises(PublishFailed, match="ends before"):
        await place.changelog(after=10)


async def test_markers_behind_the_last_record_do_not_hide_that_nothing_waits(place: Place, broker: Broker) -> None:
    assert await place.source.drained(1, 0)
    async with started(replace_topic(place)) as upstream:
        await upstream.begin()
        await upstream.send(place.topics.raw, records(b"event"))
        await upstream.commit()
    assert not await place.source.drained(1, 0)
    assert await place.source.drained(1, 1)
    await produce(broker.bootstrap, place.topics.raw, [(b"k", b"more")], partition=1)
    assert not await place.source.drained(1, 1)


def replace_topic(place: Place) -> KafkaProducer:
    """A transactional producer of raw events, as an upstream with transactions has one."""
    return KafkaProducer(
        place.connection, pipeline="upstream", raw_topic=place.topics.raw, partition=1, topics=(place.topics.raw,),
        batch_bytes=10_000,
    )  # fmt: skip


async def test_a_topic_that_is_made_again_has_another_id(place: Place, broker: Broker) -> None:
    name = place.topics.raw
    before = (await facts_of(place.connection, [name, "no-such-topic"]))[name]
    await delete_topics(broker.bootstrap, [name])
    await create_topic(broker.bootstrap, name, partitions=2)
    after = (await facts_of(place.connection, [name]))[name]
    assert before.id != after.id
    assert (before.partitions, after.partitions) == (2, 2)


async def test_topics_are_made_with_the_raw_topics_partitions_and_can_hold_any_time(place: Place) -> None:
    facts = await facts_of(place.connection, [place.topics.released, place.topics.changelog, place.topics.dead_letters])
    assert {one.partitions for one in facts.values()} == {2}
    async with started(place.producer()) as producer:
        await producer.begin()
        await producer.send(place.topics.released, [Outgoing(b"k", b"year 2100", 4_102_444_800_000)])
        await producer.send_offset(1)
        await producer.commit()
    assert await place.holds(place.topics.released, [b"year 2100"])


async def test_a_missing_raw_topic_is_refused_and_not_made(place: Place) -> None:
    missing = replace(place.topics, raw=f"{place.pipeline}-nowhere")
    with pytest.raises(StateRefused, match="does not exist"):
        await prepare_topics(replace(place.plan(), topics=missing))
    assert await facts_of(place.connection, [missing.raw]) == {}


async def test_another_partition_count_is_refused(place: Place, broker: Broker) -> None:
    odd = f"{place.pipeline}-odd"
    await create_topic(broker.bootstrap, odd, partitions=3)
    with pytest.raises(StateRefused, match="has 3 partitions"):
        await prepare_topics(replace(place.plan(), topics=replace(place.topics, released=odd)))
    await delete_topics(broker.bootstrap, [odd])


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"message.timestamp.after.max.ms": "3600000"}, "message.timestamp.after.max.ms"),
        ({"max.message.bytes": "1000", "message.timestamp.after.max.ms": str(2**63 - 1)}, "max.message.bytes"),
    ],
)
async def test_a_topic_that_would_stop_a_partition_one_day_is_refused_at_start(
    place: Place, broker: Broker, settings: dict[str, str], what: str
) -> None:
    tight = f"{place.pipeline}-tight"
    await create_topic(broker.bootstrap, tight, partitions=2, settings=settings)
    with pytest.raises(StateRefused, match=what) as refused:
        await prepare_topics(replace(place.plan(), topics=replace(place.topics, released=tight)))
    assert "kafka-configs.sh" in refused.value.fix
    await delete_topics(broker.bootstrap, [tight])


async def test_a_changelog_that_forgets_is_refused(place: Place, broker: Broker) -> None:
    forgetful = f"{place.pipeline}-forgetful"
    await create_topic(
        broker.bootstrap, forgetful, partitions=2, settings={"message.timestamp.after.max.ms": str(2**63 - 1)}
    )
    with pytest.raises(StateRefused, match=r"cleanup\.policy"):
        await prepare_topics(replace(place.plan(), topics=replace(place.topics, changelog=forgetful)))
    await delete_topics(broker.bootstrap, [forgetful])


async def test_brokers_that_are_away_are_a_failure_and_no_refusal(place: Place) -> None:
    nowhere = replace(place.plan(), connection=Connection(("127.0.0.1:1",)))
    with pytest.raises(PublishFailed):
        await prepare_topics(nowhere)


async def test_a_group_is_known_on_a_broker_that_never_had_one(place: Place) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=place.connection.brokers[0])
    await admin.start()
    await admin.close()
    assert await place.lookups.group_offset(f"{place.pipeline}-new", TopicPartition(place.topics.raw, 0)) is None
