"""What a secret loses through any reports of a neighbour's value and of its group, in whole units. Proof: nested.md.

`laws[x]` is P(neighbour | secret = x), the values of one group side by side; the group g is edges[g] to edges[g + 1].
With one group, or nothing told of it, this is the bound of bound.md; the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beliefs.correlation.bound import Matrix, Places
from beliefs.native import kernel
from beliefs.rounding import INFINITE, UNITS_PER_NAT, fading_down, log_units_up
from beliefs.simplex import Vector

FAR = 250 * UNITS_PER_NAT
"""All that is above counts as everything; below, products of two powers and a chance are ordinary doubles."""


class Grouped(NamedTuple):
    laws: Matrix
    edges: Places


def grouped(weights: Matrix, margin: Vector, secret: int, groups: Sequence[Sequence[int] | None]) -> Grouped:
    """All other axes as one neighbour: P(others | secret), with the products of their groups as its groups.

    `groups` has an entry for each other axis in order; None puts all of its values into one group.
    """
    turned = np.moveaxis(weights, secret, 0)
    number = np.zeros(turned.shape[1:], dtype=np.int64)
    for axis, each in enumerate(groups):
        if each is not None:
            shaped = np.array(each).reshape([-1 if place == axis else 1 for place in range(number.ndim)])
            number = number * (max(each) + 1) + shaped
    order = np.argsort(number.ravel(), kind="stable")
    laws = turned.reshape(turned.shape[0], -1)[:, order] / margin[:, None]
    changes = np.flatnonzero(np.diff(number.ravel()[order])) + 1
    return Grouped(np.ascontiguousarray(laws), np.concatenate([[0], changes, [order.size]]))


def nested_bound(laws: Matrix, edges: Places, fine: int, coarse: int) -> int:
    """Units, rounded up: at most both together. INFINITE where some report may rule a value out."""
    if (fine == 0 and coarse == 0) or laws.shape[0] == 1:
        return 0
    low, lower = powers(fine, coarse)
    rounding = (laws.shape[1] + 64) * 2.0**-53
    highest = float(_raised(laws, edges, low, lower, rounding))
    return min(INFINITE, fine + coarse, log_units_up(highest * (1.0 + 16.0 * rounding)))


def powers(fine: int, coarse: int) -> tuple[float, float]:
    """The least that a value, and that a group, may weigh beside the largest."""
    return 0.0 if fine > FAR else fading_down(fine), 0.0 if coarse > FAR else fading_down(coarse)


@kernel
def _raised(laws: Matrix, edges: Places, low: float, lower: float, rounding: float) -> float:
    """The level that no report exceeds under any two secrets. One pass is enough: what no report of a pair exceeds at
    one level, none exceeds at a higher one."""
    level = 1.0
    for first in range(laws.shape[0]):
        for second in range(laws.shape[0]):
            if first != second:
                while _exceeds(laws[first], laws[second], edges, low, lower, level):
                    reached = _reached(laws[first], laws[second], edges, low, lower, level)
                    if reached == np.inf:
                        return reached
                    level = max(reached, level * (1.0 + rounding))
    return level


@kernel
def _exceeds(law: Matrix, other: Matrix, edges: Places, low: float, lower: float, level: float) -> bool:
    """Whether some report's chances have a ratio above the level."""
    above, below = 0.0, 0.0
    for group in range(edges.size - 1):
        gain = _gain(law, other, edges[group], edges[group + 1], low, level)
        if gain > 0.0:
            above += gain
        else:
            below -= gain
    return above > lower * below


@kernel
def _gain(law: Matrix, other: Matrix, start: int, stop: int, low: float, level: float) -> float:
    """The sum of (p - h p')+ less `low` times that of (p - h p')-; in four lanes, which are added at the end."""
    up0, up1, up2, up3 = 0.0, 0.0, 0.0, 0.0
    down0, down1, down2, down3 = 0.0, 0.0, 0.0, 0.0
    whole = start + (stop - start) // 4 * 4
    for place in range(start, whole, 4):
        one = law[place] - level * other[place]
        two = law[place + 1] - level * other[place + 1]
        three = law[place + 2] - level * other[place + 2]
        four = law[place + 3] - level * other[place + 3]
        up0 += max(one, 0.0)
        up1 += max(two, 0.0)
        up2 += max(three, 0.0)
        up3 += max(four, 0.0)
        down0 += max(-one, 0.0)
        down1 += max(-two, 0.0)
        down2 += max(-three, 0.0)
        down3 += max(-four, 0.0)
    for place in range(whole, stop):
        one = law[place] - level * other[place]
        up0 += max(one, 0.0)
        down0 += max(-one, 0.0)
    return ((up0 + up1) + (up2 + up3)) - low * ((down0 + down1) + (down2 + down3))


@kernel
def _reached(law: Matrix, other: Matrix, edges: Places, low: float, lower: float, level: float) -> float:
    """The ratio of the report that is best at this level. Where no value is left to weigh, because groups that gain
    nothing weigh nothing, that is the level itself.
    """
    chance, against = weighed(law, other, edges, low, lower, level)
    if against == 0.0:
        return np.inf if chance > 0.0 else level
    return chance / against


@kernel
def weighed(law: Matrix, other: Matrix, edges: Places, low: float, lower: float, level: float) -> tuple[float, float]:
    """What two laws say of the report that is best at this level: 1 where it gains, less elsewhere."""
    chance, against = 0.0, 0.0
    for group in range(edges.size - 1):
        part, opposite = 0.0, 0.0
        for place in range(edges[group], edges[group + 1]):
            weight = 1.0 if law[place] - level * other[place] > 0.0 else low
            part += weight * law[place]
            opposite += weight * other[place]
        weight = 1.0 if part - level * opposite > 0.0 else lower
        chance += weight * part
        against += weight * opposite
    return chance, against
