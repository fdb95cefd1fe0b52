from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.belief import predict, rows_of
from beliefs.chain import CONTRACTION_ONE, Chain
from beliefs.checks import Invalid

STICKY = [[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]]


def tables(size_max: int, least: int) -> st.SearchStrategy[list[list[float]]]:
    def of_size(size: int) -> st.SearchStrategy[list[list[float]]]:
        row = st.lists(st.integers(least, 50), min_size=size, max_size=size).filter(any)
        return st.lists(row.map(lambda w: [x / sum(w) for x in w]), min_size=size, max_size=size)

    return st.integers(1, size_max).flatmap(of_size)


def uniform(size: int) -> list[float]:
    return [1 / size] * size


@given(tables(6, 0))
def test_rows_are_divided_by_their_plain_sums(table: list[list[float]]) -> None:
    chain = Chain.from_dense(uniform(len(table)), table)
    for x, row in enumerate(table):
        total = 0.0
        for entry in row:
            total = total + entry
        columns, values = chain.row(x)
        assert columns.tolist() == [y for y, entry in enumerate(row) if entry]
        assert values.tolist() == [entry / total for entry in row if entry]


@given(tables(6, 0))
def test_dense_and_sparse_forms_are_the_same_chain(table: list[list[float]]) -> None:
    size = len(table)
    sparse = [([y for y in range(size) if row[y]], [p for p in row if p]) for row in table]
    one, other = Chain.from_dense(uniform(size), table), Chain.from_sparse(uniform(size), sparse)
    for name in ("start", "indptr", "indices", "data", "dense", "contraction", "size"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    if one.dense.size:
        assert one.data.size * 2 >= size * size
        rebuilt = [[0.0] * size for _ in range(size)]
        for x in range(size):
            for y, p in zip(*one.row(x), strict=True):
                rebuilt[x][y] = p
        assert one.dense.tolist() == rebuilt
    else:
        assert one.dense.shape == (0, 0)
        assert one.data.size * 2 < size * size


@given(tables(5, 0))
def test_the_contraction_is_the_formula_rounded_up(table: list[list[float]]) -> None:
    chain = Chain.from_dense(uniform(len(table)), table)
    full = [[Fraction(0)] * chain.size for _ in range(chain.size)]
    for x in range(chain.size):
        for y, p in zip(*chain.row(x), strict=True):
            full[x][y] = Fraction(float(p))
    columns = [column for column in zip(*full, strict=True) if any(column)]
    if any(0 in column for column in columns):
        assert chain.contraction == CONTRACTION_ONE
    else:
        r = max(max(column) / min(column) for column in columns)
        assert chain.contraction == math.ceil((1 << 32) * (r - 1) / (r + 1))


@given(tables(5, 1), st.data())
def test_no_two_beliefs_come_out_further_apart_than_allowed(table: list[list[float]], data: st.DataObject) -> None:
    size = len(table)
    chain = Chain.from_dense(uniform(size), table)
    weights = st.lists(st.integers(1, 10**6).map(Fraction), min_size=size, max_size=size)
    first, second = data.draw(weights), data.draw(weights)
    rows = [[(y, Fraction(p)) for y, p in row] for row in rows_of(chain)]

    def distance(b: list[Fraction], other: list[Fraction]) -> float:
        ratios = [p / q for p, q in zip(b, other, strict=True)]
        return math.log(max(ratios) / min(ratios))

    allowed = chain.contraction / CONTRACTION_ONE * distance(first, second)
    assert distance(predict(first, rows), predict(second, rows)) <= allowed + 1e-12


def test_known_contractions() -> None:
    def contraction(table: list[list[float]]) -> int:
        return Chain.from_dense(uniform(len(table)), table).contraction

    assert contraction([[1.0]]) == 0
    assert contraction([[0.25, 0.75], [0.25, 0.75]]) == 0
    assert contraction([[0.75, 0.25], [0.25, 0.75]]) == 1 << 31
    assert contraction([[1.0, 0.0], [0.5, 0.5]]) == CONTRACTION_ONE
    assert contraction([[0.5, 0.5, 0.0]] * 3) == 0  # nobody ever reaches the third value
    assert contraction([[1.0, 1e-300], [1e-300, 1.0]]) == CONTRACTION_ONE


def test_a_chain_cannot_be_changed() -> None:
    chain = Chain.from_dense([0.6, 0.3, 0.1], STICKY)
    for array in (chain.start, chain.indptr, chain.indices, chain.data, chain.dense):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        chain.size = 2  # type: ignore[misc]


def test_a_callers_arrays_stay_its_own() -> None:
    start, table = np.array([0.5, 0.5]), np.array([[0.5, 0.5], [0.25, 0.75]])
    chain = Chain.from_dense(start, table)
    start[0] = table[0, 0] = 9.0
    assert chain.start.tolist() == [0.5, 0.5]
    assert chain.dense.tolist() == [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize(
    ("start", "rows", "field"),
    [
        ([0.5, 0.4], [[1.0, 0.0], [0.0, 1.0]], "start"),
        ([1.0], [[1.0, 0.0], [0.0, 1.0]], "start"),
        ([0.5, 0.5], [[1.0, 0.0], [0.0, 0.9]], "rows[1]"),
        ([0.5, 0.5], [[1.0, 0.0], [1.0]], "rows[1]"),
        ([0.5, 0.5], [[1.0, 0.0], "ab"], "rows[1]"),
        ([0.5, 0.5], [[0.5, math.nan], [0.0, 1.0]], "rows[0]"),
        ([0.5, 0.5], "ab", "rows"),
        ([1.0], [], "start"),
    ],
)
def test_bad_tables_name_their_row(start: object, rows: object, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        Chain.from_dense(start, rows)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("to", "p", "field"),
    [
        ([0, 2], [0.5, 0.5], "rows[1].to"),
        ([0, -1], [0.5, 0.5], "rows[1].to"),
        ([1, 0], [0.5, 0.5], "rows[1].to"),
        ([0, 0], [0.5, 0.5], "rows[1].to"),
        ([0, True], [0.5, 0.5], "rows[1].to"),
        ([0, 1.0], [0.5, 0.5], "rows[1].to"),
        ("01", [0.5, 0.5], "rows[1].to"),
        ([0, 1], [0.5], "rows[1].p"),
        ([0, 1], [0.5, 0.4], "rows[1].p"),
        ([], [], "rows[1].p"),
    ],
)
def test_bad_sparse_rows_name_their_part(to: object, p: object, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        Chain.from_sparse([0.5, 0.5], [([0], [1.0]), (to, p)])
    assert caught.value.field == field
