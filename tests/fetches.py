"""What brokers answer to a fetch: batches in every dress, markers, aborted transactions; and what the library reads."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from aiokafka import TopicPartition
from aiokafka.codec import gzip_encode, lz4_encode, snappy_encode, zstd_encode
from aiokafka.consumer import fetcher
from aiokafka.record.memory_records import MemoryRecords

from stream.engine.batches import HEADER, encode, seal
from stream.engine.checksum import crc32c
from stream.engine.seams import NO_PRODUCER
from stream.protocol.columns import RecordBlock

APPEND_TIME, TRANSACTIONAL, CONTROL = 0x08, 0x10, 0x20
PLAIN, GZIP, SNAPPY, LZ4, ZSTD = range(5)
COMPRESSORS: dict[int, Callable[[bytes], Any]] = {
    PLAIN: bytes,
    GZIP: gzip_encode,
    SNAPPY: snappy_encode,
    LZ4: lz4_encode,
    ZSTD: zstd_encode,
}
_CHECKSUM_AT, _CHECKED_FROM, _LENGTH_AT, _ATTRIBUTES_AT = 17, 21, 8, 22
_RECORDS_AT = 57

Read = tuple[int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]


def rechecked(batch: bytes) -> bytes:
    """The same batch with the checksum that its bytes deserve."""
    changed = bytearray(batch)
    struct.pack_into(">I", changed, _CHECKSUM_AT, crc32c(memoryview(changed)[_CHECKED_FROM:]))
    return bytes(changed)


def dressed(batch: bytes, base: int, *, attributes: int = TRANSACTIONAL, kind: int = PLAIN) -> bytes:
    """A sealed batch as a broker would hold it at this offset."""
    body = bytes(COMPRESSORS[kind](batch[HEADER.size :]))
    changed = bytearray(batch[: HEADER.size] + body)
    struct.pack_into(">q", changed, 0, base)
    struct.pack_into(">i", changed, _LENGTH_AT, len(changed) - 12)
    changed[_ATTRIBUTES_AT] = attributes | kind
    return rechecked(bytes(changed))


def with_body(body: bytes, records: int, *, kind: int = PLAIN, base: int = 0) -> bytes:
    """A batch with these bytes for its records, whatever they are."""
    header = bytearray(HEADER.pack(base, 0, -1, 2, 0, 0, records - 1, 0, 0, -1, -1, -1, records))
    return dressed(bytes(header + body), base, attributes=0, kind=kind)


def fetch_of(block: RecordBlock, limit: int, base: int, *, gap: int = 0, producer: int = 7, **dress: int) -> bytes:
    """Producer -1 is one without numbers of its own."""
    state = (producer, 1, 3) if producer >= 0 else NO_PRODUCER
    out = b""
    for batch in encode(block, limit):
        out += dressed(bytes(seal(batch, *state)), base, **dress)
        base += batch.records + gap
    return out


def marker(producer: int, base: int, *, committed: bool) -> bytes:
    """The end of a transaction, as brokers write it."""
    key, value = struct.pack(">hh", 0, committed), struct.pack(">hi", 0, 1)
    record = b"\0\0\0" + bytes([2 * len(key)]) + key + bytes([2 * len(value)]) + value + b"\0"
    body = bytes([2 * len(record)]) + record
    header = HEADER.pack(base, 0, -1, 2, 0, 0, 0, 5, 5, producer, 1, -1, 1)
    return dressed(header + body, base, attributes=TRANSACTIONAL | CONTROL)


def library(data: bytes, first: int, aborted: Sequence[tuple[int, int]] = ()) -> tuple[list[Read], int]:
    """The records that aiokafka gives for a fetch, and the offset that it would fetch next."""
    kept = fetcher.MemoryRecords(data)
    records = fetcher.PartitionRecords(
        TopicPartition("t", 0), kept, list(aborted), first, None, None, True, fetcher.READ_COMMITTED
    )
    found = [(one.offset, one.timestamp, one.key, one.value, list(one.headers)) for one in records]
    return found, records.next_fetch_offset


def has_batch(data: bytes) -> bool:
    return bool(MemoryRecords(data).has_next())
