"""The auditor's leaks through a joint table that is known within radii: against every output under the worst of all
tables within them, and against the engine's own sums; radii against the file's rules.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from account_oracles import both, extreme_columns, moved_leak_units, response_columns
from account_worlds import apart, halves

from beliefs.correlation.bound import Matrix
from beliefs.correlation.joint_file import JointModel, parse, serialise
from beliefs.correlation.table_leaks import TableField, TableLeaks
from beliefs.correlation.table_radii import ROOM, known_within
from beliefs.correlation.tables import JointTable
from beliefs.simplex import Vector
from stream.audit.amounts import UNBOUNDED, UNITS
from stream.audit.field_gate import MARGIN
from stream.audit.field_joint import joint_in
from stream.audit.field_rules import Axis
from stream.audit.field_table import Table


def decimals(radii: Vector) -> tuple[Decimal, ...]:
    return tuple(map(Decimal, radii.tolist()))


class Case:
    """A table of two or three fields of every kind of reports, whose laws are known within radii."""

    def __init__(self, seed: int, scale: float, zeros: bool, most: int) -> None:
        source = np.random.default_rng([seed, int(scale * 10), zeros])
        sizes = source.integers(2, 5, size=int(source.integers(2, 4))).tolist()
        while math.prod(sizes) > most:
            sizes[sizes.index(max(sizes))] -= 1
        shape = tuple(sizes)
        self.weights: Matrix = source.dirichlet(np.full(math.prod(shape), 0.5)).reshape(shape) + 1e-9
        if zeros:
            self.weights[source.random(shape) < 0.3] = 0.0
            for axis, size in enumerate(shape):  # no value is without any weight
                for value in range(size):
                    np.moveaxis(self.weights, axis, 0)[value].flat[0] += 1e-3
        self.radii = [source.choice([0.004, 0.1, 0.6]) * source.random(size) for size in shape]
        self.fields: list[TableField] = []
        self.told: list[tuple[int, int]] = []
        for axis, size in enumerate(shape):
            kind = int(source.integers(3))
            groups = halves(size) if kind != 1 and source.random() < 0.6 else None
            self.fields.append(TableField(str(axis), [apart(size), halves(size), None][kind], groups))
            fine = int(source.random() * scale * UNITS) * int(source.random() < 0.9)
            self.told.append((fine, int(source.random() * scale * UNITS) * int(groups is not None)))

    def plain(self, secret: int) -> int:
        return sum(sum(each) for place, each in enumerate(self.told) if place != secret)

    def audited(self, secret: int) -> int:
        axes = tuple(
            Axis(place, field.classes, field.groups, decimals(radii))
            for place, (field, radii) in enumerate(zip(self.fields, self.radii, strict=True))
        )
        table = Table(axes, self.weights)
        amounts = tuple(amount if amount <= table.far else UNBOUNDED for each in self.told for amount in each)
        return min(table.leak(secret, amounts), self.plain(secret))

    def worst(self, secret: int, raised: float = 0.0) -> Decimal:
        """Every output of every extreme mechanism, every cell moved by itself."""
        columns = []
        for field, size, (fine, coarse) in zip(self.fields, self.weights.shape, self.told, strict=True):
            groups = field.groups or (0,) * size
            reports = extreme_columns(size, fine) if field.classes is None else response_columns(field.classes, fine)
            columns.append(both(reports, response_columns(sorted(set(groups)), coarse), groups))
        radii = [min(Decimal(1), radius + Decimal(raised)) for radius in decimals(self.radii[secret])]
        return moved_leak_units(self.weights, secret, columns[:secret] + columns[secret + 1 :], radii)


@pytest.mark.parametrize("zeros", [False, True], ids=["positive", "zeros"])
@pytest.mark.parametrize("scale", [0.01, 0.5, 3.0, 20.0])
@pytest.mark.parametrize("seed", range(8))
def test_they_are_those_of_the_worst_table_within_the_radii(seed: int, scale: float, zeros: bool) -> None:
    case = Case(seed, scale, zeros, most=12)
    for secret in range(len(case.fields)):
        found, others = case.audited(secret), [each for at, each in enumerate(case.fields) if at != secret]
        assert min(case.worst(secret), case.plain(secret)) <= found + 1
        if all(other.classes is not None for other in others):
            assert found <= math.ceil(case.worst(secret, ROOM)) + 1


@pytest.mark.parametrize("zeros", [False, True], ids=["positive", "zeros"])
@pytest.mark.parametrize("scale", [0.5, 10.0, 100.0, 200.0])
@pytest.mark.parametrize("seed", range(20))
def test_they_are_those_of_the_engine_but_for_some_units(seed: int, scale: float, zeros: bool) -> None:
    """Also where amounts count as without bound."""
    case = Case(seed, scale, zeros, most=60)
    leaks = TableLeaks(case.weights, case.fields, case.radii).of(tuple(case.told))
    for secret, leak in enumerate(leaks):
        assert abs(case.audited(secret) - leak) < MARGIN


@pytest.mark.parametrize("seed", range(60))
def test_radii_that_are_just_as_large_as_chances_leave_no_roundings(seed: int) -> None:
    """Twentieths throughout, and amounts beside which roundings would be large."""
    source, case = np.random.default_rng([9, seed]), Case(seed, 60.0, zeros=False, most=30)
    shape = case.weights.shape
    case.weights = source.integers(0, 8, shape) * 0.05
    for axis, size in enumerate(shape):
        for value in range(size):
            np.moveaxis(case.weights, axis, 0)[value].flat[0] += 0.05
    case.radii = [source.integers(0, 7, size) * 0.05 for size in shape]
    leaks = TableLeaks(case.weights, case.fields, case.radii).of(tuple(case.told))
    assert all(abs(case.audited(secret) - leak) < MARGIN for secret, leak in enumerate(leaks))


def test_more_patterns_than_are_looked_at_are_bounded_alike() -> None:
    """Two fields of 40 values with 20 groups: 2 times 10 million patterns of fine and coarse reports."""
    weights = np.random.default_rng(1).dirichlet(np.full(3200, 0.2)).reshape(2, 40, 40) + 1e-9
    groups, radii = tuple(value // 2 for value in range(40)), np.array([0.01, 0.02])
    axes = Axis(0, apart(2), None, decimals(radii)), *(Axis(place, apart(40), groups) for place in (1, 2))
    fields = [TableField(str(axis.place), axis.cells, axis.groups) for axis in axes]
    known = [radii, np.zeros(40), np.zeros(40)]
    for coarse in (UNITS // 1000, 3 * UNITS):
        told = (UNITS // 2, coarse)
        leak = TableLeaks(weights, fields, known).of(((0, 0), told, told))[0]
        assert abs(Table(axes, weights).leak(0, (0, 0, *told, *told)) - leak) < MARGIN
    big = np.random.default_rng(2).dirichlet(np.full(2048, 0.2)).reshape((2,) * 11) + 1e-9
    axes = tuple(Axis(place, apart(2), None, decimals(radii) if place == 0 else None) for place in range(11))
    leaks = TableLeaks(big, [TableField(str(place), apart(2)) for place in range(11)], [radii] + [np.zeros(2)] * 10)
    assert not leaks.exact(0)
    told_each = ((0, 0), *(((UNITS // 8), 0),) * 10)
    amounts = tuple(amount for each in told_each for amount in each)
    assert abs(Table(axes, big).leak(0, amounts) - leaks.of(told_each)[0]) < MARGIN


def test_radii_are_read_from_the_file_or_follow_from_its_counts() -> None:
    table = JointTable(("a", "b"), (("x", "y"), ("p", "q", "r")), np.array([[30.0, 20.0, 0.0], [9.0, 1.0, 0.0]]))
    counted = JointModel(table, failure=0.1)
    stated = JointModel(table, radius={"a": np.array([0.0, 0.25]), "b": np.array([0.1, 1.0, 0.0])})
    found = joint_in(serialise(counted)).radii
    assert found is not None
    for name, columns, people in (("a", 3, [50, 10]), ("b", 2, [39, 21, 0])):
        needed = columns * math.log(2) + math.log(len(people) * 2 / 0.1)
        expected = [min(1.0, math.sqrt(needed / (2 * many))) if many else 1.0 for many in people]
        assert [float(radius) for radius in found[name]] == pytest.approx(expected, rel=1e-14)
    for model in (counted, stated):
        theirs, ours = joint_in(serialise(model)).radii, known_within(parse(serialise(model)))
        assert theirs is not None
        assert ours is not None
        for name in ("a", "b"):
            assert [float(radius) for radius in theirs[name]] == pytest.approx(ours[name].tolist(), rel=1e-15)
            assert all(Decimal(mine) >= its for mine, its in zip(ours[name].tolist(), theirs[name], strict=True))
    assert joint_in(serialise(JointModel(table))).radii is None
    assert known_within(parse(serialise(JointModel(table)))) is None
