"""Markov chains over states: the public model of how one value follows another.

In a chain of first order the states are the values themselves. In a longer memory (`contexts.py`) a state is what is
remembered of the values before, and `symbol_of` says which value each state ends with.

A row is normalised by definition: the numbers in use are row / (its plain left-to-right sum), and everything after,
the audit included, treats those quotients as the model itself.

`contraction` bounds how much of a relative error in a belief survives one prediction; `chain.md` proves the bound.

A chain may have several phases: the rows of one after the other, each with transitions of its own for the same states.
The step of number i, counted from 0, is taken with those of phase i modulo their number. `phases.md` proves what holds.

A chain with a tail names a few states in each row and leaves the rest of the row's mass, `left[x]`, to one law for all
rows: C(x, y) = named(x, y) + left[x] tail[y]. So a chain over tens of thousands of states is small, and whatever leaves
something to its tail calls nothing impossible. `listed.md` proves what is promised of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from beliefs.alphabet import SIZE_MAX
from beliefs.checks import Invalid, kind_of
from beliefs.simplex import TOLERANCE, Vector, normalised, plain_sum, portions, probabilities

Indices = npt.NDArray[np.int64]
Row = tuple[Indices, Vector]
"""Ascending columns and their positive probabilities, already normalised; beside a tail, these of the named states."""

CONTRACTION_ONE = 1 << 32
TAIL_LEAST = 2.0**-400
"""The smallest probability of a tail: what is a multiple of it stays far from the doubles that lose digits."""
DENSE_FROM_DENSITY = 0.5
"""Below one half the compressed rows touch fewer bytes (16 an entry against 8) and are the only form kept."""


@dataclass(frozen=True, eq=False)
class Chain:
    """A start law and transition rows, compressed by row; `dense` is the same matrix, or 0 x 0 when it is sparse.

    `contraction` speaks of `span` predictions in a row. Where `symbol_of` is not the identity, a row leads to one state
    at most for each symbol, and `span` symbols fix the state behind them. `tail` and `left` are empty where there is
    no tail. Of a chain in phases `indptr`, `indices`, `data` and `dense` hold the rows of one phase after the other.
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
    tail: Vector
    left: Vector
    phases: int = 1

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
        indptr, indices, data = _compressed(start, rows)
        dense, none = np.zeros((0, 0)), np.zeros(0)
        if data.size >= DENSE_FROM_DENSITY * size * size:
            dense = np.zeros((size, size))
            dense[np.repeat(np.arange(size), np.diff(indptr)), indices] = data
        symbol_of = np.arange(size) if symbol_of is None else symbol_of
        for array in (start, indptr, indices, data, dense, symbol_of, none):
            array.setflags(write=False)
        contraction = contraction_of(size, symbol_of[indices], data, span)
        return cls(size, start, indptr, indices, data, dense, contraction, symbol_of, span, none, none)

    @classmethod
    def from_tail(cls, start: Vector, tail: Vector, rows: Sequence[Row]) -> Chain:
        """From laws of equal length and, for each state, what `named_row` has made of its row."""
        indptr, indices, data = _compressed(start, rows)
        size, symbol_of, dense = len(rows), np.arange(len(rows)), np.zeros((0, 0))
        left = np.array([leftover(named) for _, named in rows])
        for array in (start, indptr, indices, data, dense, symbol_of, tail, left):
            array.setflags(write=False)
        contraction = tail_contraction(tail, left, indptr, indices, data)
        return cls(size, start, indptr, indices, data, dense, contraction, symbol_of, 1, tail, left)

    @classmethod
    def in_phases(cls, chains: Sequence[Chain]) -> Chain:
        """One chain of these, which share their start and their states, and have no tail."""
        first = chains[0]
        for number, chain in enumerate(chains):
            same = np.array_equal(chain.start, first.start) and np.array_equal(chain.symbol_of, first.symbol_of)
            if not same or chain.span != first.span or chain.has_tail or chain.phases != 1:
                raise Invalid(f"phases[{number}]", "has other states than the first phase")
        before = np.cumsum([0, *(chain.data.size for chain in chains)])
        ends = [chain.indptr[1:] + shift for chain, shift in zip(chains, before[:-1], strict=True)]
        all_dense = all(chain.dense.size for chain in chains)
        dense = np.concatenate([chain.dense for chain in chains]) if all_dense else np.zeros((0, 0))
        indptr = np.concatenate([np.zeros(1, dtype=np.int64), *ends])
        indices, data = (np.concatenate([getattr(chain, name) for chain in chains]) for name in ("indices", "data"))
        for array in (indptr, indices, data, dense):
            array.setflags(write=False)
        contraction = max(chain.contraction for chain in chains)
        places = (first.size, first.start, indptr, indices, data, dense, contraction, first.symbol_of, first.span)
        return cls(*places, first.tail, first.left, len(chains))

    @property
    def symbols(self) -> int:
        """The number of values; every value has a state."""
        return int(self.symbol_of.max()) + 1

    @property
    def has_tail(self) -> bool:
        return self.tail.size > 0

    def named(self, state: int, step: int = 0) -> Row:
        """The states that the row of `state` names, ascending, and their probabilities beside the tail's, for a step of
        this number.
        """
        place = step % self.phases * self.size + state
        inside = slice(int(self.indptr[place]), int(self.indptr[place + 1]))
        return self.indices[inside], self.data[inside]

    def row(self, state: int, step: int = 0) -> Row:
        """The states that may follow `state` with this step, ascending, and their probabilities."""
        columns, values = self.named(state, step)
        if not self.has_tail:
            return columns, values
        law = self.left[state] * self.tail
        law[columns] += values
        following = np.flatnonzero(law).astype(np.int64)
        return following, law[following]


def _compressed(start: Vector, rows: Sequence[Row]) -> tuple[Indices, Indices, Vector]:
    """Where each row begins, its columns, and its entries."""
    size = len(rows)
    if size == 0 or size > SIZE_MAX or start.size != size:
        raise Invalid("rows", f"has {size} rows for a start law of {start.size} values; they must be equally many")
    indptr = np.zeros(size + 1, dtype=np.int64)
    indptr[1:] = np.cumsum([columns.size for columns, _ in rows])
    indices = np.concatenate([columns for columns, _ in rows]).astype(np.int64)
    return indptr, indices, np.concatenate([values for _, values in rows]).astype(np.float64)


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


def tail_law(values: object, field: str, size: int) -> Vector:
    """A checked and normalised law that gives every value something."""
    law = start_law(values, field, size)
    small = np.flatnonzero(law < TAIL_LEAST)
    if small.size:
        raise Invalid(field, f"entry {small[0]} is below 2^-400; a tail must leave something to every value")
    return law


def named_row(to: object, p: object, field: str, size: int) -> Row:
    """The part of a row that stands beside a tail; it may be empty. What it lacks to 1 is the tail's.

    A sum within the tolerance of 1 is one that was meant to be 1: nothing is left then.
    """
    columns = _ascending_states(to, field, size)
    masses = portions(p, f"{field}.p")
    if masses.size != columns.size:
        raise Invalid(f"{field}.p", f"has {masses.size} entries, but {field}.to has {columns.size}")
    if plain_sum(masses) > 1.0 - TOLERANCE:
        masses = normalised(masses)
    kept = np.flatnonzero(masses)
    return columns[kept], masses[kept]


def leftover(named: Vector) -> float:
    """What the named states leave to the tail; nothing, where all that is left is the rounding of a sum."""
    left = 1.0 - plain_sum(named)
    return left if left > TOLERANCE / 2 else 0.0


def tail_contraction(tail: Vector, left: Vector, indptr: Indices, columns: Indices, data: Vector) -> int:
    """As `contraction_of`, of a chain with a tail, for an r that is not below the largest ratio within a column.

    Within column y everything lies between tail[y] min(left) and tail[y] times the largest of left[x] and
    data / tail[y] + left[x]. The three roundings of r are below 2^-48.
    """
    least = float(left.min())
    if least == 0.0:
        return CONTRACTION_ONE
    of_named = data / tail[columns] + left[np.repeat(np.arange(left.size), np.diff(indptr))]
    largest = max(float(left.max()), float(of_named.max(initial=0.0)))
    raised = largest / least * (1.0 + 2.0**-48)
    if raised == np.inf:
        return CONTRACTION_ONE
    ratio = Fraction(raised)
    scaled = CONTRACTION_ONE * (ratio - 1) / (ratio + 1)
    return -(-scaled.numerator // scaled.denominator)


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
