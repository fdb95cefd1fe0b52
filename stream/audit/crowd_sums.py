"""What a sum over a crowd tells about one of its members, worked out a second time: never more than the truth.

Wanted is H = the sum over s of max(0, P(s) - e^epsilon Q(s)), where P and Q are the laws of the sum with either of two
values of the member. Both are tilted, by e^(tilt s) over its mean: the sum of independent numbers, tilted, is the sum
of the tilted numbers, so the discrete Fourier transform of each law, to the power of how many have it, gives the tilted
laws with one error for all places; and with tilt = epsilon / (difference of the two values) these lie around the place
where P falls below e^epsilon Q, where nearly all of H stands. What no double can tell from 0 there is counted as 0, P
is lowered by that error and Q raised. So nothing above H is ever found; a tilt that fits badly finds less.

Noise with P(z) proportional to e^(-|z|/scale) is one more number, whose transform is written down.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream.audit.amounts import Floats

Waves = NDArray[np.complex128]

WIDEST: Final = 1 << 22
"""So many places are looked at; where a tilted law is wider, that tilt finds nothing."""

_DEVIATIONS: Final = 44.0
_OFF: Final = 2.0**-50
"""Of a transform and its powers, for each number that is added."""
_TAIL: Final = 45.0
"""Noise beyond so many scales on either side is a chance of 3 in 10^20."""


@dataclass(frozen=True)
class Places:
    """A law on whole numbers: chances[k] is that of low + k."""

    low: int
    chances: Floats

    @staticmethod
    def of(chances: Iterable[float], low: int = 0) -> Places:
        return Places(low, np.array(list(chances), dtype=np.float64))

    @staticmethod
    def certain(place: int) -> Places:
        return Places(place, np.ones(1))

    @property
    def size(self) -> int:
        return int(self.chances.shape[0])

    @property
    def mean(self) -> float:
        return float((self.chances * (self.low + np.arange(self.size))).sum() / self.chances.sum())

    @property
    def variance(self) -> float:
        away = self.low + np.arange(self.size) - self.mean
        return float((self.chances * away * away).sum() / self.chances.sum())


Others = Sequence[tuple[Places, int]]
"""Laws of numbers that are independent of one another and of the member, and how many have each."""


class Tilted(NamedTuple):
    """`law` times e^(tilt s), over its mean, whose logarithm is `log`."""

    law: Places
    log: float


class Noise(NamedTuple):
    """Tilted noise: what falls off below and above, from one place to the next."""

    down: float
    up: float
    log: float
    reach: float

    def waves(self, width: int) -> Waves | float:
        if self.reach == 0.0:
            return 1.0
        turns: Waves = np.exp(-2j * np.pi * np.arange(width // 2 + 1) / width)
        whole = 1.0 + self.down / (1.0 - self.down) + self.up / (1.0 - self.up)
        down, up = self.down * np.conj(turns), self.up * turns
        found: Waves = (1.0 + down / (1.0 - down) + up / (1.0 - up)) / whole
        return found


_NO_NOISE: Final = Noise(0.0, 0.0, 0.0, 0.0)


def least_apart(one: Places, two: Places, others: Others, epsilon: float, scale: Fraction | None = None) -> float:
    """So much at least is P(T) - e^epsilon Q(T) for some event T. `one` and `two` are the member's part of P and Q."""
    away = one.mean - two.mean
    tilts = [0.0] if away == 0.0 or epsilon == 0.0 else [0.0, epsilon / away]
    return max(_apart(one, two, others, epsilon, tilt, scale) for tilt in tilts)


def both(one: Places, two: Places, others: Others, scale: Fraction | None = None) -> tuple[Floats, Floats]:
    """P and Q place by place, each off by no more than a double's roundings; where they are too wide, nothing."""
    shown = _shown(one, two, others, 0.0, scale)
    return (np.zeros(0), np.zeros(0)) if shown is None else (shown.one - shown.off, shown.two + shown.off)


class _Shown(NamedTuple):
    """P and Q, tilted, at the places; each `off` by so much at most, and over their means, whose logarithms follow."""

    one: Floats
    two: Floats
    places: NDArray[np.int64]
    off: float
    log_one: float
    log_two: float


def _apart(one: Places, two: Places, others: Others, epsilon: float, tilt: float, scale: Fraction | None) -> float:
    shown = _shown(one, two, others, tilt, scale)
    if shown is None:
        return 0.0
    logs = shown.log_one, shown.log_two + epsilon
    high = max(logs)
    its = (np.maximum(shown.two, 0.0) + shown.off) * math.exp(logs[1] - high)
    above = (shown.one - shown.off) * math.exp(logs[0] - high) - its
    stands = above > 0.0
    chances = np.exp(np.minimum(np.log(above[stands]) + (high - tilt * shown.places[stands]), 0.0))
    return min(1.0, float(chances.sum()))


def _shown(one: Places, two: Places, others: Others, tilt: float, scale: Fraction | None) -> _Shown | None:
    noise = _noise(scale, tilt)
    if noise is None:
        return None
    sides = tilted(one, tilt), tilted(two, tilt)
    rest = [(tilted(law, tilt), count) for law, count in others if count]
    low = min(side.law.low for side in sides)
    span = max(side.law.low + side.law.size for side in sides) - low
    width = _width(rest, span, noise)
    if width > WIDEST:
        return None
    spread: Waves = np.ones(width // 2 + 1, dtype=np.complex128) * noise.waves(width)
    for each, count in rest:
        spread *= _power(np.fft.rfft(_folded(each.law, width)), count)
    first = low + round(math.fsum(count * each.law.mean for each, count in rest)) - (width - span) // 2
    places = first + np.arange(width)
    off = (64 + sum(count for _, count in rest)) * _OFF * float(np.abs(spread).sum()) / (width // 2)
    found = [np.fft.irfft(np.fft.rfft(_folded(side.law, width)) * spread, width)[places % width] for side in sides]
    log = noise.log + math.fsum(count * each.log for each, count in rest)
    return _Shown(found[0], found[1], places, off, log + sides[0].log, log + sides[1].log)


def tilted(law: Places, tilt: float) -> Tilted:
    with np.errstate(divide="ignore"):
        logs = np.log(law.chances) + tilt * (law.low + np.arange(law.size))
    most = float(logs.max())
    weights = np.exp(logs - most)
    whole = float(weights.sum())
    return Tilted(Places(law.low, weights / whole), most + math.log(whole))


def _folded(law: Places, width: int) -> Floats:
    at = (law.low + np.arange(law.size)) % width
    found = np.zeros(width)
    np.add.at(found, at, law.chances)
    return found


def _power(waves: Waves, count: int) -> Waves:
    found = np.ones_like(waves)
    while count:
        if count & 1:
            found = found * waves
        count >>= 1
        if count:
            waves = waves * waves
    return found


def _width(rest: Sequence[tuple[Tilted, int]], span: int, noise: Noise) -> int:
    """A power of two that holds nearly everything; or everything, where that is less."""
    whole = sum(count * (each.law.size - 1) for each, count in rest)
    deviation = math.sqrt(math.fsum(count * each.law.variance for each, count in rest))
    places = min(float(whole), _DEVIATIONS * deviation + 64.0) + 2.0 * (noise.reach + span) + 4.0
    return 2 * WIDEST if places > WIDEST else 1 << math.ceil(math.log2(places))


def _noise(scale: Fraction | None, tilt: float) -> Noise | None:
    """None where it cannot be tilted so far."""
    if scale is None:
        return _NO_NOISE
    rate = scale.denominator / scale.numerator
    if abs(tilt) >= rate * (1.0 - 1e-6):
        return None
    down, up, kept = math.exp(-(rate + tilt)), math.exp(-(rate - tilt)), math.exp(-rate)
    log = math.log(1.0 + down / (1.0 - down) + up / (1.0 - up)) + math.log((1.0 - kept) / (1.0 + kept))
    return Noise(down, up, log, _TAIL / (rate - abs(tilt)))
