"""What is told through one attribute about another, in whole units of 2^-40 nat, rounded up. Proof: passed.md.

Releases that change by a factor of at most e^loss with an attribute's value change, in the mean over its law, by at
most max (1 + w A)/(1 + w B) with the law, w = e^loss - 1: A and B are the chances of a set of values under two laws.
Only + - * / touch what decides, so every machine finds the same units.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from beliefs.correlation.bound import Matrix, Places
from beliefs.correlation.frontier import Frontier
from beliefs.native import kernel, part_of_caller
from beliefs.rounding import INFINITE, UNITS_PER_NAT, log_units_up
from beliefs.simplex import Vector

_LN2_HIGH = 6.93147180369123816490e-01  # 33 bits: a whole number up to 2^20 times it is exact
_LN2_LOW = 1.90821492927058770002e-10
_LN2 = 0.6931471805599453
ROUNDINGS_A_UNIT = 1 << 11
"""A ratio of two sums that are right to so many 2^-53 each is right to half a unit."""

_FAR = 600.0
_FAINTEST = 1e-290
_DEEPEST = 740.0
_LOWER = 1.0 - 2.0**-46


@dataclass(frozen=True, eq=False)
class Frontiers:
    """The corners (B, A) that matter of several conditional laws, end to end; those of table e begin at start[e]."""

    start: Places
    against: Vector
    inside: Vector

    @classmethod
    def of(cls, tables: Iterable[Matrix]) -> Frontiers:
        """Each table has a law in each row, or zeros where the row's value cannot occur."""
        found = [Frontier(table[table.any(axis=1)]) for table in tables]
        start = np.cumsum([0, *(each.against.size for each in found)]).astype(np.int64)
        nothing = [np.zeros(0)]
        against = np.concatenate([each.against for each in found] or nothing)
        return cls(start, against, np.concatenate([each.inside for each in found] or nothing))


def falling_orders(through: Matrix) -> Places:
    """For each two rows the columns by falling ratio; those in which the first row is 0 come last."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(through)
        ratios = np.where(through[:, None] > 0.0, logs[:, None] - logs, -math.inf)
    return np.argsort(-ratios, axis=2, kind="stable").astype(np.int64)


@part_of_caller
def units_through(loss: int, begin: int, end: int, against: Vector, inside: Vector, room: int) -> int:
    """What a loss becomes on the other side of a conditional law, raised by as many units as its roundings need."""
    if loss <= 0:
        return 0
    if loss >= INFINITE:
        return INFINITE
    left, far = faded(loss), is_far(loss)
    best, lone = 1.0, 0.0
    for corner in range(begin, end):
        one = left + (1.0 - left) * inside[corner]
        if far and against[corner] == 0.0:
            lone = max(lone, inside[corner])
            continue
        two = left + (1.0 - left) * against[corner]
        if one > best * two:
            best = one / two
    return told_units(loss, best, lone, room)


@kernel
def units_beside(through: Matrix, order: Places, behind: Vector, loss: int, room: int, reached: Vector) -> int:
    """The same where a neighbour's law given x is through[x, y] behind[y] / reached[x] and no corners are at hand.

    order[x, z] are the y by falling through[x, y] / through[z, y], as `falling_orders` finds them.
    """
    if loss <= 0:
        return 0
    if loss >= INFINITE:
        return INFINITE
    states = behind.size
    left, far, best, lone = faded(loss), is_far(loss), 1.0, 0.0
    for first in range(states):
        for second in range(states):
            if first == second or reached[first] == 0.0 or reached[second] == 0.0:
                continue
            inside = against = 0.0
            for place in range(states):
                value = order[first, second, place]
                if through[first, value] == 0.0:
                    break
                inside += through[first, value] * behind[value] / reached[first]
                against += through[second, value] * behind[value] / reached[second]
                one, two = left + (1.0 - left) * inside, left + (1.0 - left) * against
                if far and against == 0.0:
                    lone = max(lone, inside)
                elif one > best * two:
                    best = one / two
    return told_units(loss, best, lone, room)


@part_of_caller
def told_units(loss: int, ratio: float, lone: float, room: int) -> int:
    """The logarithm of the larger of a ratio and e^loss `lone`, which is at most the loss.

    Far out a set that one of two laws excludes, of the chance `lone` under the other, has the ratio e^loss `lone`, and
    what is left out of that is less than a unit. Chances of which no quotient is a double are not told from 1.
    """
    told = log_units_up(ratio) + room if ratio > 1.0 else 0
    if 0.0 < lone < _FAINTEST:
        return loss
    if lone > 0.0:
        told = max(told, loss - log_units_up(1.0 / lone) + 3 + room)
    return min(loss, told)


@part_of_caller
def is_far(loss: int) -> bool:
    """Whether e^loss is no longer to be met as a double beside small chances."""
    return float(loss) > _FAR * UNITS_PER_NAT


@part_of_caller
def faded(loss: int) -> float:
    """e^-loss, rounded down; below the doubles it counts as 0."""
    nats = float(loss) / UNITS_PER_NAT
    if nats > _DEEPEST:
        return 0.0
    turns = math.floor(nats / _LN2)
    rest = max(0.0, (nats - turns * _LN2_HIGH) - turns * _LN2_LOW)
    power = 1.0
    for term in range(20, 0, -1):
        power = 1.0 - rest / term * power
    for _ in range(turns):
        power *= 0.5
    return power * _LOWER
