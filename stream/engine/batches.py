"""Record batches of Kafka (magic 2), uncompressed and transactional, encoded for a whole block in one compiled call.

    record = length, attributes (0), timestamp delta, offset delta, key, value, number of headers, (name, value)...

Numbers are zigzag varints of 7 bits a byte; the first record of a batch carries the timestamp that the others are
counted from. Building the same bytes from Python objects costs 0.8 us a record for the objects and as much again for
encoding them, which is the time of the release itself.
"""

import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from stream.engine.checksum import crc32c
from stream.engine.wire import (
    LENGTH_BYTES,
    Bytes,
    Headers,
    Integers,
    headers_of,
    headers_size,
    put_bytes,
    put_headers,
    put_number,
    size_of,
)
from stream.protocol.columns import RecordBlock
from stream.protocol.texts import Texts

# base offset, length, leader's epoch, magic, checksum | attributes, last offset delta, first and last timestamp,
# producer id, producer epoch, base sequence, number of records.
HEADER = struct.Struct(">qiibIhiqqqhii")
_CHECKSUM = struct.Struct(">I")
_LENGTH_COUNTS_FROM = 12
_CHECKSUM_AT = 17
_CHECKED_FROM = 21
_MAGIC = 2
_TRANSACTIONAL = 0x10
_NO_EPOCH = -1
# Attributes 1, and at most 10 for a timestamp delta and 5 each for the length, the offset delta, the lengths of key and
# value and the number of headers.
_RECORD_OVERHEAD = 1 + 10 + 5 * 5
# The columns of the table of batches.
_FROM, _TO, _COUNT, _FIRST_TIME, _LAST_TIME, _WIDTH = 0, 1, 2, 3, 4, 5
_NONE = np.zeros(0, np.int8)


class Batch(NamedTuple):
    """One encoded batch; its first 61 bytes are left for `seal`, because the producer's state is not known before."""

    buffer: bytearray
    records: int
    first_timestamp: int
    last_timestamp: int


def seal(batch: Batch, producer_id: int, producer_epoch: int, base_sequence: int) -> bytearray:
    """Write the header of the batch and answer the whole of it."""
    buffer = batch.buffer
    HEADER.pack_into(
        buffer,
        0,
        0,
        len(buffer) - _LENGTH_COUNTS_FROM,
        _NO_EPOCH,
        _MAGIC,
        0,
        _TRANSACTIONAL,
        batch.records - 1,
        batch.first_timestamp,
        batch.last_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        batch.records,
    )
    _CHECKSUM.pack_into(buffer, _CHECKSUM_AT, crc32c(memoryview(buffer)[_CHECKED_FROM:]))
    return buffer


def encode(block: RecordBlock, batch_bytes: int) -> list[Batch]:
    """The batches of a block without `extra`; each stays below `batch_bytes`, as the library's do, or is one record."""
    count = len(block)
    if not count:
        return []
    headers = headers_of(block)
    keys = block.keys if block.keys is not None else Texts(np.empty(0, np.uint8), np.zeros(count, np.int64))
    per_record = HEADER.size + _RECORD_OVERHEAD + headers.fixed.shape[0] + LENGTH_BYTES * headers.bounds.shape[0]
    room = count * per_record + int(keys.ends[-1]) + int(block.values.ends[-1]) + headers.data.shape[0]
    out = np.empty(room, np.uint8)
    table = np.empty((count, _WIDTH), np.int64)
    made = _encode(
        block.keys is not None,
        _alike(keys),
        _alike(block.values),
        _read_only(_NONE if block.gone is None else block.gone),
        _read_only(block.timestamps),
        headers,
        batch_bytes,
        HEADER.size,
        out,
        table,
    )
    return [
        Batch(bytearray(out[start:end].data), records, first, last)
        for start, end, records, first, last in table[:made].tolist()
    ]


def warm_up() -> None:
    """Compile the kernels, or load them; the first time takes seconds."""
    for batch in encode(RecordBlock(None, Texts.of([b""]), np.zeros(1, np.int64), (b"",), (b"",)), 0):
        seal(batch, 0, 0, 0)


def _alike(texts: Texts) -> Texts:
    return Texts(_read_only(texts.data), _read_only(texts.ends))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view of one kind, whatever the array's own is: for each kind of argument the kernel would be compiled anew."""
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view


@kernel
def _encode(
    has_keys: bool,
    keys: Texts,
    values: Texts,
    gone: NDArray[np.int8],
    timestamps: Integers,
    headers: Headers,
    batch_bytes: int,
    header_bytes: int,
    out: Bytes,
    table: Integers,
) -> int:
    """Encode all records; answers the number of batches. A batch ends before a record that would fill it. `gone` has an
    entry for each record, or none at all where every record has a value.
    """
    made, at, key_start, value_start = -1, 0, 0, 0
    for i in range(timestamps.shape[0]):
        key_end, value_end, time = keys.ends[i], values.ends[i], timestamps[i]
        key_bytes = key_end - key_start if has_keys else -1
        value_bytes = -1 if gone.shape[0] > 0 and gone[i] != 0 else value_end - value_start
        more, size = headers_size(headers, i)
        size += 1 + size_of(key_bytes) + max(key_bytes, 0) + size_of(value_bytes)
        size += max(value_bytes, 0) + size_of(headers.always + more)
        body = size
        if made >= 0:
            body += size_of(time - table[made, _FIRST_TIME]) + size_of(table[made, _COUNT])
        if made < 0 or at + size_of(body) + body - table[made, _FROM] >= batch_bytes:
            made += 1
            table[made, _FROM], table[made, _COUNT] = at, 0
            table[made, _FIRST_TIME], table[made, _LAST_TIME] = time, time
            at += header_bytes
            body = size + 2
        at = put_number(out, at, body)
        out[at] = 0
        at = put_number(out, at + 1, time - table[made, _FIRST_TIME])
        at = put_number(out, at, table[made, _COUNT])
        at = put_number(out, at, key_bytes)
        if has_keys:
            at = put_bytes(out, at, keys.data, key_start, key_end)
        at = put_number(out, at, value_bytes)
        if value_bytes > 0:
            at = put_bytes(out, at, values.data, value_start, value_end)
        at = put_number(out, at, headers.always + more)
        at = put_headers(out, at, headers, i)
        table[made, _TO] = at
        table[made, _COUNT] += 1
        table[made, _LAST_TIME] = max(table[made, _LAST_TIME], time)
        key_start, value_start = key_end, value_end
    return made + 1
