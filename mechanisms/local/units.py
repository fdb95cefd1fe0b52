"""The whole numbers that are drawn from, and the level of exactly these numbers. Proof: units.md."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid, require
from beliefs.leakage.sequence import log_up
from mechanisms.coins import Coins
from mechanisms.contract import TOTAL, Integers

EPSILON_MIN, EPSILON_MAX = 1e-6, 32.0
VALUES_MAX = 1 << 24


def require_drawable(values: int, epsilon: float) -> None:
    """Outside these limits the rows of 2^62 units are too coarse for the level asked for."""
    if not 2 <= values <= VALUES_MAX:
        raise Invalid("values", f"must be 2 to {VALUES_MAX} to be drawn from")
    if not EPSILON_MIN <= epsilon <= EPSILON_MAX:
        raise Invalid("epsilon", f"must be {EPSILON_MIN:g} to {EPSILON_MAX:g} nats to be drawn with")


def require_values(values: Integers, count: int) -> None:
    """A value that the field does not have is never drawn for: what it would show is nobody's level."""
    require(bool(((values >= 0) & (values < count)).all()), f"values of this field are 0 to {count - 1}")


def ratio_for(epsilon: float, part: Fraction = Fraction(1)) -> Fraction:
    """e^(part of epsilon) for a design: less by 2^-46 of epsilon, which is more than printing its level rounds up."""
    return exponential_down(Fraction(epsilon) * part * (1 - Fraction(1, 1 << 46)))


def exponential_down(epsilon: Fraction) -> Fraction:
    """e^epsilon, rounded down in its fiftieth digit."""
    with localcontext() as context:
        context.prec = 60
        context.rounding = ROUND_FLOOR
        nats = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        # The exponential is rounded to the nearest whatever the context says: one unit less is below the truth.
        return Fraction(nats.exp().next_minus())


def units_up(share: Fraction) -> int:
    """A chance in units, rounded up."""
    return -((-share * TOTAL) // 1)


def bits_level(one: int, other: int) -> float:
    """The level of a unary encoding whose own bit is 1 in `one` and each other bit in `other` of TOTAL cases."""
    if one == other:
        return 0.0
    if other == 0 or one == TOTAL:
        return math.inf
    return log_up(max(Fraction(one * (TOTAL - other), other * (TOTAL - one)), Fraction(1)))


def points(coins: Coins) -> Integers:
    """The top 62 bits of every coin."""
    return (coins >> np.uint64(2)).astype(np.int64)
