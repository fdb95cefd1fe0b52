"""Users of one pipeline who are served by different models: the segment of an event, and the segment of a user.

A public field says the segment of an event, by its name: a text is its own name, a number or a truth value is named as
JSON writes it. Names with the same model (the same digest) are one segment, so no two segments share a model.

A user belongs to the segment of the first event that is carried out for him. His row bears the first four bytes of that
model's digest, its tag, and no two segments share a tag (`stream/serving.py` refuses that), so the row says to which
segment he belongs. An event of another segment is refused and leaves his row as it is. Both hold however a partition is
cut into blocks: an event meets its user's row either as it was stored or as the events before it in the block have made
it, and either way that row has the tag of the first event.

Users of different segments share no row, and an event touches its own user's row only; coins belong to offsets. So the
events of each segment may be carried out apart from the others, in the order of their offsets, and the outcome is that
of all events in the order of their offsets.

Models of one pipeline may have different numbers of states, so their rows have different numbers of codes. In the
arrays of a partition every row has as many as the widest; a narrower one is followed by zeros that no kernel is ever
given, and that are never written out: as bytes, a row is the same as if its model served alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from beliefs.forward import ChainArrays
from beliefs.native import kernel
from mechanisms.coins import Coins
from mechanisms.contract import Integers
from stream.policy import WATERMARK, Bench, Events, Policy, Releases
from stream.protocol.texts import Texts
from stream.records.assemble import Joined
from stream.records.columns import Columns
from stream.records.lookups import ABSENT, CLOSELY, Members, symbol_of, texts_table
from stream.records.paths import Path, getter
from stream.settings.model import RecordSettings
from stream.state import WORD_BYTES, Codes, row_matrix
from stream.step import advance

UNKNOWN: Final = -1  # an event without a segment; a user of whom nothing has been carried out yet
_ASK: Final = -2  # instead of a segment: look at the value itself
_EACH: Final = slice(None)
_NAMES_KEPT: Final = 1 << 16
_LONGEST_KEPT: Final = 64


def name_of(value: object) -> str | None:
    """The name of a segment as a field of an event gives it; lists, objects, null and what is missing give none."""
    if type(value) is str:
        return value
    return orjson.dumps(value).decode() if type(value) in (int, float, bool) else None


@dataclass(frozen=True, slots=True)
class Rule:
    """Which segment an event belongs to. `otherwise` is that of the names that are not listed, or UNKNOWN."""

    path: Path
    numbers: Mapping[str, int]
    otherwise: int = UNKNOWN

    def number_of(self, value: object) -> int:
        name = name_of(value)
        return UNKNOWN if name is None else self.numbers.get(name, self.otherwise)


class SegmentReader:
    """Reads the segments of a block's events where `Columns` has their public values."""

    def __init__(self, rule: Rule, record: RecordSettings) -> None:
        self._rule, self._get, self._field = rule, getter(rule.path), record.public.index(rule.path)
        names = list(rule.numbers)
        self._members = texts_table([name.encode() for name in names])
        self._numbers = np.array([rule.numbers[name] for name in names], dtype=np.int64)
        self._known: dict[bytes, int] = {}

    @property
    def path(self) -> Path:
        return self._rule.path

    def read(self, columns: Columns) -> Integers:
        """The segment of each event, or UNKNOWN."""
        found = np.full(len(columns.users), _ASK, dtype=np.int64)
        for row, document in columns.documents.items():
            found[row] = self._rule.number_of(self._get(document))
        plain = np.flatnonzero(found == _ASK)
        _look_up(columns.raw, plain, self._field, self._members, self._numbers, found)
        for row in np.flatnonzero(found == _ASK).tolist():
            start, end = columns.raw.places[row, self._field].tolist()
            found[row] = self._number_of(columns.raw.data[start:end].tobytes())
        return found

    def _number_of(self, text: bytes) -> int:
        """A plain value that is not one of the listed texts: a number, a word, another text."""
        number = self._known.get(text)
        if number is None:
            number = self._rule.number_of(orjson.loads(text))
            if len(self._known) < _NAMES_KEPT and len(text) <= _LONGEST_KEPT:
                self._known[text] = number
        return number


@kernel
def _look_up(raw: Joined, rows: Integers, field: int, members: Members, numbers: Integers, found: Integers) -> None:
    for row in rows:
        start, end = raw.places[row, field, 0], raw.places[row, field, 1]
        if start == ABSENT:
            found[row] = UNKNOWN
        else:
            listed = symbol_of(raw.data, start, end, members, 0)
            if listed != CLOSELY:
                found[row] = numbers[listed]


class Settled(NamedTuple):
    """The segment of each user of a block, and which events belong to another one than their user."""

    owners: Integers
    strangers: NDArray[np.bool_]


def settle(slot: Integers, offsets: Integers, segments: Integers, heads: Integers, tags: Integers) -> Settled:
    """Events in the order of their offsets, each user with one at least; `heads` are the users' rows as stored.

    An event that was carried out before is no stranger: it is passed over, whatever its segment.
    """
    first = np.unique(slot, return_index=True)[1]
    owners = owners_of(heads, tags)
    owners = np.where(owners == UNKNOWN, segments[first], owners)
    strangers: NDArray[np.bool_] = (segments != owners[slot]) & (offsets > heads[slot, WATERMARK])
    return Settled(owners, strangers)


def owners_of(heads: Integers, tags: Integers) -> Integers:
    """The segment of each row, by its tag; UNKNOWN where nothing has been carried out, so that nothing is sealed."""
    owners = np.full(heads.shape[0], UNKNOWN, dtype=np.int64)
    marks = (heads[:, 0] >> 32) & 0xFFFFFFFF
    for number, tag in enumerate(tags.tolist()):
        owners[(heads[:, 0] != 0) & (marks == tag)] = number
    return owners


class Part(NamedTuple):
    """What one segment's events are carried out with."""

    policy: Policy
    chain: ChainArrays
    bench: Bench
    width: int


def advance_parts(
    parts: Sequence[Part], owners: Integers, heads: Integers, codes: Codes, events: Events, coins: Coins
) -> Releases:
    """Carry out the events on the rows, each with its user's part. Every part is called, also for no event at all: so
    a block without events makes all of them ready.
    """
    told = None
    place = np.empty(owners.shape[0], dtype=np.int64)
    for number, part in enumerate(parts):
        users = np.flatnonzero(owners == number)
        place[users] = np.arange(users.shape[0])
        chosen = np.flatnonzero(owners[events.slot] == number)
        some = Events(*(column[chosen] for column in events))._replace(slot=place[events.slot[chosen]])
        own_heads, own_codes = heads[users], np.ascontiguousarray(codes[users, : part.width])
        found = advance(part.policy, part.chain, part.bench, own_heads, own_codes, some, coins[chosen])
        heads[users], codes[users, : part.width] = own_heads, own_codes
        told = told or blank_like(found, events.slot.shape[0])
        for name in Releases._fields:
            column, its = getattr(told, name), getattr(found, name)
            column[_EACH if name == "uncertified" else chosen] += its
    if told is None:
        raise ValueError("no model serves anybody")
    return told


def blank_like(found: Releases, count: int) -> Releases:
    blank = Releases(*(np.zeros(count, dtype=column.dtype) for column in found))
    return blank._replace(uncertified=np.zeros_like(found.uncertified))


def row_texts(heads: Integers, codes: Codes, widths: Integers | None = None) -> Texts:
    """The rows as bytes; `widths` are how many codes each of them has, where they do not all have the same."""
    matrix = row_matrix(heads, codes)
    if widths is None or bool((widths == codes.shape[1]).all()):
        return Texts.of_rows(matrix)
    ends = WORD_BYTES * heads.shape[1] + 4 * widths
    return Texts(matrix[np.arange(matrix.shape[1]) < ends[:, None]], np.cumsum(ends))
