"""Any channel K made to keep a two-sided bound: its release is mixed with draws from its own law, as little as needed.

With p the law of K's release, e = exp(-epsilon), c = 1 - e and M = 1 + exp(epsilon), the channel e p + c K' keeps the
bound exactly when K' <= M p and K' has the law p. K' = (1 - h) K + h p has that law for every h; with r = max K/p its
largest ratio is (1 - h) r + h, which is M at h = (r - M)/(r - 1). The bound is kept for every row, also of values that
the prior calls impossible: a row of such a value that releases what nobody else can release needs h = 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beliefs.checks import require
from beliefs.simplex import Vector, normalised


class Repaired(NamedTuple):
    channel: list[Vector]
    dilution: float


def repair(prior: Vector, channel: Sequence[Vector], epsilon: float) -> Repaired:
    """The repaired channel and its dilution h, which is rounded up."""
    require(len(channel) == prior.size, "a channel has one row for every value of the prior")
    rows = [normalised(row) for row in channel]
    law = np.zeros(rows[0].size)
    for mass, row in zip(normalised(prior), rows, strict=True):
        law += mass * row
    dilution = _dilution(max(_largest_ratio(row, law) for row in rows), epsilon)
    covered, revealed = math.exp(-epsilon), -math.expm1(-epsilon)
    mixed = [covered * law + revealed * ((1.0 - dilution) * row + dilution * law) for row in rows]
    return Repaired(mixed, dilution)


def _largest_ratio(row: Vector, law: Vector) -> float:
    if np.any((law == 0) & (row > 0)):
        return math.inf
    happens = law > 0
    with np.errstate(over="ignore"):
        return float(np.max(row[happens] / law[happens]))


def _dilution(ratio: float, epsilon: float) -> float:
    cap = 1.0 + math.exp(epsilon) if epsilon < 709.0 else math.inf
    if math.isinf(ratio):
        return 1.0
    if ratio <= cap:
        return 0.0
    # Ratio and quotient are each within a few last places; 2^-50 covers them, and more dilution is only safer.
    return min(1.0, (ratio - cap) / (ratio - 1.0) * (1.0 + 2.0**-50))
