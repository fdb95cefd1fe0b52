"""Outward rounding: leakage is counted in whole units of 2^-40 nat, spending is rounded up and budgets are rounded
down.

Integers make the ledger associative and exact: the sum of a million charges does not depend on their order, and an
auditor on another machine gets the same last bit. One unit is 9.1e-13 nat; 2^62 units, the mark of an infinite leak,
are 4.2 million nats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from beliefs.checks import require
from beliefs.native import kernel

UNITS_PER_NAT = 1 << 40
INFINITE = 1 << 62

_LN2 = math.log(2.0)
_ROOT_HALF = 0.7071067811865476


@kernel
def log_units_up(ratio: float) -> int:
    """The natural logarithm of a ratio in units, rounded up; a ratio of at most 1 leaks nothing on its side.

    Only additions, multiplications and one division, which every machine rounds alike; the library's own logarithm is
    not used because its last bit differs between processors. With ratio = m 2^k, m in [sqrt(1/2), sqrt(2)) and s =
    (m-1)/(m+1), |s| <= .1716: log m = 2 (s + s^3/3 + s^5/5 + ...); the terms from s^29 on are below 2^-75. The
    rounding errors stay below 2^-42 nat = 1/4 unit for every finite double, so floor(v + 1/2) + 1 is never below the
    true value, and at most 2 units above it.
    """
    if not ratio > 1.0:
        return 0 if ratio == ratio else INFINITE
    if ratio > 1.0e300:
        return INFINITE
    mantissa, exponent = math.frexp(ratio)
    if mantissa < _ROOT_HALF:
        mantissa *= 2.0
        exponent -= 1
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    series = 1.0 / 27.0
    for odd in range(25, 0, -2):
        series = series * square + 1.0 / odd
    nats = exponent * _LN2 + 2.0 * s * series
    return math.floor(nats * 1099511627776.0 + 0.5) + 1


@kernel
def add_units(spent: int, charge: int) -> int:
    """The sum of two amounts of at most INFINITE, which stays at INFINITE once there; 2^62 + 2^62 would overflow."""
    return spent + charge if spent < INFINITE - charge else INFINITE


def sum_units(amounts: Iterable[int]) -> int:
    """The sum of amounts of at most INFINITE, which stays there once it is reached."""
    return min(INFINITE, sum(amounts))


def budget_units(nats: float) -> int:
    """A budget or an epsilon in units, rounded down."""
    require(nats >= 0, "a budget is not negative")
    if math.isinf(nats):
        return INFINITE
    return min(INFINITE, math.floor(Fraction(nats) * UNITS_PER_NAT))


def units_up(nats: float) -> int:
    """An amount that was told, in units, rounded up."""
    require(nats >= 0, "an amount is not negative")
    return INFINITE if math.isinf(nats) else min(INFINITE, math.ceil(Fraction(nats) * UNITS_PER_NAT))


@lru_cache(maxsize=1 << 14)
def fading_down(units: int) -> float:
    """e^-units as a double, rounded down: to where more was told. Of all powers only that of 0 is itself a double.

    The decimals compute the power to its last digit alike on every machine; 70 digits hold any number of units exactly.
    """
    require(units >= 0, "an amount is not negative")
    if units == 0:
        return 1.0
    with localcontext() as context:
        context.prec = 70
        power = (-Decimal(units) / UNITS_PER_NAT).exp().next_minus()
    value = float(power)
    return value if value <= power else math.nextafter(value, 0.0)


def nats(units: int) -> float:
    """Units as nats for people to read, rounded up."""
    if units >= INFINITE:
        return math.inf
    value = units / UNITS_PER_NAT
    return value if Fraction(value) * UNITS_PER_NAT >= units else math.nextafter(value, math.inf)
