"""Two-sided leakage of a release about the value behind it, under the definition of sequence information privacy.

For a prior p(x) and a channel a(y|x), with p(y) = sum over x of p(x) a(y|x), the release y changes the probability of
the value x by the factor P(x|y)/P(x) = a(y|x)/p(y). The upper leakage is the largest logarithm of that factor, the
lower leakage the largest of its inverse, both over the values that are possible (p(x) > 0). Either is 0 or more, and
either may be infinite.

`extreme_ratios` works with any kind of number. The leaks in nats are computed from exact fractions of the given floats,
whose laws are divided by their exact sums first, and rounded up to the next double.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple, TypeVar

from beliefs.checks import Invalid, require

Number = TypeVar("Number", float, Fraction)

_DIGITS, _MORE = Context(prec=60), 1 + Decimal("1e-35")
_NEAR = Fraction(1, 1 << 64)


class Leak(NamedTuple):
    """Nats, rounded up."""

    upper: float
    lower: float

    @property
    def epsilon(self) -> float:
        """The level of the definition: the larger side."""
        return max(self.upper, self.lower)


def extreme_ratios(prior: Sequence[Number], likelihood: Sequence[Number]) -> tuple[Number, Number]:
    """The largest and the smallest a(y|x)/p(y) over the possible x, for one y with likelihood[x] = a(y|x)."""
    require(len(prior) == len(likelihood), "a prior has one entry for every entry of a likelihood")
    products = [mass * factor for mass, factor in zip(prior, likelihood, strict=True)]
    marginal = sum(products[1:], products[0])
    if not marginal > 0:
        raise Invalid("likelihood", "is zero for every possible value: such a release cannot have happened")
    possible = [factor for mass, factor in zip(prior, likelihood, strict=True) if mass > 0]
    return max(possible) / marginal, min(possible) / marginal


def release_leak(prior: Sequence[float], likelihood: Sequence[float]) -> Leak:
    """What one release tells. A release that rules a possible value out has an infinite lower leakage."""
    return _leak(*extreme_ratios(exact_law(prior), [Fraction(factor) for factor in likelihood]))


def channel_leak(prior: Sequence[float], channel: Sequence[Sequence[float]]) -> Leak:
    """The worst that any release of a channel tells; `channel[x]` is the law of the release when the value is x."""
    law = exact_law(prior)
    rows = [exact_law(row) for row in channel]
    columns = [[row[y] for row in rows] for y in range(len(rows[0]))]
    happens = [column for column in columns if any(mass and factor for mass, factor in zip(law, column, strict=True))]
    pairs = [extreme_ratios(law, column) for column in happens]
    return _leak(max(largest for largest, _ in pairs), min(smallest for _, smallest in pairs))


def exact_law(values: Sequence[float]) -> list[Fraction]:
    """The fractions that the floats are, divided by their sum."""
    weights = [Fraction(value) for value in values]
    total = sum(weights, Fraction(0))
    return [weight / total for weight in weights]


def log_up(ratio: Fraction) -> float:
    """The natural logarithm of a ratio of 1 or more, rounded up to a double; on every machine the same one.

    Decimals round alike everywhere, which the library's logarithm does not. With x = ratio - 1, x itself is above the
    logarithm, by less than x/2 of it. From 2^-64 on the logarithm of the quotient, which is right to 1e-60 of itself,
    is right to 2e-40 of itself; more than that is added.
    """
    if ratio == 1:
        return 0.0
    beyond = ratio - 1
    if beyond < _NEAR:
        return _double_up(beyond)
    with localcontext(_DIGITS):
        nats = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln() * _MORE
    return _double_up(Fraction(nats))


def _double_up(amount: Fraction) -> float:
    nearest = float(amount)
    return nearest if nearest >= amount else math.nextafter(nearest, math.inf)


def _leak(largest: Fraction, smallest: Fraction) -> Leak:
    return Leak(log_up(largest), log_up(1 / smallest) if smallest else math.inf)
