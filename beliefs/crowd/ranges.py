"""The smallest and the largest value of a crowd, released as they are: what they tell about one member. Proof:
ranges.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.crowd.divergence import least_epsilon
from beliefs.simplex import Vector

VALUES_MAX: Final = 64
_DIGITS: Final = 120
_LEFT_OUT: Final = 1e-110
"""Chances below the last digit count as none; all of them together are less."""
_UP: Final = 1.0 + 2.0**-30


def range_delta(law: Vector, users: int, epsilon: float) -> float:
    return _told(law, users)(epsilon)


def range_epsilon(law: Vector, users: int, delta: float) -> float:
    return least_epsilon(delta, _told(law, users))


def _told(law: Vector, users: int) -> Callable[[float], float]:
    """delta at each epsilon, for the two values of a member that are told apart best."""
    possible = law[law > 0.0]
    if possible.size > VALUES_MAX:
        raise Invalid("law", f"has {possible.size} possible values; the range of at most {VALUES_MAX} is worked out")
    laws = _given(possible, users)

    def told(epsilon: float) -> float:
        factor = math.exp(epsilon) * (1.0 - 2.0**-50) if epsilon < 709.0 else math.inf
        worst = 0.0
        for own, one in enumerate(laws):
            others = np.delete(laws, own, axis=0)
            with np.errstate(invalid="ignore"):
                over = np.where(others > 0.0, one - factor * others, one)
            worst = max(worst, float(np.add.accumulate(np.maximum(over, 0.0), axis=1)[:, -1].max(initial=0.0)))
        return min(1.0, worst * _UP + (_LEFT_OUT if len(laws) > 1 else 0.0))

    return told


def _given(law: Vector, users: int) -> Matrix:
    """For each own value the law of (smallest, largest), by inclusion and exclusion in so many digits that the
    differences keep theirs.
    """
    size = law.size
    with localcontext() as context:
        context.prec = _DIGITS
        exact = [Decimal(float(chance)) for chance in law]
        whole = sum(exact)
        below = [Decimal(0)]
        for chance in exact:
            below.append(below[-1] + chance / whole)

        def within(low: int, high: int) -> Decimal:
            """All others lie in low..high."""
            return (below[high + 1] - below[low]) ** (users - 1) if low <= high else Decimal(users == 1)

        laws = np.zeros((size, size, size))
        for low in range(size):
            laws[low, low, low] = float(within(low, low))
            for high in range(low + 1, size):
                whole_range, no_low, no_high = within(low, high), within(low + 1, high), within(low, high - 1)
                laws[low, low, high] = float(whole_range - no_high)
                laws[high, low, high] = float(whole_range - no_low)
                between = whole_range - no_low - no_high + within(low + 1, high - 1)
                laws[low + 1 : high, low, high] = float(max(between, Decimal(0)))
    return laws.reshape(size, size * size)
