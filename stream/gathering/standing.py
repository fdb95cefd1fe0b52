"""How far the windows of a pipeline are released, as it stands in the changelog beside what waits.

    offset  size
         0     1  version: 1
         1     4  how many partitions
         5     8  released_to, in milliseconds: windows before it have their record
        13   8 P  up to when each partition has closed its windows
              4  how many spans are missing; then partition (4), from (8) and to (8) of each
                 what the pipeline itself remembers of the windows before the next one

All numbers big-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Final, NamedTuple

VERSION: Final = 1

_HEAD: Final = struct.Struct(">BIq")
_COUNT: Final = struct.Struct(">I")
_SPAN: Final = struct.Struct(">Iqq")
_SPANS_EXPECTED: Final = 4096


class Span(NamedTuple):
    """Windows of one partition between two times, which never came or could not be opened."""

    partition: int
    start: int
    end: int


@dataclass(slots=True)
class Standing:
    released_to: int
    closed_to: list[int]
    missing: list[Span] = field(default_factory=list)

    def is_missing(self, start: int) -> bool:
        """Whether what some partition has of the window that begins here is not there."""
        return any(span.start <= start < span.end for span in self.missing)

    def forget(self) -> None:
        """Spans of windows that have their record."""
        if self.missing:
            self.missing = [span for span in self.missing if span.end > self.released_to]


def encode(standing: Standing, remembered: bytes) -> bytes:
    parts = [_HEAD.pack(VERSION, len(standing.closed_to), standing.released_to)]
    parts.append(struct.pack(f">{len(standing.closed_to)}q", *standing.closed_to))
    parts += [_COUNT.pack(len(standing.missing)), *(_SPAN.pack(*span) for span in standing.missing)]
    return b"".join([*parts, remembered])


def decode(mark: bytes) -> tuple[Standing, bytes]:
    """The standing and what is remembered; struct.error where the text is no such mark."""
    version, partitions, released_to = _HEAD.unpack_from(mark)
    if version != VERSION:
        raise struct.error("another version")
    at = _HEAD.size
    closed_to = list(struct.unpack_from(f">{partitions}q", mark, at))
    spans, at = listed(mark, at + 8 * partitions, _SPAN)
    return Standing(released_to, closed_to, [Span._make(span) for span in spans]), mark[at:]


def standing_bytes_max(partitions: int) -> int:
    """Of a mark without what is remembered, with some thousands of spans that are missing."""
    return _HEAD.size + 8 * partitions + _COUNT.size + _SPAN.size * _SPANS_EXPECTED


def listed(mark: bytes, at: int, shape: struct.Struct) -> tuple[list[tuple[int, ...]], int]:
    """As many of this shape as the number says that stands here, and where they end."""
    (count,) = _COUNT.unpack_from(mark, at)
    start, end = at + _COUNT.size, at + _COUNT.size + count * shape.size
    if end > len(mark):
        raise struct.error("too short")
    return list(shape.iter_unpack(mark[start:end])), end
