"""A public tree of boxes: one attribute after the other is halved, or taken a level down its hierarchy. Proof: sky.md.

Which attribute comes next depends on the attributes alone: always the one of which the widest part is the largest share
of the whole. So a box of the tree is told by a cell and by a number of steps, and nobody's value has shaped it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.native import part_of_caller
from mechanisms.contract import Integers
from mechanisms.crowds.attributes import Attribute, Attributes, Numeric, Space, Tree


class Halving(NamedTuple):
    """The tree as compiled code reads it."""

    level: Integers  # of each step and attribute: how often the attribute was divided
    steps: Integers  # of each attribute and level: the last step at which it is divided no more often than that
    depth: Integers  # of each row of the nodes of hierarchies: 0 for the top


def halving(attributes: Attributes) -> Halving:
    widths = [_widths(attribute) for attribute in attributes.each]
    at = [0] * len(widths)
    levels = [list(at)]
    while any(shares[level] for shares, level in zip(widths, at, strict=True)):
        shares = [shares[level] for shares, level in zip(widths, at, strict=True)]
        at[shares.index(max(shares))] += 1
        levels.append(list(at))
    level = np.array(levels, dtype=np.int64)
    steps = np.array(
        [
            [np.flatnonzero(column <= deep)[-1] for deep in range(max(len(shares) for shares in widths))]
            for column in level.T
        ],
        dtype=np.int64,
    )
    depths = [deep for each in attributes.each if isinstance(each, Tree) for deep in _depths(each)]
    return Halving(level, steps, np.array(depths, dtype=np.int64))


def _widths(attribute: Attribute) -> list[Fraction]:
    """Of each level the share of the whole that its widest part has."""
    whole = max(1, attribute.cells - 1)
    if isinstance(attribute, Numeric):
        widest = [attribute.cells]
        while widest[-1] > 1:
            widest.append((widest[-1] + 1) // 2)
        return [Fraction(cells - 1, whole) for cells in widest]
    depths = _depths(attribute)
    found = []
    for level in range(max(depths) + 1):
        # Where a hierarchy ends early its value stands for all levels below.
        parts = [node for node, deep in zip(attribute.nodes, depths, strict=True) if deep == level]
        found.append(Fraction(max(node.high - node.low for node in parts), whole))
    return found


def _depths(tree: Tree) -> list[int]:
    depths = [0] * len(tree.nodes)
    for place in range(len(tree.nodes) - 2, -1, -1):  # the top is the last, and parents stand behind
        depths[place] = depths[tree.nodes[place].parent] + 1
    return depths


@part_of_caller
def shared_level(space: Space, tree: Halving, attribute: int, one: int, two: int) -> int:
    """How often an attribute can be divided until two cells are in different parts."""
    if one == two:
        return int(tree.steps.shape[1] - 1)
    first = space.leaves[attribute]
    if first >= 0:
        row = first + one
        while not space.nodes[row, 0] <= two <= space.nodes[row, 1]:
            row = space.nodes[row, 2]
        return int(tree.depth[row])
    low, high, level = 0, int(space.spans[attribute]), 0
    smaller, larger = min(one, two), max(one, two)
    while True:
        middle = (low + high) // 2
        if larger <= middle:
            high = middle
        elif smaller > middle:
            low = middle + 1
        else:
            return level
        level += 1


@part_of_caller
def shared_step(space: Space, tree: Halving, cells: Integers, one: int, two: int) -> int:
    """The step of the smallest box of the tree that has both in it."""
    step = int(tree.level.shape[0] - 1)
    for attribute in range(space.spans.size):
        level = shared_level(space, tree, attribute, cells[one, attribute], cells[two, attribute])
        step = min(step, int(tree.steps[attribute, level]))
    return step


@part_of_caller
def part(space: Space, tree: Halving, attribute: int, cell: int, level: int) -> tuple[int, int]:
    """The part that a cell lies in once its attribute was divided so often."""
    first = space.leaves[attribute]
    if first >= 0:
        row = first + cell
        while tree.depth[row] > level:
            row = space.nodes[row, 2]
        return space.nodes[row, 0], space.nodes[row, 1]
    low, high = 0, int(space.spans[attribute])
    while level > 0 and low < high:
        middle = (low + high) // 2
        if cell <= middle:
            high = middle
        else:
            low = middle + 1
        level -= 1
    return low, high
