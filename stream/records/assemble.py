"""The compiled way out: the released texts of many plain events, put together from pieces of their raw texts.

A released text is `{`, the public fields that the record has, in the order of the settings, each as `"name":value,`,
the protected field with its released value, if there is one, as `"name":value,`, and the reports of the other fields
that are told, in their order, each as `"name":report,`. Its last comma becomes the closing brace. The piece of the
protected field is written in advance for every symbol. Raw values are copied byte for byte; the scan lets only those
pass that the writer would write just so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from beliefs.checks import require
from beliefs.native import kernel
from stream.protocol.inputs import SPARE
from stream.protocol.texts import Texts
from stream.records.lookups import ABSENT, Integers
from stream.records.plain import Bytes

_COMMA: Final = 0x2C
_OPEN: Final = 0x7B
_CLOSE: Final = 0x7D
_ONE, _TWO, _THREE, _FOUR, _FIVE, _SIX, _SEVEN, _EIGHT = map(np.uint64, range(1, 9))


class Pieces(NamedTuple):
    """What is the same in every text: `"name":` of each public field, the piece of the protected field for each symbol
    (nothing where there is none), and `"name":` of each field that is reported.
    """

    names: Bytes
    name_ends: Integers
    released: Bytes
    released_ends: Integers
    reported: Bytes
    reported_ends: Integers


class Reports(NamedTuple):
    """The texts of all reports, one behind the other, and which of them each reported field of each event tells: a row
    for each field; ABSENT where it tells nothing.
    """

    data: Bytes
    ends: Integers
    at: Integers


class Reported(NamedTuple):
    """What is told of one field: event m of those that are written tells the JSON text number `at[m]`, or, with ABSENT,
    nothing.
    """

    texts: Texts
    at: Integers


class Ready(NamedTuple):
    """Texts that were written elsewhere, in the order in which they are wanted; `lengths` is 0 for all others."""

    data: Bytes
    lengths: Integers


class Joined(NamedTuple):
    """The raw texts and where each event's public values stand in them."""

    data: Bytes
    places: Integers


def joined(texts: list[bytes]) -> tuple[Bytes, Integers]:
    """The texts one behind the other, with SPARE bytes behind the last, and the end of each."""
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    return np.frombuffer(bytearray().join([*texts, bytes(SPARE)]), dtype=np.uint8), ends


def joined_reports(fields: Sequence[Reported], count: int) -> Reports:
    """The texts of all fields one behind the other, and the numbers that they have there, for `count` events."""
    at = np.full((len(fields), count), ABSENT, dtype=np.int64)
    data, ends = [], [np.zeros(0, dtype=np.int64)]
    texts = size = 0
    for numbers, field in zip(at, fields, strict=True):
        known = field.at.shape == (count,) and ((field.at >= ABSENT) & (field.at < len(field.texts))).all()
        require(bool(known), "each event tells the number of a text, or nothing")
        np.add(field.at, texts, out=numbers, where=field.at != ABSENT)
        data.append(field.texts.data)
        ends.append(field.texts.ends + size)
        texts, size = texts + len(field.texts), size + field.texts.data.shape[0]
    return Reports(np.concatenate([*data, np.zeros(SPARE, dtype=np.uint8)]), np.concatenate(ends), at)


@kernel
def measure(
    raw: Joined, rows: Integers, symbols: Integers, reports: Reports, ready: Ready, pieces: Pieces, ends: Integers
) -> int:
    """Where each text will end; the last of these ends."""
    total = 0
    for m in range(rows.shape[0]):
        total += ready.lengths[m]
        if ready.lengths[m] == 0:
            members = _length(pieces.released_ends, symbols[m])
            for field in range(pieces.name_ends.shape[0]):
                start = raw.places[rows[m], field, 0]
                if start != ABSENT:
                    members += _length(pieces.name_ends, field) + (raw.places[rows[m], field, 1] - start) + 1
            for field in range(pieces.reported_ends.shape[0]):
                report = reports.at[field, m]
                if report != ABSENT:
                    members += _length(pieces.reported_ends, field) + _length(reports.ends, report) + 1
            total += 1 + max(members, 1)
        ends[m] = total
    return total


@kernel
def assemble(
    raw: Joined, rows: Integers, symbols: Integers, reports: Reports, ready: Ready, pieces: Pieces, out: Bytes
) -> None:
    """Write the texts, one behind the other."""
    at = 0
    taken = 0
    for m in range(rows.shape[0]):
        length = ready.lengths[m]
        if length > 0:
            at = _copy(ready.data, taken, taken + length, out, at)
            taken += length
            continue
        out[at] = _OPEN
        at += 1
        first = at
        for field in range(pieces.name_ends.shape[0]):
            start = raw.places[rows[m], field, 0]
            if start != ABSENT:
                at = _copy_one(pieces.names, pieces.name_ends, field, out, at)
                at = _copy(raw.data, start, raw.places[rows[m], field, 1], out, at)
                out[at] = _COMMA
                at += 1
        at = _copy_one(pieces.released, pieces.released_ends, symbols[m], out, at)
        for field in range(pieces.reported_ends.shape[0]):
            report = reports.at[field, m]
            if report != ABSENT:
                at = _copy_one(pieces.reported, pieces.reported_ends, field, out, at)
                at = _copy_one(reports.data, reports.ends, report, out, at)
                out[at] = _COMMA
                at += 1
        at = max(at, first + 1)
        out[at - 1] = _CLOSE


@kernel
def _copy_one(texts: Bytes, ends: Integers, i: int, out: Bytes, at: int) -> int:
    return _copy(texts, ends[i] - _length(ends, i), ends[i], out, at)


@kernel
def _length(ends: Integers, i: int) -> int:
    return int(ends[i] - ends[i - 1]) if i > 0 else int(ends[0])


@kernel
def _copy(source: Bytes, start: int, end: int, out: Bytes, at: int) -> int:
    """Copy eight bytes at a time, which is why every buffer has SPARE bytes at its end: what is copied too much is
    written over by the next piece. Most pieces are shorter than ten bytes; byte by byte they cost seven times as much.
    All eight are read before the first is written, and places are unsigned (numba would ask of each signed one whether
    it counts from the end), so that this becomes one load and one store.
    """
    i, to, last = np.uint64(start), np.uint64(at), np.uint64(end)
    while i < last:
        a, b, c, d = source[i], source[i + _ONE], source[i + _TWO], source[i + _THREE]
        e, f, g, h = source[i + _FOUR], source[i + _FIVE], source[i + _SIX], source[i + _SEVEN]
        out[to], out[to + _ONE], out[to + _TWO], out[to + _THREE] = a, b, c, d
        out[to + _FOUR], out[to + _FIVE], out[to + _SIX], out[to + _SEVEN] = e, f, g, h
        i += _EIGHT
        to += _EIGHT
    return at + (end - start)
