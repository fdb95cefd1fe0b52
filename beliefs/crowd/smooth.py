"""The law of a wide sum by its few frequencies that are not nearly 0. Proof: smooth.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from beliefs.crowd.sums import Sum
from beliefs.native import kernel
from beliefs.simplex import Vector, plain_sum

_BITS: Final = 120
"""Frequencies that matter are whole numbers of 2^-120."""

_ONE: Final = 1 << _BITS
_OUTSIDE: Final = 2.0**-70
_NEARLY_NONE: Final = 2.0**-76
_WORK_MAX: Final = 1 << 28
_PLACES_MAX: Final = 1 << 19
_ULP: Final = 2.0**-53


class Smooth:
    """Sums of many numbers with these laws."""

    def __init__(self, laws: Sequence[Sum]) -> None:
        self._laws = laws
        self._moments = [_moments(each) for each in laws]
        self._sizes = lru_cache(maxsize=64)(self._sizes_of)
        self._at = lru_cache(maxsize=1 << 14)(self._frequency)

    def spread(self, counts: Sequence[int]) -> float:
        """How many places a sum of so many of each takes up."""
        variance = sum(count * its for count, (_, its) in zip(counts, self._moments, strict=True))
        width = max((law.mass.size - 1 for law, count in zip(self._laws, counts, strict=True) if count), default=0)
        # Bernstein: P(|S - mean| >= t) <= 2 exp(-t^2/2 / (variance + width t/3)) is below _OUTSIDE there.
        log = -math.log(_OUTSIDE / 2.0)
        return 2.0 * (width * log / 3.0 + math.sqrt((width * log / 3.0) ** 2 + 2.0 * log * variance)) * 1.001 + 8.0

    def summed(self, counts: Sequence[int]) -> Sum | None:
        """The law of the sum of so many of each, or None where it has too many frequencies."""
        places = 1 << math.ceil(math.log2(self.spread(counts)))
        if places > _PLACES_MAX:
            return None
        bound = np.ones(places // 2 + 1)
        for kind, count in enumerate(counts):
            bound *= _powered(self._sizes(kind, places), count)
        (matter,) = np.nonzero(bound > _NEARLY_NONE)
        if matter.size * places > _WORK_MAX:
            return None
        heights = [self._height(counts, places, int(at)) for at in matter]
        real, imaginary = np.array(heights).T.copy()
        left = 2.0 * plain_sum(bound[bound <= _NEARLY_NONE])
        mean = sum(count * its for count, (its, _) in zip(counts, self._moments, strict=True))
        first = math.floor(mean) - places // 2
        cosines = _circle(places)[0]
        mass = np.zeros(places)
        _placed(first % places, matter, real, imaginary, cosines, mass)
        # Each place sums 2 products for each frequency, in doubles, and is divided by their number.
        rounded = places * (2.0 * matter.size + 8.0) * 2.0 * _ULP * plain_sum(np.abs(real) + np.abs(imaginary))
        low = sum(law.low * count for law, count in zip(self._laws, counts, strict=True)) + first
        return Sum(low, mass, 0.0, 0.0, 2.0 * (left + rounded + 2.0 * _OUTSIDE))

    def _sizes_of(self, kind: int, places: int) -> Vector:
        """Not below how large each frequency is."""
        found = np.zeros(places // 2 + 1)
        _sizes(self._laws[kind].mass, _circle(places)[0], found)
        return np.minimum(found + 4.0 * (self._laws[kind].mass.size + 8) * _ULP, 1.0)

    def _frequency(self, kind: int, places: int, at: int) -> tuple[int, int]:
        real, imaginary = 0, 0
        cosines = _circle(places)[1]
        for place, chance in enumerate(self._laws[kind].mass.tolist()):
            top, bottom = chance.as_integer_ratio()
            its, turned = (top << _BITS) // bottom, at * place % places
            real += its * cosines[turned] >> _BITS
            imaginary += its * cosines[(turned - places // 4) % places] >> _BITS
        return real, imaginary

    def _height(self, counts: Sequence[int], places: int, at: int) -> tuple[float, float]:
        """One frequency of the sum; all but the first and the last stand for their mirror image, too."""
        found = (_ONE, 0)
        for kind, count in enumerate(counts):
            square = self._at(kind, places, at) if count else found
            while count:
                if count & 1:
                    found = _times(found, square)
                count >>= 1
                square = _times(square, square) if count else square
        factor = (1.0 if at in (0, places // 2) else 2.0) / places
        return found[0] / _ONE * factor, found[1] / _ONE * factor


def _moments(one: Sum) -> tuple[float, float]:
    places = np.arange(one.mass.size, dtype=np.float64)
    mean = plain_sum(one.mass * places)
    return mean, plain_sum(one.mass * (places - mean) ** 2) * (1.0 + 2.0**-30)


def _times(one: tuple[int, int], two: tuple[int, int]) -> tuple[int, int]:
    return (one[0] * two[0] - one[1] * two[1]) >> _BITS, (one[0] * two[1] + one[1] * two[0]) >> _BITS


def _powered(base: Vector, count: int) -> Vector:
    """Not below base^count."""
    found, square = np.ones(base.size), base
    while count:
        if count & 1:
            found = found * square
        count >>= 1
        if count:
            square = square * square * (1.0 + 2.0**-50)
    return found * (1.0 + 2.0**-40)


@lru_cache(maxsize=8)
def _circle(places: int) -> tuple[Vector, list[int]]:
    """Cosines of all parts of a circle, out of square roots and products of whole numbers alone."""
    cosine, sine = 0, _ONE << 8
    parts, one = 4, _ONE << 8
    while parts < places:
        cosine, sine = math.isqrt((one + cosine) * one // 2), math.isqrt((one - cosine) * one // 2)
        parts *= 2
    quarter, at = [], (one, 0)
    for _ in range(places // 4):
        quarter.append(at[0] >> 8)
        at = (at[0] * cosine - at[1] * sine) >> (_BITS + 8), (at[0] * sine + at[1] * cosine) >> (_BITS + 8)
    half = [*quarter, 0, *(-each for each in reversed(quarter[1:]))]
    whole = [*half, *(-each for each in half)]
    return np.array([each / _ONE for each in whole]), whole


@kernel
def _sizes(mass: Vector, cosines: Vector, out: Vector) -> None:
    places = cosines.shape[0]
    quarter = places // 4
    for at in range(out.shape[0]):
        real, imaginary, turned = 0.0, 0.0, 0
        for k in range(mass.shape[0]):
            real += mass[k] * cosines[turned]
            imaginary += mass[k] * cosines[(turned - quarter) & (places - 1)]
            turned = (turned + at) & (places - 1)
        out[at] = np.sqrt(real * real + imaginary * imaginary)


@kernel
def _placed(
    first: int, matter: npt.NDArray[np.int64], real: Vector, imaginary: Vector, cosines: Vector, out: Vector
) -> None:
    """The law at first, first + 1, ... round the circle; below 0 it can only be wrong."""
    places = cosines.shape[0]
    quarter = places // 4
    for k in range(matter.shape[0]):
        turned, by = (matter[k] * first) & (places - 1), matter[k]
        for place in range(places):
            out[place] += real[k] * cosines[turned] + imaginary[k] * cosines[(turned - quarter) & (places - 1)]
            turned = (turned + by) & (places - 1)
    for place in range(places):
        out[place] = max(out[place], 0.0)
