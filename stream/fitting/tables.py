"""Tables: a row becomes the JSON record that the pipeline's door reads, of the declared fields alone.

Where a field holds numbers, the text of a CSV cell must be a number as JSON writes it; otherwise it stays text, and the
door says what is wrong with it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from beliefs.alphabet import is_json_number
from stream.errors import CannotFit
from stream.fitting.opened import opened, unreadable
from stream.fitting.sources import CHUNK_RECORDS, Chunk, Fields, Line
from stream.records.paths import Setter, setter

NOT_A_ROW: Final = "not_a_row"
"""A row of a table that has another number of cells than the header, or that cannot be told apart into cells."""


@dataclass(frozen=True)
class Csv:
    """Text with a header line; quotes as everywhere ("" inside a quoted cell is one)."""

    file: Path
    fields: Fields
    delimiter: str = ","
    kind: str = "row ending in line"

    @property
    def name(self) -> str:
        return self.file.name

    def chunks(self) -> Iterator[Chunk]:
        with opened(self.file) as (content, share):
            # What is no UTF-8 stays recognisable, and the door refuses the row.
            text = io.TextIOWrapper(content, encoding="utf-8-sig", errors="surrogateescape", newline="")
            rows = csv.reader(text, delimiter=self.delimiter, strict=True)
            header = _next_row(rows) or []
            columns = columns_of(self.file, self.fields, header)
            numeric = [path in self.fields.numeric for path in self.fields.paths]
            put = [setter(path) for path in self.fields.paths]
            while True:
                chunk, ended = _csv_chunk(rows, len(header), list(zip(columns, numeric, put, strict=True)), share)
                yield chunk
                if ended:
                    break
            text.detach()


def _next_row(rows: Any) -> list[str] | None:
    """The next row, empty where it is broken; nothing at the end."""
    try:
        row: list[str] | None = next(rows, None)
    except csv.Error:
        row = []
    return row


def _csv_chunk(rows: Any, width: int, wanted: Sequence[tuple[int, bool, Setter]], share: Any) -> tuple[Chunk, bool]:
    records: list[Line] = []
    places: list[int | str] = []
    unreadable_rows: list[tuple[int | str, str]] = []
    ended = False
    for _ in range(CHUNK_RECORDS):
        row = _next_row(rows)
        if row is None:
            ended = True
            break
        if len(row) != width:
            unreadable_rows.append((rows.line_num, NOT_A_ROW))
            continue
        document: dict[str, Any] = {}
        for column, numeric, put in wanted:
            cell = row[column]
            put(document, _number(cell) if numeric else cell)
        records.append(Line(None, _json(document), 0))
        places.append(rows.line_num)
    return Chunk(records, places, 1.0 if ended else share(), unreadable_rows), ended


def _number(cell: str) -> object:
    try:
        value = orjson.loads(cell)
    except orjson.JSONDecodeError:
        return cell
    return value if is_json_number(value) else cell


def _json(document: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(document)
    except (TypeError, orjson.JSONEncodeError):
        return b"\xff"  # a cell that is no UTF-8, or a value that JSON does not have


def columns_of(file: Path, fields: Fields, header: Sequence[str]) -> list[int]:
    """Where each declared field stands in the header."""
    missing = [fields.column_of(path) for path in fields.paths if fields.column_of(path) not in header]
    if missing:
        raise CannotFit(
            "The table lacks a column.",
            where=str(file),
            why=f"no column is called {' or '.join(missing)}; there are {len(header)} columns",
            fix="name the columns of the user, the value and the time: --user, --value, --time",
        )
    return [list(header).index(fields.column_of(path)) for path in fields.paths]


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
        parquet = _parquet_library(self.file)
        try:
            with parquet.ParquetFile(self.file) as table:
                columns_of(self.file, self.fields, table.schema_arrow.names)
                names = [self.fields.column_of(path) for path in self.fields.paths]
                put, number, rows = [setter(path) for path in self.fields.paths], 1, max(table.metadata.num_rows, 1)
                for batch in table.iter_batches(batch_size=CHUNK_RECORDS, columns=names):
                    cells = [batch.column(name).to_pylist() for name in names]
                    records = [Line(None, _row(put, row), 0) for row in zip(*cells, strict=True)]
                    places = range(number, number + len(records))
                    number += len(records)
                    yield Chunk(records, places, min(1.0, (number - 1) / rows))
        except (OSError, ValueError) as error:  # the library's own errors are kinds of these two
            raise unreadable(self.file, error) from None


def _row(put: Sequence[Setter], cells: Sequence[Any]) -> bytes:
    document: dict[str, Any] = {}
    for place, cell in zip(put, cells, strict=True):
        place(document, cell)
    return _json(document)


def _parquet_library(file: Path) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise CannotFit(
            "Parquet cannot be read here.",
            where=str(file),
            why="the library that reads it, pyarrow, is not installed",
            fix="pip install 'sottovoce[parquet]', or give JSON lines or CSV",
        ) from None
    return parquet
