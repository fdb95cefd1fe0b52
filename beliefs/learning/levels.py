"""The counts of all orders at once, each tied to the next lower one, and the smoothed laws that follow from them.

At level k a *context* is a past of exactly k values and an *entry* one context with one value that followed it. Each
entry knows the entry of the same value at the level below, whose context lacks the oldest value; and so does each
context. The law of a context is its counts, mixed with the law of the shorter context (`levels.md`):

    p(y | c) = (N(c, y) + (T(c) - sum of N + s(c)) p(y | shorter c)) / (T(c) + s(c))

from the uniform law up. `Keeping` says which counts take part; what it leaves out goes to the shorter context.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from beliefs.chain import Indices
from beliefs.learning.counts import Counts, added_up
from beliefs.simplex import Vector

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Strength:
    """How much the shorter context counts: as `amount` events, or as `amount` times the different values seen."""

    amount: float
    by_kinds: bool = False

    def __str__(self) -> str:
        return f"{self.amount:g} for each kind of value seen" if self.by_kinds else f"{self.amount:g} events"


STRENGTHS = tuple(
    [Strength(2.0**power) for power in range(-2, 13)] + [Strength(amount, by_kinds=True) for amount in (0.5, 1.0, 2.0)]
)
"""Those that are tried. A strength by kinds is Witten and Bell's, one that is not is Dirichlet's."""


@dataclass(frozen=True)
class Keeping:
    """Counts below `least` are left out, and those of values that `named` does not have, at levels above 0."""

    least: int = 1
    named: Flags | None = None

    def of(self, level: Level, totals: Vector) -> Vector:
        if level.order == 0 or (self.least <= 1 and self.named is None):
            return totals
        kept = totals >= self.least
        if self.named is not None:
            kept &= self.named[level.values]
        return np.where(kept, totals, 0.0)


def summed(places: Indices, weights: Vector, size: int) -> Vector:
    """The sum of the weights at each place."""
    return np.bincount(places, weights=weights, minlength=size).astype(np.float64)


@dataclass(frozen=True)
class Level:
    """All entries with contexts of `order` values, by context and then by value."""

    order: int
    pasts: Indices
    """The context of each context number, as one number."""
    contexts: Indices
    """The context number of each entry; they ascend."""
    values: Indices
    totals: Vector
    lower_entries: Indices
    lower_contexts: Indices
    """For each entry, for each context: its number at the level below. Empty at level 0."""

    def context_sums(self, of_entries: Vector) -> Vector:
        return summed(self.contexts, of_entries, self.pasts.size)


@dataclass(frozen=True)
class Rows:
    """What was counted, as rows of (group, entry at each level); -1 where the past is shorter than the level."""

    groups: Indices
    counts: Vector
    entries: tuple[Indices, ...]


def levels_of(counts: Counts) -> tuple[list[Level], Rows]:
    """The levels 0 to `counts.order`, or to the longest past there is, and where each counted row stands in them.

    A value that follows nothing belongs to no level: what comes first has a law of its own.
    """
    base, values, pasts = counts.base, counts.values, counts.pasts
    levels: list[Level] = []
    entries: list[Indices] = []
    below = np.zeros(0, dtype=np.int64)
    for order in range(counts.order + 1):
        there = pasts // base ** max(order - 1, 0) % base > 0
        if not there.any():
            break
        keys = pasts[there] % base**order * base + values[there] + 1
        unique, totals = added_up(keys, counts.counts[there])
        levels.append(_level(order, base, unique, totals.astype(np.float64), below, levels))
        found = np.full(values.size, -1, dtype=np.int64)
        found[there] = np.searchsorted(unique, keys)
        entries.append(found)
        below = unique
    return levels, Rows(counts.groups_of, counts.counts.astype(np.float64), tuple(entries))


def _level(order: int, base: int, keys: Indices, totals: Vector, below: Indices, levels: list[Level]) -> Level:
    of_entries = keys // base
    pasts, contexts = np.unique(of_entries, return_inverse=True)
    nothing = np.zeros(0, dtype=np.int64)
    lower_entries = lower_contexts = nothing
    if order > 0:
        shorter = base ** (order - 1)
        lower_entries = np.searchsorted(below, of_entries % shorter * base + keys % base)
        lower_contexts = np.searchsorted(levels[-1].pasts, pasts % shorter)
    return Level(order, pasts, contexts, keys % base - 1, totals, lower_entries, lower_contexts)


@dataclass(frozen=True)
class Mixture:
    """A level's laws: of each entry its probability, of each context what the lower law is multiplied by."""

    probabilities: Vector
    backed_off: Vector
    own: Vector
    """Of each entry what its context adds to the backed-off lower law."""


def mixed(level: Level, totals: Vector, strength: Strength, keeping: Keeping, lower: Vector) -> Mixture:
    """The laws of a level from counts of its entries and from the lower law's probability of each entry."""
    kept = keeping.of(level, totals)
    of_contexts = level.context_sums(totals)
    weight = np.full(level.pasts.size, strength.amount)
    if strength.by_kinds:
        weight *= level.context_sums((totals > 0).astype(np.float64))
    whole = of_contexts + weight
    empty = whole <= 0.0
    whole[empty] = 1.0
    backed_off = (of_contexts - level.context_sums(kept) + weight) / whole
    backed_off[empty] = 1.0
    own = kept / whole[level.contexts]
    return Mixture(own + backed_off[level.contexts] * lower, backed_off, own)


def lower_probabilities(level: Level, below: Mixture | None, symbols: int) -> Vector:
    """The probability of each entry's value under the law one level down; at level 0 that is the uniform one."""
    if below is None:
        return np.full(level.values.size, 1.0 / symbols)
    return below.probabilities[level.lower_entries]
