from __future__ import annotations

import itertools
import math
from fractions import Fraction

import crowd_oracles as oracles
import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.crowd.divergence import apart, least_epsilon
from beliefs.crowd.markov import chain_delta, chain_epsilon
from beliefs.crowd.members import Block, Group, kinds_of, kinds_of_blocks
from beliefs.crowd.required import required_users
from beliefs.crowd.sums import NOTHING, Sum, added, certain, law, times, total
from beliefs.crowd.worst import largest_delta, smallest_epsilon
from beliefs.laws.markov import MarkovLaw

CLOSE = Fraction(1, 10**12)


def test_two_thousand_crowds_against_every_combination() -> None:
    generator = np.random.default_rng(8)
    for number in range(2_000):
        groups = [
            Group(oracles.some_law(generator, int(generator.integers(2, 4))), int(generator.integers(1, 3)))
            for _ in range(int(generator.integers(1, 4)))
        ]
        members = [oracles.fractions_of(group.law) for group in groups for _ in range(group.count)]
        known = tuple(place for place in range(len(members)) if generator.random() < 0.25)[: len(members) - 1]
        epsilon = float(generator.choice([0.0, 0.3, 1.0, 3.0]))
        unknown = [each for place, each in enumerate(members) if place not in known]
        want = oracles.delta_of(unknown, Fraction(math.exp(epsilon)), range(len(unknown)))
        found = Fraction(largest_delta(kinds_of(groups, known), epsilon))
        assert want <= found + Fraction(1, 10**15), number
        assert found <= want + CLOSE, number


def test_intervals_and_removal_against_every_combination() -> None:
    generator = np.random.default_rng(9)
    for _ in range(200):
        groups = [Group(oracles.some_law(generator, 3)) for _ in range(3)]
        members = [oracles.fractions_of(group.law) for group in groups]
        factor, epsilon = Fraction(math.exp(0.4)), 0.4
        want = oracles.delta_of(members, factor, range(3), intervals=True)
        assert abs(Fraction(largest_delta(kinds_of(groups), epsilon, "intervals")) - want) < CLOSE
        whole = oracles.sum_law(members)
        removed = Fraction(0)
        for place in range(3):
            rest = oracles.sum_law(each for other, each in enumerate(members) if other != place)
            removed = max(removed, oracles.apart(whole, rest, factor), oracles.apart(rest, whole, factor))
        assert abs(Fraction(largest_delta(kinds_of(groups, neighbour="remove"), epsilon)) - removed) < CLOSE


def test_households_against_every_combination() -> None:
    generator = np.random.default_rng(10)
    for _ in range(400):
        pair = generator.dirichlet(np.ones(4)).reshape(2, 2)
        three = generator.dirichlet(np.ones(12)).reshape(2, 3, 2)
        epsilon = float(generator.choice([0.1, 1.0]))
        found = Fraction(largest_delta(kinds_of_blocks([Block(pair, 2), Block(three)]), epsilon))
        want = household_delta([pair, pair, three], Fraction(math.exp(epsilon)))
        assert abs(found - want) < CLOSE


def household_delta(tables: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]], factor: Fraction) -> Fraction:
    exact = [
        {cell: Fraction(float(table[cell])) for cell in itertools.product(*map(range, table.shape))} for table in tables
    ]
    worst = Fraction(0)
    for attacked, table in enumerate(exact):
        for member in range(tables[attacked].ndim):
            given: dict[int, dict[int, Fraction]] = {}
            for cells in itertools.product(*(list(each.items()) for each in exact)):
                chance = math.prod((chance for _, chance in cells), start=Fraction(1))
                value, place = cells[attacked][0][member], sum(sum(cell) for cell, _ in cells)
                laws = given.setdefault(value, {})
                laws[place] = laws.get(place, Fraction(0)) + chance
            normal = {value: {k: c / sum(laws.values()) for k, c in laws.items()} for value, laws in given.items()}
            for one, two in itertools.permutations(normal.values(), 2):
                worst = max(worst, oracles.apart(one, two, factor))
        assert table
    return worst


def test_chains_against_all_their_paths() -> None:
    generator, inverted = np.random.default_rng(11), 0
    for _ in range(60):
        states, length = int(generator.integers(2, 4)), int(generator.integers(1, 6))
        rows, start = generator.dirichlet(np.ones(states), states), generator.dirichlet(np.ones(states))
        domain = np.sort(generator.choice(np.arange(-3, 5), states, replace=False)).astype(float)
        chain = MarkovLaw(rows, start, domain, length)
        want = 0.0
        for place in range(length):
            given: dict[int, dict[float, float]] = {}
            for path in itertools.product(range(states), repeat=length):
                chance = start[path[0]] * math.prod(rows[a, b] for a, b in itertools.pairwise(path))
                laws = given.setdefault(path[place], {})
                value = float(domain[list(path)].sum())
                laws[value] = laws.get(value, 0.0) + chance
            normal = [{k: c / sum(laws.values()) for k, c in laws.items()} for laws in given.values()]
            for one, two in itertools.permutations(normal, 2):
                want = max(want, sum(max(0.0, c - math.exp(0.3) * two.get(k, 0.0)) for k, c in one.items()))
        assert chain_delta(chain, 0.3) == pytest.approx(want, rel=1e-10, abs=1e-14)
        if chain_delta(chain, 0.3 + 1e-4) < want * (1.0 - 1e-7):
            assert chain_epsilon(chain, want * (1.0 + 1e-10)) == pytest.approx(0.3, abs=1e-6)
            inverted += 1
    assert inverted > 20


def test_the_search_finds_the_worst_of_many_kinds_and_is_its_own_inverse() -> None:
    generator = np.random.default_rng(12)
    groups = [Group(np.array([1.0 - p, p])) for p in generator.uniform(0.02, 0.6, 40)]
    each = [largest_delta(kinds_of(groups, attacked=place), 0.2) for place in range(40)]
    whole = largest_delta(kinds_of(groups), 0.2)
    assert whole == pytest.approx(max(each), rel=1e-9)
    assert len({round(found, 9) for found in each}) > 30
    assert smallest_epsilon(kinds_of(groups), whole) == pytest.approx(0.2, abs=1e-9)


def test_a_crowd_of_a_hundred_thousand_keeps_every_digit() -> None:
    """Equal bits: the largest difference of a binomial law and itself moved by one is at a half-line."""
    count, epsilon = 100_000, 0.01
    found = largest_delta(kinds_of([Group(np.array([0.5, 0.5]), count)]), epsilon)
    logs = [
        math.lgamma(count) - math.lgamma(k + 1) - math.lgamma(count - k) - (count - 1) * math.log(2.0)
        for k in range(count)
    ]
    chances = np.exp(np.array([*logs, -math.inf]))
    moved = np.concatenate([[0.0], chances[:-1]])
    want = math.fsum(np.maximum(chances - math.exp(epsilon) * moved, 0.0).tolist())
    assert found == pytest.approx(want, rel=1e-6)


def test_a_lattice_an_impossible_value_and_a_single_value() -> None:
    lattice = [Group(np.array([0.5, 0.5])), Group(np.array([0.5, 0.0, 0.5]), 9)]
    assert largest_delta(kinds_of(lattice, attacked=0), 20.0) == 1.0
    assert smallest_epsilon(kinds_of(lattice, attacked=0), 0.5) == math.inf
    assert largest_delta(kinds_of([Group(np.array([0.0, 1.0]), 5)]), 0.0) == 0.0
    assert smallest_epsilon(kinds_of([Group(np.array([1.0]), 5)]), 0.1) == 0.0
    assert largest_delta(kinds_of([Group(np.array([0.5, 0.5]))]), 2000.0) == 1.0


@pytest.mark.parametrize(
    ("known", "attacked", "field"),
    [((3,), None, "known"), ((0, 1, 2), None, "known"), ((1,), 1, "known"), ((), 3, "attacked")],
)
def test_members_who_do_not_fit_are_refused(known: tuple[int, ...], attacked: int | None, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        kinds_of([Group(np.array([0.5, 0.5]), 3)], known, attacked)
    assert refusal.value.field == field


def test_required_crowds_are_the_smallest_ones() -> None:
    for mass, epsilon, delta, fraction in (
        ([0.5, 0.5], 1.0, 1e-3, 0.0),
        ([0.8, 0.1, 0.1], 0.7, 0.02, 0.3),
        ([1.0], 0.1, 0.1, 0.5),
    ):
        users = required_users(np.array(mass), epsilon, delta, fraction)

        def holds(
            size: int, mass: list[float] = mass, fraction: float = fraction, at: tuple[float, float] = (epsilon, delta)
        ) -> bool:
            known = math.ceil(Fraction(str(fraction)) * size)
            if known >= size:
                return False
            group = [Group(np.array(mass), size)]
            return largest_delta(kinds_of(group, tuple(range(known))), at[0]) <= at[1]

        assert holds(users)
        assert not holds(users - 1) or users == 1
    with pytest.raises(Invalid, match="needs a crowd of more than"):
        required_users(np.array([0.999999, 0.000001]), 0.0, 1e-9)


def test_sums_of_parts_and_what_is_cut_off() -> None:
    coin = law(np.array([0.5, 0.5]))
    assert added(coin, certain(-4)).low == -4
    assert total([]) == NOTHING
    assert np.array_equal(times(coin, 3).mass, [0.125, 0.375, 0.375, 0.125])
    large = times(coin, 20_000)
    assert large.lost > 0.0
    assert large.mass.size < 6_000
    assert abs(float(large.mass.sum()) - 1.0) <= 2.0 * large.error + 1e-12
    assert large.error < 1e-9


def test_what_is_lost_or_rounded_is_added_to_delta() -> None:
    exact = Sum(0, np.array([0.5, 0.5]))
    blurred = Sum(0, np.array([0.5, 0.5]), error=1e-3, lost=1e-2)
    assert 0.0 <= apart(exact, exact, 0.0) < 1e-15
    assert apart(blurred, exact, 0.0) >= 1e-2 + 1e-3


def test_the_smallest_epsilon_of_a_falling_function() -> None:
    assert least_epsilon(0.5, lambda at: math.exp(-at)) == pytest.approx(math.log(2.0), abs=1e-12)
    assert math.exp(-least_epsilon(0.5, lambda at: math.exp(-at))) <= 0.5
    assert least_epsilon(0.5, lambda at: 0.4) == 0.0
    assert least_epsilon(0.5, lambda at: 0.6) == math.inf
