"""The broker itself is killed under load and comes back on the same data: it costs time and nothing else."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from random import Random

import live_kafka
import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from broker import Broker
from fault_stage import a_stage, assert_stops, assert_whole, teller, under_load

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
SEED = 21
AWAY_SECONDS = 3.0
YEAR_MILLISECONDS = 365 * 86_400_000


async def test_the_broker_dies_and_comes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A broker of its own, so that no other test meets a dead one."""
    random, say = Random(SEED), teller(capsys)
    with Broker() as broker:
        async with a_stage(broker.bootstrap, tmp_path, say, seed=SEED) as stage:
            await stage.feeder.write(1_000)
            worker = stage.start("w1")
            await stage.ready(worker)
            async with under_load(stage, most=60_000):
                await stage.moving([worker])
                await asyncio.sleep(random.uniform(0.5, 2.0))
                await asyncio.to_thread(broker.kill9)
                say(f"kill -9 of the broker; {stage.progress()}")
                await asyncio.sleep(AWAY_SECONDS)
                await asyncio.to_thread(broker.start)
                say("the broker is back")
                await stage.moving([worker], partitions=True)
                await asyncio.sleep(random.uniform(0.5, 2.0))
            await assert_whole(stage, [worker])
            await assert_stops(stage, worker)


async def test_a_repeated_batch_of_an_open_transaction_is_written_once() -> None:
    """Brokers forget an idle producer by the timestamps of its records, which are event times here and may be of last
    year; but no producer whose transaction is open, and outside of a transaction we write nothing.
    """
    topic, old = "released", int(time.time() * 1000) - YEAR_MILLISECONDS
    with Broker() as broker:
        await live_kafka.create_topic(broker.bootstrap, topic, partitions=1)
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap, transactional_id="worker", acks="all")
        await producer.start()
        try:
            await producer.begin_transaction()
            first = await _write(producer, topic, old)
            await asyncio.to_thread(broker.kill9)
            await asyncio.to_thread(broker.start)
            # The answer was lost: the client counts as if it had never sent the batch.
            producer._txn_manager.increment_sequence_number(TopicPartition(topic, 0), -1)
            assert await _write(producer, topic, old) == first
            await producer.commit_transaction()
        finally:
            await producer.stop()
        assert len(await live_kafka.consume_all(broker.bootstrap, topic, committed=False)) == 1


async def _write(producer: AIOKafkaProducer, topic: str, timestamp: int) -> int:
    batch = producer.create_batch()
    batch.append(key=b"user", value=b"value", timestamp=timestamp)
    batch.close()
    written = await (await producer.send_batch(batch, topic, partition=0))
    return int(written.offset)
