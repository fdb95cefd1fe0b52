"""The smallest and the largest value of a crowd, released as they are: what they tell about one member. Proof:
ranges.md.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.crowd.divergence import least_epsilon
from beliefs.crowd.households import Household
from beliefs.crowd.informed import Others
from beliefs.crowd.seen import EXACT, Target
from beliefs.native import kernel
from beliefs.simplex import Vector, normalised

VALUES_MAX: Final = 64
_LEFT_OUT: Final = 1e-280
"""Products below the smallest double count as none; all of them together are less."""
_UP: Final = 1.0 + 2.0**-40
_ROUNDED: Final = 16 * 2.0**-53
"""Of one `and_also`: at most so much, twice."""


def range_delta(law: Vector, users: int, epsilon: float) -> float:
    return Ranged([law]).told(Target(0), (users - 1,), epsilon)


def range_epsilon(law: Vector, users: int, delta: float) -> float:
    seen = Ranged([law])
    return least_epsilon(delta, lambda at: seen.told(Target(0), (users - 1,), at))


@dataclass(frozen=True)
class Ends:
    """For each low < high the chances that all of some people lie there and that nobody, somebody at low alone, at high
    alone, or at both is at an end; `same[v]` is that all are at v. Each is right up to a factor 1 +- error.
    """

    none: Matrix
    low: Matrix
    high: Matrix
    both: Matrix
    same: Vector
    error: float = 0.0

    def and_also(self, other: Ends) -> Ends:
        """Of both together, who are independent. Nothing is subtracted, so nothing is lost."""
        first, second = self, other
        free = second.none + second.low + second.high
        return Ends(
            first.none * second.none,
            first.low * (second.none + second.low) + first.none * second.low,
            first.high * (second.none + second.high) + first.none * second.high,
            first.both * (free + second.both)
            + (first.none + first.low + first.high) * second.both
            + (first.low * second.high + first.high * second.low),
            first.same * second.same,
            first.error + second.error + _ROUNDED,
        )


class Ranged:
    """The range over people of several laws, and over households."""

    noisy = False
    blurs_known = True
    """Values that are known may lie outside of all others and hide these."""

    def __init__(self, laws: Sequence[Vector], household: Vector | None = None) -> None:
        possible = np.zeros(laws[0].size if household is None else household.shape[0], dtype=np.bool_)
        for each in laws:
            possible |= each > 0.0
        if household is not None:
            possible |= household.reshape(possible.size, -1).any(axis=1)
        size = int(possible.sum())
        if size > VALUES_MAX:
            raise Invalid("law", f"has {size} possible values; the range of at most {VALUES_MAX} is worked out")
        self._size = size
        self._wholes: list[Ends] = []
        self._cases: dict[Target, list[list[Ends]]] = {}
        for kind, each in enumerate(laws):
            mass = normalised(each[possible])
            self._wholes.append(_ends(np.diag(mass), size * 2.0**-52))
            (values,) = np.nonzero(mass)
            self._cases[Target(kind)] = [[_ends(_at(size, int(value)), 0.0) for value in values]]
        if household is not None:
            self._add(household[np.ix_(*[possible] * household.ndim)])
        self._law = lru_cache(maxsize=256)(self._of)
        self._many = lru_cache(maxsize=256)(self._times)

    def _add(self, joint: Vector) -> None:
        for members in range(1, joint.ndim + 1):
            home, kind, error = Household(joint, members), len(self._wholes), joint.size * 2.0**-52
            self._wholes.append(_ends(_table(home.joint, None), error))
            for own in range(members):
                self._cases[Target(kind, own)] = [
                    [
                        _ends(_at(self._size, value) if members == own + 1 else _table(rest, value), error)
                        for value, rest in cases
                    ]
                    for cases in home.given(own)
                ]

    def told(
        self,
        target: Target,
        others: Others,
        epsilon: float,
        _scale: Fraction | None = None,
        *,
        roughly: bool = False,  # noqa: ARG002 - there is no quicker way
    ) -> float:
        factor = math.exp(epsilon) * (1.0 - 2.0**-50) if epsilon < 709.0 else math.inf
        rest, worst, some = self._law(others), 0.0, False
        for cases in self._cases[target]:
            seen = [_seen(each.and_also(rest)) for each in cases]
            error = max((each.error for each in cases), default=0.0) + rest.error + _ROUNDED
            some = some or len(cases) > 1
            if len(seen) > 1:
                worst = max(worst, _farthest(np.array(seen), factor * (1.0 - 2.0 * error)) * (1.0 + 2.0 * error))
        return min(1.0, worst * _UP + (_LEFT_OUT if some else 0.0))

    def method(self, _others: Others, _scale: Fraction | None) -> str:
        return EXACT

    def _of(self, others: Others) -> Ends:
        found = _nobody(self._size)
        for kind, count in enumerate(others):
            if count:
                found = found.and_also(self._many(kind, count))
        return found

    def _times(self, kind: int, count: int) -> Ends:
        if count == 1:
            return self._wholes[kind]
        half = self._many(kind, count // 2)
        double = half.and_also(half)
        return double.and_also(self._wholes[kind]) if count % 2 else double


def _at(size: int, value: int) -> Matrix:
    table = np.zeros((size, size))
    table[value, value] = 1.0
    return table


def _nobody(size: int) -> Ends:
    nothing = np.zeros((size, size))
    return Ends(np.triu(np.ones((size, size)), 1), nothing, nothing, nothing, np.ones(size))


def _table(joint: Vector, own: int | None) -> Matrix:
    """The law of (smallest, largest) of a household, one of whom may have this value beside."""
    size = joint.shape[0]
    found = np.zeros((size, size))
    for cell in itertools.product(range(size), repeat=joint.ndim):
        held = cell if own is None else (*cell, own)
        found[min(held), max(held)] += joint[cell]
    whole = np.add.accumulate(found.ravel())[-1]
    return np.asarray(found / whole, dtype=np.float64)


def _ends(table: Matrix, error: float) -> Ends:
    """Of people whose (smallest, largest) has this law."""
    size = table.shape[0]
    upto = np.add.accumulate(table, axis=1)
    beyond = np.add.accumulate(table[::-1], axis=0)[::-1]
    within = np.add.accumulate(upto[::-1], axis=0)[::-1]
    none, low, high = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    none[:-1, 1:] = within[1:, :-1]
    low[:, 1:] = upto[:, :-1]
    high[:-1, :] = beyond[1:, :]
    above = np.triu(np.ones((size, size)), 1)
    roundings = 2.0 * size * 2.0**-53
    return Ends(none * above, low * above, high * above, table * above, np.diag(table).copy(), error + 2.0 * roundings)


def _seen(ends: Ends) -> Vector:
    """The law of (smallest, largest): the cells above the diagonal, then those on it."""
    return np.concatenate([ends.both[np.triu_indices(ends.same.size, 1)], ends.same])


@kernel
def _farthest(laws: Matrix, factor: float) -> float:
    worst = 0.0
    for one in range(laws.shape[0]):
        for two in range(laws.shape[0]):
            found = 0.0
            for cell in range(laws.shape[1]):
                if laws[two, cell] == 0.0:
                    found += laws[one, cell]
                elif laws[one, cell] > factor * laws[two, cell]:
                    found += laws[one, cell] - factor * laws[two, cell]
            if one != two:
                worst = max(worst, found)
    return worst
