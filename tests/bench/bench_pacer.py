"""Appends events at a steady pace: python bench_pacer.py BROKER TOPIC ALPHABET_SIZE USERS EVENTS_PER_SECOND SECONDS.

Every 5 ms what is due goes out, one batch a partition. If it falls behind it catches up. It prints the pace it kept,
so that a machine too slow to feed is not taken for a fast contestant. The batches are made beforehand and sent again
and again: producers are other machines' business and shall cost this one as little as possible.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from typing import Any

import numpy as np
from aiokafka import AIOKafkaProducer
from bench_traffic import BATCH_BYTES, Alphabet, draw_traffic, partition_of_users, records_of

TICK_SECONDS = 0.005
POOL = 200_000
BATCHES_IN_FLIGHT = 400


def prepared(producer: AIOKafkaProducer, size: int, users: int, per_tick: int) -> list[dict[int, Any]]:
    """For each tick, until they repeat, the batches of the partitions."""
    traffic = draw_traffic(Alphabet(size), POOL, users)
    homes = partition_of_users(users)[traffic.users].tolist()
    records = list(zip(homes, records_of(traffic, np.arange(POOL)), strict=True))
    ticks = []
    for start in range(0, POOL - per_tick + 1, per_tick):
        batches: dict[int, Any] = {}
        for home, (key, value) in records[start : start + per_tick]:
            batch = batches.setdefault(home, producer.create_batch())
            if batch.append(key=key, value=value, timestamp=None) is None:
                raise SystemExit(f"{per_tick} events do not fit into a batch of {BATCH_BYTES} bytes a partition")
        ticks.append(batches)
    return ticks


async def main(broker: str, topic: str, size: int, users: int, pace: float, seconds: float) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=broker, acks=1, linger_ms=0, max_batch_size=BATCH_BYTES, retry_backoff_ms=5
    )
    await producer.start()
    per_tick = max(1, round(pace * TICK_SECONDS))
    ticks = prepared(producer, size, users, per_tick)
    pending: deque[asyncio.Future[object]] = deque()
    began = time.monotonic()
    number = 0
    try:
        while (elapsed := time.monotonic() - began) < seconds:
            while number * per_tick < elapsed * pace:
                for partition, batch in ticks[number % len(ticks)].items():
                    pending.append(await producer.send_batch(batch, topic, partition=partition))
                number += 1
            while pending and (pending[0].done() or len(pending) > BATCHES_IN_FLIGHT):
                await pending.popleft()
            await asyncio.sleep(max(0.0, number * per_tick / pace - (time.monotonic() - began)))
        for delivered in pending:
            await delivered
    finally:
        await producer.stop()
    print(number * per_tick / (time.monotonic() - began))


if __name__ == "__main__":
    _, broker_, topic_, size_, users_, pace_, seconds_ = sys.argv
    asyncio.run(main(broker_, topic_, int(size_), int(users_), float(pace_), float(seconds_)))
