"""Where results go: lines of JSON, tables of comma-separated values or Parquet, or a topic."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, Protocol

from stream.engine.publisher import Publisher
from stream.errors import CannotEstimate
from stream.estimation.results import COLUMNS, NUMBERS, WindowResult, columns_of

TOPIC: Final = "topic:"
FORMATS: Final = (".jsonl", ".json", ".csv", ".parquet")


class Sink(Protocol):
    async def take(self, result: WindowResult) -> None: ...

    async def close(self) -> None: ...


class JsonLines:
    """One object for each window and field."""

    def __init__(self, file: Path) -> None:
        self._file, self._out = file, _opened(file)

    async def take(self, result: WindowResult) -> None:
        with _writing(self._file):
            self._out.writelines(json_of(document) + "\n" for document in result.documents())
            self._out.flush()

    async def close(self) -> None:
        with _writing(self._file):
            self._out.close()


class CommaSeparated:
    """One row for each number."""

    def __init__(self, file: Path) -> None:
        self._file, self._out = file, _opened(file)
        self._rows = csv.writer(self._out, lineterminator="\n")
        self._rows.writerow(COLUMNS)

    async def take(self, result: WindowResult) -> None:
        columns = columns_of([result])
        with _writing(self._file):
            self._rows.writerows(zip(*columns.values(), strict=True))
            self._out.flush()

    async def close(self) -> None:
        with _writing(self._file):
            self._out.close()


class Parquet:
    """The same rows, a group of them for each window."""

    def __init__(self, file: Path) -> None:
        pa, pq = _arrow(file)
        kinds = {"window_start": pa.int64(), "window_end": pa.int64(), "complete": pa.bool_(), "reports": pa.int64()}
        kinds |= dict.fromkeys(NUMBERS, pa.float64())
        self._file, self._table = file, pa.table
        self._schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
        with _writing(file):
            self._out = pq.ParquetWriter(file, self._schema)

    async def take(self, result: WindowResult) -> None:
        with _writing(self._file):
            self._out.write_table(self._table(columns_of([result]), schema=self._schema))

    async def close(self) -> None:
        with _writing(self._file):
            self._out.close()


class TopicSink:
    """One record for each window and field: the field's name as its key, the window's last millisecond as its time."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    async def take(self, result: WindowResult) -> None:
        for document in result.documents():
            key, value = document["field"].encode(), json_of(document).encode()
            await self._publisher.send(key, value, max(result.end - 1, 0))

    async def close(self) -> None:
        await self._publisher.stop()


def file_sink(file: Path) -> Sink:
    """By the end of the file's name."""
    kinds: dict[str, Callable[[Path], Sink]] = {".csv": CommaSeparated, ".parquet": Parquet}
    return kinds.get(file.suffix.lower(), JsonLines)(file)


def json_of(document: dict[str, Any]) -> str:
    return json.dumps(document, allow_nan=False, separators=(",", ":"))


def require_free(file: Path, *, replace: bool) -> None:
    """Before hours of reading, not after them."""
    why, fix = "", "name another file"
    if file.suffix.lower() not in FORMATS:
        why, fix = f"it ends with none of {', '.join(FORMATS)}", "choose the format by the end of its name"
    elif file.is_dir():
        why = "it is a folder"
    elif not file.absolute().parent.is_dir():
        why, fix = "its folder is not there", "make the folder"
    elif file.exists() and not replace:
        why, fix = "it is there already", "name another one, or add --replace"
    if why:
        raise CannotEstimate("The file cannot be written.", f"--to {file}", why, fix)


def _arrow(file: Path) -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        why, fix = "pyarrow is not installed", "pip install 'sottovoce[parquet]', or name a file that ends with .csv"
        raise CannotEstimate("Parquet cannot be written.", f"--to {file}", why, fix) from None
    return pa, pq


def _opened(file: Path) -> IO[str]:
    with _writing(file):
        return file.open("w", encoding="utf-8", newline="")


@contextmanager
def _writing(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CannotEstimate("The file cannot be written.", f"--to {file}", why, "name another place") from None
