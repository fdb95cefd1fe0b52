"""The density of Laplace noise on a total whose unknown part is normal."""

from __future__ import annotations

import math

import numpy as np

from stream.social.draws import Floats

_FAR = -8.0


def log_density(apart: Floats, scale: float, deviation: float) -> Floats:
    """Of Lap(scale) + N(0, deviation^2), up to a constant.

    With x = apart/scale and b = deviation/scale it is ln(e^x Phi(-x/b - b) + e^-x Phi(x/b - b)).
    """
    x, b = apart / scale, deviation / scale
    if b == 0.0:
        return -np.abs(x)
    return np.logaddexp(x + _log_normal(-x / b - b), -x + _log_normal(x / b - b))


def _log_normal(below: Floats) -> Floats:
    """ln Phi: far out by the first terms of its continued expansion, which are right to 1e-6 there."""
    return np.array([_one(float(each)) for each in below])


def _one(below: float) -> float:
    if below > _FAR:
        return math.log(0.5 * math.erfc(-below / math.sqrt(2.0)))
    square = below * below
    return (
        -0.5 * square
        - math.log(-below * math.sqrt(2.0 * math.pi))
        + math.log1p(-1.0 / square + 3.0 / square**2 - 15.0 / square**3)
    )
