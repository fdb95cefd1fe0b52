"""The broker of the tests is a real one: it keeps what it acknowledged, runs transactions, fences, survives a kill."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, ProducerFenced
from broker import Broker
from conftest import NewTopic
from live_kafka import consume_all, produce

pytestmark = pytest.mark.live
BROKER_SCRIPT = Path(sys.modules[Broker.__module__].__file__ or "")


async def values(broker: Broker, topic: str, *, committed: bool = True) -> list[bytes]:
    return [record.value for record in await consume_all(broker.bootstrap, topic, committed=committed)]


def transactional(broker: Broker, name: str) -> AIOKafkaProducer:
    return AIOKafkaProducer(bootstrap_servers=broker.bootstrap, transactional_id=name, retry_backoff_ms=5)


async def values_in_time(broker: Broker, topic: str, wanted: list[bytes], seconds: float = 20.0) -> list[bytes]:
    """Brokers answer a commit before they write its marker, and until then who reads what is committed sees nothing."""
    end = asyncio.get_running_loop().time() + seconds
    while (found := await values(broker, topic)) != wanted and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.1)
    return found


async def test_what_was_written_is_read(broker: Broker, new_topic: NewTopic) -> None:
    topic = await new_topic()
    await produce(broker.bootstrap, topic, [(b"k%d" % n, b"%d" % n) for n in range(500)])
    assert sorted(await values(broker, topic), key=int) == [b"%d" % n for n in range(500)]


async def test_an_aborted_transaction_is_seen_by_readers_of_everything_only(
    broker: Broker, new_topic: NewTopic
) -> None:
    topic = await new_topic(partitions=1)
    producer = transactional(broker, topic)
    await producer.start()
    try:
        async with producer.transaction():
            await producer.send_and_wait(topic, b"kept")
        await producer.begin_transaction()
        await producer.send_and_wait(topic, b"aborted")
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send_and_wait(topic, b"kept too")
    finally:
        await producer.stop()
    kept = [b"kept", b"kept too"]
    assert await values_in_time(broker, topic, kept) == kept
    assert await values(broker, topic, committed=False) == [b"kept", b"aborted", b"kept too"]


async def test_a_second_producer_of_the_same_name_fences_the_first(broker: Broker, new_topic: NewTopic) -> None:
    topic = await new_topic(partitions=1)
    first, second = transactional(broker, topic), transactional(broker, topic)
    await first.start()
    await first.begin_transaction()
    await first.send_and_wait(topic, b"zombie")
    await second.start()
    try:
        with pytest.raises(ProducerFenced):
            await first.commit_transaction()
        async with second.transaction():
            await second.send_and_wait(topic, b"successor")
    finally:
        await second.stop()
        await first.stop()
    assert await values_in_time(broker, topic, [b"successor"]) == [b"successor"]


async def test_acknowledged_data_survives_a_kill_of_the_broker(new_topic: NewTopic, broker: Broker) -> None:
    topic = await new_topic(partitions=2)
    await produce(broker.bootstrap, topic, [(b"a", b"1"), (b"b", b"2")])
    before = broker.bootstrap
    broker.kill9()
    with pytest.raises(KafkaError):
        await produce(before, topic, [(b"a", b"3")])
    broker.start()
    assert broker.bootstrap == before
    assert sorted(await values(broker, topic)) == [b"1", b"2"]


def test_the_broker_ends_with_whoever_started_it(tmp_path: Path) -> None:
    """A killed test run leaves no broker behind: kill -9 of the starter ends Java as well."""
    code = (
        "import sys, time, broker\n"
        f"started = broker.Broker(data=broker.Path({str(tmp_path / 'data')!r}), heap='256m').start()\n"
        "print(started.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=BROKER_SCRIPT.parent
    ) as starter:
        assert starter.stdout is not None
        java = Path("/proc") / starter.stdout.readline().strip()
        alive = java.exists()
        starter.kill()
    deadline = time.monotonic() + 10
    while java.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive
    assert not java.exists()
