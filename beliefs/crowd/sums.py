"""The law of a sum of whole numbers that are independent of each other, with a certified error. Proof: sums.md."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.native import kernel
from beliefs.simplex import Vector

TAIL: Final = 2.0**-220
WHOLE_UP_TO: Final = 2048
"""Laws of so many places or fewer keep all of them."""

SUM: Final = "sum"
"""What is refused by that name is too wide to be worked out."""

PRODUCTS_MAX: Final = 1 << 32
"""Of one sum of two numbers: some seconds."""

_ULP: Final = 2.0**-53


@dataclass(frozen=True)
class Sum:
    """mass[k] is the chance of low + k: true up to a factor 1 +- error, `lost` more lies wherever it likes, and
    all places together are wrong by at most `blur`.
    """

    low: int
    mass: Vector
    error: float = 0.0
    lost: float = 0.0
    blur: float = 0.0


def certain(value: int) -> Sum:
    return Sum(value, np.ones(1))


NOTHING: Final = certain(0)


def law(mass: Vector, low: int = 0) -> Sum:
    """A law that is given; places at its ends that cannot be are left out."""
    (places,) = np.nonzero(mass)
    first, last = int(places[0]), int(places[-1])
    return Sum(low + first, np.ascontiguousarray(mass[first : last + 1]))


def added(one: Sum, two: Sum) -> Sum:
    """The law of the sum of two numbers that are independent."""
    if one.mass.size * two.mass.size > PRODUCTS_MAX:
        raise Invalid(SUM, "may be too many numbers to be worked out; ask about fewer members, or in wider steps")
    mass = convolve(one.mass, two.mass)
    # Each place sums at most so many products: one rounding for the product and one for each addition.
    error = one.error + two.error + 2.0 * (min(one.mass.size, two.mass.size) + 1) * _ULP
    return _trimmed(Sum(one.low + two.low, mass, error * (1.0 + 2.0**-20), one.lost + two.lost, one.blur + two.blur))


def times(one: Sum, count: int) -> Sum:
    """The law of the sum of so many numbers with this law."""
    whole, doubled = NOTHING, one
    while count:
        if count & 1:
            whole = added(whole, doubled)
        count >>= 1
        if count:
            doubled = added(doubled, doubled)
    return whole


def scaled(one: Sum, factor: float) -> Sum:
    """Each chance times the factor, which was rounded once or twice."""
    return Sum(one.low, one.mass * factor, one.error + (one.mass.size + 4) * _ULP, one.lost * factor, one.blur * factor)


def weighted(laws: Sequence[Sum], weights: Vector) -> Sum:
    """The chances of each law times its weight, added up."""
    low = min(each.low for each in laws)
    mass = np.zeros(max(each.low + each.mass.size for each in laws) - low)
    for each, weight in zip(laws, weights.tolist(), strict=True):
        mass[each.low - low : each.low - low + each.mass.size] += each.mass * weight
    error = max(each.error for each in laws) + 2.0 * (len(laws) + 2) * _ULP
    return Sum(low, mass, error, max(each.lost for each in laws), max(each.blur for each in laws))


def total(parts: Sequence[Sum]) -> Sum:
    """The law of the sum of all, the shortest two being added first."""
    order = itertools.count()
    waiting = [(each.mass.size, next(order), each) for each in parts] or [(1, 0, NOTHING)]
    heapq.heapify(waiting)
    while len(waiting) > 1:
        both = added(heapq.heappop(waiting)[2], heapq.heappop(waiting)[2])
        heapq.heappush(waiting, (both.mass.size, next(order), both))
    return waiting[0][2]


def _trimmed(one: Sum) -> Sum:
    """Without ends that together hold less than TAIL each; what they hold is lost."""
    if one.mass.size <= WHOLE_UP_TO:
        return one
    rising = np.add.accumulate(one.mass)
    falling = np.add.accumulate(one.mass[::-1])
    first = int(np.searchsorted(rising, TAIL))
    last = one.mass.size - int(np.searchsorted(falling, TAIL))
    kept = np.ascontiguousarray(one.mass[first:last])
    # What was summed up to below TAIL is below twice that in truth, whatever was rounded.
    return Sum(one.low + first, kept, one.error, one.lost + 4.0 * TAIL, one.blur)


def convolve(one: Vector, two: Vector) -> Vector:
    short, long = (one, two) if one.size <= two.size else (two, one)
    mass = np.zeros(one.size + two.size - 1)
    _convolve(short, long, mass)
    return mass


@kernel
def _convolve(short: Vector, long: Vector, out: Vector) -> None:
    """Each place gets its products in the order of `short`, so every machine gets the same bits."""
    for i in range(short.shape[0]):
        factor = short[i]
        if factor != 0.0:
            for k in range(long.shape[0]):
                out[i + k] += factor * long[k]
