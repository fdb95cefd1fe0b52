"""A release that may tell more upwards, worked out a second time: its levels, their constants, and which one it is.

There are 16 levels from epsilon to the declared most, in equal steps rounded down to units; equal ones are one. The
level of a release is the largest that is not above what the budget has left upwards; the first, where none is, and
where beliefs may be off by half of epsilon. A channel of a level is built for as many units less than it as one of the
first is built less than epsilon, and further (2n + 64)/4096 (1 + 2^40/l) units less upwards, rounded up, with n values
and l units downwards.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from beliefs.native import kernel
from stream.audit.amounts import LEVELS, UNBOUNDED, UNITS, Floats, Integers, built_for, constants_of, exponential

NO_LEVELS: Integers = np.zeros(0, dtype=np.int64)
NOT_RAISED: Floats = np.zeros((0, LEVELS, 6))
_STEPS = 15


def levels_between(epsilon: int, upper: int) -> Integers:
    return np.array(sorted({epsilon + step * (upper - epsilon) // _STEPS for step in range(_STEPS + 1)}))


def numbers_of_levels(levels: Integers, shift: int, symbols: int) -> Floats:
    """For each level but the first, which is epsilon, and each level of drift."""
    epsilon, *higher = (int(level) for level in levels)
    tables = np.zeros((len(higher), LEVELS, 6))
    for table, most in zip(tables, higher, strict=True):
        for drift in range(LEVELS):
            below = built_for(epsilon, drift, shift)
            above = most - (epsilon - below)
            if below > 0:
                above -= math.ceil(Fraction(2 * symbols + 64, 4096) * (1 + Fraction(UNITS, below)))
            table[drift] = two_sided(below, above, symbols)
    return tables


def two_sided(below: int, above: int, symbols: int) -> list[float]:
    """For a floor e^-below and a ceiling e^above. A base is raised so far that neither bound is lost to roundings, nor
    to what is left over of a row: one unit for each value and one more.
    """
    if below <= 0 or above <= 0:
        return constants_of(0)
    floor, ceiling = 1 / exponential(below), exponential(above)
    revealed = 1 - floor
    cap = (ceiling - floor) / revealed
    smaller = min(1 / floor, ceiling)
    padding = math.ceil((2 * (smaller + 1) + symbols) / (smaller - 1)) + 1
    return [float(value) for value in (floor, revealed, ceiling, cap, 1 / cap, padding)]


@kernel
def highest_within(levels: Integers, budget: int, spent: int) -> int:
    chosen = 0
    for level in range(1, levels.shape[0]):
        if budget == UNBOUNDED or spent + levels[level] <= budget:
            chosen = level
    return chosen
