"""Exact quotients as doubles, rounded to the side that errs towards more privacy."""

from __future__ import annotations

import math
from fractions import Fraction


def least_above(exact: Fraction) -> float:
    """The smallest double that is not below; infinite beyond the doubles."""
    try:
        nearest = float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.nextafter(math.inf, 0.0)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
