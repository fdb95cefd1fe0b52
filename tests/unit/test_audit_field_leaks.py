"""The auditor's leaks through a joint table: against every output of every extreme mechanism, and against the engine's
own sums.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from account_worlds import apart, halves
from field_reference import Other, enumerated

from beliefs.correlation.bound import Matrix
from beliefs.correlation.table_leaks import TableField, TableLeaks
from stream.audit.amounts import UNBOUNDED, UNITS
from stream.audit.field_gate import MARGIN
from stream.audit.field_rules import Axis
from stream.audit.field_table import Table


class Case(NamedTuple):
    weights: Matrix
    axes: tuple[Axis, ...]
    amounts: tuple[int, ...]

    @property
    def others(self) -> list[Other]:
        amounts = zip(self.amounts[::2], self.amounts[1::2], strict=True)
        sizes = zip(self.axes, self.weights.shape, amounts, strict=True)
        return [Other(*told, axis.cells, axis.groups or (0,) * size) for axis, size, told in sizes]


def random_case(seed: int, scale: float, zeros: bool, most: int) -> Case:
    """A table of one to four fields of every kind of reports, of at most so many cells."""
    source = np.random.default_rng([seed, int(scale * 10), zeros])
    shape = tuple(source.integers(2, 5, size=int(source.integers(1, 5))).tolist())
    while math.prod(shape) > most:
        shape = shape[1:]
    weights = source.dirichlet(np.full(math.prod(shape), 0.5)).reshape(shape) + 1e-12
    if zeros and len(shape) > 1:
        weights[source.random(shape) < 0.3] = 0.0
        for axis, size in enumerate(shape):  # no value is without any weight
            for value in range(size):
                np.moveaxis(weights, axis, 0)[value].flat[0] += 1e-3
    axes, amounts = [], []
    for axis, size in enumerate(shape):
        kind = int(source.integers(3))
        cells = [apart(size), halves(size), None][kind]
        groups = halves(size) if kind != 1 and source.random() < 0.6 else None
        axes.append(Axis(axis, cells, groups))
        amounts.append(int(source.random() * scale * UNITS) * int(source.random() < 0.8))
        amounts.append(int(source.random() * scale * UNITS) * int(groups is not None and source.random() < 0.6))
    return Case(weights, tuple(axes), tuple(amounts))


def plain(case: Case, secret: int) -> int:
    return sum(case.amounts) - sum(case.amounts[2 * secret : 2 * secret + 2])


def audited(case: Case, secret: int) -> int:
    table = Table(case.axes, case.weights)
    amounts = tuple(amount if amount <= table.far else UNBOUNDED for amount in case.amounts)
    return min(table.leak(secret, amounts), plain(case, secret))


@pytest.mark.parametrize("zeros", [False, True], ids=["positive", "zeros"])
@pytest.mark.parametrize("scale", [0.01, 0.5, 3.0, 20.0])
@pytest.mark.parametrize("seed", range(12))
def test_they_are_those_of_every_output_of_every_extreme_mechanism(seed: int, scale: float, zeros: bool) -> None:
    case = random_case(seed, scale, zeros, most=12)
    for secret in range(len(case.axes)):
        least = enumerated(case.weights, secret, [other for place, other in enumerate(case.others) if place != secret])
        found = audited(case, secret)
        assert min(float(least), plain(case, secret)) <= found <= math.ceil(least) + 1


@pytest.mark.parametrize("zeros", [False, True], ids=["positive", "zeros"])
@pytest.mark.parametrize("scale", [0.5, 10.0, 100.0, 200.0])
@pytest.mark.parametrize("seed", range(15))
def test_they_are_those_of_the_engine_but_for_some_units(seed: int, scale: float, zeros: bool) -> None:
    """Also where amounts count as without bound."""
    case = random_case(seed, scale, zeros, most=200)
    fields = [TableField(str(axis.place), axis.cells, axis.groups) for axis in case.axes]
    told = tuple(zip(case.amounts[::2], case.amounts[1::2], strict=True))
    for secret, leak in enumerate(TableLeaks(case.weights, fields).of(told)):
        assert abs(audited(case, secret) - leak) < MARGIN


def test_independent_fields_tell_nothing_of_each_other() -> None:
    weights = np.multiply.outer(np.array([0.25, 0.75]), np.array([0.5, 0.25, 0.25]))
    for cells in (apart(3), None):
        assert Table((Axis(0, apart(2), None), Axis(1, cells, None)), weights).leak(0, (0, 0, UNITS, 0)) <= 1


def test_a_table_of_one_field_tells_nothing() -> None:
    assert Table((Axis(0, apart(2), None),), np.array([0.25, 0.75])).leak(0, (UNITS, 0)) == 0


def test_more_outputs_than_are_looked_at_count_coarse_reports_in_full() -> None:
    """Two fields of 40 values with 20 groups each: 2 times 640,000 outputs."""
    weights = np.random.default_rng(1).dirichlet(np.full(3200, 0.2)).reshape(2, 40, 40) + 1e-9
    groups = tuple(value // 2 for value in range(40))
    axes = Axis(0, apart(2), None), *(Axis(place, apart(40), groups) for place in (1, 2))
    fields = [TableField(str(axis.place), axis.cells, axis.groups) for axis in axes]
    for coarse in (UNITS // 1000, 3 * UNITS):
        told = (UNITS // 2, coarse)
        leak = TableLeaks(weights, fields).of(((0, 0), told, told))[0]
        assert abs(Table(axes, weights).leak(0, (0, 0, *told, *told)) - leak) < MARGIN
