"""Walks along many trees at once: the order from roots to leaves, and every attribute's own law. Note: tree.md."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, Places
from beliefs.native import kernel, part_of_caller

RAREST = 2.0**-900
"""A value that may occur has at least this chance, so that quotients of chances keep all their digits."""

_UNKNOWN = -1


class Along(NamedTuple):
    """`pairs[e]` are kernel, parent's law and child's law of edge e, the laws as rows of `marginals`."""

    edge_of: Places
    pairs: Places
    marginal_of: Places
    marginals: Matrix


def by_depth(parents: Places) -> tuple[Places, int]:
    """Attributes in an order that has every parent before its children, and how many steps the deepest is away."""
    depth, path = np.full(parents.size, _UNKNOWN, dtype=np.int64), np.empty(parents.size, dtype=np.int64)
    looped = _find_depths(parents, depth, path)
    if looped >= 0:
        raise Invalid("parents", f"entry {looped} is its own ancestor; every way up must end at a root, written as -1")
    return np.argsort(depth, kind="stable"), int(depth.max())


def marginals_along(parents: Places, order: Places, roots: Matrix, kernels: Matrix, kernel_of: Places) -> Along:
    """Every attribute's law, each different one once, and every edge of the same kernel and parent's law once."""
    size, values = parents.size, kernels.shape[2]
    root_of = np.zeros(size, dtype=np.int64)
    if roots.shape[0] > 1:
        root_of[parents < 0] = np.arange(roots.shape[0])
    marginals, pairs = np.empty((size + 1, values)), np.empty((size, 3), dtype=np.int64)
    edge_of, marginal_of = np.full(size, -1, dtype=np.int64), np.empty(size, dtype=np.int64)
    slots = np.full((2, 1 << (2 * size).bit_length()), -1, dtype=np.int64)
    found = np.zeros(2, dtype=np.int64)
    bits = marginals.view(np.int64)
    rare = _walk(
        parents, order, roots, root_of, kernels, kernel_of, marginals, bits, pairs, edge_of, marginal_of, slots, found
    )
    if rare >= 0:
        field = "roots" if parents[rare] < 0 else "kernels"
        raise Invalid(field, f"give attribute {rare} a value of a chance below 2^-900: write 0 if it cannot occur")
    return Along(edge_of, pairs[: found[1]], marginal_of, marginals[: found[0]])


@kernel
def _find_depths(parents: Places, depth: Places, path: Places) -> int:
    """Steps from the root; an attribute that is met again on its own way up is returned, otherwise -1."""
    for start in range(parents.size):
        steps, at = 0, start
        while at >= 0 and depth[at] == _UNKNOWN:
            depth[at] = -2
            path[steps] = at
            steps += 1
            at = parents[at]
        if at >= 0 and depth[at] == -2:
            return int(at)
        above = -1 if at < 0 else depth[at]
        while steps > 0:
            steps -= 1
            above += 1
            depth[path[steps]] = above
    return -1


@kernel
def _walk(
    parents: Places,
    order: Places,
    roots: Matrix,
    root_of: Places,
    kernels: Matrix,
    kernel_of: Places,
    marginals: Matrix,
    bits: Places,
    pairs: Places,
    edge_of: Places,
    marginal_of: Places,
    slots: Places,
    found: Places,
) -> int:
    """Fills what it is given; an attribute with a value that is possible, but too rare, is returned, otherwise -1."""
    values = kernels.shape[2]
    for one in order:
        parent = parents[one]
        if parent < 0:
            for value in range(values):
                chance = roots[root_of[one], value]
                marginals[found[0], value] = chance
                if 0.0 < chance < RAREST:
                    return int(one)
            marginal_of[one] = _law_of(bits, slots[0], found)
            continue
        table, above = kernel_of[one], marginal_of[parent]
        edge, is_new = _edge_of(pairs, slots[1], found, table, above)
        edge_of[one] = edge
        if is_new:
            for value in range(values):
                total, may = 0.0, False
                for before in range(values):
                    if marginals[above, before] > 0.0 and kernels[table, before, value] > 0.0:
                        may = True
                        total += marginals[above, before] * kernels[table, before, value]
                marginals[found[0], value] = total
                if may and total < RAREST:
                    return int(one)
            pairs[edge, 2] = _law_of(bits, slots[0], found)
        marginal_of[one] = pairs[edge, 2]
    return -1


@part_of_caller
def _mixed(number: int, more: int) -> int:
    """A hash: products wrap around."""
    number = (number ^ more) * 0x2545F4914F6CDD1D
    return number ^ (number >> 29)


@part_of_caller
def _law_of(bits: Places, slots: Places, found: Places) -> int:
    """The number of the law in the first free row, which is that of an equal one where there is one."""
    row, mask = found[0], slots.size - 1
    mixed = 0
    for value in range(bits.shape[1]):
        mixed = _mixed(mixed, bits[row, value])
    slot = mixed & mask
    while slots[slot] >= 0:
        other, same = slots[slot], True
        for value in range(bits.shape[1]):
            if bits[row, value] != bits[other, value]:
                same = False
                break
        if same:
            return int(other)
        slot = (slot + 1) & mask
    slots[slot] = row
    found[0] += 1
    return int(row)


@part_of_caller
def _edge_of(pairs: Places, slots: Places, found: Places, table: int, above: int) -> tuple[int, bool]:
    mask = slots.size - 1
    slot = _mixed(_mixed(1, table), above) & mask
    while slots[slot] >= 0:
        edge = slots[slot]
        if pairs[edge, 0] == table and pairs[edge, 1] == above:
            return int(edge), False
        slot = (slot + 1) & mask
    edge = found[1]
    slots[slot] = edge
    pairs[edge, 0], pairs[edge, 1] = table, above
    found[1] += 1
    return int(edge), True
