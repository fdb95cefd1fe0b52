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
from stream.protocol.columns import RecordBlock
from stream.protocol.texts import Texts

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

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
_LENGTH_BYTES = 5
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
    headers = _headers(block)
    keys = block.keys if block.keys is not None else Texts(np.empty(0, np.uint8), np.zeros(count, np.int64))
    per_record = HEADER.size + _RECORD_OVERHEAD + headers.fixed.shape[0] + _LENGTH_BYTES * headers.bounds.shape[0]
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


class _Headers(NamedTuple):
    """Headers as pieces: fixed bytes, then perhaps a text of the record's own, then the next piece.

    Piece p has the fixed bytes up to `fixed_ends[p]` and the text of row `column[p]` of `bounds`, or none if that is
    -1. A piece with a row of `present` stands only where that is not 0. `always` headers are in every record.
    """

    always: int
    fixed: Bytes
    fixed_ends: Integers
    column: Integers
    optional: Integers
    data: Bytes
    bounds: Integers
    present: NDArray[np.int8]


def _headers(block: RecordBlock) -> _Headers:
    masks = block.header_masks or (None,) * len(block.header_names)
    pieces: list[tuple[bytes, int, int]] = []
    texts: list[Texts] = []
    present = [mask for mask in masks if mask is not None]
    waiting, optional = b"", 0
    for name, value, mask in zip(block.header_names, block.header_values, masks, strict=True):
        row = -1
        if mask is not None:
            pieces.append((waiting, -1, -1))
            waiting, row, optional = b"", optional, optional + 1
        waiting += _counted(name)
        if isinstance(value, bytes):
            waiting += _counted(value)
        if mask is not None or not isinstance(value, bytes):
            column = -1 if isinstance(value, bytes) else len(texts)
            pieces.append((waiting, column, row))
            waiting = b""
        if isinstance(value, Texts):
            texts.append(value)
    if waiting:
        pieces.append((waiting, -1, -1))
    fixed = b"".join(piece[0] for piece in pieces)
    return _Headers(
        always=len(masks) - len(present),
        fixed=np.frombuffer(fixed, np.uint8),
        fixed_ends=np.cumsum([len(piece[0]) for piece in pieces], dtype=np.int64),
        column=np.array([piece[1] for piece in pieces], np.int64),
        optional=np.array([piece[2] for piece in pieces], np.int64),
        data=np.concatenate([np.empty(0, np.uint8), *[text.data for text in texts]]),
        bounds=_bounds(texts, len(block)),
        present=np.array(present, np.int8).reshape(len(present), len(block)),
    )


def _bounds(texts: list[Texts], count: int) -> Integers:
    """Where each text of each column begins and ends in the joined data."""
    bounds = np.empty((len(texts), count + 1), np.int64)
    shift = 0
    for row, text in enumerate(texts):
        bounds[row, 0] = shift
        np.add(text.ends, shift, out=bounds[row, 1:])
        shift += text.data.shape[0]
    return bounds


def _counted(text: bytes) -> bytes:
    """The text behind its length."""
    out = np.empty(_LENGTH_BYTES, np.uint8)
    return out[: _put_number(out, 0, len(text))].tobytes() + text


@kernel
def _size_of(number: int) -> int:
    """The bytes of a number as a zigzag varint."""
    rest = np.uint64((number << 1) ^ (number >> 63)) >> np.uint64(7)
    size = 1
    while rest != 0:
        rest >>= np.uint64(7)
        size += 1
    return size


@kernel
def _put_number(out: Bytes, at: int, number: int) -> int:
    """Write a number as a zigzag varint; answers the place behind it."""
    rest = np.uint64((number << 1) ^ (number >> 63))
    while rest > np.uint64(0x7F):
        out[at] = np.uint8(rest & np.uint64(0x7F)) | np.uint8(0x80)
        rest >>= np.uint64(7)
        at += 1
    out[at] = np.uint8(rest)
    return at + 1


@kernel
def _put_bytes(out: Bytes, at: int, data: Bytes, start: int, end: int) -> int:
    """Copy data[start:end]. Unsigned places cannot count from the end, so nothing is asked at each byte and the loop is
    copied in words of the machine: 17 ns a record instead of 250.
    """
    to, source = np.uint64(at), np.uint64(start)
    for i in range(np.uint64(end - start)):
        out[to + i] = data[source + i]
    return at + end - start


@kernel
def _headers_size(headers: _Headers, i: int) -> tuple[int, int]:
    """How many optional headers record i has, and the bytes of all its headers."""
    more, size, start = 0, 0, 0
    for piece in range(headers.column.shape[0]):
        end = headers.fixed_ends[piece]
        if headers.optional[piece] < 0 or headers.present[headers.optional[piece], i] != 0:
            if headers.optional[piece] >= 0:
                more += 1
            size += end - start
            if headers.column[piece] >= 0:
                length = headers.bounds[headers.column[piece], i + 1] - headers.bounds[headers.column[piece], i]
                size += _size_of(length) + length
        start = end
    return more, size


@kernel
def _put_headers(out: Bytes, at: int, headers: _Headers, i: int) -> int:
    start = 0
    for piece in range(headers.column.shape[0]):
        end = headers.fixed_ends[piece]
        if headers.optional[piece] < 0 or headers.present[headers.optional[piece], i] != 0:
            at = _put_bytes(out, at, headers.fixed, start, end)
            if headers.column[piece] >= 0:
                first, last = headers.bounds[headers.column[piece], i], headers.bounds[headers.column[piece], i + 1]
                at = _put_number(out, at, last - first)
                at = _put_bytes(out, at, headers.data, first, last)
        start = end
    return at


@kernel
def _encode(
    has_keys: bool,
    keys: Texts,
    values: Texts,
    gone: NDArray[np.int8],
    timestamps: Integers,
    headers: _Headers,
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
        more, size = _headers_size(headers, i)
        size += 1 + _size_of(key_bytes) + max(key_bytes, 0) + _size_of(value_bytes)
        size += max(value_bytes, 0) + _size_of(headers.always + more)
        body = size
        if made >= 0:
            body += _size_of(time - table[made, _FIRST_TIME]) + _size_of(table[made, _COUNT])
        if made < 0 or at + _size_of(body) + body - table[made, _FROM] >= batch_bytes:
            made += 1
            table[made, _FROM], table[made, _COUNT] = at, 0
            table[made, _FIRST_TIME], table[made, _LAST_TIME] = time, time
            at += header_bytes
            body = size + 2
        at = _put_number(out, at, body)
        out[at] = 0
        at = _put_number(out, at + 1, time - table[made, _FIRST_TIME])
        at = _put_number(out, at, table[made, _COUNT])
        at = _put_number(out, at, key_bytes)
        if has_keys:
            at = _put_bytes(out, at, keys.data, key_start, key_end)
        at = _put_number(out, at, value_bytes)
        if value_bytes > 0:
            at = _put_bytes(out, at, values.data, value_start, value_end)
        at = _put_number(out, at, headers.always + more)
        at = _put_headers(out, at, headers, i)
        table[made, _TO] = at
        table[made, _COUNT] += 1
        table[made, _LAST_TIME] = max(table[made, _LAST_TIME], time)
        key_start, value_start = key_end, value_end
    return made + 1
