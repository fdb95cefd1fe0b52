"""How often each value followed each past, counted in one pass over any number of events, in bounded memory.

A past is the last values of a user, up to `order` of them, the newest last. It is written as one number in base B =
symbols + 1, digit 0 meaning that there was no such value:

    past = d_1 + d_2 B + d_3 B^2 + ...        d_1 belongs to the newest value, d_k to the k-th newest
    key  = (group B^order + past) B + value + 1

So one sorted table of keys and counts holds everything, and counts of a shorter past are sums over the digits that are
left out. What is kept grows with the users and with the different pasts, never with the events. Where there are too
many different pasts, the oldest digit is given up for all of them, which is the same as if it had never been counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beliefs.alphabet import SIZE_MAX
from beliefs.chain import Indices
from beliefs.checks import Invalid, require
from beliefs.contexts import ORDER_MAX

MOST_ENTRIES = 1 << 23
"""Keys and counts of 16 bytes: 128 MiB, and as much again while they are merged."""
_PENDING = 1 << 18
"""So many events wait at least until they are merged. Where there are more entries, as many as these wait, up to
`_PENDING_MOST`, so that merging costs no more than counting."""
_PENDING_MOST = 1 << 21
_LARGEST_KEY = 1 << 62


@dataclass(frozen=True)
class Counts:
    """What was counted. `keys` ascend; `starts[group, value]` are the first values of users."""

    symbols: int
    order: int
    groups: int
    keys: Indices
    counts: Indices
    starts: Indices

    @property
    def base(self) -> int:
        return self.symbols + 1

    @property
    def values(self) -> Indices:
        """The value of each entry."""
        return self.keys % self.base - 1

    @property
    def groups_of(self) -> Indices:
        groups: Indices = self.keys // self.base ** (self.order + 1)
        return groups

    @property
    def pasts(self) -> Indices:
        """The past of each entry, as one number."""
        pasts: Indices = self.keys // self.base % self.base**self.order
        return pasts


def largest_order(symbols: int, groups: int) -> int:
    """The longest pasts whose keys are whole numbers of 62 bits."""
    order = 0
    while order < ORDER_MAX and groups * (symbols + 1) ** (order + 2) < _LARGEST_KEY:
        order += 1
    return order


class Counting:
    """Takes events in any portions. Users are numbered from 0; a user's events come in their order."""

    def __init__(self, symbols: int, order: int, groups: int = 1, most: int = MOST_ENTRIES) -> None:
        require(1 <= symbols <= SIZE_MAX and groups >= 1, "values and groups to count")
        if not 1 <= order <= largest_order(symbols, groups):
            most_order = largest_order(symbols, groups)
            raise Invalid("order", f"must be from 1 to {most_order}, which is the most for {symbols} values")
        self.order = order
        self.symbols = symbols
        self._groups = groups
        self._most = most
        self._base = symbols + 1
        self._past = np.zeros(1024, dtype=np.int64)
        self._keys = np.zeros(0, dtype=np.int64)
        self._counts = np.zeros(0, dtype=np.int64)
        self._waiting: list[Indices] = []
        self._waits = 0
        self._starts = np.zeros((groups, symbols), dtype=np.int64)

    def add(self, users: Indices, values: Indices, groups: Indices, apart: Indices | None = None) -> None:
        """Count these events; where `apart` is not 0, an event does not follow the user's last one."""
        if users.size == 0:
            return
        self._make_room(int(users.max()))
        order = np.argsort(users, kind="stable")
        users, values, groups = users[order], values[order], groups[order]
        first = np.ones(users.size, dtype=bool)
        first[1:] = users[1:] != users[:-1]
        begins = first.copy()
        before = np.where(first, self._past[users], 0)
        fresh = first & (before == 0)
        if apart is not None:
            parted = apart[order] != 0
            begins |= parted
            before[parted] = 0
        pasts = self._pasts(values, begins, before)
        self._starts += np.bincount(groups[fresh] * self.symbols + values[fresh], minlength=self._starts.size).reshape(
            self._starts.shape
        )
        last = np.append(first[1:], True)
        after = (pasts * self._base + values + 1) % self._base**self.order
        self._past[users[last]] = after[last]
        self._waiting.append((groups * self._base**self.order + pasts) * self._base + values + 1)
        self._waits += users.size
        if self._waits >= min(max(_PENDING, self._keys.size), _PENDING_MOST):
            self._merge()

    def counts(self) -> Counts:
        self._merge()
        return Counts(self.symbols, self.order, self._groups, self._keys, self._counts, self._starts.copy())

    def _pasts(self, values: Indices, begins: np.ndarray[tuple[int], np.dtype[np.bool_]], before: Indices) -> Indices:
        """The past of each event: values of its own stretch, and beyond its beginning the past that was kept."""
        places = np.arange(values.size)
        start = np.maximum.accumulate(np.where(begins, places, 0))
        into = places - start
        kept = before[start]
        pasts = np.zeros(values.size, dtype=np.int64)
        for digit in range(1, self.order + 1):
            inside = into >= digit
            found = np.zeros(values.size, dtype=np.int64)
            found[inside] = values[places[inside] - digit] + 1
            beyond = ~inside
            found[beyond] = kept[beyond] // self._base ** (digit - 1 - into[beyond]) % self._base
            pasts += found * self._base ** (digit - 1)
        return pasts

    def _merge(self) -> None:
        keys = np.concatenate([self._keys, *self._waiting])
        counts = np.ones(keys.size, dtype=np.int64)
        counts[: self._counts.size] = self._counts
        self._waiting, self._waits = [], 0
        self._keys, self._counts = added_up(keys, counts)
        while self._keys.size > self._most:
            self._shorten()

    def _shorten(self) -> None:
        if self.order == 1:
            raise Invalid("values", f"follow one another in more than {self._most} different ways; name fewer of them")
        shorter = self._base ** (self.order - 1)
        value, past = self._keys % self._base, self._keys // self._base % self._base**self.order
        group = self._keys // self._base ** (self.order + 1)
        keys = (group * shorter + past % shorter) * self._base + value
        self._keys, self._counts = added_up(keys, self._counts)
        self._past %= shorter
        self.order -= 1

    def _make_room(self, user: int) -> None:
        if user >= self._past.size:
            more = np.zeros(max(user + 1, 2 * self._past.size), dtype=np.int64)
            more[: self._past.size] = self._past
            self._past = more


def added_up(keys: Indices, counts: Indices) -> tuple[Indices, Indices]:
    """Each key once, ascending, with the sum of its counts."""
    if keys.size == 0:
        return keys, counts
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    new = np.ones(keys.size, dtype=bool)
    new[1:] = keys[1:] != keys[:-1]
    return keys[new], np.add.reduceat(counts[order], np.flatnonzero(new))
