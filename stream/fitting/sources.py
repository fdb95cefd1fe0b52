"""Where the events that a model is learnt from lie: what every source gives, and how a name becomes a source.

A source hands over chunks of records, in order, as often as it is asked; never more than a chunk is in memory. A record
is what the pipeline's own door reads, so a table's row becomes JSON first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from beliefs.alphabet import Alphabet, Bins, Grid, IntegerRange
from stream.errors import CannotFit
from stream.records.paths import Path as FieldPath
from stream.settings.model import RecordSettings

CHUNK_RECORDS: Final = 16_384
TOPIC: Final = "topic"
FORMATS: Final = ("jsonl", "csv", "tsv", "parquet")


class Line(NamedTuple):
    """A record as the door wants it. Its `repr` shows nothing of it."""

    key: bytes | None
    value: bytes | None
    timestamp: int

    def __repr__(self) -> str:
        return "Line(...)"


@dataclass(frozen=True)
class Chunk:
    """Records and where each lies; what the source itself could not read, with reasons; the share read so far."""

    records: Sequence[Line]
    places: Sequence[int | str]
    share: float
    unreadable: Sequence[tuple[int | str, str]] = field(default=())


class Source(Protocol):
    """`kind` is what a place is called: a line, a row, a record."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    def chunks(self) -> Iterator[Chunk]: ...


@dataclass(frozen=True)
class Fields:
    """The fields that are read. A table has a column for each; `numeric` are those that hold numbers.

    `options` are those that name them, for whoever named a column that is not there.
    """

    paths: tuple[FieldPath, ...]
    numeric: frozenset[FieldPath]
    most_bytes: int
    has_places: bool = False
    options: str = (
        "the columns of the user, the value and the time: --user, --value, --time, or record: in the settings"
    )

    def column_of(self, path: FieldPath) -> str:
        """The column of a field: `$.device.activity` is in the column device.activity."""
        return ".".join(str(step) for step in path.steps)


def fields_of(record: RecordSettings, alphabet: Alphabet | None) -> Fields:
    """What is read of a file. The public fields of the settings are none of it: nothing of them is learnt."""
    user, time, value = record.user.path, record.event_time.path, record.protect.place
    numeric = {value} if isinstance(alphabet, IntegerRange | Bins) else set()
    if time is not None and record.event_time.unit != "iso8601":
        numeric.add(time)
    paths = tuple(path for path in (user, value, time) if path is not None)
    return Fields(paths, frozenset(numeric), record.max_bytes, isinstance(alphabet, Grid))


def format_of(file: Path) -> str:
    """What a file holds, by the end of its name."""
    suffixes = [suffix.lower() for suffix in file.suffixes if suffix.lower() != ".gz"]
    known = {
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".json": "jsonl",
        ".csv": "csv",
        ".tsv": "tsv",
        ".parquet": "parquet",
    }
    found = known.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise CannotFit(
            "It cannot be told what the file holds.",
            where=str(file),
            why="its name does not end in .jsonl, .ndjson, .csv, .tsv or .parquet (the first four also with .gz)",
            fix="say so: --format jsonl, csv, tsv or parquet",
        )
    return found


def file_source(file: Path, kind: str, fields: Fields) -> Source:
    """The source that reads this file."""
    from stream.fitting.lines import JsonLines
    from stream.fitting.opened import refuse_other_contents
    from stream.fitting.tables import Csv, Parquet

    refuse_other_contents(file, kind)
    if fields.has_places and kind != "jsonl":
        raise CannotFit(
            "Places cannot be read from a table.",
            where=str(file),
            why="a place is two numbers, and a table has one cell for a value",
            fix="give JSON lines",
        )
    if kind == "jsonl":
        return JsonLines(file, fields.most_bytes)
    if kind == "parquet":
        return Parquet(file, fields)
    return Csv(file, fields, "\t" if kind == "tsv" else ",")
