"""What any noisy number about a table tells, and the same number asked several times. Proof: leak.md.

`answers` holds the number that is asked for in every cell of the table: a sum, a threshold, anything.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, Places, upwards
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query, sums_of
from beliefs.prior.atoms import Atoms, atoms_of, spread_of_table
from beliefs.prior.outward import least_above
from beliefs.prior.scaled import LONGEST

CORNERS_MAX = 1 << 24
"""Numbers that outputs of several releases consist of, for one adversary in one context."""

WORK_MAX, CONTEXT_WORK = 1 << 31, 1 << 13
"""About half a minute, of which each adversary in each context takes some by himself."""


@dataclass(frozen=True)
class Asked:
    """place[cell] says which of the ascending points the number is there; by how much points were moved to be one."""

    joint: Matrix
    atoms: Atoms

    @classmethod
    def of_answers(cls, joint: Matrix, answers: Matrix) -> Asked:
        """A number for every cell, taken as it is."""
        if answers.shape != joint.shape:
            raise Invalid("answers", f"has the shape {answers.shape}, but joint {joint.shape}")
        points, place = np.unique(answers, return_inverse=True)
        return cls(joint, Atoms(points, place.reshape(joint.shape).astype(np.int64), 0.0))

    @classmethod
    def of_sum(cls, law: TableLaw, query: Query) -> Asked:
        sums = sums_of(list(query.terms)).reshape(law.joint.shape)
        return cls(law.joint, atoms_of(sums, float(sum(query.ranges, Fraction(0)))))

    def leak(self, scale: float, times: int, *, knows_others: bool) -> float:
        """The most that so many releases tell anybody, or anybody who knows nobody; rounded up."""
        if knows_others:
            contexts = math.prod(1 + length for length in self.joint.shape)
            if contexts * self.joint.size > WORK_MAX:
                raise Invalid("adversary", "worst has too many to look at in a table of this size; ask for weakest")
        found, work = 0.0, 0
        for attacked, known in _adversaries(self.joint.ndim, knows_others=knows_others):
            for context in self.seen_by(attacked, known):
                work += context.work(scale, times)
                if work > WORK_MAX:
                    raise Invalid("joint", "has too many cells for all releases to be looked at; ask for less at once")
                found = max(found, context.leak(scale, times))
        return found

    def seen_by(self, attacked: int, known: tuple[int, ...]) -> Iterator[Context]:
        """Every combination of known values that can occur and leaves the attacked attribute a choice."""
        rest = [axis for axis in range(self.joint.ndim) if axis not in known and axis != attacked]
        turned = (*known, attacked, *rest)
        shape = (-1, self.joint.shape[attacked], math.prod(self.joint.shape[axis] for axis in rest))
        weights = np.ascontiguousarray(np.transpose(self.joint, turned)).reshape(shape)
        place = np.ascontiguousarray(np.transpose(self.atoms.place, turned)).reshape(shape)
        for number in np.flatnonzero(np.count_nonzero(weights.any(axis=2), axis=1) > 1).tolist():
            met, local = weights[number] > 0.0, np.zeros(shape[1:], dtype=np.int64)
            points, local[met] = np.unique(place[number][met], return_inverse=True)
            yield Context(weights[number], Atoms(self.atoms.points[points], local, self.atoms.moved))
        if not known:
            yield NOTHING


@dataclass(frozen=True)
class Context:
    """weights[value, combination of what is unknown] and the numbers there, of those that can occur."""

    weights: Matrix
    atoms: Atoms

    def group(self, scale: float, times: int) -> float:
        """What moves from end to end: no more is told."""
        if len(self.weights) == 1:
            return 0.0
        reach = Fraction(float(self.atoms.points[-1])) - Fraction(float(self.atoms.points[0]))
        return least_above(reach / Fraction(scale) * times)

    def work(self, scale: float, times: int) -> int:
        """Numbers that are looked at: each output beside each point, and under each value."""
        values, size = len(self.weights), len(self.atoms.points)
        if times == 1 or not 0.0 < self.group(scale, times) <= LONGEST:
            return CONTEXT_WORK + int(self.weights.size)
        most = max(times, size)
        corners = most if most > CORNERS_MAX else math.comb(times + size - 1, min(times, size - 1))
        if corners * values * size > CORNERS_MAX:
            raise Invalid("times", f"are too many for {size} different numbers to be looked at together")
        return CONTEXT_WORK + corners * size * (size + values)

    def leak(self, scale: float, times: int) -> float:
        group = self.group(scale, times)
        if group == 0.0 or group > LONGEST:
            return group
        if times == 1:
            return min(group, spread_of_table(self.weights[None, :, None], self.atoms, scale).nats)
        return min(group, self._repeated(scale, times))

    def _repeated(self, scale: float, times: int) -> float:
        """The outputs looked at are all choices, with repetition, of the numbers that can occur."""
        size = self.atoms.points.size
        masses = np.zeros((self.weights.shape[0], size))
        for value, row in enumerate(self.weights):
            np.add.at(masses[value], self.atoms.place[value], row)
        masses = masses[masses.any(axis=1)]
        with np.errstate(divide="ignore"):
            logs = np.log(masses / np.add.accumulate(masses, axis=1)[:, -1:])
        away = np.abs(self.atoms.points[:, None] - self.atoms.points) / scale
        corners, widest = compositions(times, size), 0.0
        step = max(1, (1 << 20) // (size * size))
        for start in range(0, len(corners), step):
            some = corners[start : start + step]
            deep = -np.add.accumulate(some[:, :, None] * away, axis=1)[:, -1]
            shown = np.logaddexp.reduce(logs[:, None] + deep, axis=2)
            widest = max(widest, float((shown.max(axis=0) - shown.min(axis=0)).max()))
        if widest == 0.0:
            return 0.0
        deepest = times * float(away.max())
        moved = 4.0 * times * (self.atoms.moved / scale) + (deepest + 800.0) * 2.0**-48
        return upwards(widest, self.weights.shape[1] + size) + moved


NOTHING = Context(np.ones((1, 1)), Atoms(np.zeros(1), np.zeros((1, 1), dtype=np.int64), 0.0))


def compositions(total: int, parts: int) -> Places:
    """All ways to write a number as a sum of so many whole numbers, in order."""
    if parts == 1:
        return np.array([[total]], dtype=np.int64)
    blocks = []
    for first in range(total + 1):
        rest = compositions(total - first, parts - 1)
        blocks.append(np.concatenate([np.full((len(rest), 1), first, dtype=np.int64), rest], axis=1))
    return np.concatenate(blocks)


def _adversaries(size: int, *, knows_others: bool) -> Iterator[tuple[int, tuple[int, ...]]]:
    for attacked in range(size):
        others = [each for each in range(size) if each != attacked]
        for count in range(size if knows_others else 1):
            yield from ((attacked, known) for known in itertools.combinations(others, count))
