"""What any releases tell about everybody along trees, given what they tell about each by itself. Proof: tree.md.

A loss says how much a release may change with one attribute's value, all others being the same, added up over all
releases. Losses and leaks are whole units of 2^-40 nat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beliefs.correlation.bound import Places
from beliefs.dependence.passed import Frontiers, units_through
from beliefs.laws.forest import by_depth
from beliefs.laws.tree import TreeLaw
from beliefs.native import kernel
from beliefs.rounding import INFINITE, add_units
from beliefs.simplex import Vector

ROUNDINGS_A_UNIT = 1 << 11
"""A ratio of two sums that are right to so many 2^-53 each is right to half a unit."""


class Worst(NamedTuple):
    """The largest leak in units, and the first attribute that it is about."""

    units: int
    attacked: int


@dataclass(frozen=True, eq=False)
class TreeInfluence:
    """For adversaries who know nobody. `order` has parents before children; `edge_of` an edge's number, or -1.

    `to_parent` are the laws of a child given its parent, which is what is told about the parent through the child;
    `to_child` those of a parent given its child.
    """

    parents: Places
    order: Places
    edge_of: Places
    to_parent: Frontiers
    to_child: Frontiers
    room: int

    @classmethod
    def of(cls, law: TreeLaw) -> TreeInfluence:
        both = law.both_ways()
        order, _ = by_depth(law.parents)
        room = 1 + (both.roundings + 2 * law.domain.size) // ROUNDINGS_A_UNIT
        return cls(law.parents, order, both.edge_of, Frontiers.of(both.down), Frontiers.of(both.up), room)

    @property
    def size(self) -> int:
        return int(self.parents.size)

    def leaks(self, losses: Places) -> Places:
        """About each attribute, in the order of attributes."""
        total, rising = np.minimum(losses, INFINITE), np.zeros(self.size, dtype=np.int64)
        up, down = self.to_parent, self.to_child
        _to_roots(self.parents, self.order, self.edge_of, up.start, up.against, up.inside, self.room, total, rising)
        _to_leaves(
            self.parents, self.order, self.edge_of, down.start, down.against, down.inside, self.room, total, rising
        )
        return total

    def worst(self, losses: Places) -> Worst:
        leaks = self.leaks(losses)
        attacked = int(leaks.argmax())
        return Worst(int(leaks[attacked]), attacked)


@kernel
def _to_roots(
    parents: Places,
    order: Places,
    edge_of: Places,
    start: Places,
    against: Vector,
    inside: Vector,
    room: int,
    total: Places,
    rising: Places,
) -> None:
    """total[i] grows from i's own loss to what is told about i by all that is below it."""
    for place in range(order.size - 1, -1, -1):
        one = order[place]
        parent = parents[one]
        if parent >= 0:
            edge = edge_of[one]
            rising[one] = units_through(total[one], start[edge], start[edge + 1], against, inside, room)
            total[parent] = add_units(total[parent], rising[one])


@kernel
def _to_leaves(
    parents: Places,
    order: Places,
    edge_of: Places,
    start: Places,
    against: Vector,
    inside: Vector,
    room: int,
    total: Places,
    rising: Places,
) -> None:
    """Adds what is told through the parent, which is all that is told about it but through this child."""
    for one in order:
        parent = parents[one]
        if parent >= 0:
            edge = edge_of[one]
            others = total[parent] - rising[one] if total[parent] < INFINITE else INFINITE
            falling = units_through(others, start[edge], start[edge + 1], against, inside, room)
            total[one] = add_units(total[one], falling)
