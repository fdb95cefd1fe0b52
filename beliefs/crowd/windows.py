"""Several sums over a crowd that is fresh each time, while one member contributes the same again. Proof: windows.md.

What one sum tells is kept as a law of its loss ln P/Q under P on a grid of losses; independent sums add their losses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.crowd.divergence import apart, beside
from beliefs.crowd.members import Group, kinds_of
from beliefs.crowd.sums import Sum, added, convolve, law, times
from beliefs.simplex import Vector, normalised, plain_sum

WINDOWS_MAX: Final = 1 << 20
_STEPS_A_DEVIATION: Final = 400
_STEPS_MAX: Final = 1 << 15
_NEGLIGIBLE: Final = 2.0**-100
_UP: Final = 1.0 + 2.0**-30


def windows_delta(mass: Vector, users: int, windows: int, epsilon: float) -> float:
    """The largest delta over the values that a member may repeat; up to .1 % above it from three windows on."""
    if windows > WINDOWS_MAX:
        raise Invalid("windows", f"must be at most {WINDOWS_MAX:,}")
    others = times(law(normalised(mass)), users - 1)
    found = 0.0
    for one, two in ((added(others, case), added(others, other)) for case, other in kinds_of([Group(mass)])[0].pairs):
        found = max(found, apart(one, two, epsilon) if windows == 1 else _repeated(one, two, windows, epsilon))
    return found


def _repeated(one: Sum, two: Sum, windows: int, epsilon: float) -> float:
    above, below = beside(one, two)
    possible = above > 0.0
    above, below = above[possible] * (1.0 + one.error), below[possible] * (1.0 - two.error)
    found = _twice(above, below, epsilon) if windows == 2 else _many(above, below, windows).told(epsilon)
    return min(1.0, found * _UP + windows * one.lost)


def _twice(above: Vector, below: Vector, epsilon: float) -> float:
    """Every pair of answers, by the sums over all second answers whose loss is high enough for the first one."""
    losses = _losses(above, below)
    order = np.argsort(losses, kind="stable")
    rising, above, below = losses[order], above[order], below[order]
    more = [np.append(np.add.accumulate(each[::-1])[::-1], 0.0) for each in (above, below)]
    first = np.searchsorted(rising, epsilon - rising, side="right")
    gained = above * more[0][first]
    spared = below * more[1][first] * math.exp(min(epsilon, 709.0))
    # Each term holds a sum of up to all answers, and as many terms are added: so many roundings on either side.
    return max(plain_sum(gained) - plain_sum(spared), 0.0) + plain_sum(gained) * (losses.size + 64) * 2.0**-51


@dataclass(frozen=True)
class _Losses:
    """mass[k] is the chance under P of a loss of (low + k) steps; the rest is infinite."""

    step: float
    low: int
    mass: Vector
    infinite: float

    def told(self, epsilon: float) -> float:
        losses = self.step * (self.low + np.arange(self.mass.size))
        over = losses > epsilon
        return self.infinite - plain_sum(self.mass[over] * np.expm1(epsilon - losses[over]))

    @property
    def deviation(self) -> float:
        places = self.step * np.arange(self.mass.size)
        whole = plain_sum(self.mass)
        if whole == 0.0:
            return 0.0
        mean = plain_sum(self.mass * places) / whole
        return math.sqrt(plain_sum(self.mass * (places - mean) ** 2) / whole)

    def and_also(self, other: _Losses) -> _Losses:
        mass = convolve(self.mass, other.mass)
        infinite = self.infinite + other.infinite - self.infinite * other.infinite
        return _Losses(self.step, self.low + other.low, mass, infinite).trimmed()

    def trimmed(self) -> _Losses:
        """Without ends that nearly never are: the upper one counts as infinite, the lower one as the least kept."""
        rising, falling = np.add.accumulate(self.mass), np.add.accumulate(self.mass[::-1])
        first = int(np.searchsorted(rising, _NEGLIGIBLE))
        last = self.mass.size - int(np.searchsorted(falling, _NEGLIGIBLE))
        if first >= last:
            return self
        mass = self.mass[first:last].copy()
        mass[0] += plain_sum(self.mass[:first])
        return _Losses(self.step, self.low + first, mass, min(1.0, self.infinite + plain_sum(self.mass[last:])))

    def coarser(self) -> _Losses:
        """On twice the step: a loss between two places is divided among them, so that P and Q keep their sums."""
        mass, low = self.mass, self.low
        if low % 2:
            mass, low = np.concatenate([[0.0], mass]), low - 1
        mass = np.concatenate([mass, np.zeros(3 - mass.size % 2)])
        odd, up = mass[1::2], 1.0 / (1.0 + math.exp(-self.step))
        even = mass[::2].copy()
        even[: odd.size] += odd * (1.0 - up)
        even[1 : odd.size + 1] += odd[: even.size - 1] * up
        return _Losses(2.0 * self.step, low // 2, even, self.infinite)


def _losses(above: Vector, below: Vector) -> Vector:
    with np.errstate(divide="ignore"):
        losses: Vector = np.log(above) - np.log(below)
    return losses


def _many(above: Vector, below: Vector, windows: int) -> _Losses:
    """So many sums like this one, one after the other."""
    doubled, whole, left = _on_grid(above, below), None, windows
    while True:
        if left & 1:
            whole = doubled if whole is None else whole.and_also(doubled)
        left >>= 1
        if not left:
            assert whole is not None
            return whole
        doubled = doubled.and_also(doubled)
        while doubled.step * 2.0 * _STEPS_A_DEVIATION <= doubled.deviation:
            doubled, whole = doubled.coarser(), None if whole is None else whole.coarser()


def _on_grid(above: Vector, below: Vector) -> _Losses:
    losses = _losses(above, below)
    finite = np.isfinite(losses)
    infinite = plain_sum(above[~finite])
    if not finite.any():
        return _Losses(1.0, 0, np.zeros(1), infinite)
    losses, mass = losses[finite], above[finite]
    mean = plain_sum(mass * losses) / plain_sum(mass)
    deviation = math.sqrt(plain_sum(mass * (losses - mean) ** 2) / plain_sum(mass))
    step = max(deviation / _STEPS_A_DEVIATION, float(losses.max() - losses.min()) / _STEPS_MAX, 2.0**-40)
    places = np.floor(losses / step)
    over = np.clip(losses - places * step, 0.0, step)
    share = np.minimum(np.expm1(-over) / math.expm1(-step), 1.0)
    at = (places - places.min()).astype(np.int64)
    found = np.zeros(int(at.max()) + 2)
    np.add.at(found, at, mass * (1.0 - share))
    np.add.at(found, at + 1, mass * share)
    return _Losses(step, int(places.min()), found, infinite)
