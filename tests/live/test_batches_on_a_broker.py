"""Encoded batches in transactions of a real broker: what was in the block is read back, however it was split."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
import pytest
from broker import Broker
from conftest import NewTopic
from live_kafka import consume_all

from stream.engine.connection import Connection
from stream.engine.producer import KafkaProducer
from stream.protocol.columns import RecordBlock
from stream.protocol.ports import Outgoing
from stream.protocol.texts import Texts

pytestmark = pytest.mark.live
COUNT = 300
FIRST_TIME = 1_700_000_000_000


def block_of(count: int) -> RecordBlock:
    numbers = [b"%d" % i for i in range(count)]
    return RecordBlock(
        keys=Texts.of([b"user-" + number for number in numbers]),
        values=Texts.of([b'{"place":' + number * (1 + i % 7) + b"}" for i, number in enumerate(numbers)]),
        timestamps=FIRST_TIME + np.arange(count, dtype=np.int64) * 1_000 % 7_001,
        header_names=(b"policy", b"step", b"outcome"),
        header_values=(b"1:0a1b2c3d", Texts.of(numbers), b"forecast"),
        header_masks=(None, None, (np.arange(count) % 10 == 0).astype(np.int8)),
    )


def with_extra(block: RecordBlock) -> RecordBlock:
    extra = [[("trace", b"%d" % i)] for i in range(len(block))]
    return RecordBlock(block.keys, block.values, block.timestamps, extra=extra)


@pytest.fixture(params=[1 << 20, 2_000], ids=["whole", "split"])
async def producer(request: Any, broker: Broker, new_topic: NewTopic) -> AsyncIterator[tuple[KafkaProducer, str]]:
    raw, topic = await new_topic("raw", partitions=1), await new_topic("released", partitions=1)
    made = KafkaProducer(
        Connection(brokers=(broker.bootstrap,)),
        pipeline=topic,
        raw_topic=raw,
        partition=0,
        topics=[topic],
        batch_bytes=request.param,
    )
    await made.start()
    yield made, topic
    await made.stop()


def seen(records: Sequence[Any]) -> list[Outgoing]:
    return [Outgoing(record.key, record.value, record.timestamp, list(record.headers)) for record in records]


async def read_committed(broker: Broker, topic: str, count: int) -> list[Any]:
    """What is committed, once it is `count` records: a commit is answered before its marker is in the partition."""
    while len(records := await consume_all(broker.bootstrap, topic)) < count:
        pass
    return records


async def write(producer: KafkaProducer, topic: str, block: RecordBlock) -> int:
    await producer.begin()
    await producer.send(topic, block)
    return (await producer.commit())[topic]


async def test_a_committed_block_is_read_back_and_an_aborted_one_is_not(
    broker: Broker, producer: tuple[KafkaProducer, str]
) -> None:
    sender, topic = producer
    end = await write(sender, topic, block_of(COUNT))
    await sender.begin()
    await sender.send(topic, block_of(COUNT))
    await sender.abort()
    second_end = await write(sender, topic, with_extra(block_of(COUNT)))
    third_end = await write(sender, topic, block_of(5))
    expected = [*block_of(COUNT), *with_extra(block_of(COUNT)), *block_of(5)]
    records = await read_committed(broker, topic, len(expected))
    assert seen(records) == expected
    assert [records[place].offset + 1 for place in (COUNT - 1, 2 * COUNT - 1, -1)] == [end, second_end, third_end]
    everything = await consume_all(broker.bootstrap, topic, committed=False)
    assert len(everything) in (len(expected), len(expected) + COUNT)


async def test_records_without_keys_and_headers(broker: Broker, producer: tuple[KafkaProducer, str]) -> None:
    sender, topic = producer
    values = Texts.of([b"", b"large" * 2_000, b"x"])
    block = RecordBlock(None, values, np.full(3, FIRST_TIME, np.int64))
    await write(sender, topic, block)
    assert seen(await read_committed(broker, topic, len(block))) == list(block)
