"""The text of a table, block by block: a block without anything that needs care is cut into cells all at once, and the
lines of every other one go through Python's own reader of CSV.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import IO, Final

from stream.errors import CannotFit

_BLOCK: Final = 1 << 20
_LONGEST: Final = 64
"""Blocks without the end of a line."""


class Lines:
    """The lines of a table for `csv.reader`, with `number` of them given so far; or `plain` blocks of them at once."""

    def __init__(self, content: IO[bytes], file: Path) -> None:
        self.number = 0
        self._file = file
        self._content = content
        self._rest = content.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
        self._is_first = True
        self._waiting: list[str] = []
        self._given = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while self.is_between_blocks:
            block = self._block()
            if not block:
                raise StopIteration
            # What is no UTF-8 stays recognisable, and the door refuses the row.
            self._waiting = list(io.StringIO(block.decode("utf-8", "surrogateescape"), newline=""))
            self._given = 0
        self._given += 1
        self.number += 1
        return self._waiting[self._given - 1]

    @property
    def is_between_blocks(self) -> bool:
        return self._given >= len(self._waiting)

    def plain(self, delimiter: str, width: int) -> list[str] | None:
        """The cells of a block, row after row: nothing is quoted, and every line has as many cells as the header."""
        if not self.is_between_blocks:
            return None
        block = self._block()
        cells = _plain_cells(block, delimiter, width)
        if cells is None:
            self._rest = block + self._rest
            return None
        self.number += len(cells) // width
        return cells

    def _block(self) -> bytes:
        """Whole lines, as far as possible, and the first time the first one alone; empty at the end."""
        parts = [self._rest]
        while b"\n" not in parts[-1] or len(parts) == 1:
            read = self._content.read(_BLOCK)
            if not read:
                self._rest = b""
                return b"".join(parts)
            parts.append(read)
            if len(parts) > _LONGEST:
                raise CannotFit(
                    "The table cannot be read.",
                    where=f"{self._file}, line {self.number + 1}",
                    why=f"no line ends within {_LONGEST * _BLOCK >> 20} MiB",
                    fix="see that each row ends in a line break, and that the file is what it is taken for",
                )
        *before, last = parts
        cut = (last.index(b"\n") if self._is_first else last.rindex(b"\n")) + 1
        self._is_first = False
        self._rest = last[cut:]
        return b"".join([*before, last[:cut]])


def _plain_cells(block: bytes, delimiter: str, width: int) -> list[str] | None:
    if b'"' in block or b"\0" in block or not block.endswith(b"\n"):
        return None
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
        if b"\r" in block:
            return None
    text = block[:-1].decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    if max(map(len, lines)) > csv.field_size_limit() or width < 2:
        return None
    if set(map(str.count, lines, repeat(delimiter))) != {width - 1}:
        return None
    return text.replace("\n", delimiter).split(delimiter)
