"""Totals of a joint table that is known within radii: of every table within them, by definition and by sampling."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pytest
from account_oracles import Columns, Matrix, both, moved_leak_units, response_columns
from account_worlds import apart, halves, require_rising, some_radii, some_table, some_units

from beliefs.checks import Invalid
from beliefs.correlation.account import BOUNDED, EXACT, AccountField, Totals
from beliefs.correlation.table_leaks import TableField, TableLeaks
from beliefs.correlation.table_radii import ROOM
from beliefs.rounding import UNITS_PER_NAT, nats
from beliefs.simplex import Vector

NAT = UNITS_PER_NAT
CLOSE = NAT // 10**9
"""Units by which what is exact may be above the truth on small tables."""


def with_room(radii: Vector) -> list[Decimal]:
    """What the account makes of radii: all are raised by the same where one is above 0."""
    more = Decimal(ROOM) if radii.any() else Decimal(0)
    return [min(Decimal(1), Decimal(radius) + more) for radius in radii.tolist()]


def columns_of(field: TableField, fine: int, coarse: int) -> Columns:
    groups = field.groups or (0,) * len(field.classes or ())
    return both(response_columns(field.classes or (), fine), response_columns(sorted(set(groups)), coarse), groups)


@pytest.mark.parametrize("seed", range(4))
def test_randomised_responses_are_exact_under_the_worst_table_within_the_radii(seed: int) -> None:
    """Against every product of reports, every cell moved by itself: 600 leaks."""
    generator, checked = np.random.default_rng([71, seed]), 0
    for _ in range(60):
        shape = tuple(generator.integers(2, 4, int(generator.integers(2, 4))).tolist())
        weights, radii = some_table(generator, shape), [some_radii(generator, size) for size in shape]
        fields, told = [], []
        for size in shape:
            classes = apart(size) if generator.random() < 0.7 else halves(size)
            fields.append(TableField("field", classes, halves(size)))
            told.append((some_units(generator, 0.0, 1e-5, 0.1, 1.0, 8.0), some_units(generator, 0.0, 0.0, 0.1, 2.0)))
        leaks = TableLeaks(weights, fields, radii)
        assert all(leaks.exact(secret) for secret in range(len(shape)))
        columns = [columns_of(field, *each) for field, each in zip(fields, told, strict=True)]
        for secret, units in enumerate(leaks.of(tuple(told))):
            others = columns[:secret] + columns[secret + 1 :]
            least = moved_leak_units(weights, secret, others, [Decimal(each) for each in radii[secret].tolist()])
            most = moved_leak_units(weights, secret, others, with_room(radii[secret]))
            plain = sum(sum(each) for each in told) - sum(told[secret])
            assert min(least, plain) <= units <= most + CLOSE
            checked += 1
    assert checked >= 120


def moved_table(generator: np.random.Generator, weights: Matrix, secret: int, radii: Vector) -> Matrix:
    """Another table whose laws given the secret's values lie within the radii: somewhere, or as far as possible."""
    turned = np.moveaxis(weights, secret, 0).copy()
    flat = turned.reshape(turned.shape[0], -1)
    flat /= flat.sum(axis=1, keepdims=True)
    for law, radius in zip(flat, radii.tolist(), strict=True):
        left = radius * (1.0 if generator.random() < 0.7 else generator.random()) * (1.0 - 1e-12)
        gains = int(generator.integers(law.size))
        for place in generator.permutation(law.size).tolist():
            taken = min(left, law[place]) if place != gains else 0.0
            law[place] -= taken
            law[gains] += taken
            left -= taken
    return np.moveaxis(flat.reshape(turned.shape), 0, secret)


@pytest.mark.parametrize("kind", ["responses", "any", "mixed"])
def test_no_table_within_the_radii_tells_more(kind: str) -> None:
    """Sampled tables, each with the account of a table that is exact; among them some that come near."""
    generator, nearest = np.random.default_rng(72), math.inf
    for _ in range(40):
        shape = (2, 3, 2)
        weights, told = generator.gamma(0.7, size=shape) + 1e-3, ((0, 0), (NAT, 0), (2 * NAT, NAT // 2))
        classes = {"responses": (apart(3), apart(2)), "any": (None, None), "mixed": (apart(3), None)}[kind]
        fields = [TableField("secret", apart(2))]
        fields += [TableField(str(at), each, (0, 1)[:2] if at else None) for at, each in enumerate(classes)]
        radii = np.array([0.05, 0.3]) * generator.random()
        known = [radii, np.zeros(3), np.zeros(2)]
        bound = TableLeaks(weights, fields, known).of(told)[0]
        for _ in range(60):
            truth = moved_table(generator, weights, 0, radii) + 1e-300
            told_by = TableLeaks(np.where(truth < 1e-50, 0.0, truth), fields).of(told)[0]
            assert told_by <= bound
            nearest = min(nearest, bound - told_by)
    assert nearest < NAT // 20, "some sampled table comes near to the bound"


def test_radii_of_nothing_are_a_table_that_is_exact() -> None:
    """To the bit; and tiny radii make a tiny difference."""
    generator = np.random.default_rng(75)
    for number in range(20):
        shape = (3, 2, 4)
        weights = generator.gamma(1.0, size=shape) + 0.1
        kinds = [apart(size) if (number >> axis) % 2 == 0 else None for axis, size in enumerate(shape)]
        fields = [
            TableField(str(axis), kind, halves(size))
            for axis, (kind, size) in enumerate(zip(kinds, shape, strict=True))
        ]
        told = tuple((some_units(generator, 0.5, 3.0), some_units(generator, 0.0, 0.5)) for _ in shape)
        exact = TableLeaks(weights, fields).of(told)
        assert TableLeaks(weights, fields, [np.zeros(size) for size in shape]).of(told) == exact
        nearly = TableLeaks(weights, fields, [np.full(size, 1e-12) for size in shape]).of(told)
        assert all(0 <= late - early < NAT >> 10 for early, late in zip(exact, nearly, strict=True))


def test_totals_rise_with_the_radii_up_to_the_plain_sum() -> None:
    generator = np.random.default_rng(76)
    for classes in (apart, lambda _: None):
        weights = generator.gamma(1.0, size=(3, 4, 2)) + 0.1
        fields = [AccountField(str(axis), axis, classes(size)) for axis, size in enumerate(weights.shape)]
        account = (NAT, 0, NAT // 2, 0, 2 * NAT, 0)
        before = Totals(fields, weights).of(account)
        for radius in (1e-6, 0.01, 0.1, 0.3, 1.0):
            known = [np.full(size, radius) for size in weights.shape]
            after = Totals(fields, weights, None, known).of(account)
            assert all(late > early for early, late in zip(before, after, strict=True)) or radius > 0.1
            assert all(late >= early for early, late in zip(before, after, strict=True))
            before = after
        assert before == (7 * NAT // 2,) * 3


def test_totals_never_fall_when_more_is_told() -> None:
    generator = np.random.default_rng(77)
    for number in range(30):
        shape = (3, 2, 4)
        kinds = [apart(size) if (number >> axis) % 2 == 0 else None for axis, size in enumerate(shape)]
        fields = [
            AccountField(str(axis), axis, kind, halves(size))
            for axis, (kind, size) in enumerate(zip(kinds, shape, strict=True))
        ]
        radii = [some_radii(generator, size) for size in shape]
        totals = Totals(fields, some_table(generator, shape), None, radii)
        require_rising(totals, generator, 64)


def test_where_patterns_are_too_many_every_output_is_moved_as_far_as_any() -> None:
    """It lies above what is exact, and below the bound for any reports."""
    generator = np.random.default_rng(78)
    weights = generator.gamma(1.0, size=(2, 3, 3)) + 0.1
    known = [np.array([0.02, 0.05]), np.zeros(3), np.zeros(3)]
    told = ((0, 0), (NAT, 0), (NAT // 2, 0))
    leaks = TableLeaks(weights, [TableField(str(axis), apart(size)) for axis, size in enumerate(weights.shape)], known)
    exact = leaks.of(told)[0]
    axes = [leaks._axis(place, *each) for place, each in enumerate(told)]
    moved = leaks.responses.leaks(axes)[0]
    assert exact < moved < leaks._bounded(0, told)
    wide = np.ones((2, 40, 40)) + generator.random((2, 40, 40))
    known = [np.array([0.02, 0.05]), np.zeros(40), np.zeros(40)]
    groups = tuple(value // 2 for value in range(40))
    fields = [AccountField("secret", 0, apart(2)), *(AccountField(str(at), at, apart(40), groups) for at in (1, 2))]
    totals = Totals(fields, wide, None, known)
    assert totals.rules == (BOUNDED, EXACT, EXACT)
    coarse = totals.of((0, 0, NAT, NAT // 8, NAT, NAT // 8))[0]
    fine = totals.of((0, 0, NAT, 0, NAT, 0))[0]
    assert totals.table is not None
    finely = totals.table.responses.leaks([totals.table._axis(at, NAT if at else 0, 0) for at in range(3)])[0]
    assert fine < finely < coarse <= finely + NAT // 4


def test_a_value_is_never_held_against_itself() -> None:
    """Nothing is known of one of two values, and all of the other: it may only differ as far as that one may."""
    weights = np.array([[5.0, 5.0], [5.0, 5.0]])
    one = TableLeaks(weights, [TableField("a", apart(2)), TableField("b", apart(2))], [np.array([0.0, 0.5])] * 2)
    largest = math.log(1.0 / (0.5 + 0.5 / math.e))
    smallest = math.log((0.5 + 0.5 / math.e) * math.e)
    assert nats(one.of(((0, 0), (NAT, 0)))[0]) == pytest.approx(max(largest, smallest), abs=4 * ROOM)


def test_what_counts_as_everything_tells_all() -> None:
    """Beyond 64 nats a radius may hide whatever a report would show."""
    weights = np.array([[8.0, 1.0], [1.0, 6.0]])
    for classes in (apart(2), None):
        fields = [AccountField("one", 0, classes), AccountField("two", 1, classes)]
        totals = Totals(fields, weights, None, [np.full(2, 0.2)] * 2)
        for amount in (300, 100_000):
            assert totals.of((0, 0, amount * NAT, 0))[0] == amount * NAT


def test_five_fields_take_milliseconds() -> None:
    generator = np.random.default_rng(79)
    shape = (4, 4, 4, 4, 4)
    weights, known = generator.gamma(0.5, size=shape) + 1e-3, [np.full(4, 0.02)] * 5
    for classes in (apart, lambda _: None):
        totals = Totals([AccountField(str(axis), axis, classes(4)) for axis in range(5)], weights, None, known)
        took = []
        for number in range(7):
            account = tuple(units for axis in range(5) for units in (NAT // (axis + number + 1), 0))
            start = time.process_time()
            totals.of(account)
            took.append(time.process_time() - start)
        assert min(took) < 0.1, "10 ms on a quiet machine"


@pytest.mark.parametrize(
    ("radii", "words"),
    [
        ([np.zeros(2)], "for each of 2 fields"),
        ([np.zeros(2), np.zeros(3)], "of two is given for 3 values, but there are 2"),
        ([np.zeros(2), np.array([0.5, 1.5])], "of two must lie between 0 and 1"),
        ([np.array([math.nan, 0.0]), np.zeros(2)], "of one must lie between 0 and 1"),
    ],
)
def test_radii_that_cannot_be_used_are_refused(radii: Sequence[Vector], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        Totals([AccountField("one", 0, (0, 1)), AccountField("two", 1, None)], np.ones((2, 2)), None, radii)
