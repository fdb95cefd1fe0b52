"""How far two laws of one number are apart for somebody who sees it: the hockey-stick divergence, rounded up.

    H(P, Q; epsilon) = the largest P(T) - e^epsilon Q(T) over events T = sum of max(0, P(s) - e^epsilon Q(s))

Where only intervals are asked for, T runs over those. Proof: sums.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from beliefs.crowd.sums import Sum
from beliefs.native import kernel
from beliefs.simplex import Vector

Integers = npt.NDArray[np.int64]

Events = Literal["all", "intervals"]

_FINE: Final = 2.0**-44
_UP: Final = 1.0 + 2.0**-40
_LARGEST: Final = 1 << 20


def apart(one: Sum, two: Sum, epsilon: float, events: Events = "all") -> float:
    """The most that an event's chance under `one` is above e^epsilon times that under `two`; at most 1."""
    above, below = beside(one, two)
    factor = math.exp(min(epsilon, 709.0)) * (1.0 - 2.0**-50) if epsilon < 709.0 else math.inf
    above, below = above * (1.0 + one.error), below * (1.0 - two.error)
    found = _largest_interval(above, below, factor) if events == "intervals" else _sum_above(above, below, factor)
    return min(1.0, found * _UP + one.lost + blurred(one, two, factor))


def moved_apart(one: Sum, moves: Integers, epsilon: float) -> float:
    """The largest `apart` of a number and the same number moved by one of these."""
    if not moves.size:
        return 0.0
    if epsilon >= 709.0:
        return max(apart(one, replace(one, low=one.low + int(by)), epsilon) for by in moves)
    factor = math.exp(epsilon) * (1.0 - 2.0**-50)
    above, below = one.mass * (1.0 + one.error), one.mass * (1.0 - one.error)
    return min(1.0, _farthest_moved(above, below * factor, moves) * _UP + one.lost + blurred(one, one, factor))


def blurred(one: Sum, two: Sum, factor: float) -> float:
    """What the places of both may be wrong by together, as it counts in what is told."""
    return one.blur + (factor * two.blur if two.blur else 0.0)


def least_epsilon(delta: float, told: Callable[[float], float]) -> float:
    """The smallest epsilon at which `told`, which falls with epsilon, is at most delta; rounded up, maybe infinite."""
    if told(0.0) <= delta:
        return 0.0
    if told(math.inf) > delta:
        return math.inf
    low, high = 0.0, 1.0
    while told(high) > delta:
        low, high = high, 2.0 * high
        if high > _LARGEST:
            return math.inf
    while high - low > _FINE * high:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if told(middle) <= delta else (middle, high)
    return high


def beside(one: Sum, two: Sum) -> tuple[Vector, Vector]:
    """Both laws over the places of the first; where the second has none, it has 0."""
    below = np.zeros(one.mass.size)
    start = max(one.low, two.low)
    end = min(one.low + one.mass.size, two.low + two.mass.size)
    if start < end:
        below[start - one.low : end - one.low] = two.mass[start - two.low : end - two.low]
    return one.mass, below


@kernel
def _farthest_moved(above: Vector, below: Vector, moves: Integers) -> float:
    worst, size = 0.0, above.shape[0]
    for number in range(moves.shape[0]):
        by, found = moves[number], 0.0
        for k in range(min(max(by, 0), size)):
            found += above[k]
        for k in range(max(size + min(by, 0), 0), size):
            found += above[k]
        for k in range(max(by, 0), size + min(by, 0)):
            found += max(above[k] - below[k - by], 0.0)
        worst = max(worst, found)
    return worst


@kernel
def _sum_above(above: Vector, below: Vector, factor: float) -> float:
    found = 0.0
    for k in range(above.shape[0]):
        if below[k] == 0.0:
            found += above[k]
        elif above[k] > factor * below[k]:
            found += above[k] - factor * below[k]
    return found


@kernel
def _largest_interval(above: Vector, below: Vector, factor: float) -> float:
    """The largest sum of neighbours, by the classical pass: a beginning that sums below 0 is left out."""
    found, running = 0.0, 0.0
    for k in range(above.shape[0]):
        gain = above[k] if below[k] == 0.0 else above[k] - factor * below[k]
        running = max(running + gain, 0.0)
        found = max(found, running)
    return found
