"""Histogram encoding: the one-hot histogram of one value with Laplace noise in every cell. Proof: histogram.md."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.outputs import ANY, Sets
from beliefs.leakage.sequence import log_up
from mechanisms.coins import Coins
from mechanisms.contract import TOTAL, Floats, Integers
from mechanisms.local.estimate import Estimate
from mechanisms.local.guesses import CERTAIN, Guess, guess_of
from mechanisms.local.unary import DrawnBits, Unary
from mechanisms.local.units import points, ratio_for, require_drawable, require_values, units_up

SHE_EPSILON_MIN, SHE_EPSILON_MAX = 0.01, 16.0
_TAIL_NATS = 12.0


@dataclass(frozen=True)
class SummedHistogram:
    """Cells with noise of scale 2/epsilon, to be added up."""

    values: int
    level: float
    p: None = None
    q: None = None

    @property
    def scale(self) -> float:
        return 2.0 / self.level if self.level > 0.0 else math.inf

    def extras(self) -> dict[str, object]:
        return {"scale": self.scale}

    def worst_sets(self) -> Sets:
        return Sets(ANY)

    def guess(self) -> Guess:
        """The likeliest value, from the law of the largest likelihood among independent cells."""
        if self.values == 1:
            return CERTAIN
        half = self.level / 2.0
        fades = math.exp(-half)
        powers = np.arange(1, self.values, dtype=np.float64)
        # steps[i] = integral of (1 - z/2)^i over [fades, 1]; each term of `kept` is that of (1 - z/2)^i / z.
        steps = 2.0 * ((1.0 - fades / 2.0) ** powers - 0.5**powers) / powers
        kept = half - np.concatenate([[0.0], np.add.accumulate(0.5 * steps[:-1])])
        lost = float((np.arange(self.values - 1, 0, -1) * np.maximum(kept, 0.0)).sum()) / (2.0 * self.values)
        away = -half + math.log((self.values - 1) / self.values + lost)
        return guess_of(-math.expm1(away), away, self.values)

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        """`counts` are the sums of the cells of all reports."""
        if self.level == 0.0:
            raise Invalid("epsilon", "is 0: the noise has no bound, so nothing can be estimated")
        return Estimate(counts / reports, np.full(self.values, 8.0 / self.level / self.level / reports))


def she(values: int, epsilon: float) -> SummedHistogram:
    return SummedHistogram(values, epsilon)


def the(values: int, epsilon: float, threshold: float | None = None) -> Unary:
    """The same cells, of which only is told whether each is above the threshold, from 1/2 to 1: one bit a value.

    The noise exceeds t > 0 with chance e^(-t epsilon/2)/2, so that the own cell stays below with
    e^(-(1 - threshold) epsilon/2)/2 and another one rises above with e^(-threshold epsilon/2)/2.
    """
    threshold = _threshold(epsilon, threshold)
    own, other = (1.0 - threshold) * epsilon / 2.0, threshold * epsilon / 2.0
    log_off, log_q = -own - math.log(2.0), -other - math.log(2.0)
    # ln p/q + ln (1 - q)/(1 - p), where 2p = 2 - e^-own and 2(1 - q) = 2 - e^-other: positive terms only.
    level = own + other + math.log1p(-math.expm1(-own)) + math.log1p(-math.expm1(-other))
    named = {"scale": 2.0 / epsilon if epsilon > 0.0 else math.inf, "threshold": threshold}
    return Unary(values, -math.expm1(log_off), math.exp(log_q), min(epsilon, level), log_off, log_q, dict(named))


def best_threshold(epsilon: float) -> float:
    """The one of 33 with which estimates of rare values scatter least: q (1 - q)/(p - q)^2 is smallest there.

    In decimals, so that every machine takes the same one.
    """
    with localcontext() as context:
        context.prec = 40
        half = Decimal(epsilon) / 2

        def scatter(threshold: Decimal) -> Decimal:
            off, q = (-(1 - threshold) * half).exp() / 2, (-threshold * half).exp() / 2
            return q * (1 - q) / (1 - off - q) ** 2

        tried = [Decimal(32 + step) / 64 for step in range(33)]
        return float(min(tried, key=scatter)) if epsilon > 0.0 else 0.5


def _threshold(epsilon: float, threshold: float | None) -> float:
    if threshold is None:
        return best_threshold(epsilon)
    if not 0.5 <= threshold <= 1.0:
        raise Invalid("threshold", "must lie between 1/2 and 1")
    return threshold


@dataclass(frozen=True)
class DrawnHistogram:
    """What is drawn: cells on a grid of `per_unit` steps to 1, cut off at both ends, from one of two rows of TOTAL.

    A cell of another value is `first` + i steps in other[i] cases; the own value's row is the same from its end on.
    """

    values: int
    per_unit: int
    first: int
    other: tuple[int, ...]

    @property
    def words(self) -> int:
        return self.values

    @property
    def level(self) -> float:
        """Two cells differ between two values; each tells at most the largest ratio of one row to the other."""
        return log_up(self.ratio**2)

    @property
    def ratio(self) -> Fraction:
        return max(Fraction(one, two) for one, two in zip(self.other, reversed(self.other), strict=True))

    @property
    def cut(self) -> float:
        """By how much the mean of a cell is above 0 if it is another value's, and below 1 if it is the own one's."""
        steps = sum((self.first + place) * units for place, units in enumerate(self.other))
        return float(Fraction(steps, TOTAL * self.per_unit))

    def draw(self, values: Integers, coins: Coins) -> Integers:
        """One row of cells, in steps, for each value, from one word for each cell."""
        require_values(values, self.values)
        point = points(coins)
        cells = np.searchsorted(_sums(self.other), point, side="right")
        rows = np.arange(values.size)
        cells[rows, values] = np.searchsorted(_sums(self.other[::-1]), point[rows, values], side="right")
        return cells + self.first

    @property
    def variance(self) -> float:
        """Of one cell, put right for what was cut off; the own value's row is the other's from its end on."""
        squares = sum((self.first + place) ** 2 * units for place, units in enumerate(self.other))
        return (float(Fraction(squares, TOTAL * self.per_unit**2)) - self.cut**2) / (1.0 - 2.0 * self.cut) ** 2

    def counts(self, reports: Integers) -> Floats:
        """The sums of the cells of each value, put right for what was cut off."""
        return self.put_right(reports.sum(axis=0), reports.shape[0])

    def put_right(self, steps: Integers, reports: int) -> Floats:
        """The same from the sums of so many reports in steps, which add up without rounding."""
        put_right: Floats = (steps / self.per_unit - reports * self.cut) / (1.0 - 2.0 * self.cut)
        return put_right

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        return Estimate(counts / reports, np.full(self.values, self.variance / reports))


def drawn_she(values: int, epsilon: float) -> DrawnHistogram:
    """The level is measured on the whole numbers; what they tell too much is taken off the design until it fits."""
    require_drawable(values, epsilon)
    if not SHE_EPSILON_MIN <= epsilon <= SHE_EPSILON_MAX:
        raise Invalid("epsilon", f"must be {SHE_EPSILON_MIN:g} to {SHE_EPSILON_MAX:g} nats for cells to be drawn")
    per_unit = max(4, math.ceil(4.0 * epsilon))
    reach = math.ceil(_TAIL_NATS * 2.0 * per_unit / epsilon)
    design = epsilon
    while True:
        found = DrawnHistogram(values, per_unit, -reach, _row(design, per_unit, reach))
        if found.level <= epsilon:
            return found
        design -= 2.0 * (found.level - epsilon) + math.ulp(epsilon)


def _row(epsilon: float, per_unit: int, reach: int) -> tuple[int, ...]:
    """Units of -reach .. per_unit + reach: geometric around 0, all that lies beyond an end at that end."""
    with localcontext() as context:
        context.prec = 50
        fades = (-Decimal(epsilon) / (2 * per_unit)).exp()
        share = TOTAL * (1 - fades) / (1 + fades)
        powers = [share]
        for _ in range(reach + per_unit):
            powers.append(powers[-1] * fades)
        inner = [powers[abs(step)] for step in range(1 - reach, per_unit + reach)]
        cells = [powers[reach] / (1 - fades), *inner, powers[per_unit + reach] / (1 - fades)]
        units = [int(cell.to_integral_value()) for cell in cells]
    units[reach] += TOTAL - sum(units)
    return tuple(units)


def _sums(row: tuple[int, ...]) -> Integers:
    return np.array(list(itertools.accumulate(row))[:-1], dtype=np.int64)


def drawn_the(values: int, epsilon: float, threshold: float | None = None) -> DrawnBits:
    """Chances of 1 are rounded down for the own bit and up for the others, which tells less."""
    require_drawable(values, epsilon)
    chosen = Fraction(_threshold(epsilon, threshold))
    above = 1 / (2 * ratio_for(epsilon, chosen / 2))
    below = 1 / (2 * ratio_for(epsilon, (1 - chosen) / 2))
    return DrawnBits(values, TOTAL - units_up(below), units_up(above))
