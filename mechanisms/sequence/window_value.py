"""What a window of several values under one bound keeps and tells, exactly: all that it can release is visited.

Proof: window.md. The channels are those that would be sampled, integers and all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beliefs.chain import Chain
from beliefs.checks import Invalid, require
from beliefs.simplex import Vector, plain_sum
from mechanisms.contract import TOTAL, Workspace, new_workspace
from mechanisms.sequence import optimal
from mechanisms.sequence.window import LEAST_CAP
from mechanisms.sequence.window_order import bisected

# So many strings are visited at most, about a minute's work.
STRINGS_MAX = 200_000
_OUTWARD = 1.0 + 2.0**-48
# A smaller cap than allowed is allowed; e^700 is still a double.
_LARGEST_EXPONENT = 700.0


class WindowValue(NamedTuple):
    agreement: float
    """the expected share of positions where the value that is shown is the true one"""
    upper: float
    lower: float


class _Answer(NamedTuple):
    """One thing that a position may release: how likely each value releases it, and how likely it is at all."""

    likelihood: Vector
    chance: float


@dataclass
class _Sums:
    agreement: float = 0.0
    highest: float = 1.0
    lowest: float = 1.0
    strings: int = 0


class _Evidence:
    """What the releases so far say about each position in the world of tails."""

    def __init__(self, chain: Chain, length: int) -> None:
        first_order = chain.size == chain.symbols and chain.phases == 1 and not chain.has_tail
        require(first_order, "a chain of first order without a tail and phases")
        self._matrix = np.zeros((chain.size, chain.size))
        self._matrix[np.repeat(np.arange(chain.size), np.diff(chain.indptr)), chain.indices] = chain.data
        self._start = chain.start
        self._factors = np.ones((length, chain.size))
        self.priors = self.beliefs()

    def beliefs(self) -> Vector:
        """Row i: the law of X_i, given all factors; forward and backward through the chain."""
        forward, backward = np.empty_like(self._factors), np.ones_like(self._factors)
        mass = self._start
        for i, factor in enumerate(self._factors):
            forward[i] = mass * factor
            forward[i] /= forward[i].sum()
            mass = (forward[i][:, None] * self._matrix).sum(axis=0)
        for i in range(len(backward) - 2, -1, -1):
            backward[i] = (self._matrix * (backward[i + 1] * self._factors[i + 1])).sum(axis=1)
            backward[i] /= backward[i].max()
        beliefs: Vector = forward * backward
        beliefs /= beliefs.sum(axis=1, keepdims=True)
        return beliefs

    def put(self, position: int, factor: Vector) -> None:
        self._factors[position] = factor

    def extremes(self) -> tuple[float, float]:
        """The largest and the smallest product of the factors over the values, possible or not."""
        return float(self._factors.max(axis=1).prod()), float(self._factors.min(axis=1).prod())


def window_value(chain: Chain, length: int, epsilon: float, *, delay: bool) -> WindowValue:
    """`delay` shows all values at the window's end; without it each is shown at once."""
    if length < 1:
        raise Invalid("length", "must be 1 or more")
    sums = _Walk(chain, length, epsilon, delay=delay).sums
    revealed = -math.expm1(-epsilon)
    upper = math.log1p(revealed * (sums.highest - 1.0)) * _OUTWARD
    least = math.exp(-epsilon) + revealed * sums.lowest  # its difference from 1 is exact only where that is small
    lost = revealed * (1.0 - sums.lowest)
    lower = (-math.log1p(-lost) if lost < 0.5 else -math.log(least) if least > 0.0 else math.inf) * _OUTWARD
    # Neither is above epsilon: the cap is smaller than the proof allows by more than all roundings on the way.
    return WindowValue(min(1.0, sums.agreement), min(upper, epsilon), min(lower, epsilon))


class _Walk:
    def __init__(self, chain: Chain, length: int, epsilon: float, *, delay: bool) -> None:
        self.sums = _Sums()
        self._length = length
        self._covered, self._revealed = math.exp(-epsilon), -math.expm1(-epsilon)
        self._delay = delay
        self._order = list(bisected(length)) if delay else list(range(length))
        self._evidence = _Evidence(chain, length)
        self._work = new_workspace(chain.size)
        shave = length * (chain.size + 32) * 2.0**-48
        self._visit(0, 1.0, (1.0 + math.exp(min(epsilon, _LARGEST_EXPONENT))) * (1.0 - shave))

    def _visit(self, step: int, chance: float, cap: float) -> None:
        beliefs = self._evidence.beliefs()
        if not self._delay and step:
            self._show(self._order[step - 1], chance, beliefs)
        if step == self._length:
            self._end(chance, beliefs)
            return
        position = self._order[step]
        for answer in _answers(beliefs[position], cap, self._work):
            factor = answer.likelihood / answer.chance
            self._evidence.put(position, factor)
            self._visit(step + 1, chance * answer.chance, cap / float(factor.max()))
        self._evidence.put(position, np.ones_like(beliefs[position]))

    def _show(self, position: int, chance: float, beliefs: Vector) -> None:
        shown = self._covered * self._evidence.priors[position] + self._revealed * beliefs[position]
        self.sums.agreement += chance * float(shown.max()) / self._length

    def _end(self, chance: float, beliefs: Vector) -> None:
        sums = self.sums
        sums.strings += 1
        if sums.strings > STRINGS_MAX:
            raise Invalid("length", f"is too long to visit everything that can be released (over {STRINGS_MAX:,})")
        highest, lowest = self._evidence.extremes()
        sums.highest, sums.lowest = max(sums.highest, highest), min(sums.lowest, lowest)
        if self._delay:
            for position in range(self._length):
                self._show(position, chance, beliefs)


def _answers(belief: Vector, cap: float, work: Workspace) -> list[_Answer]:
    """What the optimal channel with floor 0 and this ceiling may release, from the integers that it samples."""
    if cap < LEAST_CAP:
        return [_Answer(np.ones_like(belief), 1.0)]
    optimal.prepare(belief, np.array([0.0, 1.0, cap, cap, 1.0 / cap, _pad(cap)]), work)
    found = []
    for i in range(int(work.size[optimal.COUNT])):
        optimal.column(i, belief, work)
        likelihood = work.likelihood / TOTAL
        found.append(_Answer(likelihood, plain_sum(belief * likelihood)))
    return found


def _pad(cap: float) -> float:
    return math.ceil((2.0 * cap + 1.0) / (cap - 1.0)) + 1.0
