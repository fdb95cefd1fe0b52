"""Two published ways to release a window at once, with what they really keep and tell. For comparison only.

Proof, and what had to be decided where the print is silent: published_batch_value.md. Neither may release anything: the
first stops far from the optimum, the second tells without limit.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beliefs.belief import rows_of
from beliefs.chain import Chain
from beliefs.checks import Invalid
from beliefs.leakage.sequence import channel_leak, exact_law, log_up
from beliefs.simplex import Vector, normalised, plain_sum

Table = npt.NDArray[np.float64]

WINDOWS_MAX = 64
ROUNDS_MAX = 10_000
_STILL = 1e-15
"""A row whose largest step is below this moves no more."""


class BatchValue(NamedTuple):
    agreement: float
    upper: float
    lower: float
    rounds: int
    finished: bool
    """False: it was stopped after ROUNDS_MAX rounds, while entries could still move"""


class WindowValue(NamedTuple):
    agreement: float
    upper: float
    lower: float


def published_batch_value(chain: Chain, length: int, epsilon: float, step: float) -> BatchValue:
    """Algorithm 2 on all windows of the chain: gradient ascent, an entry frozen at its first violation."""
    strings, law = windows_of(chain, length)
    agrees = np.array([[_agreement(one, other) for other in strings] for one in strings])
    descent = _Descent(law, agrees, epsilon, step)
    while descent.rounds < ROUNDS_MAX and descent.go_round():
        pass
    channel = [normalised(row) for row in descent.channel]
    kept = plain_sum(law * np.array([plain_sum(row * gain) for row, gain in zip(channel, agrees, strict=True)]))
    leak = channel_leak(law.tolist(), [row.tolist() for row in channel])
    return BatchValue(min(1.0, kept), leak.upper, leak.lower, descent.rounds, descent.rounds < ROUNDS_MAX)


class _Descent:
    def __init__(self, law: Vector, agrees: Table, epsilon: float, step: float) -> None:
        self.channel = np.full(agrees.shape, 1.0 / law.size)
        self.rounds = 0
        self._law, self._gain, self._step = law, law[:, None] * agrees, step
        self._lowest, self._highest = math.exp(-epsilon), math.exp(min(epsilon, 700.0))
        self._active = np.ones(agrees.shape, dtype=bool)

    def go_round(self) -> bool:
        """Every row once; False when nothing moved and nothing was frozen any more."""
        self.rounds += 1
        moved = [self._move(row) for row in range(self._law.size)]
        return any(moved)

    def _move(self, row: int) -> bool:
        active = np.flatnonzero(self._active[row])
        if active.size < 2:
            return False
        gain = self._gain[row, active]
        steps = self._step * (gain - plain_sum(gain) / active.size)  # what one entry gains the others give up
        if float(np.abs(steps).max()) < _STILL:
            return False
        tried = self.channel[:, active].copy()
        tried[row] += steps
        law = (self._law[:, None] * tried).sum(axis=0)
        within = (tried >= self._lowest * law) & (tried <= self._highest * law)
        broken = ~within.all(axis=0) | (tried[row] < 0.0)
        if broken.any():
            self._active[row, active[broken]] = False
        else:
            self.channel[row, active] = tried[row]
        return True


def published_window_value(chain: Chain, length: int, epsilon: float) -> WindowValue:
    """The correlated randomised response on whole windows: its agreement, and its true two-sided leak."""
    if length < 1:
        raise Invalid("length", "must be 1 or more")
    rows = [[(y, Fraction(weight)) for y, weight in row] for row in rows_of(chain)]
    exact = [[(y, weight / sum(w for _, w in row)) for y, weight in row] for row in rows]
    start = exact_law(chain.start.tolist())
    marginal, rarest = start, {x: mass for x, mass in enumerate(start) if mass}
    same = sum((mass * mass for mass in marginal), Fraction(0))
    for _ in range(length - 1):
        following = [Fraction(0)] * len(start)
        least: dict[int, Fraction] = {}
        for x, row in enumerate(exact):
            for y, weight in row:
                following[y] += marginal[x] * weight
                if x in rarest and weight:
                    least[y] = min(least.get(y, Fraction(1)), rarest[x] * weight)
        marginal, rarest = [_short(mass) for mass in following], least
        same += sum((mass * mass for mass in marginal), Fraction(0))
    covered, revealed = math.exp(-epsilon), -math.expm1(-epsilon)
    window = min(rarest.values())
    if window == 1 or epsilon == 0.0:
        return WindowValue(1.0 if window == 1 else float(same / length), 0.0, 0.0)
    upper = log_up(1 + Fraction(revealed + 4 * math.ulp(revealed)) * (1 - window) / window)
    return WindowValue(min(1.0, revealed + covered * float(same / length)), upper, epsilon)


def windows_of(chain: Chain, length: int) -> tuple[list[tuple[int, ...]], Vector]:
    """All strings of the chain that are possible, and how likely each is."""
    if length < 1 or chain.size**length > WINDOWS_MAX:
        raise Invalid("length", f"gives {chain.size}^{length} windows; from 1 to {WINDOWS_MAX} can be worked out")
    rows = [dict(row) for row in rows_of(chain)]
    chances = {}
    for string in itertools.product(range(chain.size), repeat=length):
        chance = float(chain.start[string[0]])
        for before, now in itertools.pairwise(string):
            chance *= rows[before].get(now, 0.0)
        if chance > 0.0:
            chances[string] = chance
    return list(chances), normalised(np.array(list(chances.values())))


def _agreement(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    return sum(x == y for x, y in zip(one, other, strict=True)) / len(one)


def _short(mass: Fraction) -> Fraction:
    """A marginal is only squared and averaged, so a double of it does; exact it would grow with every step."""
    return Fraction(float(mass))
