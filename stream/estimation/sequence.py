"""Releases of the field whose values follow one another, heard through their channels: per partition, into windows of
event time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from stream.audit.amounts import Floats, Integers
from stream.audit.book import USER
from stream.audit.public import Public
from stream.audit.records import OTHER_MODEL, OTHER_POLICY, UNUSABLE, Reader, Record
from stream.audit.windows import rows_of
from stream.estimation.crossed import Beside
from stream.estimation.jackknife import group_of
from stream.estimation.listening import NOWHERE, Listened, listener_to
from stream.estimation.pairs import Latest, add_pairs
from stream.estimation.sums import SequenceSums
from stream.names import HEADER_MODEL

PAIRS_MOST: Final = 128
"""Of more values no products of pairs are made: their sums would take as many numbers as the square, for each group."""
_BLOCK_NUMBERS: Final = 1 << 21
"""Functionals are made of so many numbers at a time, 16 MiB."""

Windows = Mapping[int, SequenceSums]


class Part:
    """The users of one model in one partition; `first` numbers them from there."""

    def __init__(self, public: Public, coefficients: Floats | None, first: int, *, transitions: bool) -> None:
        self._reader, self._transitions, self._first = Reader(public.form), transitions, first
        self._listener = listener_to(public, coefficients)
        self._rows = max(1, _BLOCK_NUMBERS // public.symbols)
        self._groups: Integers = np.zeros(0, dtype=np.int64)
        by_pairs = transitions and public.windows is None and public.symbols <= PAIRS_MOST
        self._latest = Latest(public.symbols) if by_pairs else None

    def take(self, records: Sequence[Record], places: Integers, windows: Windows, beside: Beside | None = None) -> int:
        """`places` says in which of the windows a record counts. Answers how many could be heard only when their window
        was no longer there.
        """
        late = 0
        for start in range(0, len(records), self._rows):
            stop = start + self._rows
            its = None if beside is None else beside.of(np.arange(start, min(stop, len(records))))
            late += self._take(records[start:stop], places[start:stop], windows, its)
        return late

    def _take(self, records: Sequence[Record], places: Integers, windows: Windows, beside: Beside | None) -> int:
        parsed = self._reader.read(records)
        self._make_room()
        fine = np.flatnonzero(parsed.form & (UNUSABLE | OTHER_POLICY | OTHER_MODEL) == 0)
        self._before(parsed.user[fine])
        _count_waiting(windows, self._listener.waiting, -1)
        found = self._listener.take(rows_of(parsed, fine), places[fine])
        _count_waiting(windows, self._listener.waiting, 1)
        groups, numbers = self._groups[found.events[:, USER]], np.unique(found.places)
        sums = [windows[number] for number in numbers.tolist() if number in windows]
        there = np.array([number for number in numbers.tolist() if number in windows], dtype=np.int64)
        for number, window in zip(there.tolist(), sums, strict=True):
            which = np.flatnonzero(found.places == number)
            window.add(found, which, groups, None if beside is None else beside.of(fine))
            if self._transitions:
                window.keep(found, which, found.events[:, USER] + self._first, groups)
        if self._latest is not None and sums:
            self._add_pairs(self._latest, found, groups, there, sums)
        return int(((found.places != NOWHERE) & ~np.isin(found.places, there)).sum())

    def _before(self, users: Integers) -> None:
        """These users have releases in the block that is heard next."""

    def _add_pairs(
        self, latest: Latest, found: Listened, groups: Integers, there: Integers, sums: Sequence[SequenceSums]
    ) -> None:
        products = np.stack([window.products_of() for window in sums])
        counts = np.stack([window.pairs for window in sums])
        places = np.searchsorted(there, found.places).astype(np.int64)
        places[~np.isin(found.places, there)] = NOWHERE
        heard, kept = found.heard, (latest.steps, latest.functionals)
        said = found.events, heard.kind, heard.functional, heard.known
        add_pairs(*said, places, groups, *kept, products, counts)
        for number, window in enumerate(sums):
            window.products, window.pairs = products[number], counts[number]

    def _make_room(self) -> None:
        users = len(self._reader.users)
        known = self._groups.shape[0]
        if users > known:
            new = [group_of(key) for key in list(self._reader.users)[known:]]
            self._groups = np.concatenate([self._groups, np.array(new, dtype=np.int64)])
        room = self._listener.book.users.shape[0]
        if users > room:
            size = max(users, room * 3 // 2, 1024)
            self._listener.make_room(size)
            if self._latest is not None:
                self._latest.make_room(size)


def _count_waiting(windows: Windows, places: Integers, sign: int) -> None:
    for number, count in zip(*np.unique(places, return_counts=True), strict=True):
        if int(number) in windows:
            windows[int(number)].waiting += sign * int(count)


class SequencePartition:
    """One partition: each user is read by the model that his first record names."""

    def __init__(
        self, publics: Sequence[Public], coefficients: Floats | None, number: int, *, transitions: bool
    ) -> None:
        firsts = [(number << 32) + (place << 48) for place in range(len(publics))]
        self._parts = [
            Part(public, coefficients, first, transitions=transitions)
            for public, first in zip(publics, firsts, strict=True)
        ]
        self._numbers: Mapping[bytes, int] = {public.form.model: place for place, public in enumerate(publics)}
        self._owners: dict[bytes, int] = {}

    def take(self, records: Sequence[Record], places: Integers, windows: Windows, beside: Beside | None = None) -> int:
        """All records of a block in their order, those that count nowhere, too: beliefs go by every one of them."""
        if len(self._parts) == 1:
            return self._parts[0].take(records, places, windows, beside)
        owners = np.array([self._owner(record) for record in records], dtype=np.int64)
        late = 0
        for number, part in enumerate(self._parts):
            which = np.flatnonzero(owners == number)
            if which.shape[0]:
                own = [records[at] for at in which.tolist()]
                late += part.take(own, places[which], windows, None if beside is None else beside.of(which))
        return late

    def _owner(self, record: Record) -> int:
        named = next((value for name, value in record.headers if name == HEADER_MODEL), b"")
        number = self._numbers.get(named)
        if not record.key or number is None:
            return self._owners.get(record.key or b"", 0)
        return self._owners.setdefault(record.key, number)
