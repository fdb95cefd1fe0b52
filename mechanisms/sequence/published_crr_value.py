"""What the published mechanism really keeps and really tells, in numbers.

With probability 1 - e^-epsilon it releases the value, otherwise a draw from the belief b. So P(y|x)/P(y) is e^-epsilon
for every other value, which is the promised lower side, and e^-epsilon + (1 - e^-epsilon)/b(y) for the value itself.
The upper side stays within e^epsilon exactly when b(y) >= 1/(e^epsilon + 1) for every possible y: only there the
promise holds.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.leakage.sequence import exact_law, log_up
from beliefs.simplex import Vector

_ALWAYS_BOUNDED = 800.0
"""e^800 exceeds the inverse of the smallest positive double, so every belief is large enough."""


class PublishedValue(NamedTuple):
    accuracy: float
    upper: float
    lower: float
    bounded: bool
    """whether it keeps within the epsilon that it promises"""

    @property
    def epsilon(self) -> float:
        return max(self.upper, self.lower)


def published_value(prior: Vector, epsilon: float) -> PublishedValue:
    """Accuracy and true two-sided leak, the leak rounded up, for this prior and this nominal epsilon."""
    law = exact_law(prior.tolist())
    covered, revealed = math.exp(-epsilon), -math.expm1(-epsilon)
    accuracy = min(1.0, revealed + covered * float(sum(mass * mass for mass in law)))
    rarest = min(mass for mass in law if mass)
    if rarest == 1 or epsilon == 0.0:
        return PublishedValue(accuracy, 0.0, 0.0, True)
    odds = (1 - rarest) / rarest
    upper = log_up(1 + Fraction(revealed + 4 * math.ulp(revealed)) * odds)
    bounded = _reaches(epsilon, odds)
    return PublishedValue(accuracy, min(upper, epsilon) if bounded else upper, epsilon, bounded)


def likelihood_of(belief: Vector, epsilon: float, released: int) -> Vector:
    """How likely this release is for each value."""
    likelihood: Vector = np.full(belief.size, math.exp(-epsilon) * belief[released])
    likelihood[released] += -math.expm1(-epsilon)
    return likelihood


def _reaches(epsilon: float, odds: Fraction) -> bool:
    """e^epsilon >= (1 - b)/b. The left side is transcendental, so sixty digits always tell the two sides apart."""
    if epsilon > _ALWAYS_BOUNDED:
        return True
    with localcontext() as context:
        context.prec = 60
        return Decimal(epsilon).exp() * odds.denominator >= odds.numerator
