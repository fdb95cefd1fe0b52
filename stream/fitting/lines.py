"""JSON lines, one record a line, read in blocks of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stream.fitting.opened import opened
from stream.fitting.sources import Chunk, Line

_BLOCK: Final = 1 << 21


@dataclass(frozen=True)
class JsonLines:
    file: Path
    most_bytes: int
    kind: str = "line"

    @property
    def name(self) -> str:
        return self.file.name

    def chunks(self) -> Iterator[Chunk]:
        number, rest = 1, b""
        with opened(self.file) as (content, share):
            while block := content.read(_BLOCK):
                parts = (rest + block).split(b"\n")
                # A line that never ends is not kept whole; what is kept of it is longer than any record may be.
                rest = parts.pop()[: self.most_bytes + 1]
                yield _chunk(parts, number, share())
                number += len(parts)
        yield _chunk([rest], number, 1.0)


def _chunk(parts: list[bytes], number: int, share: float) -> Chunk:
    """Empty lines are no records."""
    there = [(place, part) for place, part in enumerate(parts, number) if part and not part.isspace()]
    return Chunk([Line(None, part, 0) for _, part in there], [place for place, _ in there], share)
