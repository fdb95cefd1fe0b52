"""Walks on a grid for tests: each step leads to one of the cells around, or nowhere."""

from __future__ import annotations

from beliefs.alphabet import Bins, Grid
from beliefs.chain import Chain


def grid_of(rows: int, columns: int, names: tuple[str, str] | None = None) -> Grid:
    """A town of twenty kilometres."""
    return Grid(Bins(47.3, 47.5, rows), Bins(8.4, 8.7, columns), names)


def walk_on(rows: int, columns: int) -> Chain:
    """Cells row by row; the start may be anywhere, and all ways are alike."""
    size, laws = rows * columns, []
    for cell in range(size):
        row, column = divmod(cell, columns)
        around = [(row, column), (row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)]
        there = sorted(r * columns + c for r, c in around if 0 <= r < rows and 0 <= c < columns)
        laws.append((there, [1 / len(there)] * len(there)))
    return Chain.from_sparse([1 / size] * size, laws)
