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
    """The names of the declared fields, the public ones first, and chains of those that fall into one bucket."""

    data: Bytes
    ends: Integers
    first: Integers
    following: Integers


class Members(NamedTuple):
    """The alphabets of one or several fields, in tables that lie one behind the other.

    `tables` has a row for each field: where its part of `slots` begins and how long it is, which of `ends` are its
    texts', and for the integers, which have no slots, from where on and how many they are. A part of `slots` is an
    open-addressed table of the symbols of texts.
    """

    data: Bytes
    ends: Integers
    slots: Integers
    tables: Integers


_SLOTS, _SLOT_COUNT, _TEXTS, _LOW, _SIZE = range(5)  # the columns of `tables`


def names_table(names: list[bytes]) -> Names:
    """Every name plain and not empty."""
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
    count = 1 << (2 * len(texts)).bit_length()
    tables = np.array([[0, count, 0, 0, len(texts)]], dtype=np.int64)
    members = Members(data, ends, np.full(count, CLOSELY, dtype=np.int64), tables)
    for symbol, text in enumerate(texts):
        if is_plain(text):
            end = int(ends[symbol])
            members.slots[_slot(data, end - len(text), end, members, 0)] = symbol
    return members


def integers_table(low: int, size: int) -> Members:
    data, ends = _joined([])
    return Members(data, ends, np.zeros(0, dtype=np.int64), np.array([[0, 0, 0, low, size]], dtype=np.int64))


def side_by_side(fields: list[Members]) -> Members:
    """The tables of several fields as one, so that one compiled function serves any number of them."""
    tables = np.concatenate([field.tables for field in fields])
    lengths = np.array([field.data.shape[0] for field in fields], dtype=np.int64)
    for column, parts in ((_SLOTS, [field.slots for field in fields]), (_TEXTS, [field.ends for field in fields])):
        counts = np.array([part.shape[0] for part in parts], dtype=np.int64)
        tables[:, column] = np.cumsum(counts) - counts
    ends = [field.ends + before for field, before in zip(fields, np.cumsum(lengths) - lengths, strict=True)]
    data = np.concatenate([field.data for field in fields])
    return Members(data, np.concatenate(ends), np.concatenate([field.slots for field in fields]), tables)


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
def symbol_of(data: Bytes, start: int, end: int, members: Members, field: int) -> int:
    """The index in the alphabet of this field of the plain value that stands here, or CLOSELY."""
    if members.tables[field, _SLOT_COUNT] == 0:
        return _integer_symbol(data, start, end, members, field)
    if data[start] != QUOTE:
        return CLOSELY
    return int(members.slots[_slot(data, start + 1, end - 1, members, field)])


@kernel
def _integer_symbol(data: Bytes, start: int, end: int, members: Members, field: int) -> int:
    first = start + 1 if data[start] == MINUS else start
    value = 0
    for at in range(first, end):
        if not ZERO <= data[at] <= NINE:
            return CLOSELY
        value = 10 * value + (int(data[at]) - ZERO)
    index = (-value if first > start else value) - members.tables[field, _LOW]
    return index if 0 <= index < members.tables[field, _SIZE] else CLOSELY


@kernel
def _slot(data: Bytes, start: int, end: int, members: Members, field: int) -> int:
    """The slot of this text: the one that holds it, or else the free one where it would be put."""
    first, texts = members.tables[field, _SLOTS], members.tables[field, _TEXTS]
    mask = members.tables[field, _SLOT_COUNT] - 1
    mixed = 0x811C9DC5
    for at in range(start, end):
        mixed = ((mixed ^ int(data[at])) * 0x01000193) & 0xFFFFFFFF
    slot = (mixed ^ (mixed >> 15)) & mask
    while members.slots[first + slot] != CLOSELY:
        text = texts + members.slots[first + slot]
        before = members.ends[text - 1] if text > 0 else 0
        if same(data, start, end, members.data, before, members.ends[text]):
            break
        slot = (slot + 1) & mask
    return int(first + slot)
