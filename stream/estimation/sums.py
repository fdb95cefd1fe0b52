"""What the releases of one window of event time add up to, of the field whose values follow one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from stream.audit.amounts import Floats, Integers
from stream.audit.book import STEP
from stream.estimation.chain import Kept
from stream.estimation.crossed import Beside, CrossCount
from stream.estimation.functionals import ASTRAY, FORECAST, TOLD
from stream.estimation.jackknife import GROUPS
from stream.estimation.listening import Listened

CHAIN_NUMBERS_MOST: Final = 50_000_000
"""Columns that are kept of a window for the chain, 8 bytes each."""


class Indicators:
    """Of each value, by how many releases it is told of, what they say together, and the noise of that."""

    def __init__(self, symbols: int) -> None:
        self.known: Integers = np.zeros(symbols, dtype=np.int64)
        self.sums, self.noise = np.zeros(symbols), np.zeros(symbols)

    def add(self, functional: Floats, known: Integers, ties: Floats | None) -> None:
        self.known += known.sum(axis=0)
        self.sums += functional.sum(axis=0)
        # f (f - 1) is on average the noise of f, whatever the value is: its mean is 0 or 1.
        self.noise += (functional * (functional - known)).sum(axis=0)
        if ties is not None:
            self.noise += ties[:, : known.shape[1]].sum(axis=0)


@dataclass
class SequenceSums:
    """Rows of `believed`, `events`, `products` and `pairs` are groups of users. `everywhere` is about all releases, and
    `told` about those whose own channel may be counted by itself: of a window with a coin, the one asked first.
    """

    symbols: int
    coefficients: Floats | None
    releases: int = 0
    forecasts: int = 0
    astray: int = 0
    waiting: int = 0
    large: int = 0
    full: int = 0
    full_sum: float = 0.0
    full_noise: float = 0.0
    kept: list[Kept] = field(default_factory=list)
    kept_numbers: int = 0
    crosses: Sequence[CrossCount] = ()

    def __post_init__(self) -> None:
        self.everywhere, self.told = Indicators(self.symbols), Indicators(self.symbols)
        self.believed, self.events = np.zeros((GROUPS, self.symbols)), np.zeros(GROUPS, dtype=np.int64)
        self.products: Floats | None = None
        self.pairs: Integers = np.zeros(GROUPS, dtype=np.int64)

    def add(self, found: Listened, which: Integers, groups: Integers, beside: Beside | None = None) -> None:
        """These rows of a block, and what is reported beside them."""
        heard, ties, kinds = found.heard, found.ties, found.heard.kind[which]
        self.forecasts += int((kinds == FORECAST).sum())
        self.astray += int((kinds == ASTRAY).sum())
        at = which[kinds == TOLD]
        functional, known = heard.functional[at], heard.known[at]
        self.releases += at.shape[0]
        self.large += int(heard.large[at].sum())
        self.everywhere.add(functional, known, None if ties is None else ties.all[at])
        if ties is None:
            self.told.add(functional, known, None)
        else:
            alone = ties.alone[at][:, None]
            self.told.add(functional * alone, known * alone, ties.told[at])
        if beside is not None:
            for cross, told in zip(self.crosses, beside.told, strict=True):
                cross.add(told, beside.numbers[at], functional, known, beside.keys)
        np.add.at(self.believed, groups[at], heard.believed[at])
        self.events += np.bincount(groups[at], minlength=GROUPS)
        if self.coefficients is not None:
            whole = functional[known.all(axis=1)]
            numbers = (whole * self.coefficients).sum(axis=1)
            self.full += numbers.shape[0]
            self.full_sum += float(numbers.sum())
            self.full_noise += float((numbers * numbers).sum() - (whole * self.coefficients**2).sum())
            self.full_noise += 0.0 if ties is None else float(ties.all[at, self.symbols].sum())

    def keep(self, found: Listened, which: Integers, users: Integers, groups: Integers) -> None:
        """What the chain is learnt from, as far as there is room."""
        at = which[found.heard.kind[which] == TOLD]
        kept = kept_of(found, at, users, groups)
        self.kept_numbers += kept.columns.size
        if self.kept_numbers > CHAIN_NUMBERS_MOST:
            self.kept.clear()
        else:
            self.kept.append(kept)

    def products_of(self) -> Floats:
        if self.products is None:
            self.products = np.zeros((GROUPS, self.symbols, self.symbols))
        return self.products


def kept_of(found: Listened, at: Integers, users: Integers, groups: Integers) -> Kept:
    """These rows; of windows with one channel, the first row of each, with how many values it has."""
    lengths: Integers = np.ones(at.shape[0], dtype=np.int64)
    nth, shares, columns = np.zeros_like(lengths), np.zeros(at.shape[0]), found.heard.column
    if found.ties is not None:
        nth, shares = found.ties.nth[at], found.ties.share[at]
    if found.tables is not None:
        firsts = np.flatnonzero(nth == 0)
        lengths = np.diff(np.append(firsts, at.shape[0]))
        at, nth, shares, columns = at[firsts], nth[firsts], shares[firsts], found.tables
    return Kept(users[at], groups[at], found.events[at, STEP], columns[at], nth, shares, lengths)
