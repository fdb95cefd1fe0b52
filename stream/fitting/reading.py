"""From a source to numbered users, values and times, by the pipeline's own door; what it refuses is counted."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from beliefs.alphabet import Alphabet
from beliefs.chain import Indices
from stream.errors import CannotFit
from stream.fitting.alphabets import OpenIntegers, OpenTexts
from stream.fitting.progress import Progress
from stream.fitting.quick import Plain, Quick
from stream.fitting.reasons import meaning, mending
from stream.fitting.sources import Chunk, Line, Source
from stream.names import FIELD_MISSING, NOT_AN_OBJECT
from stream.records.parse import WHOLE, Reader
from stream.records.paths import MISSING, Getter, getter
from stream.records.shapes import Rejected
from stream.records.strict import load
from stream.settings.model import RecordSettings

PLACES_SHOWN: Final = 5
_LOOKED_AT: Final = 1_000
_EVENTS: Final = "give a file with the events of users; a table has a line with names first"
_DECLARED: Final = "correct --value; or declare the values: --bins LOW:HIGH:CELLS, --integers LOW:HIGH, --alphabet FILE"
_CELLS: Final = "say the cells that numbers fall into, for example --bins -10:40:100; or correct --value"


@dataclass
class Refusals:
    """How many records were refused for each reason, and where the first of them lie. Never a value."""

    counts: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[int | str]] = field(default_factory=dict)

    def add(self, reason: str, place: int | str) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + 1
        shown = self.places.setdefault(reason, [])
        if len(shown) < PLACES_SHOWN:
            shown.append(place)

    @property
    def total(self) -> int:
        return sum(self.counts.values())


class Events(NamedTuple):
    """Events in the order of the source; users are numbered from 0."""

    users: Indices
    values: Indices
    times: Indices


class Users:
    """Gives each user a number and a group; the group is a hash of the id, the same in every run."""

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self._numbers: dict[bytes, int] = {}
        self._groups = np.zeros(1024, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    def numbers(self, users: list[bytes]) -> Indices:
        known = self._numbers
        found = list(map(known.get, users))
        if None in found:
            for place, user in enumerate(users):
                if found[place] is None:
                    found[place] = self._number_of(user)
        return np.array(found, dtype=np.int64)

    def _number_of(self, user: bytes) -> int:
        number = self._numbers.setdefault(user, len(self._numbers))
        if number == len(self._numbers) - 1:
            self._put_group(number, user)
        return number

    def groups_of(self, numbers: Indices) -> Indices:
        return self._groups[numbers]

    def _put_group(self, number: int, user: bytes) -> None:
        if number >= self._groups.size:
            self._groups = np.concatenate([self._groups, np.zeros_like(self._groups)])
        digest = hashlib.blake2b(user, digest_size=8, person=b"sottovoce-fit").digest()
        self._groups[number] = int.from_bytes(digest) % self.groups


@dataclass
class Reading:
    """One pass over a source."""

    source: Source
    record: RecordSettings
    alphabet: Alphabet
    users: Users
    progress: Progress
    refusals: Refusals = field(default_factory=Refusals)
    rows: int = 0

    def events(self) -> Iterator[Events]:
        reader, quick = Reader(self.record, self.alphabet), Quick(self.record, self.alphabet)
        for chunk in self.source.chunks():
            plain = quick.read(chunk.records)
            yield self._read(reader, chunk) if plain is None else self._taken(plain, chunk)
            self.progress.read(len(chunk.records) + len(chunk.unreadable), len(self.users), chunk.share)

    def _taken(self, plain: Plain, chunk: Chunk) -> Events:
        self._count(chunk)
        return Events(self.users.numbers(plain.users), plain.symbols, plain.times)

    def _count(self, chunk: Chunk) -> None:
        self.rows += len(chunk.records) + len(chunk.unreadable)
        for place, reason in chunk.unreadable:
            self.refusals.add(reason, place)

    def _read(self, reader: Reader, chunk: Chunk) -> Events:
        self._count(chunk)
        block = reader.read_block(chunk.records)
        for position, refusal in block.rejected:
            self.refusals.add(refusal.reason, chunk.places[position])
        symbols, times = np.array(block.symbols, dtype=np.int64), np.array(block.times, dtype=np.int64)
        return Events(self.users.numbers(block.users), symbols, times)


def told(refusals: Refusals, kind: str) -> str:
    """Each reason, how often, and where first."""
    return ", ".join(
        f"{count} {meaning(reason)}, the first at {kind} {refusals.places[reason][0]}"
        for reason, count in sorted(refusals.counts.items())
    )


def open_alphabet(source: Source, record: RecordSettings) -> OpenTexts | OpenIntegers:
    """Texts or integers, whichever more of the first records hold."""
    get, looked = getter(record.protect.place), 0
    kinds: Counter[type] = Counter()
    refusals = Refusals()
    for chunk in source.chunks():
        for place, reason in chunk.unreadable:
            refusals.add(reason, place)
        for line, place in zip(chunk.records, chunk.places, strict=True):
            looked += 1
            found = _value_in(line, get)
            if isinstance(found, Rejected):
                refusals.add(found.reason, place)
            else:
                kinds[type(found.value)] += 1
            if looked >= _LOOKED_AT:
                break
        if looked >= _LOOKED_AT:
            break
    if not looked and not refusals.total:
        raise CannotFit("There is nothing to learn from.", source.name, "it holds no record", _EVENTS)
    whole = 0 if kinds[float] else kinds[int]
    if kinds[str] + whole == 0 or kinds[float] > kinds[str]:
        raise _undeclared(source, record, looked, kinds, refusals)
    return OpenTexts() if kinds[str] >= whole else OpenIntegers()


class _Found(NamedTuple):
    value: object


def _value_in(line: Line, get: Getter) -> _Found | Rejected:
    document, reason = load(line.value or b"")
    if reason is not None:
        return Rejected(reason, WHOLE)
    if type(document) is not dict:
        return Rejected(NOT_AN_OBJECT, WHOLE)
    value = get(document)
    if value is MISSING or value is None:
        return Rejected(FIELD_MISSING, WHOLE)
    return _Found(value)


def _undeclared(
    source: Source, record: RecordSettings, looked: int, kinds: Counter[type], refusals: Refusals
) -> CannotFit:
    if kinds[float]:
        why, fix = "it holds numbers that are not whole, and no kind of value fits most", _CELLS
    elif kinds:
        why, fix = "it holds neither texts nor whole numbers", _DECLARED
    else:
        why = f"none of the first {max(looked, refusals.total)} records has a value there"
        why, fix = f"{why}: {told(refusals, source.kind)}", f"{mending(refusals.counts)}; or correct --value"
    return CannotFit(f"The values of {record.protect.place} cannot be learnt.", where=source.name, why=why, fix=fix)
