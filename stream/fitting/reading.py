"""From a source to numbered users, values and times, by the pipeline's own door; what it refuses is counted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import orjson

from beliefs.alphabet import Alphabet
from beliefs.chain import Indices
from stream.errors import CannotFit
from stream.fitting.alphabets import OpenIntegers, OpenTexts
from stream.fitting.progress import Progress
from stream.fitting.quick import Plain, Quick
from stream.fitting.sources import Chunk, Source
from stream.records.parse import Reader
from stream.records.paths import MISSING, getter
from stream.settings.model import RecordSettings

PLACES_SHOWN: Final = 5
_LOOKED_AT: Final = 1_000


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


def open_alphabet(source: Source, record: RecordSettings) -> OpenTexts | OpenIntegers:
    """Texts or integers, whichever the first record holds that has a value at all."""
    get, looked = getter(record.protect.path), 0
    for chunk in source.chunks():
        for line in chunk.records:
            looked += 1
            try:
                value = get(orjson.loads(line.value or b""))
            except orjson.JSONDecodeError:
                continue
            if type(value) is str:
                return OpenTexts()
            if type(value) is int:
                return OpenIntegers()
            if value is not MISSING and value is not None:
                raise _undeclared(source, record, "it holds neither texts nor whole numbers")
        if looked >= _LOOKED_AT:
            break
    raise _undeclared(source, record, f"none of the first {looked} records has a value there")


def _undeclared(source: Source, record: RecordSettings, why: str) -> CannotFit:
    return CannotFit(
        f"The values of {record.protect.path} cannot be learnt.",
        where=source.name,
        why=why,
        fix="correct --value; or declare the values: --bins LOW:HIGH:CELLS, --integers LOW:HIGH or --alphabet FILE",
    )
