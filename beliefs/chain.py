"""Markov chains over states: the public model of how one value follows another.

In a chain of first order the states are the values themselves. In a longer memory (`contexts.py`) a state is what is
remembered of the values before, and `symbol_of` says which value each state ends with.

A row is normalised by definition: the numbers in use are row / (its plain left-to-right sum), and everything after,
the audit included, treats those quotients as the model itself.

`contraction` bounds how much of a relative error in a belief survives one prediction; `chain.md` proves the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from beliefs.alphabet import SIZE_MAX
from beliefs.checks import Invalid, kind_of
from beliefs.simplex import Vector, normalised, probabilities

Indices = npt.NDArray[np.int64]
Row = tuple[Indices, Vector]
"""Ascending columns and their positive probabilities, already normalised."""

CONTRACTION_ONE = 1 << 32
DENSE_FROM_DENSITY = 0.5
"""Below one half the compressed rows touch fewer bytes (16 an entry against 8) and are the only form kept."""


@dataclass(frozen=True, eq=False)
class Chain:
    """A start law and transition rows, compressed by row; `dense` is the same matrix, or 0 x 0 when it is sparse.

    `contraction` speaks of `span` predictions in a row. Where `symbol_of` is not the identity, a row leads to one state
    at most for each symbol, and `span` symbols fix the state behind them.
    """

    size: int
    start: Vector
    indptr: Indices
    indices: Indices
    data: Vector
    dense: Vector
    contraction: int
    symbol_of: Indices
    span: int

    @classmethod
    def from_dense(cls, start: object, matrix: object) -> Chain:
        """From a start law and a square table of probabilities."""
        if not isinstance(matrix, list | tuple | np.ndarray):
            raise Invalid("rows", f"must be a list of rows, found {kind_of(matrix)}")
        rows = [dense_row(row, f"rows[{index}]", len(matrix)) for index, row in enumerate(matrix)]
        return cls.from_rows(start_law(start, "start", len(rows)), rows)

    @classmethod
    def from_sparse(cls, start: object, rows: Sequence[tuple[object, object]]) -> Chain:
        """From a start law and, for each state, the states that may follow and their probabilities."""
        checked = [sparse_row(to, p, f"rows[{index}]", len(rows)) for index, (to, p) in enumerate(rows)]
        return cls.from_rows(start_law(start, "start", len(rows)), checked)

    @classmethod
    def from_rows(cls, start: Vector, rows: Sequence[Row], symbol_of: Indices | None = None, span: int = 1) -> Chain:
        """From parts that `start_law`, `dense_row` and `sparse_row` have checked and normalised."""
        size = len(rows)
        if size == 0 or size > SIZE_MAX or start.size != size:
            raise Invalid("rows", f"has {size} rows for a start law of {start.size} values; they must be equally many")
        indptr = np.zeros(size + 1, dtype=np.int64)
        indptr[1:] = np.cumsum([columns.size for columns, _ in rows])
        indices = np.concatenate([columns for columns, _ in rows]).astype(np.int64)
        data = np.concatenate([values for _, values in rows]).astype(np.float64)
        dense = np.zeros((0, 0))
        if data.size >= DENSE_FROM_DENSITY * size * size:
            dense = np.zeros((size, size))
            dense[np.repeat(np.arange(size), np.diff(indptr)), indices] = data
        symbol_of = np.arange(size) if symbol_of is None else symbol_of
        for array in (start, indptr, indices, data, dense, symbol_of):
            array.setflags(write=False)
        contraction = contraction_of(size, symbol_of[indices], data, span)
        return cls(size, start, indptr, indices, data, dense, contraction, symbol_of, span)

    @property
    def symbols(self) -> int:
        """The number of values; every value has a state."""
        return int(self.symbol_of.max()) + 1

    def row(self, state: int) -> Row:
        """The states that may follow `state`, ascending, and their probabilities."""
        inside = slice(int(self.indptr[state]), int(self.indptr[state + 1]))
        return self.indices[inside], self.data[inside]


def start_law(values: object, field: str, size: int) -> Vector:
    """A checked and normalised start law over `size` values."""
    law = probabilities(values, field)
    if law.size != size:
        raise Invalid(field, f"has {law.size} entries, but the alphabet has {size} values")
    return normalised(law)


def dense_row(values: object, field: str, size: int) -> Row:
    """One full row, checked, normalised and stripped of its zeros."""
    law = start_law(values, field, size)
    columns = np.flatnonzero(law).astype(np.int64)
    return columns, law[columns]


def sparse_row(to: object, p: object, field: str, size: int) -> Row:
    """One row as (states that may follow, probabilities), checked, normalised and stripped of its zeros."""
    columns = _ascending_states(to, field, size)
    law = probabilities(p, f"{field}.p")
    if law.size != columns.size:
        raise Invalid(f"{field}.p", f"has {law.size} entries, but {field}.to has {columns.size}")
    law = normalised(law)
    kept = np.flatnonzero(law)
    return columns[kept], law[kept]


def contraction_of(rows: int, columns: Indices, data: Vector, span: int = 1) -> int:
    """ceil(2^32 tau), tau = (R - 1)/(R + 1), R = r^span, r = largest ratio within a column; 2^32 when zeros mix with
    others. An entry of `columns` is the symbol that the entry of `data` leads to.
    """
    counts = np.bincount(columns)
    if np.any((counts != 0) & (counts != rows)):
        return CONTRACTION_ONE
    largest = np.zeros(counts.size)
    smallest = np.full(counts.size, np.inf)
    np.maximum.at(largest, columns, data)
    np.minimum.at(smallest, columns, data)
    ratio = max(Fraction(float(largest[y])) / Fraction(float(smallest[y])) for y in np.flatnonzero(counts)) ** span
    scaled = CONTRACTION_ONE * (ratio - 1) / (ratio + 1)
    return -(-scaled.numerator // scaled.denominator)


def _ascending_states(to: object, field: str, size: int) -> Indices:
    if not isinstance(to, list | tuple):
        raise Invalid(f"{field}.to", f"must be a list of states, found {kind_of(to)}")
    for position, state in enumerate(to):
        if type(state) is not int:
            raise Invalid(f"{field}.to", f"entry {position} must be an integer, found {kind_of(state)}")
        if not 0 <= state < size:
            raise Invalid(f"{field}.to", f"entry {position} is no state; states run from 0 to {size - 1}")
        if position and state <= to[position - 1]:
            raise Invalid(f"{field}.to", f"entry {position} must be larger than the entry before it")
    return np.array(to, dtype=np.int64)
