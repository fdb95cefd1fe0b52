"""Subset selection: a set of w values that holds the own one with chance p. Proof: subset.md."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.outputs import SINGLETONS, SIZED, Sets
from beliefs.leakage.sequence import log_up
from beliefs.native import kernel
from mechanisms.coins import Coins
from mechanisms.contract import TOTAL, Floats, Integers
from mechanisms.local.estimate import Estimate, from_support
from mechanisms.local.guesses import CERTAIN, Guess, guess_of
from mechanisms.local.units import ratio_for, require_drawable, require_values

_DOUBLES_UP_TO = 700.0


@dataclass(frozen=True)
class SubsetSelection:
    values: int
    level: float
    size: int

    @property
    def _without(self) -> float:
        """The weight of all sets without the own value beside the 1 of those with it."""
        return (self.values - self.size) / self.size * math.exp(-self.level)

    @property
    def p(self) -> float:
        return 1.0 / (1.0 + self._without)

    @property
    def q(self) -> float:
        if self.size == 1:
            return math.exp(-self.level) / (1.0 + self._without)
        return (self.p * (self.size - 1) + (1.0 - self.p) * self.size) / (self.values - 1)

    def extras(self) -> dict[str, object]:
        return {"subset_size": self.size}

    def worst_sets(self) -> Sets:
        return Sets(SINGLETONS) if self.size == 1 else Sets(SIZED, self.size)

    def guess(self) -> Guess:
        """A value of the reported set."""
        if self.values == 1:
            return CERTAIN
        if self.size > 1:
            return guess_of(self.p / self.size, math.log1p(-self.p / self.size), self.values)
        away = math.log(self.values - 1) - self.level - math.log1p(self._without)
        return guess_of(self.p, away, self.values)

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        return from_support(counts, reports, self.p, self.q)

    def channel(self) -> Floats:
        """Row: value; columns: the sets of that size in the order of itertools.combinations."""
        having = self.p / math.comb(self.values - 1, self.size - 1)
        lacking = (1.0 - self.p) / math.comb(self.values - 1, self.size) if self.size < self.values else 0.0
        sets = itertools.combinations(range(self.values), self.size)
        return np.array([[having if x in chosen else lacking for x in range(self.values)] for chosen in sets]).T


def subset_selection(values: int, epsilon: float, subset_size: int | None = None) -> SubsetSelection:
    """Of the size values/(e^epsilon + 1), rounded down, at least 1, unless one is given."""
    if subset_size is None:
        size = max(1, math.floor(values / (math.exp(epsilon) + 1.0))) if epsilon <= _DOUBLES_UP_TO else 1
    elif not 1 <= subset_size <= values - 1:
        raise Invalid("subset_size", f"must be 1 to {values - 1}, one less than the {values} values")
    else:
        size = subset_size
    return SubsetSelection(values, epsilon, size)


@kernel
def draw_sets(values: Integers, size: int, own: int, coins: Coins, held: Integers) -> None:
    """One row of 0 and 1 for each value; `held` comes in as zeros.

    The own value is held if the first coin's top 62 bits are below `own`. The others are drawn from all but the own one
    by Floyd's algorithm: for the j-th of the last places a number up to j, or j itself if that is taken. A number
    up to j is the top half of the product of j + 1 and 62 bits.
    """
    others = held.shape[1] - 1
    for i in range(values.shape[0]):
        mine = values[i]
        left = size
        if np.int64(coins[i, 0] >> np.uint64(2)) < own:
            held[i, mine] = 1
            left = size - 1
        for step in range(left):
            last = others - left + step
            point = coins[i, 1 + step] >> np.uint64(2)
            # 62 bits times at most 31: the high and the low 31 bits are multiplied by themselves.
            places = np.uint64(last + 1)
            low = (point & np.uint64(0x7FFFFFFF)) * places
            chosen = np.int64(((point >> np.uint64(31)) * places + (low >> np.uint64(31))) >> np.uint64(31))
            place = chosen + (1 if chosen >= mine else 0)
            if held[i, place]:
                place = last + (1 if last >= mine else 0)
            held[i, place] = 1


@dataclass(frozen=True)
class DrawnSubset:
    """What is drawn: a set with the own value in `own` of TOTAL cases."""

    values: int
    size: int
    own: int

    @property
    def words(self) -> int:
        return 1 + self.size

    @property
    def level(self) -> float:
        """The ratio of a set that holds the value and one that does not, and what the draws of others may add."""
        ratio = Fraction(self.own * (self.values - self.size), (TOTAL - self.own) * self.size)
        return log_up(max(ratio, Fraction(1)) * (1 + uneven(self.values, self.size)))

    def draw(self, values: Integers, coins: Coins) -> Integers:
        """One row of 0 and 1 for each value: the set, without an order."""
        require_values(values, self.values)
        held = np.zeros((values.size, self.values), dtype=np.int64)
        draw_sets(values, self.size, self.own, coins, held)
        return held

    def counts(self, reports: Integers) -> Integers:
        found: Integers = reports.sum(axis=0)
        return found

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        """Each set has `size` values, so that the others of them share what the own one leaves."""
        held = Fraction(self.own, TOTAL)
        return from_support(counts, reports, float(held), float((self.size - held) / (self.values - 1)))


def uneven(values: int, size: int) -> Fraction:
    """By how much, relatively, two sets of others may differ in their chances, at most."""
    return Fraction(4 * values * size, TOTAL)


def drawn_subset(values: int, epsilon: float, subset_size: int | None = None) -> DrawnSubset:
    """The most telling whole number for which the level is at most epsilon."""
    require_drawable(values, epsilon)
    chosen = subset_selection(values, epsilon, subset_size).size
    weight = chosen * ratio_for(epsilon) / (1 + uneven(values, chosen))
    found = DrawnSubset(values, chosen, int(TOTAL * weight / (weight + values - chosen)))
    if found.level > epsilon:
        raise Invalid("epsilon", f"is too small to draw sets of {chosen} of {values} values: rounding may tell more")
    return found
