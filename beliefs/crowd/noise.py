"""Two-sided geometric noise as the law of a number, and the scales from which it is chosen. Proof: account.md."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from beliefs.crowd.sums import Sum
from beliefs.native import kernel
from beliefs.simplex import Vector

_FOURTHS: Final = (Fraction(1), Fraction(1189, 1000), Fraction(707, 500), Fraction(841, 500))
LADDER: Final = tuple(_FOURTHS[step % 4] * Fraction(2) ** (step // 4) for step in range(-16, 121))
"""Scales in steps of the lattice: 1/16 .. 2^30, four in every doubling."""

NARROW: Final = LADDER[68]
"""2^13: noise of a larger scale is not put together with a crowd place by place, which would take as many places."""

PLACES_MAX: Final = 1 << 20
"""A number with noise that spreads over more is not worked out."""

_FAR: Final = 2.0**-64
_DIGITS: Final = 60
_LARGEST: Final = 64


@lru_cache(maxsize=1 << 10)
def geometric(scale: Fraction) -> tuple[float, float]:
    """q = exp(-1/scale) and the chance of no noise, (1 - q)/(1 + q), both to the nearest double."""
    with localcontext() as context:
        context.prec = _DIGITS
        q = (-Decimal(scale.denominator) / scale.numerator).exp()
        return float(q), float((1 - q) / (1 + q))


def reach(scale: Fraction) -> int:
    """Noise is further away with a chance of less than 2^-63."""
    return 1 + math.ceil(-math.log(_FAR) * scale)


def alone(span: int, scale: Fraction, epsilon: float) -> float:
    """At most so much is told by a number that one person moves by `span`, whatever crowd is beside the noise.

    No chance is more than e^(span/scale) times what it is with his other value, and of all such pairs two coins with
    chances of that ratio are farthest apart: by (e^(span/scale) - e^epsilon) / (e^(span/scale) + 1).
    """
    most = Fraction(span) / scale
    if most <= Fraction(epsilon):
        return 0.0
    if most > _LARGEST:
        return 1.0
    above = math.expm1(float(most - Fraction(epsilon))) * math.exp(epsilon)
    return min(1.0, above / (math.exp(float(most)) + 1.0) * (1.0 + 2.0**-40))


def blurred(one: Sum, scale: Fraction | None) -> Sum | None:
    """The number plus noise of the scale; None where that spreads over too many places."""
    if scale is None:
        return one
    (q, level), far = geometric(scale), reach(scale)
    if one.mass.size + 2 * far > PLACES_MAX:
        return None
    mass = np.zeros(one.mass.size + 2 * far)
    _spread(one.mass, q, level, far, mass)
    # Each chance is a sum of products: at most so many roundings of a power of q, whose error is counted at each step.
    error = one.error + 8.0 * (mass.size + 8) * 2.0**-53
    return Sum(one.low - far, mass, error, one.lost + 4.0 * _FAR, one.blur)


@kernel
def _spread(mass: Vector, q: float, level: float, far: int, out: Vector) -> None:
    """out[k + far] sums mass[j] q^|k - j|, times the level."""
    size, running = mass.shape[0], 0.0
    for k in range(out.shape[0]):
        running *= q
        if far <= k < far + size:
            running += mass[k - far]
        out[k] = running
    running = 0.0
    for k in range(out.shape[0] - 1, -1, -1):
        out[k] += running
        if far <= k < far + size:
            running += mass[k - far]
        running *= q
    for k in range(out.shape[0]):
        out[k] *= level
