"""What any releases tell about each value of a chain, to anybody or to those who know nobody. Proof: chain.md.

One side at a time: `through[x, y]` is what a step away from the value that is looked at brings in, to the left the
chance of x after y, to the right that of y after x. Times `behind[y]`, what is known further out, it is in proportion
to the law of the neighbour, given x. Losses and leaks are whole units of 2^-40 nat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, Places
from beliefs.dependence.chain_kernels import alike_from, each_by_itself, same_everywhere
from beliefs.dependence.passed import falling_orders
from beliefs.dependence.tree import Worst
from beliefs.laws.markov import MarkovLaw
from beliefs.rounding import INFINITE, sum_units
from beliefs.simplex import Vector, normalised

STATES_MAX = 256
WORK_MAX, WORK_MAX_EACH = 1 << 30, 1 << 33
"""Chances that are looked at before a chain counts as too long or too slow: for one loss, or one for each value."""

KNOWN_MAX = 1 << 25


@dataclass(frozen=True, eq=False)
class Side:
    """`start` is what lies behind the outermost value; `order` the falling ratios of each two rows of `through`."""

    through: Matrix
    start: Vector
    order: Places

    @classmethod
    def of(cls, through: Matrix, start: Vector) -> Side:
        return cls(np.ascontiguousarray(through), start, falling_orders(through))


@dataclass(frozen=True, eq=False)
class ChainInfluence:
    """`knowing` says whether others may be known: any of them, whatever their values."""

    left: Side
    right: Side
    length: int
    knowing: bool

    @classmethod
    def of(cls, law: MarkovLaw, *, knowing: bool) -> ChainInfluence:
        rows = law.rows
        if len(rows) > STATES_MAX:
            raise Invalid("transition", f"has more than {STATES_MAX} rows, too many to look at each two of them")
        sides = Side.of(rows.T, normalised(law.start)), Side.of(rows, np.ones(len(rows)))
        return cls(*sides, law.length, knowing)

    def leaks(self, losses: Places) -> Places:
        """About each value, one loss for each."""
        capped = np.minimum(losses, INFINITE)
        left, right = self._told(self.left, capped), self._told(self.right, capped[::-1])[::-1]
        if int(capped.max()) < INFINITE // (self.length + 1):
            summed: Places = capped + left + right
            return summed
        parts = (each.tolist() for each in (capped, left, right))
        return np.array([sum_units(each) for each in zip(*parts, strict=True)], dtype=np.int64)

    def worst(self, losses: Places) -> Worst:
        leaks = self.leaks(losses)
        attacked = int(leaks.argmax())
        return Worst(int(leaks[attacked]), attacked)

    def worst_of(self, loss: int) -> Worst:
        """Where every value has the same loss: no more work than the chain is long."""
        left, right = self._everywhere(self.left, loss), self._everywhere(self.right, loss)[::-1]
        if loss >= INFINITE // (self.length + 1):
            return Worst(INFINITE, 0)
        summed = loss + left + right
        attacked = int(summed.argmax())
        return Worst(int(summed[attacked]), attacked)

    def _told(self, side: Side, losses: Places) -> Places:
        """What is told to the right of values 0 to i-1 about value i."""
        states, told = side.start.size, np.zeros(self.length, dtype=np.int64)
        known, room = self._known(side), np.empty((2, states))
        apart = alike_from(side.through, known) if self.knowing else 0
        _require_not_rare(apart)
        self._require_work(max(apart, 1) * (states if self.knowing else 1), WORK_MAX_EACH)
        messages = np.zeros((max(apart, 1) + 1, states), dtype=np.int64)
        rare = each_by_itself(
            side.through, side.order, side.start, known[: apart + 1], losses, messages, room, told, self.knowing
        )
        _require_not_rare(rare)
        return told

    def _known(self, side: Side) -> Matrix:
        """Room for what lies behind a known value's neighbours: known[d, u] for a distance d and a value u."""
        if not self.knowing:
            return np.empty((1, 1, 1))
        states = side.start.size
        if self.length * states * states > KNOWN_MAX:
            raise Invalid("length", "makes too many known values at too many distances; ask for the weakest adversary")
        known = np.empty((max(2, self.length), states, states))
        known[0] = np.eye(states)
        return known

    def _everywhere(self, side: Side, loss: int) -> Places:
        states = side.start.size
        self._require_work(1 + states * self.knowing, WORK_MAX)
        begins = np.concatenate([side.start[None], np.eye(states)]) if self.knowing else side.start[None]
        told, room = np.zeros(self.length, dtype=np.int64), np.empty((2, states))
        _require_not_rare(same_everywhere(side.through, side.order, begins, loss, room, told))
        return told

    def _require_work(self, times: int, most: int) -> None:
        if self.length * times * self.left.start.size**3 > most:
            raise Invalid("length", "is too large for a chain of so many values that forgets so slowly")


def stationary_law(rows: Matrix) -> Vector:
    """The one law that a chain keeps, if it is positive: states are taken away one by one, without a subtraction."""
    left = rows.copy()
    for state in range(len(left) - 1, 0, -1):
        away = float(np.add.accumulate(left[state, :state])[-1])
        if not away > 0.0:
            raise Invalid("transition", "has more than one stationary law, or one that is not positive")
        left[:state, state] /= away
        left[:state, :state] += left[:state, state, None] * left[state, :state]
    law = np.ones(len(left))
    for state in range(1, len(left)):
        law[state] = np.add.accumulate(law[:state] * left[:state, state])[-1]
    if not bool((law > 0.0).all()):
        raise Invalid("transition", "has a stationary law that is not positive")
    return normalised(law)


def _require_not_rare(found: int) -> None:
    if found < 0:
        raise Invalid("transition", "leads to chances below 2^-900: write 0 for what cannot occur")
