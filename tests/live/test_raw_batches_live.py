"""Raw batches in every dress that a broker stores: compressed, aborted, with names that are no text, and a bomb."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiokafka import AIOKafkaProducer
from broker import Broker
from fetches import COMPRESSORS, GZIP, fetch_of
from live_worker import House, opened
from live_writing import PARTITIONS, Raw, producing, write_with

from stream import names
from stream.audit.accounts import AGREES_AS_READ
from stream.engine.batches import encode
from stream.engine.compression import EXPANDED_BYTES_MAX
from stream.engine.seams import ReadyBatch
from stream.protocol.columns import RecordBlock
from stream.protocol.texts import Texts

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]
EACH = 300
SETTLE_SECONDS = 60.0
NO_TEXT = b"\xff\xfe"
RECORD = "{protect: {path: $.activity}, public: [$.n], headers: [trace]}"


class Forged:
    """Bytes in the shape of a batch that the client sends as it is."""

    def __init__(self, data: bytes, records: int) -> None:
        self._data, self._records = data, records

    def append(self, **_: Any) -> None:
        """Full: nothing can be added."""

    def close(self) -> None:
        """It was never open."""

    def closed(self) -> bool:
        return True

    def size(self) -> int:
        return len(self._data)

    def record_count(self) -> int:
        return self._records

    def _build(self) -> bytearray:
        return bytearray(self._data)


def good(kind: int) -> Iterator[Raw]:
    for n in range(EACH):
        user = n % 9
        yield Raw(user % PARTITIONS, b"u%d" % user, b'{"activity":"still","n":%d}' % (1_000 * kind + n))


def named(count: int, value: bytes = b'{"activity":"walking","n":7}') -> RecordBlock:
    """Records of one user with a header whose name is no text, before one that the settings let pass."""
    times = np.full(count, 1_700_000_500_000, np.int64)
    keys = Texts.of([b"u0"] * count)
    return RecordBlock(keys, Texts.of([value] * count), times, (NO_TEXT, b"trace"), (b"x", b"seen"))


async def send(producer: AIOKafkaProducer, topic: str, batch: Any) -> None:
    await (await producer.send_batch(batch, topic, partition=0))


async def write_everything(broker: str, topic: str) -> int:
    """Answers how many of the records can be released."""
    for kind, compression in enumerate((None, "gzip", "snappy", "lz4", "zstd")):
        async with producing(broker, compression_type=compression) as producer:
            await write_with(producer, topic, good(kind))
    async with producing(broker) as producer:
        for kind in COMPRESSORS:
            await send(producer, topic, Forged(fetch_of(named(4), 1 << 20, 0, attributes=0, producer=-1, kind=kind), 4))
        bomb = fetch_of(named(1, bytes(EXPANDED_BYTES_MAX)), 1 << 20, 0, attributes=0, producer=-1, kind=GZIP)
        await send(producer, topic, Forged(bomb, 1))
    async with producing(broker, transactional_id=f"stranger-{topic}") as producer:
        for end in (producer.abort_transaction, producer.commit_transaction):
            await producer.begin_transaction()
            await send(producer, topic, ReadyBatch(encode(named(3), 1 << 20)[0]))
            await end()
    return 5 * EACH + 4 * len(COMPRESSORS) + 3


async def released(house: House, count: int) -> list[Any]:
    async with asyncio.timeout(SETTLE_SECONDS):
        while len(found := await house.read(house.released)) < count:
            await asyncio.sleep(0.2)
    return found


async def test_whatever_a_broker_stores_is_read(broker: Broker, tmp_path: Path) -> None:
    async with opened(broker.bootstrap, tmp_path / "house", record=RECORD) as house:
        count = await write_everything(broker.bootstrap, house.raw)
        await house.start()
        found = await released(house, count)
        assert len(found) == count
        traces = [dict(record.headers).get("trace") for record in found]
        assert traces.count(b"seen") == 4 * len(COMPRESSORS) + 3
        assert NO_TEXT.decode(errors="replace") not in {name for record in found for name, _ in record.headers}
        (letter,) = await house.read(house.dead)
        assert json.loads(letter.value)["reason"] == names.UNREADABLE
        await house.stop()
        await house.start()
        report = await house.audit("--json")
        assert report.status == 0, report.out + report.said
        assert json.loads(report.out)["compared"]["in = sum of outcomes"] == AGREES_AS_READ
        assert (house.restarts, len(await house.read(house.released))) == (0, count)
        assert "Traceback" not in house.worker.said()
        await house.stop()
