"""What windows in a row tell together at least, where values of different windows are independent.

Somebody who is in all of them has either of two values in each. What a window shows about that is a loss ln P/Q; losses
add up, and delta is the mean under P of max(0, 1 - e^(epsilon - loss)). Here each loss is lowered to a step of a grid,
so what is found is never above that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from stream.audit.amounts import Floats
from stream.audit.crowd_sums import both
from stream.audit.crowd_truth import There, Truth

_STEPS: Final = 2_000
"""Of the grid, in an epsilon; each window loses half a step on average."""
_REACH: Final = 8.0
"""Losses beyond so many epsilons are counted as that much."""
_LEAST: Final = 1e-13
"""Chances below this are not told from 0."""


class Shown(NamedTuple):
    """A released window: who was there, and the scale of its noise."""

    there: There
    scale: Fraction | None


class Total:
    """Before the adversary who knows most."""

    def __init__(self, truth: Truth, epsilon: float, *, informed: bool = False) -> None:
        self._truth, self._epsilon, self._informed = truth, max(epsilon, 1e-3), informed
        self._losses = lru_cache(maxsize=1 << 12)(self._losses_of)

    def least(self, windows: Sequence[Shown]) -> float:
        """Of all these windows together."""
        truth, epsilon, informed = self._truth, self._epsilon, self._informed
        alone = max((truth.delta(each.there, epsilon, informed, each.scale) for each in windows), default=0.0)
        if len(windows) < 2:
            return alone
        kept = np.ones(1)
        low = 0
        for each in windows:
            first, chances = self._losses(each)
            if not chances.shape[0]:
                continue
            low += first
            kept = _joined(kept, chances)
        losses = (low + np.arange(kept.shape[0])) * (self._epsilon / _STEPS)
        above = losses > self._epsilon
        found = float((kept[above] * -np.expm1(self._epsilon - losses[above])).sum())
        return max(alone, found - kept.shape[0] * 2.0**-46)

    def _losses_of(self, window: Shown) -> tuple[int, Floats]:
        """The chances of the losses, in steps from the first on, under P."""
        pair = self._truth.pair(window.there, informed=self._informed)
        if pair is None:
            return 0, np.zeros(0)
        one, two = both(*pair, window.scale)
        there = one > _LEAST
        chances, most = one[there], _REACH * self._epsilon
        with np.errstate(divide="ignore"):
            losses = np.minimum(np.log(chances / np.maximum(two[there], 1e-300)), most)
        steps = np.floor(np.maximum(losses, -most) * (_STEPS / self._epsilon)).astype(np.int64)
        first = int(steps.min()) if steps.shape[0] else 0
        found = np.zeros(int(steps.max()) - first + 1 if steps.shape[0] else 0)
        np.add.at(found, steps - first, chances)
        return first, found


def _joined(one: Floats, two: Floats) -> Floats:
    """The law of the sum: by transforms, whose error is that of the last places of 1."""
    size = one.shape[0] + two.shape[0] - 1
    width = 1 << math.ceil(math.log2(size + 1))
    found = np.fft.irfft(np.fft.rfft(one, width) * np.fft.rfft(two, width), width)[:size]
    kept: Floats = np.maximum(found - 2.0**-50, 0.0)
    return kept
