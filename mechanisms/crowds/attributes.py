"""What people are grouped by: numbers on a grid and values of a hierarchy; boxes over them. Proof: attributes.md.

Every attribute is numbered in cells from 0. The leaves of a hierarchy are numbered in its own order, so each of its
nodes is an interval of cells as well: a box is one interval an attribute, and the loss of either is a quotient of two
widths. What differs is the cover: between two numbers every interval may stand, between two leaves only a node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid, kind_of, require
from beliefs.native import kernel, part_of_caller
from mechanisms.contract import Floats, Integers

CELLS_MOST = 1 << 31
ATTRIBUTES_MOST = 8
DEPTH_MOST = 32

Box = tuple[tuple[int, int], ...]
"""The lowest and the highest cell of each attribute; of a hierarchy the first and the last leaf of a node."""


class Space(NamedTuple):
    """The attributes as compiled code reads them."""

    spans: Floats  # of each attribute the width of all cells together, cells - 1
    leaves: Integers  # the row in `nodes` of its first leaf, the others behind it; -1 for numbers
    nodes: Integers  # first leaf, last leaf, row of the parent


@dataclass(frozen=True)
class Numeric:
    """Numbers on a grid: cell i is the i-th of them."""

    cells: int

    def __post_init__(self) -> None:
        require(1 <= self.cells <= CELLS_MOST, f"a number has 1 to {CELLS_MOST} cells")


class Node(NamedTuple):
    name: str
    low: int
    high: int
    parent: int  # its place among the nodes; the top is its own


@dataclass(frozen=True)
class Tree:
    """A hierarchy. Its nodes: first the values, cell by cell, then the names, each behind all that is below it."""

    nodes: tuple[Node, ...]

    @property
    def cells(self) -> int:
        return self.nodes[-1].high + 1

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.nodes[: self.cells])

    def name_of(self, low: int, high: int) -> str:
        """Of names with the same values below them the lowest: it says more and tells the same."""
        for node in self.nodes[low : low + 1] + self.nodes[self.cells :]:
            if (node.low, node.high) == (low, high):
                return node.name
        raise Invalid("box", "is no node of its hierarchy")


def tree_of(hierarchy: object, field: str = "tree") -> Tree:
    """Reads {name: [values] or {name: ..}}: one name at the top, every name and every value once."""
    if not isinstance(hierarchy, Mapping) or len(hierarchy) != 1:
        raise Invalid(field, "is no hierarchy with one name at the top, as {any: {medical: [doctor, nurse]}}")
    values: list[str] = []
    inner: list[tuple[str, int, int]] = []
    ((top, below),) = hierarchy.items()
    _enter(field, top, below, 1, values, inner)
    names = [*values, *(name for name, _, _ in inner)]
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise Invalid(field, f"has {twice!r} twice: every name and every value stands there once")
    spans = [*((cell, cell) for cell in range(len(values))), *((low, high) for _, low, high in inner)]
    ends = zip(names, spans, strict=True)
    return Tree(tuple(Node(name, *span, _parent(spans, at, len(values))) for at, (name, span) in enumerate(ends)))


def _enter(
    field: str, name: object, below: object, depth: int, values: list[str], inner: list[tuple[str, int, int]]
) -> None:
    if not isinstance(name, str) or not name:
        raise Invalid(field, f"has {kind_of(name)} where a name stands: it is a text that is not empty")
    if depth > DEPTH_MOST:
        raise Invalid(field, f"is more than {DEPTH_MOST} levels deep")
    first = len(values)
    if isinstance(below, Mapping):
        for each, inside in below.items():
            _enter(field, each, inside, depth + 1, values, inner)
    elif isinstance(below, Sequence) and not isinstance(below, str):
        for value in below:
            if not isinstance(value, str) or not value:
                raise Invalid(field, f"has {kind_of(value)} where a value stands: it is a text that is not empty")
            values.append(value)
    else:
        raise Invalid(field, f"has {kind_of(below)} below {name!r}: there is a list of values, or names with lists")
    if len(values) == first:
        raise Invalid(field, f"has nothing below {name!r}")
    inner.append((name, first, len(values) - 1))


def _parent(spans: list[tuple[int, int]], at: int, values: int) -> int:
    """The first name behind it that holds it: names come behind all that is below them."""
    low, high = spans[at]
    for above in range(max(at + 1, values), len(spans)):
        if spans[above][0] <= low and high <= spans[above][1]:
            return above
    return at


Attribute = Numeric | Tree


@dataclass(frozen=True)
class Attributes:
    """All that people are grouped by, in order."""

    each: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        require(1 <= len(self.each) <= ATTRIBUTES_MOST, f"people are grouped by 1 to {ATTRIBUTES_MOST} attributes")

    def __len__(self) -> int:
        return len(self.each)

    def space(self) -> Space:
        leaves: list[int] = []
        rows: list[tuple[int, int, int]] = []
        for attribute in self.each:
            if isinstance(attribute, Numeric):
                leaves.append(-1)
                continue
            leaves.append(len(rows))
            rows += [(node.low, node.high, leaves[-1] + node.parent) for node in attribute.nodes]
        return Space(
            np.array([attribute.cells - 1 for attribute in self.each], dtype=np.float64),
            np.array(leaves, dtype=np.int64),
            np.array(rows, dtype=np.int64).reshape(len(rows), 3),
        )

    def inside(self, cells: Sequence[int]) -> bool:
        return len(cells) == len(self.each) and all(
            0 <= cell < attribute.cells for cell, attribute in zip(cells, self.each, strict=True)
        )


# Boxes are rows of 2 numbers an attribute, lowest and highest cell. Losses are summed in the order of the attributes
# and divided by their number at the end, so that the box of everything has loss 1 exactly.


@part_of_caller
def covered(space: Space, attribute: int, low: int, high: int) -> tuple[int, int]:
    """The smallest interval that may stand for low..high: of a hierarchy the lowest node above both ends."""
    first = space.leaves[attribute]
    if first < 0:
        return low, high
    row = first + low
    while space.nodes[row, 1] < high:
        row = space.nodes[row, 2]
    return space.nodes[row, 0], space.nodes[row, 1]


@part_of_caller
def share(space: Space, attribute: int, low: int, high: int) -> float:
    """What one attribute loses by the cover of low..high: 0 for one cell, 1 for all."""
    if low == high:
        return 0.0
    low, high = covered(space, attribute, low, high)
    found: float = (high - low) / space.spans[attribute]
    return found


@part_of_caller
def gap(space: Space, cells: Integers, one: int, two: int) -> float:
    """How far apart two people are: the loss of the smallest box around both."""
    total = 0.0
    for attribute in range(space.spans.size):
        a, b = cells[one, attribute], cells[two, attribute]
        total += share(space, attribute, min(a, b), max(a, b))
    return total / space.spans.size


@part_of_caller
def loss_with(space: Space, boxes: Integers, box: int, cells: Integers, one: int) -> float:
    """The loss of a box once it has one more person in it."""
    total = 0.0
    for attribute in range(space.spans.size):
        cell = cells[one, attribute]
        low, high = min(boxes[box, 2 * attribute], cell), max(boxes[box, 2 * attribute + 1], cell)
        total += share(space, attribute, low, high)
    return total / space.spans.size


@part_of_caller
def loss_joined(space: Space, boxes: Integers, one: int, two: int) -> float:
    """The loss of the smallest box around two."""
    total = 0.0
    for attribute in range(space.spans.size):
        low = min(boxes[one, 2 * attribute], boxes[two, 2 * attribute])
        high = max(boxes[one, 2 * attribute + 1], boxes[two, 2 * attribute + 1])
        total += share(space, attribute, low, high)
    return total / space.spans.size


@part_of_caller
def holds(boxes: Integers, box: int, cells: Integers, one: int) -> bool:
    """Whether a person lies in a box."""
    for attribute in range(cells.shape[1]):
        cell = cells[one, attribute]
        if cell < boxes[box, 2 * attribute] or cell > boxes[box, 2 * attribute + 1]:
            return False
    return True


@part_of_caller
def point(boxes: Integers, box: int, cells: Integers, one: int) -> None:
    """Makes a box of one person."""
    for attribute in range(cells.shape[1]):
        boxes[box, 2 * attribute] = boxes[box, 2 * attribute + 1] = cells[one, attribute]


@part_of_caller
def widen(space: Space, boxes: Integers, box: int, cells: Integers, one: int) -> None:
    """Makes a box the smallest around itself and one person more."""
    for attribute in range(space.spans.size):
        cell = cells[one, attribute]
        low, high = min(boxes[box, 2 * attribute], cell), max(boxes[box, 2 * attribute + 1], cell)
        boxes[box, 2 * attribute], boxes[box, 2 * attribute + 1] = covered(space, attribute, low, high)


@kernel
def around(space: Space, cells: Integers, some: Integers, count: int, boxes: Integers, box: int) -> float:
    """Writes the smallest box around the first `count` of some people and returns its loss."""
    total = 0.0
    for attribute in range(space.spans.size):
        low = high = cells[some[0], attribute]
        for place in range(1, count):
            cell = cells[some[place], attribute]
            low, high = min(low, cell), max(high, cell)
        low, high = covered(space, attribute, low, high)
        boxes[box, 2 * attribute], boxes[box, 2 * attribute + 1] = low, high
        if high > low:
            total += (high - low) / space.spans[attribute]
    return total / space.spans.size


def box_of(row: Integers) -> Box:
    ends = [int(cell) for cell in row]
    return tuple(zip(ends[::2], ends[1::2], strict=True))
