"""Unary encodings: one bit for each value, each bit reported with noise of its own. Proof: unary.md."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.outputs import ANY, Sets
from mechanisms.coins import Coins
from mechanisms.contract import TOTAL, Floats, Integers
from mechanisms.local.estimate import Estimate, from_support
from mechanisms.local.guesses import Guess, supported_guess
from mechanisms.local.units import bits_level, points, ratio_for, require_drawable, require_values, units_up


@dataclass(frozen=True)
class Unary:
    """The own bit is 1 with chance p = 1 - e^log_off, each other bit with chance q = e^log_q."""

    values: int
    p: float
    q: float
    level: float
    log_off: float
    log_q: float
    named: dict[str, object] = field(default_factory=dict)

    def extras(self) -> dict[str, object]:
        return dict(self.named)

    def worst_sets(self) -> Sets:
        return Sets(ANY)

    def guess(self) -> Guess:
        """A value among the bits that are 1."""
        if self.p < self.q:
            raise Invalid("report_one", "is below report_zero: a 1 speaks against its value, which the attack names")
        return supported_guess(self.log_off, self.log_q, self.values)

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        return from_support(counts, reports, self.p, self.q)

    def channel(self) -> Floats:
        """Row: value; column: the report, whose first bit is the first value's, read as a binary number."""
        columns = []
        for bits in itertools.product((0, 1), repeat=self.values):
            others = np.array([self.q if bit else 1.0 - self.q for bit in bits])
            own = np.array([self.p if bit else 1.0 - self.p for bit in bits])
            columns.append([own[x] * float(np.delete(others, x).prod()) for x in range(self.values)])
        return np.array(columns).T


def sue(values: int, epsilon: float) -> Unary:
    """Both bits keep themselves alike, with e^(epsilon/2) against 1: basic RAPPOR, its permanent bits reported."""
    log_off = -epsilon / 2.0 - math.log1p(math.exp(-epsilon / 2.0))
    off = math.exp(log_off)
    return Unary(values, 1.0 - off, off, epsilon, log_off, log_off, {"flip": 2.0 * off, "longitudinal": epsilon})


def oue(values: int, epsilon: float) -> Unary:
    """The own bit is a fair coin, the others are 1 as rarely as epsilon allows."""
    log_q = -epsilon - math.log1p(math.exp(-epsilon))
    return Unary(values, 0.5, math.exp(log_q), epsilon, -math.log(2.0), log_q)


@dataclass(frozen=True)
class DrawnBits:
    """What is drawn: the own bit is 1 in `one`, each other bit in `other` of TOTAL cases."""

    values: int
    one: int
    other: int

    @property
    def words(self) -> int:
        return self.values

    @property
    def level(self) -> float:
        return bits_level(self.one, self.other)

    def draw(self, values: Integers, coins: Coins) -> Integers:
        """One row of bits for each value, from one word for each bit."""
        require_values(values, self.values)
        point = points(coins)
        bits = point < self.other
        rows = np.arange(values.size)
        bits[rows, values] = point[rows, values] < self.one
        return bits.astype(np.int64)

    def counts(self, reports: Integers) -> Integers:
        found: Integers = reports.sum(axis=0)
        return found

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        return from_support(counts, reports, self.one / TOTAL, self.other / TOTAL)


def drawn_oue(values: int, epsilon: float) -> DrawnBits:
    require_drawable(values, epsilon)
    return DrawnBits(values, TOTAL // 2, units_up(1 / (ratio_for(epsilon) + 1)))


def drawn_sue(values: int, epsilon: float) -> DrawnBits:
    require_drawable(values, epsilon)
    other = units_up(1 / (ratio_for(epsilon, Fraction(1, 2)) + 1))
    return DrawnBits(values, TOTAL - other, other)
