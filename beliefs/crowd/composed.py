"""Losses of independent releases on one grid, out of their curves of delta over epsilon. Proof: total.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from beliefs.crowd.sums import convolve
from beliefs.simplex import Vector, plain_sum

_NEGLIGIBLE: Final = 2.0**-70
_ROUNDED: Final = 2.0**-50
"""What a curve and its losses may differ by, as they are computed."""


@dataclass(frozen=True)
class Losses:
    """mass[k] is the chance of a loss of (low + k) steps; beyond `end` steps it is infinite, below -end it is -end."""

    step: float
    end: int
    low: int
    mass: Vector
    infinite: float
    error: float = 0.0

    @staticmethod
    def nothing(step: float, end: int) -> Losses:
        return Losses(step, end, 0, np.ones(1), 0.0)

    def and_also(self, other: Losses) -> Losses:
        mass = convolve(self.mass, other.mass)
        error = self.error + other.error + 4.0 * (min(self.mass.size, other.mass.size) + 4) * 2.0**-53
        infinite = min(1.0, (self.infinite + other.infinite) * (1.0 + 2.0**-50))
        return Losses(self.step, self.end, self.low + other.low, mass, infinite, error).within()

    def within(self) -> Losses:
        """Without ends that nearly never are or are beyond: the upper one is infinite, the lower one the least kept."""
        rising, falling = np.add.accumulate(self.mass), np.add.accumulate(self.mass[::-1])
        first = max(int(np.searchsorted(rising, _NEGLIGIBLE)), -self.end - self.low, 0)
        last = min(self.mass.size - int(np.searchsorted(falling, _NEGLIGIBLE)), self.end + 1 - self.low)
        if first >= last:
            return Losses(self.step, self.end, 0, np.zeros(1), min(1.0, self.infinite + plain_sum(self.mass)))
        mass = self.mass[first:last].copy()
        mass[0] += plain_sum(self.mass[:first])
        infinite = min(1.0, self.infinite + plain_sum(self.mass[last:]) * (1.0 + 2.0 * self.error + 2.0**-30))
        return Losses(self.step, self.end, self.low + first, mass, infinite, self.error)

    def told_with(self, other: Losses, epsilon: float) -> float:
        """delta of both: for each loss of the other, all of these that together are above epsilon."""
        losses = self.step * (self.low + np.arange(self.mass.size))
        more = np.append(np.add.accumulate(self.mass[::-1])[::-1], 0.0)
        shrunk = np.append(np.add.accumulate((self.mass * np.exp(-losses))[::-1])[::-1], 0.0)
        theirs = self.step * (other.low + np.arange(other.mass.size))
        first = np.searchsorted(losses, epsilon - theirs, side="right")
        gained = other.mass * (more[first] - np.exp(np.minimum(epsilon - theirs, 700.0)) * shrunk[first])
        error = 2.0 * (self.error + other.error) + (self.mass.size + other.mass.size) * 2.0**-50
        found = plain_sum(np.maximum(gained, 0.0)) + error * plain_sum(other.mass * more[first])
        return min(1.0, (found + self.infinite + other.infinite) * (1.0 + 2.0**-40))


def of_curve(step: float, end: int, places: Sequence[int], deltas: Vector) -> Losses:
    """Losses of which the curve is nowhere below the one that runs straight (over e^epsilon) between these points.

    `deltas` are of places 0 = p_0 < p_1 < ..., the same in both directions; beyond the last it stays as it is there.
    """
    ahead = step * np.array(places[:0:-1])
    low = 1.0 - np.exp(-ahead) * (1.0 - deltas[:0:-1])
    at = np.concatenate([-np.array(places[:0:-1], dtype=np.int64), np.array(places, dtype=np.int64)])
    curve = np.concatenate([low, deltas])
    odds = np.exp(step * at)
    kept = _hull(np.concatenate([[0.0], odds]), np.concatenate([[1.0], curve]))
    x, y = np.concatenate([[0.0], odds])[kept], np.concatenate([[1.0], curve])[kept]
    slopes = np.append(np.diff(y) / np.diff(x), 0.0)
    chances = np.maximum(np.diff(slopes), 0.0) * x[1:]
    size = int(at[-1] - at[0]) + 1
    mass = np.zeros(size)
    mass[at[np.array(kept[1:]) - 1] - at[0]] = chances
    found = Losses(step, end, int(at[0]), mass, float(deltas[-1]))
    alone = Losses.nothing(step, end)
    points = zip(curve.tolist(), at.tolist(), strict=True)
    missing = max(its - found.told_with(alone, step * place) for its, place in points)
    return Losses(step, end, found.low, mass, min(1.0, found.infinite + max(missing, 0.0) + _ROUNDED)).within()


def _hull(x: Vector, y: Vector) -> list[int]:
    """The corners of the largest convex curve that is nowhere above."""
    kept: list[int] = []
    for place in range(x.size):
        while len(kept) > 1:
            one, two = kept[-2], kept[-1]
            if (y[two] - y[one]) * (x[place] - x[one]) < (y[place] - y[one]) * (x[two] - x[one]):
                break
            kept.pop()
        kept.append(place)
    return kept
