"""Numbers far below the doubles: a part in [1/2, 1) and a power of two. Note: scaled.md.

A sum of a thousand values may have masses of e^-5000, and noise that is 20,000 times narrower than the sum has
densities of e^-20000; doubles end at e^-745. Only + - * / and shifts by powers of two touch the parts, so a sum of
positive terms keeps its relative precision at any size.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beliefs.native import kernel, part_of_caller

Floats = npt.NDArray[np.float64]
Powers = npt.NDArray[np.int64]

EMPTY = -(1 << 62)
"""The power of zero: below every other one, and far enough from the end that differences do not overflow."""

LONGEST = float(1 << 60)
"""Distances beyond this many nats count as infinite."""

_LN2_HIGH = 6.93147180369123816490e-01  # 33 bits: a whole number up to 2^20 times it is exact
_LN2_LOW = 1.90821492927058770002e-10
_DEEPEST = 200
_PLAIN_SPAN = 450
"""Powers that lie no further apart than this in each of two laws: all products of their masses are ordinary doubles."""

_BLOCK = 64

_HALVED = np.ldexp(1.0, -np.arange(_DEEPEST + 1))


class Scaled(NamedTuple):
    """part 2^power; 0 has the part 0 and the power EMPTY."""

    part: Floats
    power: Powers


def scaled(values: Floats) -> Scaled:
    part, power = np.frexp(values)
    return Scaled(part, np.where(values == 0.0, EMPTY, power.astype(np.int64)))


def scaled_exponentials(logs: Floats) -> Scaled:
    """e^log of each, each right to 2^-51 and the log's own rounding."""
    finite = np.where(np.isfinite(logs), logs, 0.0)
    turns = np.floor(finite / math.log(2.0))
    # Where the logarithm itself is only right to more than one turn, any rest is as good as another.
    rest = np.clip((finite - turns * _LN2_HIGH) - turns * _LN2_LOW, 0.0, math.log(2.0))
    part, power = np.frexp(np.exp(rest))
    whole = power.astype(np.int64) + turns.astype(np.int64)
    nothing = np.isneginf(logs)
    return Scaled(np.where(nothing, 0.0, part), np.where(nothing, EMPTY, whole))


def logarithms(values: Scaled) -> Floats:
    """Natural logarithms, right to a few roundings of themselves; of 0 it is -infinity."""
    with np.errstate(divide="ignore"):
        logs = np.log(values.part)
    known = np.where(values.part == 0.0, 0, values.power).astype(np.float64)
    found: Floats = np.where(values.part == 0.0, -math.inf, known * math.log(2.0) + logs)
    return found


def plain(values: Scaled) -> Floats:
    """As doubles; what lies below them becomes 0."""
    return np.ldexp(values.part, np.clip(values.power, -5000, 5000).astype(np.int32))


def convolved(one: Scaled, two: Scaled) -> Scaled:
    """The law of a sum of two independent whole numbers, each law from its own smallest value on.

    Blocks of neighbours are multiplied as doubles wherever the masses in a block are near enough to each other.
    """
    size = one.part.size + two.part.size - 1
    part, power = np.zeros(size), np.full(size, EMPTY, dtype=np.int64)
    small = one.part.size * two.part.size <= _BLOCK * _BLOCK
    first, second = (None, None) if small else (_blocks(one), _blocks(two))
    if first is None or second is None:
        _convolve_far(one.part, one.power, two.part, two.power, part, power)
    else:
        _convolve_blocks(*first, *second, np.empty(2 * _BLOCK), part, power)
    return Scaled(part, power)


def _blocks(values: Scaled) -> tuple[Floats, Powers] | None:
    """As doubles times a power for each block, or None where a block holds masses too far apart for that."""
    count = -(-values.part.size // _BLOCK)
    part, power = np.zeros(count * _BLOCK), np.full(count * _BLOCK, EMPTY, dtype=np.int64)
    part[: values.part.size], power[: values.part.size] = values
    tops = power.reshape(count, _BLOCK).max(axis=1)
    below = np.repeat(tops, _BLOCK) - power
    if bool((below[part > 0.0] > _PLAIN_SPAN).any()):
        return None
    return plain(Scaled(part, np.where(part > 0.0, -below, 0))).reshape(count, _BLOCK), tops


@kernel
def _convolve_blocks(
    one: Floats, one_tops: Powers, two: Floats, two_tops: Powers, room: Floats, part: Floats, power: Powers
) -> None:
    for first in range(one_tops.size):
        for second in range(two_tops.size):
            if one_tops[first] == EMPTY or two_tops[second] == EMPTY:
                continue
            for k in range(room.size):
                room[k] = 0.0
            for k in range(_BLOCK):
                weight = one[first, k]
                if weight > 0.0:
                    for j in range(_BLOCK):
                        room[k + j] += weight * two[second, j]
            start, top = (first + second) * _BLOCK, one_tops[first] + two_tops[second]
            for k in range(min(2 * _BLOCK - 1, part.size - start)):
                mantissa, exponent = math.frexp(room[k])
                part[start + k], power[start + k] = add(part[start + k], power[start + k], mantissa, top + exponent)


@kernel
def _convolve_far(
    one_part: Floats, one_power: Powers, two_part: Floats, two_power: Powers, part: Floats, power: Powers
) -> None:
    """Terms of less than 2^-200 of the largest are left out."""
    for place in range(part.size):
        first = max(0, place - two_part.size + 1)
        last = min(place, one_part.size - 1)
        top = EMPTY
        for k in range(first, last + 1):
            if one_part[k] > 0.0 and two_part[place - k] > 0.0:
                top = max(top, one_power[k] + two_power[place - k])
        if top == EMPTY:
            continue
        total = 0.0
        for k in range(first, last + 1):
            product = one_part[k] * two_part[place - k]
            if product > 0.0:
                deep = top - one_power[k] - two_power[place - k]
                if deep <= _DEEPEST:
                    total += product * _HALVED[deep]
        mantissa, exponent = math.frexp(total)
        part[place] = mantissa
        power[place] = top + exponent


@kernel
def add_shifted(
    factor_part: float,
    factor_power: int,
    from_part: Floats,
    from_power: Powers,
    shift: int,
    part: Floats,
    power: Powers,
) -> None:
    """Adds a law times a factor, moved by so many places, to another."""
    for k in range(from_part.size):
        if from_part[k] > 0.0:
            value, size = times(from_part[k], from_power[k], factor_part, factor_power)
            part[k + shift], power[k + shift] = add(part[k + shift], power[k + shift], value, size)


@part_of_caller
def times(one: float, one_power: int, two: float, two_power: int) -> tuple[float, int]:
    """The product of two numbers that are 0 or more."""
    product, power = one * two, one_power + two_power
    if product == 0.0:
        return 0.0, EMPTY
    return (product, power) if product >= 0.5 else (2.0 * product, power - 1)


@part_of_caller
def add(one: float, one_power: int, two: float, two_power: int) -> tuple[float, int]:
    """The sum of two numbers that are 0 or more."""
    if two == 0.0:
        return one, one_power
    if one == 0.0:
        total, power = two, two_power
    elif one_power >= two_power:
        deep = one_power - two_power
        total, power = one + (two * _HALVED[deep] if deep <= _DEEPEST else 0.0), one_power
    else:
        deep = two_power - one_power
        total, power = two + (one * _HALVED[deep] if deep <= _DEEPEST else 0.0), two_power
    mantissa, exponent = math.frexp(total)
    return mantissa, power + exponent


@part_of_caller
def above(one: float, one_power: int, two: float, two_power: int) -> bool:
    """Whether one is larger than two, both above 0 and with parts in [1/2, 1)."""
    return one_power > two_power or (one_power == two_power and one > two)
