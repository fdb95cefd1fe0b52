"""What a release tells somebody whose belief is not the declared one. Proof: robust.md; of the ways from one measure to
another beliefs/learning/online.md.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from beliefs.chain import CONTRACTION_ONE
from beliefs.checks import Invalid
from beliefs.rounding import INFINITE, UNITS_PER_NAT

# The formulas take a dozen roundings of numbers of about their own size.
_OUTWARD = 2.0**-48


def robust_leak(epsilon: float, radius: float) -> float:
    """The most that a mechanism built for `epsilon` tells an adversary whose belief differs from the declared one by
    `radius` in total variation; rounded up, and never above 2 epsilon.
    """
    _require(epsilon, radius)
    if math.log(radius) >= -_softplus(epsilon) if radius > 0 else False:
        return 2.0 * epsilon
    taken = math.exp(epsilon + math.log(radius)) * -math.expm1(-2.0 * epsilon) if radius > 0 else 0.0
    if taken >= 1.0:
        return 2.0 * epsilon
    return min(2.0 * epsilon, (epsilon - math.log1p(-taken)) * (1.0 + _OUTWARD))


def robust_epsilon(epsilon: float, radius: float) -> float:
    """The epsilon to build for, so that at most `epsilon` is told within this radius; rounded down, at least half."""
    _require(epsilon, radius)
    if radius == 0.0:
        return epsilon
    grown = _softplus(epsilon + math.log(radius))  # log(1 + r e^epsilon)
    inside = 4.0 * radius * math.exp(-epsilon) + 4.0 * radius * radius
    design = epsilon - math.log(2.0) - grown + math.log1p(math.sqrt(1.0 + inside))
    return min(epsilon, max(epsilon / 2.0, design - _OUTWARD * max(1.0, epsilon)))


def withheld_units(epsilon: int, radius: float) -> int:
    """What is withheld of an epsilon in whole units, so that the rest is the largest whole number of units, or half of
    epsilon if that is more, for which `robust_leak` is at most epsilon. In decimals, so that every machine finds the
    same.
    """
    _require(epsilon, radius)
    safe, unsafe = epsilon // 2, epsilon
    if radius == 0.0 or epsilon == 0:
        return 0
    while unsafe - safe > 1:
        middle = (safe + unsafe) // 2
        safe, unsafe = (middle, unsafe) if _keeps(middle, epsilon, radius) else (safe, middle)
    return epsilon - safe


def chain_error_units(error: float, contraction: int, span: int) -> int:
    """How far beliefs under two chains may come apart, in units of Hilbert's metric, when each start and transition
    probability of one is within exp(+-error) of the other's; `contraction` and `span` are the first one's.
    """
    _require(error, 0.0)
    if error == 0.0:
        return 0
    if contraction >= CONTRACTION_ONE:
        return INFINITE
    step = one_step_units(error)
    return min(INFINITE, -(-step * span * CONTRACTION_ONE // (CONTRACTION_ONE - contraction)) + (span - 1) * step)


def total_variation(apart: int) -> float:
    """The most that two laws may be apart in total variation, if they are so many units apart in Hilbert's metric:
    tanh(D/4), rounded up.
    """
    if apart >= INFINITE:
        return 1.0
    with localcontext() as context:
        context.prec = 60
        root = (Decimal(apart) / (2 * UNITS_PER_NAT)).exp()
        return min(1.0, float((root - 1) / (root + 1)) * (1.0 + _OUTWARD))


def diameter_units(contraction: int) -> int:
    """How far any two beliefs are apart at most after `span` predictions, in units of Hilbert's metric; rounded up."""
    if contraction >= CONTRACTION_ONE:
        return INFINITE
    with localcontext() as context:
        context.prec = 60
        ratio = Decimal(CONTRACTION_ONE + contraction) / Decimal(CONTRACTION_ONE - contraction)
        return math.ceil(2 * ratio.ln() * UNITS_PER_NAT + Decimal("1e-9"))


def one_step_units(error: float) -> int:
    """What one step of a chain may add to that."""
    return math.ceil(2 * Fraction(error) * UNITS_PER_NAT)


def _keeps(design: int, epsilon: int, radius: float) -> bool:
    """Whether E' / (1 - r (E' - 1/E')) is at most E."""
    with localcontext() as context:
        context.prec = 60
        built, asked = ((Decimal(units) / UNITS_PER_NAT).exp() for units in (design, epsilon))
        return built + Decimal(radius) * (built - 1 / built) * asked <= asked


def _softplus(value: float) -> float:
    """log(1 + e^value), for any value."""
    return max(value, 0.0) + math.log1p(math.exp(-abs(value)))


def _require(epsilon: float, radius: float) -> None:
    if not (math.isfinite(epsilon) and epsilon >= 0):
        raise Invalid("epsilon", "must be 0 or more nats")
    if not 0 <= radius <= 1:
        raise Invalid("radius", "must be a total variation, from 0 to 1")
