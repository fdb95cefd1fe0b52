"""What any releases tell about everybody along trees, given what they tell about each by itself. Proof: tree.md.

A loss says how much releases may change with one attribute's value, all others being the same, added up over all of
them. Losses and leaks are whole units of 2^-40 nat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, Places
from beliefs.dependence.passed import ROUNDINGS_A_UNIT, Frontiers, falling_orders, units_beside, units_through
from beliefs.laws.forest import by_depth
from beliefs.laws.rows import divided
from beliefs.laws.tree import BothWays, TreeLaw
from beliefs.native import kernel
from beliefs.rounding import INFINITE, add_units
from beliefs.simplex import Vector

FRONTIERS_MAX = 4096
"""With more different edges than this each is looked at where it is met: sorting its corners would take longer."""

ORDERS_MAX = 1 << 26


class Worst(NamedTuple):
    """The largest leak in units, and the first attribute that it is about."""

    units: int
    attacked: int


@dataclass(frozen=True, eq=False)
class Edgewise:
    """Laws by the number of each attribute's edge: those of table `table_of[edge]`."""

    table_of: Places
    frontiers: Frontiers


@dataclass(frozen=True, eq=False)
class ByBayes:
    """Laws of a parent given its child, from kernels turned around and the laws of both by themselves."""

    turned: Matrix
    orders: Places
    kernel_of: Places
    marginal_of: Places
    marginals: Matrix


@dataclass(frozen=True, eq=False)
class TreeInfluence:
    """For adversaries who know nobody. `order` has parents before children; `edge_of` an edge's number, or -1.

    `to_parent` are the laws of a child given its parent, which is what is told about the parent through the child;
    `to_child` those of a parent given its child.
    """

    parents: Places
    order: Places
    edge_of: Places
    to_parent: Edgewise
    to_child: Edgewise | ByBayes
    room: int

    @classmethod
    def of(cls, law: TreeLaw) -> TreeInfluence:
        both = law.both_ways()
        order, _ = by_depth(law.parents)
        room = 2 + (both.roundings + 2 * law.domain.size) // ROUNDINGS_A_UNIT
        return cls(law.parents, order, both.edge_of, _downwards(law, both), _upwards(law, both), room)

    @property
    def size(self) -> int:
        return int(self.parents.size)

    def leaks(self, losses: Places) -> Places:
        """About each attribute, in the order of attributes."""
        total, rising = np.minimum(losses, INFINITE), np.zeros(self.size, dtype=np.int64)
        tree, up, down = (self.parents, self.order, self.edge_of), self.to_parent, self.to_child
        corners = up.frontiers.start, up.frontiers.against, up.frontiers.inside
        _to_roots(*tree, up.table_of, *corners, self.room, total, rising)
        if isinstance(down, Edgewise):
            corners = down.frontiers.start, down.frontiers.against, down.frontiers.inside
            _to_leaves(*tree, down.table_of, *corners, self.room, total, rising)
        else:
            tables = down.turned, down.orders, down.kernel_of, down.marginal_of, down.marginals
            _to_leaves_by_bayes(self.parents, self.order, *tables, self.room, total, rising)
        return total

    def worst(self, losses: Places) -> Worst:
        leaks = self.leaks(losses)
        attacked = int(leaks.argmax())
        return Worst(int(leaks[attacked]), attacked)


def _downwards(law: TreeLaw, both: BothWays) -> Edgewise:
    """Edges of one kernel have one table, but for the rows of values that their parents cannot have."""
    _, first = np.unique(both.edge_of[both.edge_of >= 0], return_index=True)
    kernels = law.kernel_of[both.edge_of >= 0][first]
    kinds = np.concatenate([kernels[:, None], both.down.any(axis=2)], axis=1)
    _, shown, table_of = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    return Edgewise(table_of.reshape(-1).astype(np.int64), Frontiers.of(both.down[shown]))


def _upwards(law: TreeLaw, both: BothWays) -> Edgewise | ByBayes:
    if len(both.up) <= FRONTIERS_MAX:
        return Edgewise(np.arange(len(both.up)), Frontiers.of(both.up))
    values = law.domain.size
    if len(law.kernels) * values**3 > ORDERS_MAX:
        raise Invalid(
            "kernels", f"are {len(law.kernels)} with {values} values each, too many to look at in trees so uneven"
        )
    turned = np.ascontiguousarray(np.swapaxes(divided(law.kernels), 1, 2))
    orders = np.stack([falling_orders(each) for each in turned])
    return ByBayes(turned, orders, law.kernel_of, both.marginal_of, both.marginals)


@kernel
def _to_roots(
    parents: Places,
    order: Places,
    edge_of: Places,
    table_of: Places,
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
            table = table_of[edge_of[one]]
            rising[one] = units_through(total[one], start[table], start[table + 1], against, inside, room)
            total[parent] = add_units(total[parent], rising[one])


@kernel
def _to_leaves(
    parents: Places,
    order: Places,
    edge_of: Places,
    table_of: Places,
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
            table = table_of[edge_of[one]]
            others = total[parent] - rising[one] if total[parent] < INFINITE else INFINITE
            falling = units_through(others, start[table], start[table + 1], against, inside, room)
            total[one] = add_units(total[one], falling)


@kernel
def _to_leaves_by_bayes(
    parents: Places,
    order: Places,
    turned: Matrix,
    orders: Places,
    kernel_of: Places,
    marginal_of: Places,
    marginals: Matrix,
    room: int,
    total: Places,
    rising: Places,
) -> None:
    for one in order:
        parent = parents[one]
        if parent >= 0:
            table = kernel_of[one]
            others = total[parent] - rising[one] if total[parent] < INFINITE else INFINITE
            behind, reached = marginals[marginal_of[parent]], marginals[marginal_of[one]]
            falling = units_beside(turned[table], orders[table], behind, others, room, reached)
            total[one] = add_units(total[one], falling)
