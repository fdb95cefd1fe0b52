"""What a small table's users tell about one of them, all who are unknown taken together. Proof: corners.md."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.dependence.passed import ROUNDINGS_A_UNIT, Frontiers, units_through
from beliefs.rounding import INFINITE

CONTEXTS_MAX = 1 << 12
CELLS_MAX = 1 << 22


@dataclass(frozen=True, eq=False)
class TableCorners:
    """`by_unknown[u]` are the laws of u + 1 users who are unknown, given the attacked one, in all contexts."""

    by_unknown: tuple[Frontiers, ...]
    room: int

    @classmethod
    def of(cls, joint: Matrix) -> TableCorners | None:
        """None where there are too many adversaries or too many cells to look at them all."""
        contexts = sum(math.prod(joint.shape[each] for each in known) for _, known in _adversaries(joint))
        if contexts > CONTEXTS_MAX or contexts * joint.size > CELLS_MAX:
            return None
        found: list[list[Matrix]] = [[] for _ in range(joint.ndim - 1)]
        for attacked, known in _adversaries(joint):
            unknown = [each for each in range(joint.ndim) if each != attacked and each not in known]
            turned = np.transpose(joint, (*known, attacked, *unknown))
            contexts = math.prod(joint.shape[each] for each in known)
            found[len(unknown) - 1] += _laws(turned.reshape(contexts, joint.shape[attacked], -1))
        return cls(tuple(map(Frontiers.of, found)), 2 + 4 * joint.size // ROUNDINGS_A_UNIT)

    def worst_of(self, loss: int) -> int:
        """About whomever most is told, where everybody has the same loss, whoever is known."""
        told = [
            units_through(min(count * loss, INFINITE), 0, laws.against.size, laws.against, laws.inside, self.room)
            for count, laws in enumerate(self.by_unknown, 1)
        ]
        return min(INFINITE, loss + max(told, default=0))


def _adversaries(joint: Matrix) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Who attacks whom, knowing whom, somebody being unknown; where users may change places, one of each kind."""
    size = joint.ndim
    if all(np.array_equal(joint, np.swapaxes(joint, axis - 1, axis)) for axis in range(1, size)):
        yield from ((0, tuple(range(1, count))) for count in range(1, size))
        return
    for attacked in range(size):
        others = [each for each in range(size) if each != attacked]
        for count in range(size - 1):
            yield from ((attacked, known) for known in itertools.combinations(others, count))


def _laws(turned: Matrix) -> Iterator[Matrix]:
    """In each context the law of all unknown ones under each value that the attacked one may have there."""
    for context in turned:
        rows = context[context.any(axis=1)]
        if len(rows) > 1:
            yield rows / np.add.accumulate(rows, axis=1)[:, -1:]
