"""The compiled way out: the released texts of many plain events, put together from pieces of their raw texts.

A released text is `{`, the public fields that the record has, in the order of the settings, each as `"name":value,`,
and the protected field with its released value and the closing brace: `"name":value}`. The last piece is written in
advance for every symbol. Raw values are copied byte for byte; the scan lets only those pass that the writer would
write just so.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from stream.records.lookups import ABSENT, Integers
from stream.records.plain import Bytes

_COMMA: Final = 0x2C
_OPEN: Final = 0x7B


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
    """The texts one behind the other, and the end of each."""
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    return np.frombuffer(bytearray().join(texts), dtype=np.uint8), ends


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
    for i in range(start, end):
        out[at + i - start] = source[i]
    return at + end - start
