"""People who live together: a joint law of which any so many members have the same part. Proof: account.md."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.crowd.sums import NOTHING, Sum, law
from beliefs.crowd.worst import Pair
from beliefs.simplex import Vector, normalised

CELLS_MAX: Final = 1 << 16
"""Of the joint table: all of it is looked at for all values of whoever is known."""


class Household:
    """So many members of a household whose members are all alike."""

    def __init__(self, joint: Vector, size: int) -> None:
        _require_symmetric(joint)
        part = joint
        while part.ndim > size:
            part = np.add.accumulate(part, axis=-1)[..., -1]
        self.joint = part

    def summed(self) -> Sum:
        return _summed(self.joint)

    def given(self, own: int) -> Iterator[Sequence[tuple[int, Vector]]]:
        """For all that the members who are known may have: each value of the target with the law of the rest."""
        places = range(self.joint.shape[0])
        for known in itertools.combinations_with_replacement(places, own):
            rest = [(value, self.joint[(*known, value)]) for value in places]
            yield [(value, np.atleast_1d(table)) for value, table in rest if np.any(table)]

    def pairs(self, own: int) -> Iterator[Pair]:
        """The household's sum without who is known, for any two values of the target."""
        for cases in self.given(own):
            alone = self.joint.ndim == own + 1
            sums = [_moved(NOTHING if alone else _summed(table), value) for value, table in cases]
            yield from itertools.permutations(sums, 2)


def _summed(table: Vector) -> Sum:
    cells: list[list[float]] = [[] for _ in range(sum(table.shape) - table.ndim + 1)]
    for cell in zip(*np.nonzero(table), strict=True):
        cells[sum(int(value) for value in cell)].append(float(table[cell]))
    mass = np.array([math.fsum(each) for each in cells])
    values = table.shape[0]
    # Who is not there was added up, one axis after the other of at most CELLS_MAX cells; then these sums, and theirs.
    roundings = math.ceil(values * math.log(CELLS_MAX, values)) + mass.size + 4
    return replace(law(normalised(mass)), error=roundings * 2.0**-53)


def _moved(one: Sum, by: int) -> Sum:
    return Sum(one.low + by, one.mass, one.error, one.lost, one.blur)


def _require_symmetric(joint: Vector) -> None:
    if joint.size > CELLS_MAX:
        raise Invalid("household", f"has {joint.size:,} cells; {CELLS_MAX:,} are the most")
    if len(set(joint.shape)) > 1:
        raise Invalid("household", "has axes of different lengths, but any member may have any value")
    for axis in range(1, joint.ndim):
        if not np.array_equal(joint, np.swapaxes(joint, 0, axis)):
            raise Invalid("household", f"tells its first member from member {axis + 1}; it must not matter who is who")
