"""The records of Kafka's batches (magic 2), found in the bytes by compiled code; no byte of them is trusted.

    record = length, attributes, timestamp delta, offset delta, key, value, number of headers, (name, value)...

Numbers are zigzag varints of 7 bits a byte; a text stands behind its length, which is negative if there is none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from stream.protocol.inputs import UNREADABLE

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]

# The columns of the table of batches; a batch that cannot be expanded begins and ends at UNREADABLE.
BEGIN, END, BASE, LAST, TIME, FIXED_TIME, COUNT, WIDTH = range(8)

_MALFORMED = -1


@kernel
def _number(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """A zigzag varint before `end`, and the place behind it, which is MALFORMED if there is none."""
    raw, shift = np.uint64(0), np.uint64(0)
    while at < end and shift < np.uint64(64):
        byte = np.uint64(data[np.uint64(at)])
        raw |= (byte & np.uint64(0x7F)) << shift
        at += 1
        if byte < np.uint64(0x80):
            value = np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1))
            return value, at  # type: ignore[return-value]  # compiled code has one kind of integer
        shift += np.uint64(7)
    return 0, _MALFORMED


@kernel
def _text(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """Where a text with its length before it begins, ABSENT if it has none, and ends, MALFORMED if it does not."""
    length, at = _number(data, at, end)
    if at < 0 or length > end - at:
        return 0, _MALFORMED
    if length < 0:
        return -1, at
    return at, at + length


@kernel
def _headers_end(data: Bytes, at: int, end: int) -> int:
    """The end of complete headers, or MALFORMED."""
    count, at = _number(data, at, end)
    if at < 0 or count < 0:
        return _MALFORMED
    for _ in range(count):
        name, at = _text(data, at, end)
        if at < 0 or name < 0:
            return _MALFORMED
        _, at = _text(data, at, end)
        if at < 0:
            return _MALFORMED
    return at


@kernel
def _record(data: Bytes, at: int, batch_end: int, span: Integers) -> tuple[int, int, int]:
    """The two deltas of the record here, and its end, or MALFORMED; where its parts stand goes into `span`."""
    length, begin = _number(data, at, batch_end)
    if begin < 0 or length < 1 or length > batch_end - begin:
        return 0, 0, _MALFORMED
    end = begin + length
    time, at = _number(data, begin + 1, end)
    if at < 0:
        return 0, 0, _MALFORMED
    place, at = _number(data, at, end)
    if at < 0:
        return 0, 0, _MALFORMED
    span[0], span[1] = _text(data, at, end)
    if span[1] < 0:
        return 0, 0, _MALFORMED
    span[2], span[3] = _text(data, span[1], end)
    if span[3] < 0 or _headers_end(data, span[3], end) != end:
        return 0, 0, _MALFORMED
    span[4], span[5] = span[3], end
    return time, place, end


@kernel
def read_records(
    data: Bytes, table: Integers, first: int, offsets: Integers, timestamps: Integers, spans: Integers
) -> int:
    """Every record of every batch from offset `first` on; answers how many."""
    n = 0
    for row in range(table.shape[0]):
        start, at, end = n, table[row, BEGIN], table[row, END]
        base, time, before = table[row, BASE], table[row, TIME], -1
        for _ in range(table[row, COUNT]):
            if at < 0:
                break
            later, step, at = _record(data, at, end, spans[n])
            if step <= before or step > table[row, LAST]:
                at = _MALFORMED
            before = step
            offsets[n] = base + step
            timestamps[n] = time if table[row, FIXED_TIME] != 0 else time + later
            if at >= 0 and base + step >= first:
                n += 1
        if at != end or at < 0:
            n = start
            for i in range(min(table[row, COUNT], table[row, LAST] + 1)):
                if base + i >= first:
                    offsets[n], timestamps[n] = base + i, time
                    spans[n, :] = UNREADABLE
                    n += 1
    return n
