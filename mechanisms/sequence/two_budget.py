"""A release that may tell more upwards than downwards: unspent upper budget is kept for rare values. Proof:
two_budget.md.

The channel is `optimal`'s for a lower bound e^-epsilon and an upper one that depends on what is left of the user's
upper budget: the largest of a few fixed levels that fits. The levels are whole units, the first is epsilon itself, at
which the channel is `optimal`'s to the bit. Nothing is computed in the step but the choice of a row of constants.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

from beliefs.native import kernel
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from mechanisms.contract import (
    LEVEL_UNKNOWN,
    Floats,
    Integers,
    constants_of,
    constants_table,
    design_units,
)
from mechanisms.sequence import optimal

HOLDS_EPSILON = True
"""Downwards always, and upwards at the first level; at the others `upper` holds upwards."""

LEVELS_MOST = 16

prepare, row, column = optimal.prepare, optimal.row, optimal.column


class Rising(NamedTuple):
    """`levels[i]` is the most that a release of level i tells upwards, in units, shift included; levels[0] is epsilon.
    `constants` has a row for each level and each level of drift.
    """

    levels: Integers
    constants: Floats


def levels_of(epsilon_units: int, upper_units: int) -> list[int]:
    """From epsilon to upper in equal steps, each rounded down; equal ones are one."""
    steps = LEVELS_MOST - 1
    return sorted({epsilon_units + (upper_units - epsilon_units) * i // steps for i in range(LEVELS_MOST)})


def rising_of(epsilon_units: int, upper_units: int, symbols: int, shift: int = 0) -> Rising:
    levels = levels_of(epsilon_units, upper_units)
    raised = [
        [_constants_of_level(told, epsilon_units, drift, symbols, shift) for drift in range(LEVEL_UNKNOWN + 1)]
        for told in levels[1:]
    ]
    tables = [constants_table(epsilon_units, shift), *(np.array(rows) for rows in raised)]
    return Rising(np.array(levels, dtype=np.int64), np.stack(tables))


def _constants_of_level(told: int, epsilon_units: int, drift_level: int, symbols: int, shift: int) -> list[float]:
    """What is withheld of epsilon for drift and shift is withheld of the level, too."""
    lower = design_units(epsilon_units, drift_level, shift)
    withheld = epsilon_units - lower
    return constants_of_bounds(lower, told - withheld - _doubles(lower, symbols), symbols)


def _doubles(lower: int, symbols: int) -> int:
    """Units that cover (2n + 64) 2^-52 / c, since 1/c = 1/(1 - exp(-l)) <= 1 + 1/l: by so much R may exceed c TOTAL."""
    return 0 if lower <= 0 else -(-(2 * symbols + 64) * (lower + UNITS_PER_NAT) // (4096 * lower))


def constants_of_bounds(lower: int, upper: int, symbols: int) -> list[float]:
    """The constants of a channel that tells so many units downwards and upwards: M = (U - e)/c."""
    if lower <= 0 or upper <= 0:
        return constants_of(0)
    with localcontext() as context:
        context.prec = 60
        down, up = ((Decimal(units) / Decimal(UNITS_PER_NAT)).exp() for units in (lower, upper))
        covered = 1 / down
        cap = (up - covered) / (1 - covered)
        # (x - 1) pad >= 3 x + symbols + 1 for both bounds: roundings down, and what is left over of a row.
        least = min(down, up)
        pad = ((2 * least + 2 + symbols) / (least - 1)).to_integral_value(rounding="ROUND_CEILING") + 1
        return [float(value) for value in (covered, 1 - covered, up, cap, 1 / cap, pad)]


@kernel
def level_within(levels: Integers, left: int) -> int:
    """The largest level that is not above what is left; the first where none is."""
    level: int = levels.shape[0] - 1
    while level > 0 and levels[level] > left:
        level -= 1
    return level


@kernel
def left_of(budget: int, spent: int) -> int:
    return INFINITE if budget >= INFINITE else budget - spent
