"""Tables: a row stands for the JSON record that the pipeline's door reads, of the declared fields alone.

Where a field holds numbers, the text of a CSV cell must be a number as JSON writes it; otherwise it stays text, and the
door says what is wrong with it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from beliefs.alphabet import is_json_number
from stream.fitting.columns import columns_of, parquet_library, refuse_kinds
from stream.fitting.opened import opened, unreadable
from stream.fitting.reasons import NOT_A_ROW
from stream.fitting.rows import Cells
from stream.fitting.sources import CHUNK_RECORDS, Chunk, Fields
from stream.fitting.table_lines import Lines


@dataclass(frozen=True)
class Csv:
    """Text with a header line; quotes as everywhere ("" inside a quoted cell is one). Empty lines are no rows."""

    file: Path
    fields: Fields
    delimiter: str = ","
    kind: str = "line"

    @property
    def name(self) -> str:
        return self.file.name

    def chunks(self) -> Iterator[Chunk]:
        with opened(self.file) as (content, share):
            lines = Lines(content, self.file)
            rows = csv.reader(lines, delimiter=self.delimiter, strict=True)
            portion = _portion(rows, lines, 1)
            header = portion.rows[0] if portion.rows else []
            columns = columns_of(self.file, self.fields, header, self.delimiter)
            while not portion.is_last:
                before = lines.number
                cells = lines.plain(self.delimiter, len(header))
                if cells is not None:
                    places = range(before + 1, lines.number + 1)
                    yield self._cells([cells[column :: len(header)] for column in columns], places, share())
                    continue
                portion = _portion(rows, lines, CHUNK_RECORDS)
                yield self._chunk(portion, columns, len(header), 1.0 if portion.is_last else share())

    def _chunk(self, portion: _Portion, columns: Sequence[int], width: int, share: float) -> Chunk:
        rows, lines = portion.rows, portion.lines
        lengths = list(map(len, rows))
        if lengths.count(width) < len(rows):
            for line, length in zip(lines, lengths, strict=True):
                if length != width:
                    portion.give_up(line, portion.longer.get(line, 1))
            right = [place for place, length in enumerate(lengths) if length == width]
            rows, lines = [rows[place] for place in right], [lines[place] for place in right]
        broken = sorted(portion.broken, key=lambda one: int(one[0]))
        return self._cells([list(map(itemgetter(column), rows)) for column in columns], lines, share, broken)

    def _cells(
        self, cells: list[list[Any]], lines: Sequence[int], share: float, broken: Sequence[tuple[int | str, str]] = ()
    ) -> Chunk:
        for place, path in enumerate(self.fields.paths):
            if path in self.fields.numeric:
                cells[place] = _numbers(cells[place])
        return Chunk(Cells(self.fields.paths, cells), lines, share, broken)


@dataclass
class _Portion:
    """Rows and the lines that they end in; how many lines a row has, where it is more than one; lines that are no rows.

    A quote that does not end swallows the rows behind it: each of their lines is counted, so that none is lost unsaid.
    """

    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    longer: dict[int, int] = field(default_factory=dict)
    broken: list[tuple[int | str, str]] = field(default_factory=list)
    is_last: bool = False

    def give_up(self, last: int, count: int) -> None:
        self.broken += [(line, NOT_A_ROW) for line in range(last - count + 1, last + 1)]


def _portion(rows: Any, lines: Lines, count: int) -> _Portion:
    found, before = _Portion(), lines.number
    while len(found.rows) + len(found.broken) < count:
        try:
            for row in rows:
                line = lines.number
                if line != before + 1:
                    found.longer[line] = line - before
                before = line
                if row:
                    found.rows.append(row)
                    found.lines.append(line)
                    if len(found.rows) >= count or lines.is_between_blocks:
                        return found
            found.is_last = True
            return found
        except csv.Error:
            found.give_up(lines.number, lines.number - before)
            before = lines.number
    return found


def _numbers(cells: list[str]) -> list[Any]:
    """The cells as numbers, where they are.

    If all of them, with commas between, are as many whole numbers in JSON, then each of them is one: a cell of more
    than one would bring a comma of its own, one of none would leave two commas side by side, and no piece of a text,
    list or object ends up as whole numbers alone.
    """
    try:
        whole = orjson.loads("[" + ",".join(cells) + "]")
    except ValueError:
        return list(map(_number, cells))
    if len(whole) == len(cells) and set(map(type, whole)) <= {int}:
        return list(whole)
    return list(map(_number, cells))


def _number(cell: str) -> object:
    try:
        value = orjson.loads(cell)
    except orjson.JSONDecodeError:
        return cell
    return value if is_json_number(value) else cell


@dataclass(frozen=True)
class Parquet:
    """Read a batch of rows at a time, and of the declared columns only."""

    file: Path
    fields: Fields
    kind: str = "row"

    @property
    def name(self) -> str:
        return self.file.name

    def chunks(self) -> Iterator[Chunk]:
        parquet = parquet_library(self.file)
        try:
            # Read ahead it would keep what it has read, and memory would grow with the file.
            with parquet.ParquetFile(self.file, pre_buffer=False) as table:
                columns_of(self.file, self.fields, table.schema_arrow.names)
                names = [self.fields.column_of(path) for path in self.fields.paths]
                refuse_kinds(self.file, self.fields, table.schema_arrow)
                number, rows = 1, max(table.metadata.num_rows, 1)
                for batch in table.iter_batches(batch_size=CHUNK_RECORDS, columns=sorted(set(names))):
                    cells = [batch.column(name).to_pylist() for name in names]
                    places = range(number, number + batch.num_rows)
                    number += batch.num_rows
                    yield Chunk(Cells(self.fields.paths, cells), places, min(1.0, (number - 1) / rows))
        except (OSError, ValueError) as error:  # the library's own errors are kinds of these two
            raise unreadable(self.file, error) from None
