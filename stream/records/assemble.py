"""The compiled way out: the released texts of many plain events, put together from pieces of their raw texts.

A released text is `{`, the public fields that the record has, in the order of the settings, each as `"name":value,`,
and the protected field with its released value and the closing brace: `"name":value}`. The last piece is written in
advance for every symbol. Raw values are copied byte for byte; the scan lets only those pass that the writer would
write just so.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.protocol.inputs import SPARE
from stream.records.lookups import ABSENT, Integers
from stream.records.plain import Bytes

_COMMA: Final = 0x2C
_OPEN: Final = 0x7B
_ONE, _TWO, _THREE, _FOUR, _FIVE, _SIX, _SEVEN, _EIGHT = map(np.uint64, range(1, 9))


class Pieces(NamedTuple):
    """What is the same in every text: `"name":` of each public field, and the end of the text for each symbol."""

    names: Bytes
    name_ends: Integers
    tails: Bytes
    tail_ends: Integers


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


@kernel
def measure(raw: Joined, rows: Integers, symbols: Integers, ready: Ready, pieces: Pieces, ends: Integers) -> int:
    """Where each text will end; the last of these ends."""
    total = 0
    for m in range(rows.shape[0]):
        total += ready.lengths[m]
        if ready.lengths[m] == 0:
            total += 1 + _length(pieces.tail_ends, symbols[m])
            for field in range(pieces.name_ends.shape[0]):
                start = raw.places[rows[m], field, 0]
                if start != ABSENT:
                    total += _length(pieces.name_ends, field) + (raw.places[rows[m], field, 1] - start) + 1
        ends[m] = total
    return total


@kernel
def assemble(raw: Joined, rows: Integers, symbols: Integers, ready: Ready, pieces: Pieces, out: Bytes) -> None:
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
        for field in range(pieces.name_ends.shape[0]):
            start = raw.places[rows[m], field, 0]
            if start != ABSENT:
                end = pieces.name_ends[field]
                at = _copy(pieces.names, end - _length(pieces.name_ends, field), end, out, at)
                at = _copy(raw.data, start, raw.places[rows[m], field, 1], out, at)
                out[at] = _COMMA
                at += 1
        end = pieces.tail_ends[symbols[m]]
        at = _copy(pieces.tails, end - _length(pieces.tail_ends, symbols[m]), end, out, at)


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
