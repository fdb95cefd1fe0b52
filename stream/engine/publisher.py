"""Documents for a topic, each acknowledged before the next is asked for: an idempotent producer, which writes a
document once however often a connection breaks while it is being written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError

from stream.engine.connection import Connection
from stream.errors import CannotEstimate

REQUEST_TIMEOUT_MS = 10_000
_LARGEST = 16 << 20
"""Brokers usually take less, and say so."""


class Publisher:
    """Of one topic; to be started, and stopped whatever happens."""

    def __init__(self, connection: Connection, topic: str) -> None:
        self._topic, self._where = topic, f"--to topic:{topic}"
        self._connection = connection
        self._producer: AIOKafkaProducer | None = None

    async def start(self) -> None:
        self._producer = AIOKafkaProducer(
            **self._connection.arguments(),
            enable_idempotence=True,
            acks="all",
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            max_request_size=_LARGEST,
            max_batch_size=1 << 18,
        )
        with _writing(self._where):
            await self._producer.start()

    async def send(self, key: bytes, value: bytes, timestamp: int) -> None:
        if self._producer is None:
            raise CannotEstimate("Nothing can be written yet.", self._where, "the producer is not running")
        with _writing(self._where):
            await self._producer.send_and_wait(self._topic, value, key, timestamp_ms=timestamp)

    async def stop(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            with _writing(self._where):
                await producer.stop()


@contextmanager
def _writing(where: str) -> Iterator[None]:
    what = "A result cannot be written to the topic."
    try:
        yield
    except MessageSizeTooLargeError:
        why, fix = "it is larger than the brokers take", "raise max.message.bytes of the topic, or write to a file"
        raise CannotEstimate(what, where, why, fix) from None
    except (KafkaError, OSError) as error:
        fix = "see whether the brokers are up, and whether this login may write to the topic"
        raise CannotEstimate(what, where, type(error).__name__, fix) from None
