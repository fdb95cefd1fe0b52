"""The hockey-stick divergence of two normal laws, one moved against the other, and its inverse. Proof: bounds.md."""

from __future__ import annotations

import math
from typing import Final

from beliefs.crowd.divergence import least_epsilon

_UP: Final = 1.0 + 2.0**-36
_ROUNDED: Final = 2.0**-48
_FAR: Final = 12.0


def normal_delta(shift: float, deviation: float, epsilon: float) -> float:
    """Phi(s/2d - epsilon d/s) - e^epsilon Phi(-s/2d - epsilon d/s), rounded up.

    Both normal densities there differ by e^epsilon, so it is phi(a) (M(a) - M(b)) with Mills' ratio M, the points
    a = epsilon d/s - s/2d and b = a + s/d.
    """
    step = max(shift / deviation, math.ulp(0.0))
    near = epsilon / step - 0.5 * step
    if near == math.inf:
        return 0.0
    if near < -_FAR:
        return 1.0
    density = math.exp(-0.5 * near * near) / math.sqrt(2.0 * math.pi)
    above = _tail(near) if near < 0.0 else density * _mills(near)
    found = above - density * _mills(near + step)
    return min(1.0, max(found, 0.0) * _UP + above * _ROUNDED)


def normal_epsilon(shift: float, deviation: float, delta: float) -> float:
    return least_epsilon(delta, lambda at: normal_delta(shift, deviation, at))


def _tail(point: float) -> float:
    return 0.5 * math.erfc(point / math.sqrt(2.0))


def _mills(point: float) -> float:
    """The chance above a point divided by the density there; by its continued fraction where both are small."""
    if point < 6.0:
        return _tail(point) * math.sqrt(2.0 * math.pi) * math.exp(0.5 * point * point)
    fraction = point
    for term in range(120, 0, -1):
        fraction = point + term / fraction
    return 1.0 / fraction
