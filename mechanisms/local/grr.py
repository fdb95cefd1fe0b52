"""Generalised randomised response: the value itself, or any other, all alike. Proof: grr.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from beliefs.checks import require
from beliefs.correlation.outputs import SINGLETONS, Sets
from beliefs.leakage.sequence import log_up
from mechanisms.coins import Coins
from mechanisms.contract import TOTAL, Floats, Integers
from mechanisms.local.estimate import Estimate, from_support
from mechanisms.local.guesses import Guess, guess_of
from mechanisms.local.units import points, ratio_for, require_drawable, require_values


@dataclass(frozen=True)
class Response:
    values: int
    level: float

    @property
    def _others(self) -> float:
        """The weight of all other values beside the own one's 1."""
        return (self.values - 1) * math.exp(-self.level)

    @property
    def p(self) -> float:
        return 1.0 / (1.0 + self._others)

    @property
    def q(self) -> float:
        return math.exp(-self.level) / (1.0 + self._others)

    def extras(self) -> dict[str, object]:
        return {}

    def worst_sets(self) -> Sets:
        return Sets(SINGLETONS)

    def guess(self) -> Guess:
        """The report itself."""
        away = math.log(self.values - 1) - self.level - math.log1p(self._others) if self.values > 1 else -math.inf
        return guess_of(self.p, away, self.values)

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        return from_support(counts, reports, self.p, self.q)

    def channel(self) -> Floats:
        """Row: value; column: report."""
        rows = np.full((self.values, self.values), self.q)
        np.fill_diagonal(rows, self.p)
        return rows


def grr(values: int, epsilon: float) -> Response:
    return Response(values, epsilon)


@dataclass(frozen=True)
class DrawnResponse:
    """What is drawn: the own value in `high`, each other one in `low` of TOTAL cases."""

    values: int
    high: int
    low: int
    words = 1

    @property
    def level(self) -> float:
        return log_up(Fraction(self.high, self.low))

    def draw(self, values: Integers, coins: Coins) -> Integers:
        """One report for each value, from one word each."""
        require_values(values, self.values)
        point = points(coins[:, 0])
        other = np.maximum(point - self.high, 0) // self.low
        return np.where(point < self.high, values, other + (other >= values))

    def counts(self, reports: Integers) -> Integers:
        """How many reports support each value."""
        return np.bincount(reports, minlength=self.values)

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        return from_support(counts, reports, self.high / TOTAL, self.low / TOTAL)


def drawn_response(values: int, epsilon: float) -> DrawnResponse:
    """The most telling whole numbers whose ratio is at most e^epsilon."""
    require_drawable(values, epsilon)
    return response_units(values, ratio_for(epsilon))


def response_units(values: int, ratio: Fraction) -> DrawnResponse:
    low = -(-TOTAL // (ratio + values - 1))
    high = TOTAL - (values - 1) * low
    require(high >= low > 0, "the own value is the likeliest report")
    return DrawnResponse(values, high, low)
