"""How many people of a window have each value: a histogram, and whatever is made of one. Proof: counted.md."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from beliefs.crowd.informed import Others
from beliefs.crowd.noise import LADDER, alone, geometric, reach
from beliefs.crowd.seen import EXACT, LATTICE, SOUND, Target
from beliefs.crowd.sums import Sum, law, times, total
from beliefs.native import kernel
from beliefs.simplex import Vector, normalised

Pair = tuple[tuple[float, float], ...]
"""For each kind the chances of the two values that are to be told apart."""

COMPARED_MAX: Final = 1 << 11
PAIRS_MAX: Final = 16
NUMBERS_MAX: Final = 256
"""Of hidden people that are looked at where laws differ, which is an upper bound in any case."""

CASES: Final = 16
"""Numbers of hidden people that are looked at by themselves where noise is added, too."""

NOISY_MAX: Final = 1 << 26
"""Pairs of places that a number which is seen twice, with noise, is looked at in; with more it is taken to tell all."""

NARROW: Final = LADDER[28]
"""2^3: pairs of counts with noise of a larger scale are not gone through, which takes the square of as many places."""

_SPAN: Final = 2
"""One person's other value moves two cells by one."""
_RARE: Final = 2.0**-100
_OFTEN: Final = 2.0**-40
_ULP: Final = 2.0**-53


class Counted:
    """A histogram over people of several laws. With `lattice` something is released that is a function of it."""

    blurs_known = False

    def __init__(self, laws: Sequence[Vector], *, lattice: bool = False) -> None:
        self.noisy, self._lattice = not lattice, lattice
        table = np.array([normalised(each) for each in laws])
        self._pairs = [_worst_pairs(table, kind) for kind in range(len(laws))]
        self._hidden = lru_cache(maxsize=1024)(_hidden)
        self._same = lru_cache(maxsize=1024)(_same)

    def told(
        self, target: Target, others: Others, epsilon: float, scale: Fraction | None, *, roughly: bool = False
    ) -> float:
        if scale is not None and scale * Fraction(epsilon) >= _SPAN:
            return 0.0
        if scale is not None and scale > NARROW:  # larger noise only hides more
            return min(self.told(target, others, epsilon, NARROW, roughly=roughly), alone(_SPAN, scale, epsilon))
        pairs = self._pairs[target.kind]
        asked = pairs[:1] if roughly else pairs
        return max((self._apart(pair, others, epsilon, scale) for pair in asked), default=0.0)

    def method(self, _others: Others, scale: Fraction | None) -> str:
        """Noise hides in how many cells the target may be counted, too, and he is told that here."""
        if self._lattice:
            return LATTICE
        return EXACT if len(self._pairs) == 1 and scale is None else SOUND

    def _apart(self, pair: Pair, others: Others, epsilon: float, scale: Fraction | None) -> float:
        """By the share of the first value that tells least, of those of the kinds."""
        return min((self._at(pair, share, others, epsilon, scale) for share in _shares(pair)), default=1.0)

    def _at(self, pair: Pair, share: float, others: Others, epsilon: float, scale: Fraction | None) -> float:
        number = self._hidden(pair, share, others)
        rising = np.add.accumulate(number.mass)
        first = int(np.searchsorted(rising, _RARE))
        often = np.add.accumulate(number.mass[::-1])[::-1]
        weights = number.mass[first : max(first + 1, int((often >= _OFTEN).sum()))].copy()
        weights[-1] = often[first + weights.size - 1]
        least, lost = number.low + first, number.lost + (2.0 * _RARE if first else 0.0)
        factor = math.exp(min(epsilon, 709.0)) * (1.0 - 2.0**-50) if epsilon < 709.0 else math.inf
        if scale is None:
            found, error = self._plain(share, least, weights, factor)
        else:
            found, error = self._noisy(share, least, weights, factor, scale)
            lost += 2.0**-60
        error += number.error + (weights.size + 8) * 2.0 * _ULP
        return min(1.0, found * (1.0 + 2.0 * error) * (1.0 + 2.0**-40) + lost)

    def _plain(self, share: float, least: int, weights: Vector, factor: float) -> tuple[float, float]:
        start = self._same(share, least)
        mass = np.zeros(start.mass.size + weights.size)
        mass[: start.mass.size] = start.mass
        error = start.error + 6.0 * weights.size * _ULP
        stride = 1 if len(self._pairs) == 1 else math.ceil(weights.size / NUMBERS_MAX)
        found = _expected(mass, start.mass.size, share, weights, stride, factor * (1.0 - 4.0 * error))
        return found + start.lost, error + 4.0 * mass.size * _ULP

    def _noisy(self, share: float, least: int, weights: Vector, factor: float, scale: Fraction) -> tuple[float, float]:
        """Fewer hidden people hide less, so some numbers stand for all up to the next."""
        (q, level), far, found, worst = geometric(scale), reach(scale), 0.0, 0.0
        starts = np.unique(np.linspace(0, weights.size, min(CASES, weights.size), endpoint=False).astype(np.int64))
        for first, after in itertools.pairwise([*starts.tolist(), weights.size]):
            start = self._same(share, least + first)
            chance = float(np.add.accumulate(weights[first:after])[-1])
            if (start.mass.size + 2 * far) * 2 * far > NOISY_MAX:
                found += chance
                continue
            mass = np.concatenate([np.zeros(far), start.mass, np.zeros(far + 1)])
            error = start.error + 8.0 * (mass.size + 2 * far) * _ULP
            below, above = np.zeros(mass.size), np.zeros(mass.size)
            _reached(mass, q * q, below, above)
            told = _twice_noisy(mass, below, above, q, 2 * far, factor * (1.0 - 4.0 * error))
            found += chance * min(1.0, told * level * level * (1.0 + 2.0 * error) + start.lost)
            worst = max(worst, error)
        return found, worst


def _worst_pairs(table: Vector, kind: int) -> tuple[Pair, ...]:
    """Pairs of values of which one is told apart best; a value that two others are rarer than is in none of them."""
    possible = table[:, table[kind] > 0.0]
    size = possible.shape[1]
    if size < 2:
        return ()
    if len(table) == 1:
        rarest = np.sort(possible[0])[:2]
        return (((float(rarest[0]), float(rarest[1])),),)
    if size <= COMPARED_MAX:
        kept = [place for place in range(size) if _rarer(possible, place) < 2]
        if len(kept) * (len(kept) - 1) <= 2 * PAIRS_MAX:
            return tuple(
                tuple((float(row[one]), float(row[two])) for row in possible)
                for one, two in itertools.combinations(kept, 2)
            )
    least = [float(row.min()) for row in possible]
    return (tuple((each, each) for each in least),)


def _rarer(table: Vector, place: int) -> int:
    """How many values are nowhere more often than this one; of equal ones the first."""
    column = table[:, place : place + 1]
    below = (table <= column).all(axis=0)
    same = (table == column).all(axis=0)
    return int(below.sum()) - int(same[place:].sum())


def _shares(pair: Pair) -> Iterator[float]:
    """Where one of the two is less than 2^-53 of the other the share has no double below 1: it is left out."""
    found = sorted({one / (one + two) for one, two in pair if one > 0.0 and two > 0.0} - {1.0})
    yield from found if len(found) <= 3 else (found[0], found[len(found) // 2], found[-1])


def _hidden(pair: Pair, share: float, others: Others) -> Sum:
    """How many of the others stay hidden: each has one of the two values, the first one with chance `share`."""
    parts = []
    for (one, two), count in zip(pair, others, strict=True):
        # Rounded down: who is hidden less is told more.
        chance = min(one / share, two / (1.0 - share), 1.0) * (1.0 - 2.0**-48)
        if count and chance > 0.0:
            parts.append(times(law(np.array([1.0 - chance, chance])), count))
    return total(parts)


def _same(share: float, count: int) -> Sum:
    return times(law(np.array([1.0 - share, share])), count)


@kernel
def _expected(mass: Vector, size: int, share: float, weights: Vector, stride: int, factor: float) -> float:
    """The larger of both directions: one more hidden person for each weight, his number moved by one or not.

    Only every so many are looked at, and stand for those after them.
    """
    up, down = 0.0, 0.0
    there, here = 0.0, 0.0
    for number in range(weights.shape[0]):
        if number % stride == 0:
            there, here = 0.0, 0.0
        before = 0.0
        for k in range(size + 1 if number % stride == 0 else 0):
            now = mass[k] if k < size else 0.0
            if now == 0.0:
                there += before
            elif before > factor * now:
                there += before - factor * now
            if before == 0.0:
                here += now
            elif now > factor * before:
                here += now - factor * before
            before = now
        up += weights[number] * there
        down += weights[number] * here
        if number + 1 < weights.shape[0]:
            for k in range(size, 0, -1):
                mass[k] = mass[k] * (1.0 - share) + mass[k - 1] * share
            mass[0] *= 1.0 - share
            size += 1
    return max(up, down)


@kernel
def _reached(mass: Vector, rate: float, below: Vector, above: Vector) -> None:
    """below[k] sums mass[j] rate^(k - j) over j < k, above[k] mass[j] rate^(j - k) over j > k."""
    running = 0.0
    for k in range(mass.shape[0]):
        below[k] = running
        running = (running + mass[k]) * rate
    running = 0.0
    for k in range(mass.shape[0] - 1, -1, -1):
        above[k] = running
        running = (running + mass[k]) * rate


@kernel
def _twice_noisy(mass: Vector, below: Vector, above: Vector, q: float, far: int, factor: float) -> float:
    """Of a number that is seen twice, each time with noise, against the number and one more, in either direction.

    Both seen numbers at low <= high have the chance q^(high - low) (below[low] + mass[low..high] + above[high]).
    """
    up, down, size = 0.0, 0.0, mass.shape[0]
    for low in range(size):
        one, two, power = 0.0, 0.0, 1.0
        for high in range(low, min(size, low + far + 1)):
            one += mass[high]
            two += mass[high - 1] if high else 0.0
            here = power * (below[low] + one + above[high])
            moved = power * ((below[low - 1] if low else 0.0) + two + (above[high - 1] if high else 0.0))
            both = 1.0 if low == high else 2.0
            if here > factor * moved:
                down += both * (here - factor * moved)
            if moved > factor * here:
                up += both * (moved - factor * here)
            power *= q
    return max(up, down)
