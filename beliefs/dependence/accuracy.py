"""How far Laplace noise on one or several coordinates is likely to be from 0. Proof: accuracy.md."""

from __future__ import annotations

import math
from collections.abc import Callable

SUM, LARGEST = "sum", "largest"
"""Of the sizes of all coordinates' noise."""

COORDINATES_MAX = 1 << 32

_HALVINGS = 1100
_CLOSE = 2.0**-50
_STEPS_MAX = 1 << 26


def chance_beyond(margin: float, coordinates: int, norm: str) -> float:
    """P(norm >= margin) for noise of scale 1."""
    if margin == 0.0:
        return 1.0
    if norm == LARGEST:
        # 1 - (1 - e^-margin)^q, which keeps its digits at both ends.
        near = math.log(-math.expm1(-margin)) if margin < math.log(2.0) else math.log1p(-math.exp(-margin))
        return -math.expm1(coordinates * near)
    return upper_gamma(coordinates, margin)


def margin_of(failure: float, coordinates: int, norm: str) -> float:
    """The margin in scales that is reached with that probability; infinite for 0."""
    if failure == 1.0:
        return 0.0
    if failure == 0.0:
        return math.inf
    if coordinates == 1:
        return -math.log(failure)
    if norm == LARGEST:
        near = -math.expm1(math.log1p(-failure) / coordinates)
        return -math.log(near)
    return _root(lambda margin: upper_gamma(coordinates, margin) > failure)


def upper_gamma(shape: int, above: float) -> float:
    """P(a gamma variable of this whole shape and scale 1 is above): by its series, or its continued fraction."""
    if above < shape + 1.0:
        return max(0.0, 1.0 - _density(shape, above) * _series(shape, above))
    return min(1.0, _density(shape, above) * _fraction(shape, above))


def _density(shape: int, above: float) -> float:
    """x^q e^-x / gamma(q), with which the series and the fraction are multiplied."""
    ratio = (above - shape) / shape
    if shape < 16 or ratio > 8.0:
        return math.exp(shape * math.log(above) - above - math.lgamma(shape))
    # Stirling's series for gamma(q) leaves less than 2^-60 of itself out from q = 16 on.
    left = 1.0 / (12.0 * shape) - 1.0 / (360.0 * shape**3) + 1.0 / (1260.0 * shape**5) - 1.0 / (1680.0 * shape**7)
    left += 1.0 / (1188.0 * shape**9) - 691.0 / (360360.0 * shape**11)
    return math.exp(-shape * _excess(ratio) - left) * math.sqrt(shape / (2.0 * math.pi))


def _excess(ratio: float) -> float:
    """r - ln(1 + r), which is r^2/2 near 0."""
    if abs(ratio) > 0.1:
        return ratio - math.log1p(ratio)
    total, power = 0.0, ratio * ratio
    for order in range(2, 40):
        total += power / order if order % 2 == 0 else -power / order
        power *= ratio
    return total


def _series(shape: int, above: float) -> float:
    """Sum of x^k / (q (q+1) ... (q+k))."""
    term = total = 1.0 / shape
    for step in range(1, _STEPS_MAX):
        term *= above / (shape + step)
        total += term
        if term < total * _CLOSE:
            break
    return total


def _fraction(shape: int, above: float) -> float:
    """Legendre's continued fraction by Lentz's way."""
    below = above + 1.0 - shape
    ratio, inverse = math.inf, 1.0 / below
    value = inverse
    for step in range(1, _STEPS_MAX):
        factor = -step * (step - shape)
        below += 2.0
        inverse = 1.0 / (factor * inverse + below)
        ratio = below + factor / ratio
        change = inverse * ratio
        value *= change
        if abs(change - 1.0) < _CLOSE:
            break
    return value


def _root(is_below: Callable[[float], bool]) -> float:
    """Where a rising number passes what is looked for, rounded up to the next double or so."""
    low, high = 0.0, 1.0
    while is_below(high):
        low, high = high, high * 2.0
    for _ in range(_HALVINGS):
        middle = low + 0.5 * (high - low)
        if not low < middle < high:
            break
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return high
