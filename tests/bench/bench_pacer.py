"""Appends events at a steady pace: python bench_pacer.py BROKER TOPIC ALPHABET_SIZE USERS EVENTS_PER_SECOND SECONDS.

Every 5 ms what is due goes out, one batch a partition. If it falls behind it catches up. It prints the pace it kept,
so that a machine too slow to feed is not taken for a fast contestant.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque

import numpy as np
from aiokafka import AIOKafkaProducer
from bench_broker import PARTITIONS
from bench_traffic import BATCH_BYTES, Alphabet, draw_traffic, partition_of_users, records_of

TICK_SECONDS = 0.005
# What is sent repeats after so many events: they are made beforehand, so that it costs nothing while we measure.
POOL = 200_000
BATCHES_IN_FLIGHT = 400


async def main(broker: str, topic: str, size: int, users: int, pace: float, seconds: float) -> None:
    traffic = draw_traffic(Alphabet(size), POOL, users)
    homes = partition_of_users(users)[traffic.users].tolist()
    pool = list(zip(homes, records_of(traffic, np.arange(POOL)), strict=True))
    producer = AIOKafkaProducer(
        bootstrap_servers=broker, acks=1, linger_ms=0, max_batch_size=BATCH_BYTES, retry_backoff_ms=5
    )
    await producer.start()
    pending: deque[asyncio.Future[object]] = deque()
    began = time.monotonic()
    sent = 0
    try:
        while (elapsed := time.monotonic() - began) < seconds:
            due = int(elapsed * pace)
            batches = [producer.create_batch() for _ in range(PARTITIONS)]
            while sent < due:
                home, (key, value) = pool[sent % POOL]
                if batches[home].append(key=key, value=value, timestamp=None) is None:
                    break  # a full batch goes out first; the rest is due at the next tick
                sent += 1
            for partition, batch in enumerate(batches):
                if batch.record_count():
                    pending.append(await producer.send_batch(batch, topic, partition=partition))
            while pending and (pending[0].done() or len(pending) > BATCHES_IN_FLIGHT):
                await pending.popleft()
            await asyncio.sleep(max(0.0, TICK_SECONDS - (time.monotonic() - began - elapsed)))
        for delivered in pending:
            await delivered
    finally:
        await producer.stop()
    print(sent / (time.monotonic() - began))


if __name__ == "__main__":
    _, broker_, topic_, size_, users_, pace_, seconds_ = sys.argv
    asyncio.run(main(broker_, topic_, int(size_), int(users_), float(pace_), float(seconds_)))
