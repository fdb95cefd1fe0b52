"""Small sources for fits: records in files, and what is read of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from command_house import run
from typer.testing import Result

from beliefs.alphabet import Alphabet, Categories
from stream.fitting.progress import Progress
from stream.fitting.reading import Reading, Users
from stream.fitting.sources import Chunk, Fields, Source
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.records.paths import parse_path
from stream.settings.model import EventTimeSettings, ProtectSettings, RecordSettings, UserSettings

NAMES = ["rest", "run", "walk"]
RECORD = RecordSettings(
    user=UserSettings(path=parse_path("$.user"), partitioned_by_user=True),
    event_time=EventTimeSettings(path=parse_path("$.at"), unit="ms"),
    protect=ProtectSettings(path=parse_path("$.activity")),
)
Event = tuple[str, str, int]


def fields(*numeric: str) -> Fields:
    paths = tuple(parse_path(text) for text in ("$.user", "$.activity", "$.at"))
    return Fields(paths, frozenset(parse_path(text) for text in ("$.at", *numeric)), 65_536)


def events_of(count: int, users: int = 24, stay: float = 0.8, seed: int = 1) -> list[Event]:
    """Users in turn, each staying with what they do or doing one of the others."""
    rng = np.random.default_rng(seed)
    doing = rng.integers(0, len(NAMES), users)
    events = []
    for number in range(count):
        user = number % users
        if rng.random() > stay:
            doing[user] = (doing[user] + rng.integers(1, len(NAMES))) % len(NAMES)
        events.append((f"user-{user}", NAMES[doing[user]], 1_700_000_000_000 + (number // users) * 60_000))
    return events


def as_json(events: Iterable[Event]) -> bytes:
    return b"".join(json.dumps({"user": u, "activity": a, "at": t}).encode() + b"\n" for u, a, t in events)


def as_csv(events: Iterable[Event], delimiter: str = ",") -> str:
    rows = [delimiter.join(("at", "user", "other", "activity"))]
    rows += [delimiter.join((str(time), f'"{user}"', "x", activity)) for user, activity, time in events]
    return "\n".join(rows) + "\n"


def write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(
    source: Source, alphabet: Alphabet | None = None, record: RecordSettings = RECORD
) -> tuple[Reading, list[Event]]:
    """The events that a source gives, as users, values and times again."""
    users = Users(8)
    reading = Reading(source, record, alphabet or Categories(NAMES), users, Progress(None))
    found = []
    for events in reading.events():
        found += [
            (number, reading.alphabet.value_at(value), time)
            for number, value, time in zip(*(column.tolist() for column in events), strict=True)
        ]
    ids = {number: user.decode() for user, number in users._numbers.items()}
    return reading, [(ids[number], str(value), time) for number, value, time in found]


@dataclass
class Records:
    """A source of what is given, in chunks that are given."""

    portions: list[Chunk]
    name: str = "a test"
    kind: str = "record"

    def chunks(self) -> Iterator[Chunk]:
        yield from self.portions


def fit_written(folder: Path, source: str, name: str, *arguments: object) -> tuple[bytes, dict[str, Any]]:
    """What `sottovoce fit` wrote and what it told as JSON."""
    told = run("fit", "--from", folder / source, "--out", folder / name, "--replace", "--json", *arguments)
    assert told.exit_code == EXIT_DONE, told.stderr
    return (folder / name).read_bytes(), json.loads(told.stdout)


def fit_refused(folder: Path, source: str, *arguments: object) -> Result:
    told = run("fit", "--from", folder / source, "--out", folder / "none.json", *arguments)
    assert (told.exit_code, told.stdout) == (EXIT_REFUSED, ""), told.stdout
    assert not (folder / "none.json").exists()
    return told
