"""What is known about single events: the truth that guesses are scored by, and raw values that the adversary knows.

A fact names its event by user and step, or by the offset of the raw record, from which the event's public release id
follows. It is a line of JSON such as {"user": "u17", "step": 3, "value": "walking"} or
{"user": "u17", "partition": 0, "offset": 912, "value": "walking"}; or a row of a table with these columns.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
import orjson
from numpy.typing import NDArray

from beliefs.alphabet import Alphabet, Bins, IntegerRange
from stream.audit.amounts import Integers
from stream.audit.rows import release_id
from stream.errors import CannotAudit, CannotFit
from stream.fitting.reasons import meaning
from stream.fitting.sources import Fields, file_source
from stream.records.paths import Path as FieldPath

_KEYS: Final = frozenset({"user", "step", "partition", "offset", "value"})
_LARGEST: Final = 1 << 62
_TABLES: Final = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
_BY_STEP: Final = ("user", "step", "value")
_BY_OFFSET: Final = ("partition", "offset", "value")
_NUMBERS: Final = ("step", "partition", "offset")
_MOST_UNASKED: Final = 1 << 20
TRUTH, KNOWN = 0, 1


@dataclass(repr=False)
class Known:
    """Values by user and step, and by release id; they are nobody else's business, so no text is made of them."""

    by_step: dict[tuple[bytes, int], int] = field(default_factory=dict)
    by_id: dict[bytes, int] = field(default_factory=dict)

    def forget_up_to(self, name: bytes) -> None:
        """Releases come in the order of their raw records."""
        if name not in self.by_id:
            return
        for each in list(self.by_id):
            del self.by_id[each]
            if each == name:
                return

    def forget(self, names: Sequence[bytes]) -> None:
        """Where releases wait for others, raw records before them are asked for later; of these the latest are kept."""
        for name in names:
            self.by_id.pop(name, None)
        for name in list(islice(self.by_id, max(0, len(self.by_id) - _MOST_UNASKED))):
            del self.by_id[name]

    def __len__(self) -> int:
        return len(self.by_step) + len(self.by_id)

    def of(self, user: bytes, step: int, name: bytes) -> int:
        found = self.by_step.get((user, step), -1) if self.by_step else -1
        return self.by_id.get(name, -1) if found < 0 and self.by_id else found


@dataclass
class Facts:
    """Both kinds; `about` answers for a block of events, -1 where nothing is known. With `use_up` a truth that has been
    asked for may be forgotten; so may, where releases come in the order of their raw records, every one that was
    entered before it: its event was not released.
    """

    truth: Known = field(default_factory=Known)
    side: Known = field(default_factory=Known)
    use_up: bool = False

    def about(self, users: Sequence[bytes], events: Integers, ids: NDArray[np.void]) -> Integers:
        found: Integers = np.full((events.shape[0], 2), -1, dtype=np.int64)
        for column, known in ((TRUTH, self.truth), (KNOWN, self.side)):
            if known:
                names = zip(events.tolist(), ids.tolist(), strict=True)
                found[:, column] = [known.of(users[user], step, bytes(name)) for (user, step), name in names]
        return found

    def asked(self, names: Sequence[bytes], *, in_order: bool) -> None:
        """All of a block has been asked for: these releases, which come in the order of their raw records or not."""
        if self.use_up and names:
            if in_order:
                self.truth.forget_up_to(names[-1])
            else:
                self.truth.forget(names)


@dataclass(frozen=True)
class Naming:
    """How offsets become release ids; `topic_id` is that of the raw topic, where it is known."""

    fingerprint: bytes
    topic_id: bytes | None

    def id_of(self, partition: int, offset: int) -> bytes:
        return release_id(self.topic_id or b"", partition, offset, self.fingerprint)


def read_facts(file: Path, option: str, alphabet: Alphabet, naming: Naming) -> Known:
    """The facts in a file; whatever is wrong is refused with its line, and no value is repeated."""
    known = Known()
    for number, line in fact_lines(file, option, alphabet):
        where = f"{option} {file}, line {number}"
        if not line.keys() <= _KEYS or "value" not in line:
            _refuse(where, "a fact has a value, and user and step, or partition and offset; nothing else")
        value = alphabet.index_of(line["value"])
        if value is None:
            _refuse(where, "its value is none of the model's")
        if "offset" in line:
            if naming.topic_id is None:
                _refuse(where, "it names an offset, and the raw topic's id is known from the broker only")
            place = (_number(line.get("partition"), 0), _number(line["offset"], 0))
            if None in place or "step" in line:
                _refuse(where, "an offset goes with a partition, both whole numbers from 0, and with no step")
            entry: Any = naming.id_of(*(part or 0 for part in place))
            _enter(known.by_id, entry, value, where)
            continue
        step, user = _number(line.get("step"), 1), line.get("user")
        if step is None or not isinstance(user, str) or not user or "partition" in line:
            _refuse(where, "it names neither a user, as a text, and a step, from 1, nor a partition and an offset")
        _enter(known.by_step, (user.encode("utf-8", "surrogateescape"), step), value, where)
    if not known:
        _refuse(f"{option} {file}", "it holds no fact")
    return known


def fact_lines(file: Path, option: str, alphabet: Alphabet) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Lines of JSON; or the rows of a table (.csv, .tsv, .parquet), with a column for each name of a fact."""
    kind = next((kind for end, kind in _TABLES.items() if file.name.lower().removesuffix(".gz").endswith(end)), None)
    if kind is None:
        yield from json_lines(file, option)
        return
    numbers = _NUMBERS + (("value",) if isinstance(alphabet, IntegerRange | Bins) else ())
    try:
        names = _BY_STEP if _has_steps(file, kind) else _BY_OFFSET
        for chunk in file_source(file, kind, _fields(names, numbers)).chunks():
            for place, reason in chunk.unreadable:
                _refuse(f"{option} {file}, line {place}", meaning(reason))
            for place, record in zip(chunk.places, chunk.records, strict=True):
                found = _object_in(record.value or b"")
                if found is None:
                    _refuse(f"{option} {file}, line {place}", "its cells are no texts and numbers in UTF-8")
                yield int(place), {name: value for name, value in found.items() if value is not None}
    except CannotFit as error:
        _refuse(f"{option} {error.where}", error.why)


def _enter(facts: dict[Any, int], event: object, value: int, where: str) -> None:
    if facts.setdefault(event, value) != value:
        _refuse(where, "an earlier line says another value of the same event")


def _number(value: object, least: int) -> int | None:
    return value if type(value) is int and least <= value < _LARGEST else None


def json_lines(file: Path, option: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects in a file, one a line, with the number of the line; empty lines are passed over."""
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
                if not text.strip():
                    continue
                found = _object_in(text)
                if found is None:
                    _refuse(f"{option} {file}, line {number}", "it is not one JSON object")
                yield number, found
    except OSError as error:
        _refuse(f"{option} {file}", f"it cannot be read: {error.strerror or type(error).__name__}")


def _has_steps(file: Path, kind: str) -> bool:
    """Whether the facts of a table go by steps; with neither kind of columns, those for steps are asked for."""
    try:
        next(file_source(file, kind, _fields(_BY_OFFSET, ())).chunks(), None)
    except CannotFit:
        return True
    return False


def _fields(names: Sequence[str], numbers: Sequence[str]) -> Fields:
    paths = tuple(FieldPath((name,)) for name in names)
    return Fields(paths, frozenset(path for path in paths if path.steps[0] in numbers), _LARGEST)


def _object_in(text: bytes) -> dict[str, Any] | None:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _refuse(where: str, why: str) -> NoReturn:
    raise CannotAudit("A file for the adversary cannot be used.", where, why, "put the file right, or leave it out")
