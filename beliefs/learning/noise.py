"""Whole-number noise with exactly the law that is claimed, and how large it gets. Proof: noise.md.

Nothing here is random by itself: `below(m)` gives a number from 0 to m - 1, all alike, from wherever the caller has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

Below = Callable[[int], int]

_TILTS = 400


def two_sided_geometric(rate: Fraction, below: Below) -> int:
    """A whole number z with probability proportional to exp(-rate |z|)."""
    s, t = rate.numerator, rate.denominator
    while True:
        part = below(t)
        if not _exp_minus(part, t, below):
            continue
        whole = 0
        while _exp_minus(1, 1, below):
            whole += 1
        size = (part + t * whole) // s
        negative = below(2) == 1
        if not (negative and size == 0):
            return -size if negative else size


def _exp_minus(top: int, bottom: int, below: Below) -> bool:
    """True with probability exp(-top/bottom), for a quotient from 0 to 1."""
    count = 1
    while top > 0 and below(bottom * count) < top:
        count += 1
    return count % 2 == 1


def below_from_bits(bits: Callable[[int], int]) -> Below:
    """Numbers below m from whole numbers of so many even bits: drawn again until one is below m."""

    def below(m: int) -> int:
        width = (m - 1).bit_length()
        while True:
            drawn = bits(width) if width else 0
            if drawn < m:
                return drawn

    return below


def largest_sum(rate: float, count: int, failure: float) -> float:
    """What the sum of the sizes of `count` such numbers exceeds with a probability of at most `failure`."""
    alpha = math.exp(-rate)
    best = math.inf
    for tilt in np.linspace(rate / _TILTS, rate * (1 - 1 / _TILTS), _TILTS).tolist():
        lifted = alpha * math.exp(tilt)
        grown = math.log1p(-alpha) - math.log1p(alpha) + math.log1p(lifted) - math.log1p(-lifted)
        best = min(best, (count * grown - math.log(failure)) / tilt)
    return best * (1.0 + 2.0**-30)
