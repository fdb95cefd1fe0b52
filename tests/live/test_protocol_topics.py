"""The topics of a pipeline on a real broker: what is made, what is refused, and why."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from broker import Broker
from live_kafka import consume_all, create_topic, delete_topics
from live_place import Place, a_place, started

from stream.engine.connection import Connection
from stream.engine.producer import KafkaProducer
from stream.engine.topics import ANY_TIME, TIME_LIMIT, facts_of, prepare_topics
from stream.errors import PublishFailed, StateRefused
from stream.protocol.columns import RecordBlock
from stream.protocol.ports import Outgoing

pytestmark = pytest.mark.live


@pytest.fixture
async def place(broker: Broker) -> AsyncIterator[Place]:
    async with a_place(broker.bootstrap) as made:
        yield made


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


async def test_where_the_order_of_records_is_a_clock_the_brokers_time_counts(place: Place, broker: Broker) -> None:
    """So the topic is made, and refused where it has been made otherwise; other topics keep the time they are given."""
    stamped, plain = f"{place.pipeline}-stamped", f"{place.pipeline}-plain"
    plan = replace(place.plan(), topics=replace(place.topics, released=stamped), stamped=frozenset({stamped}))
    await prepare_topics(plan)
    await prepare_topics(plan)
    topics = (stamped, place.topics.dead_letters)
    producer = KafkaProducer(
        place.connection,
        pipeline=place.pipeline,
        raw_topic=place.topics.raw,
        partition=0,
        topics=topics,
        batch_bytes=100_000,
    )
    async with started(producer):
        await producer.begin()
        for topic in topics:
            await producer.send(topic, RecordBlock.of([Outgoing(None, b"once", 1_000)]))
        await producer.send_offset(1)
        await producer.commit()
    times = [(await consume_all(broker.bootstrap, topic))[0].timestamp for topic in topics]
    assert times[0] > 1_700_000_000_000
    assert times[1] == 1_000
    await create_topic(broker.bootstrap, plain, partitions=2, settings={TIME_LIMIT: ANY_TIME})
    other = replace(plan, topics=replace(place.topics, released=plain), stamped=frozenset({plain}))
    with pytest.raises(StateRefused, match=r"message\.timestamp\.type=CreateTime, it must be LogAppendTime"):
        await prepare_topics(other)


async def test_a_topic_where_all_partitions_meet_has_one(place: Place, broker: Broker) -> None:
    """It is made with one, written to from partition 1 of the raw topic, and refused where it has more."""
    meeting, wide = f"{place.pipeline}-meeting", f"{place.pipeline}-wide"
    plan = replace(place.plan(), topics=replace(place.topics, released=meeting), single=frozenset({meeting}))
    await prepare_topics(plan)
    assert (await facts_of(place.connection, [meeting]))[meeting].partitions == 1
    topics = (meeting, place.topics.changelog)
    producer = KafkaProducer(
        place.connection,
        pipeline=place.pipeline,
        raw_topic=place.topics.raw,
        partition=1,
        topics=topics,
        batch_bytes=100_000,
        single={meeting},
    )
    async with started(producer):
        await producer.begin()
        await producer.send(meeting, [Outgoing(b"k", b"here", 1_000)])
        await producer.send(place.topics.changelog, RecordBlock.of([Outgoing(b"hk", None, 1_000)]))
        await producer.send_offset(1)
        await producer.commit()
    assert await place.holds(meeting, [b"here"])
    (over,) = (chunk.pairs for chunk in await place.changelog() if chunk.pairs)
    assert over == [(b"hk", None)]
    await create_topic(broker.bootstrap, wide, partitions=4, settings={TIME_LIMIT: ANY_TIME})
    refused = replace(plan, topics=replace(plan.topics, released=wide), single=frozenset({wide}))
    with pytest.raises(StateRefused, match="has 4 partitions, and it must have one"):
        await prepare_topics(refused)
    await prepare_topics(replace(plan, topics=replace(plan.topics, dead_letters=wide), elsewhere=frozenset({wide})))
    await delete_topics(broker.bootstrap, [meeting, wide])


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
