"""Subset selection: a set of w values that holds the own one with chance p. Proof: subset.md."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.outputs import SINGLETONS, SIZED, Sets
from mechanisms.contract import Floats
from mechanisms.local.estimate import Estimate, from_support
from mechanisms.local.guesses import CERTAIN, Guess, guess_of

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


def subset_selection(values: int, epsilon: float, size: int | None = None) -> SubsetSelection:
    """Of the size values/(e^epsilon + 1), rounded down, at least 1, unless one is given."""
    if size is None:
        size = max(1, math.floor(values / (math.exp(epsilon) + 1.0))) if epsilon <= _DOUBLES_UP_TO else 1
    elif not 1 <= size <= values - 1:
        raise Invalid("subset_size", f"must be 1 to {values - 1}, one less than the {values} values")
    return SubsetSelection(values, epsilon, size)
