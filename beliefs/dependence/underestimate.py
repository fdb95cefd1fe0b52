"""What noise keeps that was made for weaker ties than there are. Proof: underestimate.md."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from beliefs.checks import Invalid
from beliefs.prior.outward import least_above


class Kept(NamedTuple):
    """The true epsilon, and the least delta with which the nominal one holds; both rounded up."""

    epsilon: float
    delta: float


def kept(sensitivity: float, own_sensitivity: float, fraction: float, epsilon: float) -> Kept:
    """Noise for own + fraction x (sensitivity - own) at epsilon, where the true sensitivity is the whole."""
    if own_sensitivity > sensitivity:
        raise Invalid("own_sensitivity", "is above sensitivity, of which it is a part")
    whole, own = Fraction(sensitivity), Fraction(own_sensitivity)
    assumed = own + Fraction(fraction) * (whole - own)
    if assumed == 0:
        return Kept(math.inf, 1.0)
    exact = Fraction(epsilon) * whole / assumed
    beyond = least_above((exact - Fraction(epsilon)) / 2)
    return Kept(least_above(exact), min(1.0, -math.expm1(-beyond) * (1.0 + 2.0**-50)))
