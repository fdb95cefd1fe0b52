"""Records of a file as they are kept until somebody looks at one: the lines' bytes, or a table's columns.

Each is the sequence of records that the pipeline's door reads. A record is made only when it is asked for, so that what
is plainly in order (`quick.py`) costs no record at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import orjson

from stream.fitting.sources import Line
from stream.records.paths import Path, setter


class _Made(Sequence[Line]):
    """What makes its records one by one."""

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if isinstance(index, slice):
            return [self._line(place) for place in range(*index.indices(len(self)))]
        return self._line(range(len(self))[index])

    def _line(self, place: int) -> Line:
        raise NotImplementedError


class Texts(_Made):
    """Each record is a line of JSON."""

    def __init__(self, texts: list[bytes]) -> None:
        self.texts = texts

    def __len__(self) -> int:
        return len(self.texts)

    def _line(self, place: int) -> Line:
        return Line(None, self.texts[place], 0)


class Cells(_Made):
    """Each record is a row: `columns` holds the cells of one path each, all of them equally many."""

    def __init__(self, paths: Sequence[Path], columns: Sequence[list[Any]]) -> None:
        self.columns = dict(zip(paths, columns, strict=True))
        self._puts = [(setter(path), cells) for path, cells in self.columns.items()]

    def __len__(self) -> int:
        return len(self._puts[0][1])

    def _line(self, place: int) -> Line:
        document: dict[str, Any] = {}
        for put, cells in self._puts:
            put(document, cells[place])
        return Line(None, _json(document), 0)


def _json(document: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(document)
    except (TypeError, orjson.JSONEncodeError):
        return b"\xff"  # a cell that is no UTF-8, or a value that JSON does not have
