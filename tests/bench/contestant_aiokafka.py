"""Contestant: a bare aiokafka loop. It parses each event with orjson and sends it on; no state, no transactions."""

from __future__ import annotations

import asyncio
import os
import signal

import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer


async def main() -> None:
    broker = os.environ["BENCH_BROKER"]
    sink = os.environ["BENCH_SINK"]
    consumer = AIOKafkaConsumer(
        os.environ["BENCH_SOURCE"],
        bootstrap_servers=broker,
        group_id=os.environ["BENCH_GROUP"],
        auto_offset_reset="earliest",
    )
    producer = AIOKafkaProducer(bootstrap_servers=broker, acks="all", linger_ms=5, max_batch_size=256 * 1024)
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    await consumer.start()
    await producer.start()
    try:
        while not stopping.is_set():
            for records in (await consumer.getmany(timeout_ms=200, max_records=10_000)).values():
                for record in records:
                    event = orjson.loads(record.value)
                    await producer.send(sink, orjson.dumps(event), key=record.key, timestamp_ms=record.timestamp)
    finally:
        await producer.stop()
        await consumer.stop()


if __name__ == "__main__":
    asyncio.run(main())
