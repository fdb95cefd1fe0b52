"""Releases of the field whose values follow one another, heard through their channels: per partition, into windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from stream.audit.amounts import Floats, Integers
from stream.audit.book import STEP, USER, grown, new_book, new_desk, new_verdicts
from stream.audit.public import Public
from stream.audit.records import OTHER_MODEL, OTHER_POLICY, UNUSABLE, Reader, Record
from stream.audit.windows import rows_of
from stream.estimation.chain import Kept
from stream.estimation.functionals import ASTRAY, FORECAST, TOLD, Heard, hear, new_heard, new_workplace
from stream.estimation.jackknife import GROUPS, group_of
from stream.estimation.pairs import Latest, add_pairs
from stream.names import HEADER_MODEL

VALUES_MOST: Final = 128
"""An event's functionals take time with the cube of its outputs: 1 ms at 100."""
CHAIN_NUMBERS_MOST: Final = 50_000_000
"""Columns that are kept of a window for the chain, 8 bytes each."""


@dataclass
class SequenceSums:
    """One window. Rows of `believed`, `events`, `products` and `pairs` are groups of users."""

    symbols: int
    coefficients: Floats | None
    told: int = 0
    forecasts: int = 0
    astray: int = 0
    full: int = 0
    full_sum: float = 0.0
    full_noise: float = 0.0
    kept: list[Kept] = field(default_factory=list)
    kept_numbers: int = 0

    def __post_init__(self) -> None:
        self.known: Integers = np.zeros(self.symbols, dtype=np.int64)
        self.sums, self.noise = np.zeros(self.symbols), np.zeros(self.symbols)
        self.believed, self.events = np.zeros((GROUPS, self.symbols)), np.zeros(GROUPS, dtype=np.int64)
        self.products: Floats | None = None
        self.pairs: Integers = np.zeros(GROUPS, dtype=np.int64)

    def add(self, heard: Heard, which: Integers, groups: Integers) -> None:
        """These rows of a block."""
        kinds = heard.kind[which]
        self.forecasts += int((kinds == FORECAST).sum())
        self.astray += int((kinds == ASTRAY).sum())
        at = which[kinds == TOLD]
        functional, known = heard.functional[at], heard.known[at]
        self.told += at.shape[0]
        self.known += known.sum(axis=0)
        self.sums += functional.sum(axis=0)
        # f (f - 1) is on average the noise of f, whatever the value is: its mean is 0 or 1.
        self.noise += (functional * (functional - known)).sum(axis=0)
        np.add.at(self.believed, groups[at], heard.believed[at])
        self.events += np.bincount(groups[at], minlength=GROUPS)
        if self.coefficients is not None:
            whole = functional[known.all(axis=1)]
            found = (whole * self.coefficients).sum(axis=1)
            self.full += found.shape[0]
            self.full_sum += float(found.sum())
            self.full_noise += float((found * found).sum() - (whole * self.coefficients**2).sum())

    def keep(self, heard: Heard, which: Integers, users: Integers, groups: Integers, steps: Integers) -> None:
        """What the chain is learnt from, as far as there is room."""
        at = which[heard.kind[which] == TOLD]
        self.kept_numbers += at.shape[0] * self.symbols
        if self.kept_numbers > CHAIN_NUMBERS_MOST:
            self.kept.clear()
        else:
            self.kept.append(Kept(users[at], groups[at], steps[at], heard.column[at]))

    def products_of(self) -> Floats:
        if self.products is None:
            self.products = np.zeros((GROUPS, self.symbols, self.symbols))
        return self.products


class _Part:
    """The users of one model in one partition."""

    def __init__(self, public: Public, transitions: bool) -> None:
        self._public, self._reader = public, Reader(public.form)
        self._desk = new_desk(public.states, public.symbols, public.distance)
        self._book = new_book(0, public.states, public.listed, public.rules.sliding)
        self._work = new_workplace(public.symbols)
        self._groups: Integers = np.zeros(0, dtype=np.int64)
        self._latest = Latest(public.symbols) if transitions else None

    def take(self, records: Sequence[Record], places: Integers, windows: Sequence[SequenceSums], first: int) -> None:
        """`places` says in which of the windows a record belongs, -1: in none; `first` numbers the users from there."""
        parsed = self._reader.read(records)
        self._make_room()
        fine = np.flatnonzero(parsed.form & (UNUSABLE | OTHER_POLICY | OTHER_MODEL) == 0)
        events, places = rows_of(parsed, fine).events, places[fine]
        heard, public = new_heard(events.shape[0], self._public.symbols), self._public
        ours = (public.rules, public.law, self._desk, self._book, self._work)
        hear(*ours, events, new_verdicts(events.shape[0]), heard)
        groups = self._groups[events[:, USER]]
        for number, window in enumerate(windows):
            which = np.flatnonzero(places == number)
            window.add(heard, which, groups)
            if self._latest is not None:
                window.keep(heard, which, events[:, USER] + first, groups, events[:, STEP])
        if self._latest is not None and windows:
            self._add_pairs(events, heard, places, groups, windows)

    def _add_pairs(
        self, events: Integers, heard: Heard, places: Integers, groups: Integers, windows: Sequence[SequenceSums]
    ) -> None:
        latest = self._latest
        if latest is None:
            return
        products = np.stack([window.products_of() for window in windows])
        counts = np.stack([window.pairs for window in windows])
        functional, known = heard.functional, heard.known
        kept = (latest.steps, latest.functionals)
        add_pairs(events, heard.kind, functional, known, places, groups, *kept, products, counts)
        for number, window in enumerate(windows):
            window.products, window.pairs = products[number], counts[number]

    def _make_room(self) -> None:
        users = len(self._reader.users)
        known = self._groups.shape[0]
        if users > known:
            new = [group_of(key) for key in list(self._reader.users)[known:]]
            self._groups = np.concatenate([self._groups, np.array(new, dtype=np.int64)])
        if users > self._book.users.shape[0]:
            size = max(users, self._book.users.shape[0] * 3 // 2, 1024)
            self._book = grown(self._book, size)
            if self._latest is not None:
                self._latest.make_room(size)


class SequencePartition:
    """One partition: each user is read by the model that his first record names."""

    def __init__(self, publics: Sequence[Public], number: int, *, transitions: bool) -> None:
        self._parts = [_Part(public, transitions) for public in publics]
        self._numbers: Mapping[bytes, int] = {public.form.model: place for place, public in enumerate(publics)}
        self._owners: dict[bytes, int] = {}
        self._first = number << 32

    def take(self, records: Sequence[Record], places: Integers, windows: Sequence[SequenceSums]) -> None:
        """All records of a block in their order, those that are in no window, too: beliefs go by every one of them."""
        if len(self._parts) == 1:
            self._parts[0].take(records, places, windows, self._first)
            return
        owners = np.array([self._owner(record) for record in records], dtype=np.int64)
        for number, part in enumerate(self._parts):
            which = np.flatnonzero(owners == number)
            if which.shape[0]:
                own = [records[at] for at in which.tolist()]
                part.take(own, places[which], windows, self._first + (number << 48))

    def _owner(self, record: Record) -> int:
        named = next((value for name, value in record.headers if name == HEADER_MODEL), b"")
        number = self._numbers.get(named)
        if not record.key or number is None:
            return self._owners.get(record.key or b"", 0)
        return self._owners.setdefault(record.key, number)
