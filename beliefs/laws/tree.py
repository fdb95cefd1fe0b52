"""The law of attributes along a tree, or several: each depends on its parent alone. Note: tree.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, Places
from beliefs.laws.components import Components, components_of
from beliefs.laws.forest import by_depth, marginals_along
from beliefs.laws.markov import CELLS_MAX
from beliefs.laws.rows import divided, require_laws
from beliefs.laws.table import TableLaw, require_ascending
from beliefs.simplex import Vector

EDGE_CELLS_MAX = 1 << 27
"""Cells of all different edges' tables; a gigabyte each way."""


@dataclass(frozen=True, eq=False)
class BothWays:
    """The laws of a child given its parent, and of a parent given its child, for every edge that is different.

    `edge_of[i]` is the number of the edge from attribute i to its parent, -1 for a root. down[e, p, c] is the chance of
    the child's value c under the parent's p, up[e, c, p] that of the parent's. A row of zeros stands for a value that
    cannot occur there. Every entry is right to `roundings` of 2^-53 each. `marginals[marginal_of[i]]` is the law of
    attribute i by itself.
    """

    edge_of: Places
    down: Matrix
    up: Matrix
    marginal_of: Places
    marginals: Matrix
    roundings: int


@dataclass(frozen=True, eq=False)
class TreeLaw:
    """`parents[i]` is the attribute that i depends on, -1 for a root; the order of attributes is free.

    `roots` has one row for all roots, or one for each in their order. kernels[kernel_of[i]][p, c] is the chance that
    attribute i has its value c where its parent has p; what `kernel_of` says of a root counts for nothing.
    """

    parents: Places
    roots: Matrix
    kernels: Matrix
    kernel_of: Places
    domain: Vector

    def __post_init__(self) -> None:
        _check_parents(self.parents)
        if self.domain.ndim != 1 or self.domain.size == 0:
            raise Invalid("domain", "must be a list of at least one value")
        require_ascending(self.domain, "domain")
        self._check_roots()
        self._check_kernels()
        self._check_kernel_of()
        by_depth(self.parents)

    def _check_roots(self) -> None:
        values, count = self.domain.size, int((self.parents < 0).sum())
        if self.roots.ndim != 2 or self.roots.shape[1] != values:
            raise Invalid("roots", f"must be rows of {values} entries, one for each value of domain")
        if self.roots.shape[0] not in (1, count):
            raise Invalid("roots", f"has {self.roots.shape[0]} rows; one for all, or one for each of {count} roots")
        require_laws(self.roots, "roots")

    def _check_kernels(self) -> None:
        values = self.domain.size
        if self.kernels.ndim != 3 or self.kernels.shape[1:] != (values, values):
            raise Invalid("kernels", f"must be tables of {values} rows with {values} entries, as domain has values")
        for place, table in enumerate(self.kernels):
            require_laws(table, "kernels", f"entry {place} ")

    def _check_kernel_of(self) -> None:
        count = self.kernels.shape[0]
        if not _are_numbers(self.kernel_of) or self.kernel_of.size != self.parents.size:
            raise Invalid("kernel_of", f"must be {self.parents.size} whole numbers, one for each attribute")
        wrong = (self.kernel_of >= count) | (self.kernel_of < np.where(self.parents < 0, -1, 0))
        if bool(wrong.any()):
            place = int(wrong.argmax())
            raise Invalid("kernel_of", f"entry {place} is {self.kernel_of[place]}, but there are {count} kernels")

    @property
    def size(self) -> int:
        return int(self.parents.size)

    def both_ways(self) -> BothWays:
        """Edges with the same kernel and the same law of the parent are one edge."""
        order, deepest = by_depth(self.parents)
        tables = divided(self.kernels)
        along = marginals_along(self.parents, order, divided(self.roots), tables, self.kernel_of)
        values = self.domain.size
        if along.pairs.shape[0] * values * values > EDGE_CELLS_MAX:
            raise Invalid("kernels", f"lead to {along.pairs.shape[0]} different edges, too many for their tables")
        parent, child = along.marginals[along.pairs[:, 1]], along.marginals[along.pairs[:, 2]]
        down = tables[along.pairs[:, 0]]
        down[parent == 0.0] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = parent[:, None, :] / child[:, :, None]
        up = np.zeros_like(down)
        np.multiply(np.swapaxes(down, 1, 2), shares, out=up, where=np.swapaxes(down, 1, 2) > 0.0)
        up[(up == 0.0) & (np.swapaxes(down, 1, 2) > 0.0)] = math.ulp(0.0)
        roundings = 2 * (2 * values + 1) * (deepest + 1)
        return BothWays(along.edge_of, down, up, along.marginal_of, along.marginals, roundings)

    def components(self) -> Components:
        """Trees; an edge whose kernel has the same row for every value of the parent ties nothing."""
        tables = divided(self.kernels)
        telling = (tables != tables[:, :1]).any(axis=(1, 2))
        children = np.flatnonzero(self.parents >= 0)
        children = children[telling[self.kernel_of[children]]]
        return components_of(self.size, np.stack([children, self.parents[children]], axis=1))

    def part(self, members: Places) -> TreeLaw:
        """The law of whole components: of ascending attributes, none of which depends on another one."""
        number = np.full(self.size, -1, dtype=np.int64)
        number[members] = np.arange(members.size)
        parents = np.where(self.parents[members] < 0, -1, number[self.parents[members]])
        roots = self.roots
        if roots.shape[0] > 1:
            roots = roots[(np.cumsum(self.parents < 0) - 1)[members[parents < 0]]]
        return TreeLaw(parents, roots, self.kernels, self.kernel_of[members], self.domain)

    def table(self) -> TableLaw:
        """The same law cell by cell; only where there are at most CELLS_MAX."""
        size, values = self.size, self.domain.size
        if values**size > CELLS_MAX or size > 32:
            raise Invalid("parents", f"are {size}, which have more than {CELLS_MAX} combinations of values")
        tables, roots = divided(self.kernels), divided(self.roots)
        roots = np.broadcast_to(roots, (int((self.parents < 0).sum()), values))
        joint, root = np.ones((1,) * size), 0
        for child, parent in enumerate(self.parents.tolist()):
            if parent < 0:
                factor, axes = roots[root], [child]
                root += 1
            else:
                table = tables[self.kernel_of[child]]
                factor, axes = (table if parent < child else table.T), sorted([parent, child])
            joint = joint * factor.reshape([values if axis in axes else 1 for axis in range(size)])
        return TableLaw(joint / math.fsum(joint.ravel().tolist()), (self.domain,) * size)


def _are_numbers(values: Places) -> bool:
    return values.ndim == 1 and values.dtype == np.int64


def _check_parents(parents: Places) -> None:
    if not _are_numbers(parents) or parents.size == 0:
        raise Invalid("parents", "must be whole numbers, one for each of at least one attribute")
    wrong = (parents < -1) | (parents >= parents.size)
    if bool(wrong.any()):
        place = int(wrong.argmax())
        last = parents.size - 1
        raise Invalid("parents", f"entry {place} is {parents[place]}; attributes are 0 to {last}, a root -1")
