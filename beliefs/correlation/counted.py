"""Counts of combinations of values, gathered chunk by chunk: what a joint table is made of. See joint_file.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Places
from beliefs.correlation.nested_lists import CELLS_MAX
from beliefs.correlation.tables import JointTable


class JointCounts:
    """How many records had which values; values are numbers, and which ones there are need not be known beforehand.

    Memory grows with the combinations that occur, not with the records.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.records = 0
        self.cells: dict[tuple[int, ...], int] = {}

    def add(self, columns: Sequence[Places]) -> None:
        """One column for each name, of equally many records."""
        if len(columns) != len(self.names) or len({column.size for column in columns}) != 1:
            raise Invalid("columns", f"must be {len(self.names)}, one for each name, and of one length")
        rows, times = np.unique(np.stack(columns, axis=1), axis=0, return_counts=True)
        for row, count in zip(rows.tolist(), times.tolist(), strict=True):
            self._count(tuple(row), count)

    def merge(self, other: JointCounts) -> None:
        if other.names != self.names:
            raise Invalid("names", f"are {', '.join(other.names)}, not {', '.join(self.names)}")
        for cell, count in other.cells.items():
            self._count(cell, count)

    def _count(self, cell: tuple[int, ...], count: int) -> None:
        self.cells[cell] = self.cells.get(cell, 0) + count
        self.records += count

    def records_with(self, axis: int) -> dict[int, int]:
        """Of each value of one field how many records had it."""
        found: dict[int, int] = {}
        for cell, count in self.cells.items():
            found[cell[axis]] = found.get(cell[axis], 0) + count
        return found

    def table(self, labels: Sequence[Mapping[int, str]]) -> JointTable:
        """Of each field the labels of its numbers, in the order of the table; numbers of one label are added up."""
        places = [{label: place for place, label in enumerate(dict.fromkeys(each.values()))} for each in labels]
        shape = tuple(map(len, places))
        if math.prod(shape) > CELLS_MAX:
            words = f"{' x '.join(map(str, shape))} values, more than {CELLS_MAX:,} cells"
            raise Invalid("labels", f"are {words}: leave fields out, or join their rare values")
        weights = np.zeros(shape)
        for cell, count in self.cells.items():
            for name, label, number in zip(self.names, labels, cell, strict=True):
                if number not in label:
                    raise Invalid("labels", f"of {name} have none for the number {number}")
            at = (place[label[number]] for place, label, number in zip(places, labels, cell, strict=True))
            weights[tuple(at)] += count
        return JointTable(self.names, tuple(tuple(each) for each in places), weights)
