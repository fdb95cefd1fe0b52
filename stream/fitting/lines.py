"""JSON lines, one record a line, read in blocks of bytes."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stream.fitting.opened import opened
from stream.fitting.rows import Texts
from stream.fitting.sources import Chunk

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
                if number == 1 and not rest:
                    block = block.removeprefix(codecs.BOM_UTF8)
                parts = (rest + block).split(b"\n")
                # A line that never ends is not kept whole; what is kept of it is longer than any record may be.
                rest = parts.pop()[: self.most_bytes + 1]
                yield _chunk(parts, number, share())
                number += len(parts)
        yield _chunk([rest], number, 1.0)


def _chunk(parts: list[bytes], number: int, share: float) -> Chunk:
    """Empty lines are no records."""
    there = [part for part in parts if part and not part.isspace()]
    places: Sequence[int] = range(number, number + len(parts))
    if len(there) < len(parts):
        places = [place for place, part in zip(places, parts, strict=True) if part and not part.isspace()]
    return Chunk(Texts(there), places, share)
