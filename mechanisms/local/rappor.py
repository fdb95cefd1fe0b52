"""RAPPOR: permanent bits of a user and value, kept for ever, and a fresh report of them each time. Proof: rappor.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid
from beliefs.leakage.sequence import log_up
from mechanisms.coins import Coins
from mechanisms.contract import TOTAL, Floats, Integers
from mechanisms.local.estimate import Estimate, from_support
from mechanisms.local.unary import DrawnBits, Unary, drawn_sue
from mechanisms.local.units import points, units_up

REPORT_ZERO, REPORT_ONE = 0.5, 0.75
"""How often a stored 0 and a stored 1 are reported as 1, where nothing else is asked for: the published constants."""

_UP, _ROOM = 1.0 + 2.0**-40, 2.0**-48
"""More than the roundings of a few logarithms and exponentials, whose arguments are right to 2^-50 of themselves."""


def rappor(values: int, flip: float, report_zero: float = REPORT_ZERO, report_one: float = REPORT_ONE) -> Unary:
    """A permanent bit, replaced by a fair coin with chance `flip`, then a report of it in every round.

    `level` is that of one round, `longitudinal` that of any number of rounds together: what the permanent bits tell.
    """
    _require_shares(flip, report_zero, report_one)
    longitudinal = 2.0 * (math.log1p(1.0 - flip) - _log(flip)) if flip > 0.0 else math.inf
    return _of_flip(values, flip, 1.0 - flip, report_zero, report_one, longitudinal)


def rappor_of_level(
    values: int, epsilon: float, report_zero: float = REPORT_ZERO, report_one: float = REPORT_ONE
) -> Unary:
    """With the flip for which all rounds together tell at most `epsilon`."""
    flip = 2.0 * math.exp(-epsilon / 2.0) / (1.0 + math.exp(-epsilon / 2.0))
    _require_shares(flip, report_zero, report_one)
    return _of_flip(values, flip, math.tanh(epsilon / 4.0), report_zero, report_one, epsilon)


def _of_flip(
    values: int, flip: float, unflipped: float, report_zero: float, report_one: float, longitudinal: float
) -> Unary:
    """`unflipped` is 1 - flip, which a small epsilon leaves no digits of."""
    p = (1.0 - flip / 2.0) * report_one + flip / 2.0 * report_zero
    q = flip / 2.0 * report_one + (1.0 - flip / 2.0) * report_zero
    level = min(longitudinal, _level(p, q, unflipped * abs(report_one - report_zero)))
    return Unary(values, p, q, level, _log(1.0 - p), _log(q), {"flip": flip, "longitudinal": longitudinal})


def level_of_reports(kept: float, report_zero: float, report_one: float, times: int) -> float:
    """Of so many reports of one permanent vector; `kept` is ln of a bit's chance to be kept over that to be flipped."""
    if report_zero == report_one or times == 0 or kept == 0.0:
        return 0.0
    ones = abs(_log(report_one) - _log(report_zero)) * times
    zeros = abs(_log(1.0 - report_zero) - _log(1.0 - report_one)) * times
    return _of_bit(kept, ones) + _of_bit(kept, zeros)


def _of_bit(kept: float, told: float) -> float:
    """What is told of the value where told is told of the permanent bit: ln (e^(kept + told) + 1)/(e^kept + e^told)."""
    if math.inf in (kept, told):
        return min(kept, told)
    # Both logarithms less kept + told: ln(1 + e^-(kept + told)) and ln(e^-told + e^-kept), which is below 0.
    near, far = min(kept, told), max(kept, told)
    return near + math.log1p(math.exp(-(kept + told))) - math.log1p(math.exp(near - far))


def _require_shares(flip: float, report_zero: float, report_one: float) -> None:
    for name, share in (("flip", flip), ("report_zero", report_zero), ("report_one", report_one)):
        if not 0.0 <= share <= 1.0:
            raise Invalid(name, "must lie between 0 and 1")


def _level(p: float, q: float, apart: float) -> float:
    """The two bits that differ between two values, one reported as 1 and one as 0; `apart` is how far p is from q."""
    high, low = max(p, q), min(p, q)
    if apart == 0.0:
        return 0.0
    return math.log1p(apart / low) + math.log1p(apart / (1.0 - high)) if low > 0.0 and high < 1.0 else math.inf


def _log(share: float) -> float:
    return math.log(share) if share > 0.0 else -math.inf


@dataclass(frozen=True)
class DrawnRappor:
    """Permanent bits, and reports of them: a 1 is told as 1 in `if_one` of TOTAL cases, a 0 in `if_zero`.

    The first half of a row of coins is the permanent bits'; `coins.memoised_coins` makes it a function of user and
    value, without which nothing is permanent and reports add up as those of any other mechanism.
    """

    permanent: DrawnBits
    if_zero: int
    if_one: int

    @property
    def values(self) -> int:
        return self.permanent.values

    @property
    def words(self) -> int:
        return 2 * self.values

    @property
    def longitudinal(self) -> float:
        """The level of all reports of one permanent vector together."""
        return self.permanent.level

    def level_of_reports(self, times: int) -> float:
        """The level of so many reports of one permanent vector together; rounded up."""
        one, other = self.permanent.one, self.permanent.other
        kept = log_up(Fraction(one, other)) if other > 0 else math.inf
        reports = Fraction(self.if_zero, TOTAL), Fraction(self.if_one, TOTAL)
        found = level_of_reports(kept, float(reports[0]), float(reports[1]), times)
        return min(self.longitudinal, found * _UP + _ROOM * (found > 0.0))

    @property
    def level(self) -> float:
        """The level of one report by itself."""
        own, other = self._ones(self.permanent.one), self._ones(self.permanent.other)
        whole = TOTAL * TOTAL
        high, low = max(own, other), min(own, other)
        if high == low:
            return 0.0
        if low == 0 or high == whole:
            return math.inf
        return log_up(Fraction(high * (whole - low), low * (whole - high)))

    def _ones(self, permanent: int) -> int:
        """In how many of TOTAL x TOTAL cases a bit is reported as 1."""
        return permanent * self.if_one + (TOTAL - permanent) * self.if_zero

    def one_of(self, permanent: int) -> float:
        """The chance that a bit is reported as 1 which is kept as 1 in so many cases."""
        return float(Fraction(self._ones(permanent), TOTAL**2))

    def draw(self, values: Integers, coins: Coins) -> Integers:
        """One report for each value: permanent bits from the first half of the coins, their report from the other."""
        kept = self.permanent.draw(values, coins[:, : self.values])
        return self.report(kept, coins[:, self.values :])

    def report(self, kept: Integers, coins: Coins) -> Integers:
        """One report of each row of permanent bits."""
        return (points(coins) < np.where(kept == 1, self.if_one, self.if_zero)).astype(np.int64)

    def counts(self, reports: Integers) -> Integers:
        found: Integers = reports.sum(axis=0)
        return found

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        chances = (self.one_of(each) for each in (self.permanent.one, self.permanent.other))
        return from_support(counts, reports, *chances)


def drawn_rappor(
    values: int, flip: float, report_zero: float = REPORT_ZERO, report_one: float = REPORT_ONE
) -> DrawnRappor:
    """Flips are rounded up, which tells less; reports to the nearest unit."""
    _require_shares(flip, report_zero, report_one)
    other = units_up(Fraction(flip) / 2)
    return _drawn_twice(DrawnBits(values, TOTAL - other, other), report_zero, report_one)


def drawn_rappor_of_level(
    values: int, epsilon: float, report_zero: float = REPORT_ZERO, report_one: float = REPORT_ONE
) -> DrawnRappor:
    """All reports of one permanent vector together tell at most `epsilon`: the permanent step is `sue`."""
    _require_shares(0.0, report_zero, report_one)
    return _drawn_twice(drawn_sue(values, epsilon), report_zero, report_one)


def _drawn_twice(permanent: DrawnBits, report_zero: float, report_one: float) -> DrawnRappor:
    return DrawnRappor(permanent, round(Fraction(report_zero) * TOTAL), round(Fraction(report_one) * TOTAL))
