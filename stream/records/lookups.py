"""From the bytes of a name to its field, and from the bytes of a value to its symbol, without a Python object between.

Both tables are built once from the settings and the alphabet, with the same compiled functions that look things up.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from stream.records.plain import MINUS, NINE, QUOTE, ZERO, Bytes, is_plain

Integers = NDArray[np.int64]

CLOSELY: Final = -1  # instead of a symbol: let the definition read this record
ABSENT: Final = -1  # instead of a field or a place

_BUCKETS: Final = 256
_ONE: Final = np.uint64(1)


class Names(NamedTuple):
    """The names of the declared fields, the protected one last, and chains of those that fall into one bucket."""

    data: Bytes
    ends: Integers
    first: Integers
    following: Integers


class Members(NamedTuple):
    """The alphabet. `slots` is an open-addressed table of the texts, or empty for the integers from `low` on."""

    data: Bytes
    ends: Integers
    slots: Integers
    low: int
    size: int


def names_table(names: list[bytes]) -> Names:
    """Every name plain and not empty; the protected one last."""
    data, ends = _joined(names)
    first = np.full(_BUCKETS, ABSENT, dtype=np.int64)
    following = np.full(len(names), ABSENT, dtype=np.int64)
    for field, end in enumerate(ends.tolist()):
        bucket = _bucket(data, end - len(names[field]), end)
        following[field] = first[bucket]
        first[bucket] = field
    return Names(data, ends, first, following)


def texts_table(texts: list[bytes]) -> Members:
    """An alphabet of texts. One that is not plain is in no plain record, so it gets no slot."""
    data, ends = _joined(texts)
    members = Members(data, ends, np.full(1 << (2 * len(texts)).bit_length(), CLOSELY, dtype=np.int64), 0, len(texts))
    for symbol, text in enumerate(texts):
        if is_plain(text):
            end = int(ends[symbol])
            members.slots[_slot(data, end - len(text), end, members)] = symbol
    return members


def integers_table(low: int, size: int) -> Members:
    data, ends = _joined([])
    return Members(data, ends, np.zeros(0, dtype=np.int64), low, size)


def _joined(texts: list[bytes]) -> tuple[Bytes, Integers]:
    ends = np.cumsum(np.array([len(text) for text in texts], dtype=np.int64))
    return np.frombuffer(bytearray().join(texts), dtype=np.uint8), ends


@kernel
def _bucket(data: Bytes, start: int, end: int) -> int:
    return (31 * (end - start) + 7 * int(data[start]) + int(data[end - 1])) & (_BUCKETS - 1)


@kernel
def field_of(data: Bytes, start: int, end: int, names: Names) -> int:
    """The declared field of this name, or ABSENT."""
    field = names.first[_bucket(data, start, end)]
    while field != ABSENT:
        if same(data, start, end, names.data, names.ends[field - 1] if field > 0 else 0, names.ends[field]):
            break
        field = names.following[field]
    return int(field)


@kernel
def same(one: Bytes, start: int, end: int, other: Bytes, other_start: int, other_end: int) -> bool:
    if end - start != other_end - other_start:
        return False
    here, there, last = np.uint64(start), np.uint64(other_start), np.uint64(end)
    while here < last:
        if one[here] != other[there]:
            return False
        here += _ONE
        there += _ONE
    return True


@kernel
def symbol_of(data: Bytes, start: int, end: int, members: Members) -> int:
    """The index in the alphabet of the plain value that stands here, or CLOSELY."""
    if members.slots.shape[0] == 0:
        return _integer_symbol(data, start, end, members)
    if data[start] != QUOTE:
        return CLOSELY
    return int(members.slots[_slot(data, start + 1, end - 1, members)])


@kernel
def _integer_symbol(data: Bytes, start: int, end: int, members: Members) -> int:
    first = start + 1 if data[start] == MINUS else start
    value = 0
    for at in range(first, end):
        if not ZERO <= data[at] <= NINE:
            return CLOSELY
        value = 10 * value + (int(data[at]) - ZERO)
    index = (-value if first > start else value) - members.low
    return index if 0 <= index < members.size else CLOSELY


@kernel
def _slot(data: Bytes, start: int, end: int, members: Members) -> int:
    """The slot of this text: the one that holds it, or else the free one where it would be put."""
    mask = len(members.slots) - 1
    mixed = 0x811C9DC5
    for at in range(start, end):
        mixed = ((mixed ^ int(data[at])) * 0x01000193) & 0xFFFFFFFF
    slot = (mixed ^ (mixed >> 15)) & mask
    while members.slots[slot] != CLOSELY:
        symbol = members.slots[slot]
        before = members.ends[symbol - 1] if symbol > 0 else 0
        if same(data, start, end, members.data, before, members.ends[symbol]):
            break
        slot = (slot + 1) & mask
    return slot
