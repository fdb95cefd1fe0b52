from __future__ import annotations

import itertools
import math
import time
from decimal import Decimal

import numpy as np
import pytest
from account_oracles import Columns, both, extreme_columns, leak_units, power, products, response_columns
from account_worlds import apart, require_rising, some_table, some_units

from beliefs.checks import Invalid, InvariantBroken
from beliefs.correlation.account import BOUNDED, EXACT, SUMMED, AccountField, Totals
from beliefs.correlation.nested import grouped, nested_bound
from beliefs.correlation.table_leaks import TableField, TableLeaks, Told
from beliefs.rounding import INFINITE, UNITS_PER_NAT, units_up

WITHIN = UNITS_PER_NAT / 10**9
CLOSE = 4
"""Units by which an exact rule is above the truth on small tables."""


def some_groups(generator: np.random.Generator, size: int) -> tuple[int, ...]:
    return (0, *generator.integers(0, 2, size - 2).tolist(), 1)


@pytest.mark.parametrize("seed", range(4))
def test_randomised_responses_are_summed_exactly(seed: int) -> None:
    """Against every product of reports of values or classes, and of groups: 600 leaks."""
    generator, checked = np.random.default_rng([61, seed]), 0
    for _ in range(60):
        shape = tuple(generator.integers(2, 4, int(generator.integers(2, 4))).tolist())
        weights = some_table(generator, shape)
        fields, told = [], []
        for size in shape:
            classes = apart(size) if generator.random() < 0.7 else some_groups(generator, size)
            fields.append(TableField("field", classes, some_groups(generator, size)))
            told.append((some_units(generator, 0.0, 1e-5, 0.1, 1.0, 8.0), some_units(generator, 0.0, 0.0, 0.1, 2.0)))
        found = TableLeaks(weights, fields).of(tuple(told))
        columns = [
            both(response_columns(field.classes or (), fine), response_columns((0, 1), coarse), field.groups or ())
            for field, (fine, coarse) in zip(fields, told, strict=True)
        ]
        for secret, units in enumerate(found):
            exact = leak_units(weights, secret, columns[:secret] + columns[secret + 1 :])
            assert exact <= units <= exact + CLOSE
            checked += 1
    assert checked >= 120


@pytest.mark.parametrize("seed", range(2))
def test_the_nested_bound_is_the_largest_of_all_reports(seed: int) -> None:
    """Against every corner of all columns of a neighbour, and of all columns of its groups: 400 leaks."""
    generator = np.random.default_rng([62, seed])
    for _ in range(100):
        shape = tuple(generator.integers(2, 5, 2).tolist())
        weights, groups = some_table(generator, shape), some_groups(generator, shape[1])
        fine, coarse = some_units(generator, 0.0, 0.1, 1.0, 12.0), some_units(generator, 0.0, 0.1, 2.0, 9.0)
        columns = both(extreme_columns(shape[1], fine), extreme_columns(2, coarse), groups)
        exact = leak_units(weights, 0, [columns])
        arranged = grouped(weights, weights.sum(axis=1), 0, [groups])
        assert exact <= nested_bound(*arranged, fine, coarse) <= exact + CLOSE
        whole = grouped(weights, weights.sum(axis=1), 0, [None])
        exact = leak_units(weights, 0, [extreme_columns(shape[1], fine)])
        assert exact <= nested_bound(*whole, fine, 0) <= exact + CLOSE


def test_several_neighbours_of_any_kind_stay_below_the_bound() -> None:
    """Corners of one neighbour times those of the other, groups included; among them randomised response."""
    generator = np.random.default_rng(63)
    for number in range(150):
        weights = some_table(generator, (2, 3, 2))
        kinds = [apart(3) if number % 3 == 0 else None, None]
        told = tuple((some_units(generator, 0.1, 1.0, 5.0), some_units(generator, 0.0, 0.0, 1.0)) for _ in range(2))
        if number % 5 == 0:
            told = ((0, 0), told[1])
        groups = [(0, 0, 1), (0, 1)]
        columns = [
            both(
                extreme_columns(size, fine) if kind is None else response_columns(kind, fine),
                extreme_columns(2, coarse),
                group,
            )
            for size, kind, group, (fine, coarse) in zip((3, 2), kinds, groups, told, strict=True)
        ]
        fields = [TableField("other", kind, group) for kind, group in zip(kinds, groups, strict=True)]
        leaks = TableLeaks(weights, [TableField("secret", None), *fields])
        units = leaks.of(((0, 0), *told))[0]
        exact = leak_units(weights, 0, columns)
        assert exact <= units <= sum(sum(each) for each in told)
        assert number % 5 or units <= exact + CLOSE, "one neighbour alone reaches the bound"


def test_several_neighbours_reporting_again_and_again() -> None:
    """Any reports of any levels, whichever values they name, tell at most what is summed up; the worst tells that."""
    generator = np.random.default_rng(64)
    for _ in range(40):
        shape = (2, 3, 2)
        weights = some_table(generator, shape)
        levels = [[some_units(generator, 0.2, 1.0, 2.0) for _ in range(times)] for times in (2, 2)]
        columns = []
        for size, mine in zip(shape[1:], levels, strict=True):
            reports = [response_columns(apart(size), units) for units in mine]
            columns.append(
                [tuple(math.prod(each) for each in zip(*chosen, strict=True)) for chosen in itertools.product(*reports)]
            )
        fields = [TableField(str(axis), apart(size)) for axis, size in enumerate(shape)]
        told: Told = ((0, 0), *((sum(mine), 0) for mine in levels))
        exact = leak_units(weights, 0, columns)
        assert exact <= TableLeaks(weights, fields).of(told)[0] <= exact + CLOSE


def test_totals_hold_with_everything_at_once() -> None:
    """Two table fields, a third that follows both, and a protected one: every output of all of them together."""
    generator, budget = np.random.default_rng(65), units_up(0.7)
    for _ in range(60):
        joint = generator.dirichlet(np.full(16, 0.5)).reshape(2, 2, 2, 2)  # first, second, third, protected
        reported = [some_units(generator, 0.5, 2.0) for _ in range(3)]
        totals = Totals(
            [AccountField("first", 0, apart(2)), AccountField("second", 1, apart(2)), AccountField("third")],
            joint.sum(axis=(2, 3)),
            budget,
        )
        found = totals.of(tuple(units for each in reported for units in (each, 0)))
        channels = [response_columns(apart(2), units) for units in reported]
        released = protected_channel(joint.sum(axis=(0, 1, 2)), budget)
        for secret in range(3):
            columns = [*channels[:secret], *channels[secret + 1 :], released]
            own = Decimal(reported[secret])
            assert leak_units(joint, secret, columns) + own <= found[secret]
        assert found[3] >= posterior_units(joint, [*channels, released])
        assert found[2] == sum(reported) + 2 * budget


def protected_channel(prior: np.ndarray, budget: int) -> Columns:
    """Columns of a release whose ratios to its own chance reach the budget on one side and keep it on the other."""
    cap, columns = power(budget), []
    for value in (0, 1):
        mass, other = Decimal(float(prior[value])), Decimal(float(prior[1 - value]))
        raised = min(cap, (1 - other / cap) / mass)
        lowered = (1 - raised * mass) / other
        columns.append((raised, lowered) if value == 0 else (lowered, raised))
    return [*columns]


def posterior_units(joint: np.ndarray, columns: list[Columns]) -> Decimal:
    """How much more or less likely any output makes a value of the protected field, the last axis."""
    laws = [[Decimal(float(each)) for each in joint.reshape(-1, 2)[:, value]] for value in (0, 1)]
    prior = [sum(law, Decimal(0)) for law in laws]
    worst = Decimal(1)
    for chances in products(columns):
        seen = [
            sum((p * c for p, c in zip(law, chances[value::2], strict=True)), Decimal(0)) / prior[value]
            for value, law in enumerate(laws)
        ]
        marginal = (prior[0] * seen[0] + prior[1] * seen[1]) / (prior[0] + prior[1])
        worst = max(worst, *(each / marginal for each in seen), *(marginal / each for each in seen))
    return worst.ln() * UNITS_PER_NAT


def test_without_a_table_everything_counts_in_full() -> None:
    fields = [AccountField("one"), AccountField("two", None, None, (0, 0, 1))]
    assert Totals(fields).of((5, 0, 7, 2)) == (14, 14)
    assert Totals(fields, budget=100).of((5, 0, 7, 2)) == (214, 214, 114)
    assert Totals(fields, budget=INFINITE).of((0, 0, 0, 0)) == (INFINITE, INFINITE, INFINITE)
    assert Totals(fields).of((INFINITE, 0, INFINITE, 1)) == (INFINITE, INFINITE)
    assert Totals(fields).rules == (SUMMED, SUMMED)


def test_a_table_says_which_rule_serves_whom() -> None:
    pair = np.array([[8.0, 1.0], [1.0, 6.0]])
    fields = [AccountField("bits", 1, None), AccountField("loose"), AccountField("named", 0, apart(2))]
    totals = Totals(fields, pair)
    assert totals.rules == (EXACT, SUMMED, BOUNDED)
    nat = UNITS_PER_NAT
    first, second, third = totals.of((nat, 0, nat // 2, 0, 2 * nat, 0))
    assert second == 3.5 * nat
    assert first < 3.5 * nat
    assert third < 3.5 * nat
    assert totals.of(totals.nothing) == (0, 0, 0)


def test_what_is_told_without_end_saturates() -> None:
    """A neighbour that reports for ever tells at most the logarithm of the largest ratio in the table."""
    pair = np.array([[8.0, 1.0], [1.0, 6.0]])
    for classes in (apart(2), None):
        totals = Totals([AccountField("one", 0, classes), AccountField("two", 1, classes)], pair)
        saturated = units_up(math.log((6 / 7) / (1 / 9)))
        for nats in (100, 10_000, 1_000_000):
            assert saturated - 1 <= totals.of((0, 0, nats * UNITS_PER_NAT, 0))[0] <= saturated + CLOSE
    sure = Totals([AccountField("one", 0, apart(2)), AccountField("two", 1, apart(2))], np.eye(2))
    for nats in (1, 50, 10_000):
        assert sure.of((0, 0, nats * UNITS_PER_NAT, 0))[0] == nats * UNITS_PER_NAT


def test_totals_never_fall_when_more_is_told() -> None:
    generator = np.random.default_rng(66)
    for number in range(30):
        shape = (3, 2, 4)
        kinds = [apart(size) if (number >> axis) % 2 == 0 else None for axis, size in enumerate(shape)]
        fields = [
            AccountField(str(axis), axis, kind, some_groups(generator, size))
            for axis, (kind, size) in enumerate(zip(kinds, shape, strict=True))
        ]
        totals = Totals(fields, some_table(generator, shape))
        require_rising(totals, generator, 2)


def test_groups_of_many_fields_are_bounded_where_their_products_are_too_many() -> None:
    generator = np.random.default_rng(67)
    shape, groups = (6, 6, 6, 6), (0, 1, 2, 3, 4, 5)
    weights = generator.gamma(0.5, size=shape) + 1e-6
    leaks = TableLeaks(weights, [TableField(str(axis), apart(6), groups) for axis in range(4)])
    nat = UNITS_PER_NAT
    alone, both_told = leaks.of(((nat, 0),) * 4), leaks.of(((nat, nat // 4),) * 4)
    assert leaks.responses.columns([leaks._axis(axis, 1, 1) for axis in range(4)]) > 1 << 20
    for fine, more in zip(alone, both_told, strict=True):
        assert fine <= more <= fine + 3 * nat // 4


def test_five_fields_take_milliseconds() -> None:
    generator = np.random.default_rng(68)
    shape = (12, 12, 12, 8, 7)
    weights = generator.gamma(0.5, size=shape)
    for classes in (apart, lambda _: None):
        totals = Totals([AccountField(str(axis), axis, classes(size)) for axis, size in enumerate(shape)], weights)
        took = []
        for number in range(7):
            account = tuple(units for axis in range(5) for units in (UNITS_PER_NAT // (axis + number + 1), 0))
            start = time.process_time()
            totals.of(account)
            took.append(time.process_time() - start)
        assert min(took) < 0.02, "5 ms on a quiet machine"


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones((1025, 1024)), "1,049,600 cells"),
        (np.array([[1.0, 1e-70], [1.0, 1.0]]), "2\\^-200"),
        (np.array([[1.0, 0.0], [1.0, 0.0]]), "value 1 .counted from 0. of two"),
        (np.array([[1.0, -1.0], [1.0, 1.0]]), "negative"),
        (np.ones((2, 2, 2)), "3 axes"),
        (np.ones((3, 2)), "3 values of one, but the field has 2"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(weights: np.ndarray, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        Totals([AccountField("one", 0, (0, 1)), AccountField("two", 1, None)], weights)


def test_fields_that_do_not_fit_their_table_are_refused() -> None:
    with pytest.raises(Invalid, match="0 to 1, each once"):
        Totals([AccountField("one", 0), AccountField("two", 0)], np.ones((2, 2)))
    with pytest.raises(Invalid, match="one is missing"):
        Totals([AccountField("one", 0)])
    with pytest.raises(Invalid, match="one is missing"):
        Totals([AccountField("one")], np.ones(2))
    with pytest.raises(InvariantBroken):
        Totals([AccountField("one")]).of((1,))


@pytest.mark.parametrize("seed", range(40))
def test_beyond_what_can_be_told_nothing_is_added(seed: int) -> None:
    """Groups that gain nothing then weigh nothing; where rounding leaves none, the level stays: no jump to the sum."""
    source = np.random.default_rng(seed)
    laws, edges = source.dirichlet(np.full(6, 0.5), 3), np.array([0, 2, 4, 6])
    half, coarse = UNITS_PER_NAT // 2, (60, 249, 251, 10_000)
    told = [nested_bound(laws, edges, half, amount * UNITS_PER_NAT) for amount in coarse]
    assert max(told) - min(told) <= 64
