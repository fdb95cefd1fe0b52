"""Feeds the raw topic with the phones' events, at a wished rate or as fast as the pipeline keeps up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from aiokafka import AIOKafkaProducer
from phones import Phones, key_of, messages
from record_of_truth import RecordOfTruth

ROUNDS_A_SEND = 4
BATCH_BYTES = 512 * 1024
BACKLOG_MAX = 24_000
BACKLOG_SECONDS = 0.25
"""Events fed and not yet seen released: a quarter of a second of work keeps every part busy. More would only wait, and
make the pipeline look slow."""


def rounds_to_remember(phones: int, partitions: int, window_events: int = 0) -> int:
    """One partition may hold the whole backlog: that many rounds of its share of the phones, those being sent, and
    those that wait in windows.
    """
    return BACKLOG_MAX * partitions // phones + 4 * ROUNDS_A_SEND + 1 + window_events


class Pace:
    """Events a second, measured over the last half second or so."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._count = 0
        self._rate = 0.0

    def measured(self, count: int) -> float:
        now = time.monotonic()
        if now - self._since >= 0.5:
            self._rate = (count - self._count) / (now - self._since)
            self._since, self._count = now, count
        return self._rate


class Feeder:
    """`released` says how many events came back so far; the feeder stays at most BACKLOG_MAX ahead of it."""

    def __init__(
        self,
        brokers: str,
        topic: str,
        partitions: int,
        phones: Phones,
        truth: RecordOfTruth,
        released: Callable[[], int],
    ) -> None:
        self._producer = AIOKafkaProducer(
            bootstrap_servers=brokers, acks="all", linger_ms=0, max_batch_size=BATCH_BYTES, max_request_size=4 << 20
        )
        self._topic = topic
        self._partitions = partitions
        self._phones = phones
        self._keys = [key_of(phone) for phone in range(phones.count)]
        self._truth = truth
        self._released = released
        self._waiting: list[asyncio.Future[Any]] = []
        self._pace = Pace()
        self.fed = 0

    async def feed(self, rate: float | None, stop: asyncio.Event) -> None:
        """Until `stop` is set; returns when the broker has acknowledged everything that was fed."""
        await self._producer.start()
        try:
            began = time.monotonic()
            while not stop.is_set():
                await self._send_rounds()
                while self.fed - self._released() > self._backlog() and not stop.is_set():
                    await asyncio.sleep(0.002)
                ahead = self.fed / rate - (time.monotonic() - began) if rate else 0.0
                # A pause in any case: the reader of the released topic shares this thread.
                await asyncio.sleep(max(0.0, min(ahead, 0.5)))
            await asyncio.gather(*self._waiting)
        finally:
            await self._producer.stop()

    def _backlog(self) -> int:
        """How far it may be ahead before the next burst."""
        at_this_pace = int(BACKLOG_SECONDS * self._pace.measured(self._released()))
        return min(max(at_this_pace, self._burst), BACKLOG_MAX - self._burst)

    @property
    def _burst(self) -> int:
        return ROUNDS_A_SEND * self._phones.count

    async def _send_rounds(self) -> None:
        batches = [self._producer.create_batch() for _ in range(self._partitions)]
        for _ in range(ROUNDS_A_SEND):
            now = self._phones.advance()
            self._truth.remember(now.sequence, now.activities)
            sent_at = int(time.time() * 1000)
            for phone, (key, value) in enumerate(zip(self._keys, messages(now), strict=True)):
                # A phone stays in its partition, as any keyed producer would have it.
                batch = batches[phone % self._partitions]
                if batch.append(key=key, value=value, timestamp=sent_at) is None:
                    raise RuntimeError(f"{ROUNDS_A_SEND} rounds of {self._phones.count} phones exceed one batch")
        self.fed += self._burst
        acknowledged = [waiting for waiting in self._waiting if waiting.done()]
        for waiting in acknowledged:
            waiting.result()  # raises what went wrong, if anything did
        self._waiting = [waiting for waiting in self._waiting if not waiting.done()]
        for partition, batch in enumerate(batches):
            if batch.record_count():
                self._waiting.append(await self._producer.send_batch(batch, self._topic, partition=partition))
