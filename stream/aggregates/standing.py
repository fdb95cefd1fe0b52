"""How far the windows of a pipeline are released, as it stands in the changelog beside the partials that wait.

    offset  size
         0     1  version: 1
         1     4  how many partitions
         5     8  released_to, in milliseconds: windows before it have their record
        13   8 P  up to when each partition has closed its windows
              4  how many spans are missing; then partition (4), from (8) and to (8) of each
              4  how many runs of losses; then how many windows (4) and what each lost (8), oldest first

All numbers big-endian. The losses are those of all windows of the horizon but the next one.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple

VERSION: Final = 1

_HEAD: Final = struct.Struct(">BIq")
_COUNT: Final = struct.Struct(">I")
_SPAN: Final = struct.Struct(">Iqq")
_RUN: Final = struct.Struct(">Iq")
_SPANS_EXPECTED: Final = 4096


class Span(NamedTuple):
    """Windows of one partition between two times, whose sums never came or could not be opened."""

    partition: int
    start: int
    end: int


@dataclass(slots=True)
class Standing:
    released_to: int
    closed_to: list[int]
    missing: list[Span] = field(default_factory=list)

    def is_missing(self, start: int) -> bool:
        """Whether some partition's sums of the window that begins here are not there."""
        return any(span.start <= start < span.end for span in self.missing)

    def forget(self) -> None:
        """Spans of windows that have their record."""
        if self.missing:
            self.missing = [span for span in self.missing if span.end > self.released_to]


def encode(standing: Standing, losses: Sequence[int]) -> bytes:
    runs = [(sum(1 for _ in same), loss) for loss, same in groupby(losses)]
    parts = [_HEAD.pack(VERSION, len(standing.closed_to), standing.released_to)]
    parts.append(struct.pack(f">{len(standing.closed_to)}q", *standing.closed_to))
    parts += [_COUNT.pack(len(standing.missing)), *(_SPAN.pack(*span) for span in standing.missing)]
    parts += [_COUNT.pack(len(runs)), *(_RUN.pack(*run) for run in runs)]
    return b"".join(parts)


def decode(mark: bytes) -> tuple[Standing, list[int]]:
    """The standing and the losses; struct.error where the text is no such mark."""
    version, partitions, released_to = _HEAD.unpack_from(mark)
    if version != VERSION:
        raise struct.error("another version")
    at = _HEAD.size
    closed_to = list(struct.unpack_from(f">{partitions}q", mark, at))
    spans, at = _listed(mark, at + 8 * partitions, _SPAN)
    runs, at = _listed(mark, at, _RUN)
    if at != len(mark):
        raise struct.error("another length")
    losses = [loss for count, loss in runs for _ in range(count)]
    return Standing(released_to, closed_to, [Span._make(span) for span in spans]), losses


def mark_bytes_max(partitions: int, horizon: int) -> int:
    """Of a mark with as many changes of losses as there can be, and some thousands of spans that are missing."""
    return _HEAD.size + 8 * partitions + 2 * _COUNT.size + _SPAN.size * _SPANS_EXPECTED + _RUN.size * horizon


def _listed(mark: bytes, at: int, shape: struct.Struct) -> tuple[list[tuple[int, ...]], int]:
    (count,) = _COUNT.unpack_from(mark, at)
    start, end = at + _COUNT.size, at + _COUNT.size + count * shape.size
    if end > len(mark):
        raise struct.error("too short")
    return list(shape.iter_unpack(mark[start:end])), end
