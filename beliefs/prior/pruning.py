"""What the search for the worst adversary need not look at. Proof: worst.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.prior.influence import influence_bound
from beliefs.prior.structure import Structure, structure_of
from beliefs.simplex import Vector

EVERY_SET_UP_TO = 8
"""With so few attributes every known set is looked at, so that of equal adversaries the first is named."""

ALIKE = 1e-12


@dataclass(frozen=True)
class Pruning:
    """`whole`: unknown sets that fall apart are looked at, too, and nothing is out of sight."""

    couplings: Matrix
    ranges: Matrix
    ties: tuple[int, ...]
    order: tuple[int, ...]
    classes: tuple[tuple[int, ...], ...]
    left_out: float
    whole: bool

    @classmethod
    def of(
        cls, joint: Matrix, ranges: Matrix, terms: Sequence[Vector], apart: tuple[int, ...], *, whole: bool
    ) -> Pruning:
        """Attributes that stand `apart` are not exchanged with others."""
        count = joint.ndim
        if count <= EVERY_SET_UP_TO:
            structure, whole = Structure(np.full((count, count), math.inf), 0.0), True
            classes: tuple[tuple[int, ...], ...] = tuple((each,) for each in range(count))
        else:
            structure = structure_of(joint)
            classes = _exchangeable(joint, terms, apart)
        ties = tuple(structure.neighbours())
        left_out = 0.0 if whole else 4.0 * structure.left_out
        if any(len(group) > 1 for group in classes):
            left_out += 16.0 * ALIKE
        return cls(structure.couplings, ranges, ties, _order_of(ties), classes, left_out, whole)

    def bounds(self, unknown: tuple[int, ...], open_ones: tuple[int, ...], tried: tuple[int, ...]) -> dict[int, float]:
        """For each that may be attacked the most that he can lose when all these are unknown, or some of the open ones.

        Left out are those with whom the unknown ones cannot become one piece.
        """
        found = {}
        for attacked in tried:
            piece = self.piece(attacked, (*unknown, *open_ones))
            if all(piece >> each & 1 for each in unknown):
                others = tuple(each for each in (*unknown, *open_ones) if piece >> each & 1 and each != attacked)
                group = float(self.ranges[[attacked, *others]].sum()) * (1.0 + 2.0**-48)
                found[attacked] = min(group, influence_bound(self.couplings, self.ranges, attacked, others))
        return found

    def piece(self, attacked: int, around: tuple[int, ...]) -> int:
        """What hangs together with an attribute through these others, as bits."""
        allowed = sum(1 << each for each in {*around, attacked})
        if self.whole:
            return allowed
        reached = border = 1 << attacked
        while border:
            border = self.touched(border) & allowed & ~reached
            reached |= border
        return reached

    def touched(self, places: int) -> int:
        found = 0
        for each, ties in enumerate(self.ties):
            if places >> each & 1:
                found |= ties
        return found

    def too_far(self, shown: tuple[int, ...], unknown: tuple[int, ...], open_ones: tuple[int, ...]) -> list[int]:
        """Kept ones three steps or more from all that is or may become unknown.

        Who is attacked is one step away at most, so they stand behind those that are known around him.
        """
        if self.whole:
            return []
        near = sum(1 << each for each in (*unknown, *open_ones))
        for _ in range(2):
            near |= self.touched(near)
        return [each for each in shown if not near >> each & 1]

    def comes_later(self, gone: int, kept: tuple[int, ...]) -> bool:
        """Whether one that may be exchanged with it was kept: the two the other way round were looked at before."""
        return any(gone in group and each in group for group in self.classes for each in kept)

    def first_alike(self, attacked: int, known: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """The first adversary who differs from this one by exchanges only."""
        first, named = attacked, []
        for group in self.classes:
            free = list(group)
            if attacked in group:
                first = free.pop(0)
            named += free[: sum(each in group for each in known)]
        return first, tuple(sorted(named))


def _order_of(ties: tuple[int, ...]) -> tuple[int, ...]:
    """Attributes one beside the other where they are tied, so that it shows soon which sets fall apart."""
    order: list[int] = []
    for start in range(len(ties)):
        waiting = [] if start in order else [start]
        while waiting:
            one = waiting.pop(0)
            order.append(one)
            around = [other for other in range(len(ties)) if ties[one] >> other & 1]
            waiting += [other for other in around if other not in order and other not in waiting]
    return tuple(order)


def _exchangeable(joint: Matrix, terms: Sequence[Vector], apart: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Attributes that add the same to the sum, and that may change places without changing the table."""
    classes: list[list[int]] = []
    for axis in range(joint.ndim):
        for group in classes:
            free = axis not in apart and group[0] not in apart
            same = terms[axis].tobytes() == terms[group[0]].tobytes()
            if free and same and _alike(joint, np.swapaxes(joint, axis, group[0])):
                group.append(axis)
                break
        else:
            classes.append([axis])
    return tuple(tuple(group) for group in classes)


def _alike(one: Matrix, two: Matrix) -> bool:
    return bool((np.abs(one - two) <= ALIKE * one).all())
