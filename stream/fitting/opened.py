"""A file as bytes, packed by gzip or not, and how much of it has been read."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

from stream.errors import CannotFit

_GZIP: Final = b"\x1f\x8b"


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


def unreadable(file: Path, error: Exception) -> CannotFit:
    """Only the kind of an error is passed on: a library's text may quote a record."""
    why = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
    return CannotFit("The file cannot be read to its end.", str(file), why, "give a file that is whole and readable")
