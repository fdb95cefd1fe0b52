"""How far a sum of small surprises may be from 0, when its variance is known only up to a bound that is itself seen.

Freedman's inequality needs a bound on the variance that was fixed beforehand. So it is applied in each of 256 classes
of such bounds, a fourth root of 2 apart, and the chance of being wrong is divided among them: whichever class the bound
falls into, the inequality holds there. Proof: online.md.
"""

from __future__ import annotations

import numpy as np

from beliefs.simplex import Vector

CLASSES = 256
_OUTWARD = 1.0 + 2.0**-40
_STEP = 1.189207115002721  # the fourth root of 2; a power is rounded differently on other machines
_BOUNDS = np.multiply.accumulate(np.concatenate([[1.0], np.full(CLASSES - 1, _STEP)]))


def upper_class(amount: Vector) -> Vector:
    """The smallest class that is not below each amount; infinite above 2^63."""
    bounds: Vector = np.concatenate([_BOUNDS, [np.inf]])[np.searchsorted(_BOUNDS, amount)]
    return bounds


def deviation(variance: Vector, largest: float, doubt: float) -> Vector:
    """What a sum of martingale differences of at most `largest` stays below, but for exp(-doubt) in each class, where
    the sum of their conditional variances is at most `variance`.
    """
    third = largest * doubt / 3.0
    known = upper_class(variance / largest**2) * largest**2
    within: Vector = (third + np.sqrt(third * third + 2.0 * known * doubt)) * _OUTWARD
    return within
