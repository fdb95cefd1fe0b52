"""The ports on a real broker: fencing, aborted tails, failed batches, and offsets that no record stands behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiokafka import TopicPartition
from broker import Broker
from live_kafka import produce
from live_place import Place, a_place, records, started

from stream.engine.producer import KafkaProducer
from stream.errors import Fenced, PublishFailed
from stream.protocol.ports import Outgoing

pytestmark = pytest.mark.live


@pytest.fixture
async def place(broker: Broker) -> AsyncIterator[Place]:
    async with a_place(broker.bootstrap) as made:
        yield made


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


Late = Callable[[KafkaProducer, Place], Awaitable[object]]
FENCED_AT: list[Late] = [
    lambda producer, place: producer.send(place.topics.released, records(b"late")),
    lambda producer, _: producer.send_offset(99),
    lambda producer, _: producer.begin(),
]


@pytest.mark.parametrize("late", FENCED_AT[:2])
async def test_an_older_producer_is_fenced_in_the_middle_of_its_transaction(place: Place, late: Late) -> None:
    async with started(place.producer()) as zombie:
        await zombie.begin()
        await zombie.send(place.topics.released, records(b"early"))
        await zombie.send_offset(1)
        async with started(place.producer()):
            with pytest.raises(Fenced):
                await _late_and_commit(zombie, place, late)
            assert await place.values(place.topics.released) == []
            assert await place.source.committed(1) is None


async def _late_and_commit(zombie: KafkaProducer, place: Place, late: Late) -> None:
    """Either of the two may be the one that notices."""
    await late(zombie, place)
    await zombie.commit()


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


async def test_a_group_that_never_committed_stands_nowhere(place: Place) -> None:
    assert await place.lookups.group_offset(f"{place.pipeline}-new", TopicPartition(place.topics.raw, 0)) is None
