"""How far one estimate of many leaks is from a reference: two scores, and in which region the first puts it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.correlation.bound import sum_of
from beliefs.simplex import Vector

_NONE = 1e-12
"""Shares of the budget below this are roundings of two ways to one number."""


class Scores(NamedTuple):
    """P1: equal; R1: never above the reference; R2: never below it; R3: both. A ratio to nothing is None."""

    undershoot: float
    overshoot: float
    region: str
    ratio: float | None
    squared_error: float | None


def scores(reference: Vector, estimate: Vector, epsilon: float) -> Scores:
    """Shares of epsilon by which the estimate is too low and too high, its total, and its squared error, relative."""
    with np.errstate(over="ignore"):
        return _scores(reference, estimate, epsilon)


def _scores(reference: Vector, estimate: Vector, epsilon: float) -> Scores:
    apart = (reference - estimate) / epsilon
    under = sum_of(apart[apart > 0].tolist()) / reference.size
    over = sum_of((-apart[apart < 0]).tolist()) / reference.size
    region = {(False, False): "P1", (True, False): "R1", (False, True): "R2", (True, True): "R3"}
    most = float(reference.max())
    if most == 0.0:
        return Scores(under, over, region[under > _NONE, over > _NONE], None, None)
    scaled, missed = reference / most, (reference - estimate) / most
    return Scores(
        under,
        over,
        region[under > _NONE, over > _NONE],
        sum_of((estimate / most).tolist()) / math.fsum(scaled.tolist()),
        sum_of((missed**2).tolist()) / math.fsum((scaled**2).tolist()),
    )
