"""Histogram encoding: the one-hot histogram of one value with Laplace noise in every cell. Proof: histogram.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.outputs import ANY, Sets
from mechanisms.contract import TOTAL, Floats
from mechanisms.local.estimate import Estimate
from mechanisms.local.guesses import CERTAIN, Guess, guess_of
from mechanisms.local.unary import DrawnBits, Unary
from mechanisms.local.units import ratio_for, require_drawable, units_up


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


def the(values: int, epsilon: float, threshold: float) -> Unary:
    """The same cells, of which only is told whether each is above the threshold, from 1/2 to 1: one bit a value.

    The noise exceeds t > 0 with chance e^(-t epsilon/2)/2, so that the own cell stays below with
    e^(-(1 - threshold) epsilon/2)/2 and another one rises above with e^(-threshold epsilon/2)/2.
    """
    if not 0.5 <= threshold <= 1.0:
        raise Invalid("threshold", "must lie between 1/2 and 1")
    log_off = -(1.0 - threshold) * epsilon / 2.0 - math.log(2.0)
    log_q = -threshold * epsilon / 2.0 - math.log(2.0)
    p, q = -math.expm1(log_off), math.exp(log_q)
    level = (math.log(p) - log_q) + (math.log1p(-q) - log_off)
    return Unary(values, p, q, min(epsilon, level), log_off, log_q, {"scale": 2.0 / epsilon, "threshold": threshold})


def drawn_the(values: int, epsilon: float, threshold: float) -> DrawnBits:
    """Chances of 1 are rounded down for the own bit and up for the others, which tells less."""
    require_drawable(values, epsilon)
    above = 1 / (2 * ratio_for(epsilon, Fraction(threshold) / 2))
    below = 1 / (2 * ratio_for(epsilon, (1 - Fraction(threshold)) / 2))
    return DrawnBits(values, TOTAL - units_up(below), units_up(above))
