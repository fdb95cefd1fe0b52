"""Unary encodings: one bit for each value, each bit reported with noise of its own. Proof: unary.md."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.outputs import ANY, Sets
from beliefs.leakage.sequence import log_up
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


def rappor(values: int, flip: float, report_zero: float, report_one: float) -> Unary:
    """A permanent bit, replaced by a fair coin with chance `flip`, then a report of it in every round.

    `level` is that of one round, `longitudinal` that of any number of rounds together: what the permanent bits tell.
    """
    _require_shares(flip, report_zero, report_one)
    p = (1.0 - flip / 2.0) * report_one + flip / 2.0 * report_zero
    q = flip / 2.0 * report_one + (1.0 - flip / 2.0) * report_zero
    longitudinal = 2.0 * (math.log1p(1.0 - flip) - _log(flip)) if flip > 0.0 else math.inf
    return Unary(values, p, q, _level(p, q), _log(1.0 - p), _log(q), {"flip": flip, "longitudinal": longitudinal})


def _require_shares(flip: float, report_zero: float, report_one: float) -> None:
    for name, share in (("flip", flip), ("report_zero", report_zero), ("report_one", report_one)):
        if not 0.0 <= share <= 1.0:
            raise Invalid(name, "must lie between 0 and 1")


def _level(p: float, q: float) -> float:
    """The two bits that differ between two values, one reported as 1 and one as 0."""
    if p == q:
        return 0.0
    high, low = max(p, q), min(p, q)
    with_one, with_zero = _log(high) - _log(low), _log(1.0 - low) - _log(1.0 - high)
    return with_one + with_zero


def _log(share: float) -> float:
    return math.log(share) if share > 0.0 else -math.inf


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


@dataclass(frozen=True)
class DrawnTwice:
    """Permanent bits, and reports of them: a 1 is told as 1 in `if_one` of TOTAL cases, a 0 in `if_zero`."""

    permanent: DrawnBits
    if_zero: int
    if_one: int

    @property
    def words(self) -> int:
        return self.permanent.values

    @property
    def longitudinal(self) -> float:
        """The level of all reports of one permanent vector together."""
        return self.permanent.level

    @property
    def level(self) -> float:
        """The level of one report: chances in units of TOTAL squared."""
        own, other = self._ones(self.permanent.one), self._ones(self.permanent.other)
        whole = TOTAL * TOTAL
        high, low = max(own, other), min(own, other)
        if high == low:
            return 0.0
        if low == 0 or high == whole:
            return math.inf
        return log_up(Fraction(high * (whole - low), low * (whole - high)))

    def _ones(self, permanent: int) -> int:
        return permanent * self.if_one + (TOTAL - permanent) * self.if_zero

    def report(self, kept: Integers, coins: Coins) -> Integers:
        """One report of each row of permanent bits."""
        return (points(coins) < np.where(kept == 1, self.if_one, self.if_zero)).astype(np.int64)


def drawn_rappor(values: int, flip: float, report_zero: float, report_one: float) -> DrawnTwice:
    """Flips are rounded up, which tells less; reports to the nearest unit."""
    _require_shares(flip, report_zero, report_one)
    other = units_up(Fraction(flip) / 2)
    permanent = DrawnBits(values, TOTAL - other, other)
    return DrawnTwice(permanent, round(Fraction(report_zero) * TOTAL), round(Fraction(report_one) * TOTAL))
