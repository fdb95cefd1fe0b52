"""The values of some fields in every record of a chunk, whatever the source is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stream import names as reasons
from stream.fitting.rows import Cells
from stream.fitting.sources import Chunk, Line
from stream.records.paths import Path, getter
from stream.records.strict import load

Values = Sequence[Any] | str
"""Of one record, or why it has none."""


class ValueReader:
    """Reads these fields, in this order."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(paths)
        self._getters = [getter(path) for path in self.paths]

    def read(self, chunk: Chunk) -> Iterator[tuple[Values, bytes | None]]:
        """The values of each record, and its key."""
        records = chunk.records
        if isinstance(records, Cells):
            columns = [records.columns[path] for path in self.paths]
            yield from zip(zip(*columns, strict=True), [None] * len(records), strict=True)
            return
        for line in records:
            yield self._document(line), line.key

    def _document(self, line: Line) -> Values:
        document, reason = load(line.value or b"")
        if reason is not None:
            return reason
        if type(document) is not dict:
            return reasons.NOT_AN_OBJECT
        return [get(document) for get in self._getters]


def is_text(value: str) -> bool:
    """What is no UTF-8 in a table stands as half surrogates."""
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
