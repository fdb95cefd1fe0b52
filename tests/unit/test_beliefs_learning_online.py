"""What pairs of releases say about a chain: estimates by enumeration, intervals, and what is withheld for them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from beliefs.chain import Chain
from beliefs.checks import Invalid
from beliefs.leakage.robust import chain_error_units, diameter_units, total_variation, withheld_units
from beliefs.learning import online
from beliefs.learning.deviations import CLASSES, deviation, upper_class
from beliefs.learning.online import Response, Setup, intervals, learn, next_checkpoint, response_of, uniform_chain
from beliefs.rounding import INFINITE, UNITS_PER_NAT, budget_units

Table = np.ndarray


def setup_of(symbols: int, epsilon: float, **others: float) -> Setup:
    return Setup(symbols, budget_units(epsilon), **others)


def sticky(symbols: int, stay: float) -> Table:
    rows = np.full((symbols, symbols), (1 - stay) / (symbols - 1))
    np.fill_diagonal(rows, stay)
    return rows


def expected_pairs(setup: Setup, rows: Table, pairs: int) -> Table:
    """What would be counted on average, of users whose values are even at all times."""
    response, n = response_of(setup), setup.symbols
    channel = np.full((n, n), response.other)
    np.fill_diagonal(channel, response.keep)
    return np.rint(channel @ (rows / n) @ channel * pairs).astype(np.int64)


def drawn_pairs(setup: Setup, rows: Table, users: int, steps: int, seed: int) -> Table:
    source, n, response = np.random.default_rng(seed), setup.symbols, response_of(setup)
    value = source.integers(0, n, users)
    counts, before = np.zeros((n, n), dtype=np.int64), None
    for _ in range(steps):
        told = np.where(source.random(users) < response.keep - response.other, value, source.integers(0, n, users))
        if before is not None:
            np.add.at(counts, (before, told), 1)
        before = told
        value = (source.random(users)[:, None] > np.cumsum(rows, axis=1)[value]).sum(axis=1).clip(0, n - 1)
    return counts


def estimates(response: Response, counts: Table) -> tuple[Table, Table]:
    evidence = online._Evidence(response, counts, 0.0)
    return evidence.visits[:, 0], evidence.moves


@pytest.mark.parametrize("values", [(0, 1, 1), (2, 0, 2, 2)])
def test_the_estimates_are_right_on_average_over_all_that_may_be_released(values: tuple[int, ...]) -> None:
    """The coins of one event count in two pairs; in fractions, and as the learner computes it."""
    n, keep = 3, Fraction(1, 2)
    other = (1 - keep) / 2
    moves, as_doubles = np.zeros((n, n), dtype=object), np.zeros((n, n))
    visits = np.zeros(n)
    for told in itertools.product(range(n), repeat=len(values)):
        chance = math.prod((keep if x == y else other for x, y in zip(values, told, strict=True)), start=Fraction(1))
        counts = np.zeros((n, n), dtype=np.int64)
        for pair in itertools.pairwise(told):
            counts[pair] += 1
            for x, y in itertools.product(range(n), repeat=2):
                first, second = (
                    (Fraction(int(a == b)) - other) / (keep - other) for a, b in zip((x, y), pair, strict=True)
                )
                moves[x, y] += chance * first * second
        visited, moved = estimates(Response(float(keep), float(other)), counts)
        as_doubles += float(chance) * moved
        visits += float(chance) * visited
    true = np.zeros((n, n), dtype=int)
    for pair in itertools.pairwise(values):
        true[pair] += 1
    assert (moves == true).all()
    assert np.allclose(as_doubles, true, atol=1e-12) and np.allclose(visits, true.sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("chance", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("doubt", [0.5, 2.0, 6.0])
def test_a_sum_stays_below_its_deviation(chance: float, doubt: float) -> None:
    """The tail of a binomial law, exactly; in a class that is its own, so nothing is divided."""
    closest = 0.0
    for draws in (1, 10, 100, 5000):
        bound = float(deviation(np.array(draws * chance * (1 - chance)), 1.0, doubt))
        tail = float(binom.sf(math.ceil(draws * chance + bound - 1e-9) - 1, draws, chance))
        assert tail <= math.exp(-doubt)
        closest = max(closest, tail * math.exp(doubt))
    assert closest > 0.005


def test_classes_cover_what_they_are_chosen_for() -> None:
    amounts = np.array([0.0, 1.0, 1.1, 7.0, 2.0**40, 2.0**63, 2.0**70])
    classes = upper_class(amounts)
    assert (classes >= amounts).all()
    assert (classes[1:5] <= amounts[1:5] * 2**0.25 * (1 + 1e-12)).all()
    assert classes[-1] == np.inf and np.unique(upper_class(np.geomspace(1, 2.0**63, 100_000))).size <= CLASSES


@pytest.mark.parametrize(("symbols", "stay", "epsilon"), [(2, 0.7, 1.0), (2, 0.5, 3.0), (3, 0.6, 2.0), (4, 0.4, 3.0)])
def test_intervals_hold_and_a_tenth_of_them_would_not(symbols: int, stay: float, epsilon: float) -> None:
    setup, rows = setup_of(symbols, epsilon, doubt=0.05), sticky(symbols, stay)
    missed = missed_by_a_tenth = 0
    for seed in range(60):
        lows, highs = intervals(setup, drawn_pairs(setup, rows, 500, 80, seed), 1)
        missed += not ((lows <= rows) & (rows <= highs)).all()
        middle, off = (lows + highs) / 2, (highs - lows) / 20
        missed_by_a_tenth += not (np.abs(rows - middle) <= off).all()
    assert missed == 0
    assert missed_by_a_tenth > 10


def test_intervals_shrink_as_pairs_come_and_grow_with_checkpoints() -> None:
    setup, rows = setup_of(3, 2.0), sticky(3, 0.6)
    widths = []
    for pairs in (10**4, 10**6, 10**8, 10**10):
        lows, highs = intervals(setup, expected_pairs(setup, rows, pairs), 1)
        assert ((lows <= rows) & (rows <= highs)).all()
        widths.append((highs - lows).max())
    assert all(a > 2 * b for a, b in itertools.pairwise(widths))
    assert widths[-1] < 0.001
    first, later = (learn(setup, expected_pairs(setup, rows, 10**8), number).error for number in (1, 9))
    assert first < later < 1.2 * first


def test_a_learnt_chain_is_within_its_error_of_the_true_one() -> None:
    for seed, (symbols, stay) in enumerate([(2, 0.7), (3, 0.5), (4, 0.4)]):
        setup, rows = setup_of(symbols, 3.0), sticky(symbols, stay)
        learnt = learn(setup, drawn_pairs(setup, rows, 20_000, 100, seed), 5)
        off = np.abs(np.log(learnt.chain.dense / rows)).max()
        assert off <= learnt.error < 20 * off
        assert learnt.pairs == 20_000 * 99 and learnt.checkpoint == 5


@pytest.mark.parametrize("symbols", [2, 3, 7])
def test_of_nothing_and_of_the_impossible_there_is_a_chain_and_half_of_epsilon(symbols: int) -> None:
    setup = setup_of(symbols, 1.0)
    one_sided = np.zeros((symbols, symbols), dtype=np.int64)
    one_sided[0, 0] = 10**6  # no channel of this kind shows it
    for counts in (np.zeros((symbols, symbols), dtype=np.int64), np.eye(symbols, dtype=np.int64), one_sided):
        learnt = learn(setup, counts, 1)
        assert math.isinf(learnt.error)
        assert learnt.withheld_units == setup.epsilon_units - setup.epsilon_units // 2
        assert (learnt.chain.dense > 0).all() and learnt.chain.size == symbols
    assert np.array_equal(uniform_chain(symbols).dense, np.full((symbols, symbols), uniform_chain(symbols).dense[0, 0]))


def test_what_is_withheld_is_the_least_of_three() -> None:
    chain = Chain.from_dense([0.5, 0.5], sticky(2, 0.7))
    for epsilon, by_metric in ((3.0, True), (0.5, False)):
        setup = setup_of(2, epsilon)
        apart = chain_error_units(0.01, chain.contraction, 1)
        by_variation = withheld_units(setup.epsilon_units, total_variation(apart))
        found = online.withheld_for(setup, chain, 0.01)
        assert found == min(apart, by_variation) and (apart < by_variation) == by_metric
        assert online.withheld_for(setup, chain, 5.0) == setup.epsilon_units // 2


def test_laws_at_a_distance_are_no_further_apart_than_is_said() -> None:
    source = np.random.default_rng(5)
    for _ in range(200):
        one, other = source.dirichlet(np.ones(3), 2)
        ratios = np.log(one / other)
        apart = math.ceil((ratios.max() - ratios.min()) * UNITS_PER_NAT) + 1
        assert np.abs(one - other).sum() / 2 <= total_variation(apart)
    even = np.array([1.0, math.e]) / (1 + math.e)  # reached where one law is the other, turned round
    assert math.isclose((even[1] - even[0]), total_variation(2 * UNITS_PER_NAT), rel_tol=1e-9)
    assert total_variation(0) == 0.0 and total_variation(INFINITE) == 1.0


def test_beliefs_are_within_a_diameter_after_one_prediction() -> None:
    source = np.random.default_rng(6)
    for size in (2, 3, 5):
        chain = Chain.from_dense(np.full(size, 1 / size), source.dirichlet(np.ones(size), size))
        diameter = diameter_units(chain.contraction) / UNITS_PER_NAT
        for one, other in itertools.permutations(np.eye(size), 2):
            ratios = np.log((one @ chain.dense) / (other @ chain.dense))
            assert ratios.max() - ratios.min() <= diameter
    symmetric = Chain.from_dense([0.5, 0.5], sticky(2, 0.75))  # ratios of 3 either way: reached
    assert math.isclose(diameter_units(symmetric.contraction) / UNITS_PER_NAT, 2 * math.log(3), rel_tol=1e-8)
    assert diameter_units(1 << 32) == INFINITE and diameter_units(0) <= 1


def test_checkpoints_double() -> None:
    assert [next_checkpoint(at) for at in (0, 1023, 1024, 1025, 2048, 5000)] == [1024, 1024, 2048, 2048, 4096, 8192]


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("symbols", {"symbols": 1}),
        ("epsilon", {"epsilon_units": 0}),
        ("doubt", {"doubt": 0.0}),
        ("doubt", {"doubt": 1.0}),
        ("withheld", {"withheld": 0.0}),
        ("withheld", {"withheld": 0.51}),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(field: str, wrong: dict[str, float]) -> None:
    with pytest.raises(Invalid, match=field):
        Setup(**{"symbols": 2, "epsilon_units": UNITS_PER_NAT, **wrong})
