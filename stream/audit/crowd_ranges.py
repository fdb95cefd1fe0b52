"""What the smallest and the largest value of a crowd tell about one of its people.

Only the chance G(l, u) that all others lie within l..u counts. The range is exactly l..u with a value a between if all
others do, less those who leave one end free, unless a stands there: both ends free are put back. All differences are
taken in whole numbers of 10^-90, so that those of nearly equal chances are right.

Of many values only the smallest value is looked at, and the largest: who sees both is told more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stream.audit.amounts import Floats

_DIGITS: Final = 110
_PLACES: Final = 90
_WHOLE: Final = 48
"""Up to so many values both ends are looked at together."""
_FEW: Final = 6
"""Otherwise so many of the lowest and of the highest values are told apart."""


def least_of_range(mine: Floats, laws: Sequence[Floats], rest: Sequence[int], epsilon: float) -> float:
    values = [int(value) for value in np.flatnonzero(mine)]
    others = [(law, count) for law, count in zip(laws, rest, strict=True) if count]
    if mine.shape[0] > _WHOLE:
        ends = [(law[::-1], count) for law, count in others]
        far = [mine.shape[0] - 1 - value for value in values]
        return max(_of_largest(values, others, epsilon), _of_largest(far[::-1], ends, epsilon))
    within = _within(others, mine.shape[0])
    laws_of = {value: _law_of(within, value) for value in values}
    grown = math.exp(epsilon)
    found = 0.0
    for one in values:
        for two in values:
            if one != two:
                found = max(found, float(np.maximum(laws_of[one] - grown * laws_of[two], 0.0).sum()))
    return min(1.0, found * (1.0 - 1e-9))


def whole_of_range(values: int) -> bool:
    """Whether `least_of_range` is all there is to say."""
    return values <= _WHOLE


def _within(others: Sequence[tuple[Floats, int]], size: int) -> list[list[int]]:
    """G by l and u, in units of 10^-90; 0 where l > u and somebody else is there."""
    found = [[0] * (size + 1) for _ in range(size + 1)]
    with localcontext() as context:
        context.prec = _DIGITS
        sums = [[_exactly(chance) for chance in law.tolist()] for law, _ in others]
        totals = [sum(each, Decimal(0)) for each in sums]
        for low in range(size):
            inside = [Decimal(0)] * len(others)
            for high in range(low, size):
                chance = Decimal(1)
                for place, (_, count) in enumerate(others):
                    inside[place] += sums[place][high]
                    chance *= (inside[place] / totals[place]) ** count
                found[low][high] = int(chance.scaleb(_PLACES))
    return found


def _law_of(within: list[list[int]], value: int) -> Floats:
    """The chances of all ranges l..u, by l and u."""
    size = len(within) - 1
    found = np.zeros((size, size))
    for low in range(value + 1):
        for high in range(value, size):
            chance = within[low][high]
            if low < value:
                chance -= within[low + 1][high]
            if high > value:
                chance -= within[low][high - 1]
            if low < value < high:
                chance += within[low + 1][high - 1]
            found[low, high] = max(0, chance) / 10**_PLACES
    return found


def _of_largest(values: Sequence[int], others: Sequence[tuple[Floats, int]], epsilon: float) -> float:
    """Of the largest value: below one's own it cannot be; at one's own it is if all others are there or below."""
    below, grown, found = _all_below(others, max(values) + 1), math.exp(epsilon), 0.0
    alone = np.diff(below, prepend=0)
    laws = {}
    for value in {*values[:_FEW], *values[-_FEW:]}:
        here = np.where(np.arange(below.shape[0]) > value, alone, 0)
        here[value] = below[value]
        laws[value] = (here / 10**_PLACES).astype(np.float64)
    for one, mine in laws.items():
        for two, its in laws.items():
            if one != two:
                found = max(found, float(np.maximum(mine - grown * its, 0.0).sum()))
    return min(1.0, found * (1.0 - 1e-9))


def _all_below(others: Sequence[tuple[Floats, int]], size: int) -> NDArray[np.object_]:
    """The chance that all are at a value or below, in units of 10^-90."""
    with localcontext() as context:
        context.prec = _DIGITS
        found = [Decimal(1)] * size
        for law, count in others:
            sums = list(accumulate(map(_exactly, law.tolist())))
            found = [each * (within / sums[-1]) ** count for each, within in zip(found, sums, strict=False)]
        return np.array([int(each.scaleb(_PLACES)) for each in found], dtype=object)


def _exactly(chance: float) -> Decimal:
    return Decimal(chance)
