"""A file as bytes, packed by gzip or not, and how much of it has been read; what is plainly another kind of file."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

from stream.errors import CannotFit

_GZIP: Final = b"\x1f\x8b"
_PARQUET: Final = b"PAR1"
_LOOKED_AT: Final = 512
_OTHERS: Final = (
    ((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "it is written in UTF-16", "write it once more in UTF-8"),
    ((b"PK\x03\x04",), "it is a ZIP archive or a spreadsheet", "export its table as CSV, in UTF-8"),
    ((_PARQUET,), "it is a Parquet file", "say so: --format parquet"),
)


@contextmanager
def opened(file: Path) -> Iterator[tuple[IO[bytes], Callable[[], float]]]:
    """The bytes, and a function that tells the share that has been read."""
    try:
        with file.open("rb") as below:
            size = max(file.stat().st_size, 1)
            packed = below.read(2) == _GZIP
            below.seek(0)
            content = io.BufferedReader(gzip.GzipFile(fileobj=below)) if packed else below
            yield cast("IO[bytes]", content), lambda: min(1.0, below.tell() / size)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(file, error) from None


def refuse_other_contents(file: Path, kind: str) -> None:
    """What is plainly something else than it is taken for, by its first bytes; these are not shown."""
    why, fix = "", "name a file that exists"
    if not file.exists():
        why = "there is no such file"
    elif file.is_dir():
        why, fix = "it is a folder", "name one file in it; files of one kind may be put together into one"
    elif not file.is_file():
        why, fix = "it is no plain file, and it is read twice", "write it into a file first"
    else:
        why, fix = _other_contents(_beginning(file), kind)
    if why:
        raise CannotFit("There is nothing to learn from.", str(file), why, fix)


def _beginning(file: Path) -> bytes:
    try:
        with file.open("rb") as content:
            return content.read(_LOOKED_AT)
    except OSError as error:
        raise unreadable(file, error) from None


def _other_contents(begins: bytes, kind: str) -> tuple[str, str]:
    if not begins:
        return "it is empty", "give a file with the events of users"
    if kind == "parquet":
        fix = "give a Parquet file that is whole, or say what it is: --format jsonl, csv or tsv"
        return ("", "") if begins.startswith(_PARQUET) else ("it does not begin as a Parquet file does", fix)
    for marks, why, fix in _OTHERS:
        if begins.startswith(marks):
            return why, fix
    if not begins.startswith(_GZIP) and 8 * begins.count(0) > len(begins):
        return "it is no text: many of its first bytes are zero", "write it as text in UTF-8"
    return "", ""


def unreadable(file: Path, error: Exception) -> CannotFit:
    """Only the kind of an error is passed on: a library's text may quote a record."""
    why = error.strerror if isinstance(error, OSError) else None
    why = why or f"it is damaged or cut off ({type(error).__name__})"
    return CannotFit("The file cannot be read to its end.", str(file), why, "give a file that is whole and readable")
