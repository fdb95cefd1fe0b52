"""What people are grouped by, read a second time: from a value to its cell, from a released range to its cells, and
what a box loses.

Cells are numbered from 0: numbers step by step from the lowest, the values of a tree in its own order, so each of its
names is a range of cells, too. A range of an attribute loses (its last cell - its first) / (all cells - 1), and a box
the mean over its attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from stream.records.paths import Path
from stream.settings.crowd import AttributeSettings
from stream.settings.hierarchy import TreeNode

Range = tuple[int, int]
Box = tuple[Range, ...]


@dataclass(frozen=True)
class Steps:
    """Numbers from low to high, both in whole steps of the grid."""

    low: int
    high: int
    grid: Decimal

    @staticmethod
    def of(steps: Sequence[Decimal]) -> Steps:
        low, high, grid = steps
        return Steps(round(Fraction(low) / Fraction(grid)), round(Fraction(high) / Fraction(grid)), grid)

    @property
    def places(self) -> int:
        return self.high - self.low + 1

    def step_of(self, value: Any) -> int | None:
        """The nearest step, a middle to the even one, within both ends; None of what is no number."""
        if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
            return None
        return min(max(round(Fraction(value) / Fraction(self.grid)), self.low), self.high)

    def step_in(self, told: Any) -> int | None:
        """Of a released number; None where it is not on the grid."""
        if isinstance(told, bool) or not isinstance(told, int | Decimal):
            return None
        step = Fraction(told) / Fraction(self.grid)
        return step.numerator if step.denominator == 1 else None


@dataclass(frozen=True)
class Attribute:
    """One of what people are grouped by: numbers, or values under names."""

    name: str
    path: Path
    steps: Steps | None
    ranges: dict[str, Range]
    """Of a tree: the cells of each name and of each value."""
    cells: int

    def cell_of(self, value: Any) -> int | None:
        if self.steps is not None:
            step = self.steps.step_of(value)
            return None if step is None else step - self.steps.low
        cell = self.ranges.get(value) if isinstance(value, str) else None
        return None if cell is None or value not in self.values else cell[0]

    @property
    def values(self) -> frozenset[str]:
        return frozenset(name for name, (first, last) in self.ranges.items() if first == last)

    def range_in(self, told: Any) -> Range | None:
        """The cells of what was released; None where it is no range of this attribute."""
        if self.steps is None:
            return self.ranges.get(told) if isinstance(told, str) else None
        if not isinstance(told, list) or len(told) != 2:
            return None
        first, last = (self.steps.step_in(end) for end in told)
        if first is None or last is None or not self.steps.low <= first <= last <= self.steps.high:
            return None
        return first - self.steps.low, last - self.steps.low

    def loss(self, told: Range) -> Fraction:
        return Fraction(told[1] - told[0], self.cells - 1) if self.cells > 1 else Fraction(0)


def attribute_of(name: str, declared: AttributeSettings) -> Attribute:
    if declared.steps is not None:
        steps = Steps.of(declared.steps)
        return Attribute(name, declared.of, steps, {}, steps.places)
    if declared.tree is None:
        raise ValueError("settings that were found right name a tree or low, high and grid")
    ranges = dict(_ranges(declared.tree, 0))
    return Attribute(name, declared.of, None, ranges, len(declared.tree.leaves()))


def _ranges(node: TreeNode, first: int) -> Iterator[tuple[str, Range]]:
    yield node.name, (first, first + len(node.leaves()) - 1)
    for below in node.below:
        yield from _ranges(below, first)
        first += len(below.leaves())


def loss_of(attributes: Sequence[Attribute], box: Box) -> Fraction:
    return sum((each.loss(told) for each, told in zip(attributes, box, strict=True)), Fraction(0)) / len(attributes)


def holds(box: Box, cells: Sequence[int]) -> bool:
    return all(first <= cell <= last for (first, last), cell in zip(box, cells, strict=False))
