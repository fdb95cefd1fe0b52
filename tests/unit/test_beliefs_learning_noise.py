"""Noise by whole numbers: the law to the last fraction, how large sums get, and rows within their radii."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from chains import first_order
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator

from beliefs.learning.noise import Below, _exp_minus, below_from_bits, largest_sum, two_sided_geometric
from beliefs.learning.private import Noisy, private_laws, projected


class _Longer(Exception):
    pass


def chances(run: Callable[[Below], object], most: int) -> dict[object, Fraction]:
    """Every outcome that takes at most so many draws, with its exact probability."""
    found: dict[object, Fraction] = {}
    waiting: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while waiting:
        draws, chance = waiting.pop()
        left, sizes = list(draws), []

        def below(m: int, left: list[int] = left, sizes: list[int] = sizes) -> int:
            if m == 1:
                return 0
            sizes.append(m)
            if not left:
                raise _Longer
            return left.pop(0)

        try:
            outcome = run(below)
        except _Longer:
            if len(draws) < most:
                waiting += [((*draws, number), chance / sizes[-1]) for number in range(sizes[-1])]
            continue
        found[outcome] = found.get(outcome, Fraction(0)) + chance
    return found


@pytest.mark.parametrize("power", [Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(1)])
def test_a_coin_shows_heads_with_the_exponential_of_its_power(power: Fraction) -> None:
    found = chances(lambda below: _exp_minus(power.numerator, power.denominator, below), 6)
    undecided = float(1 - sum(found.values()))
    heads = float(found.get(True, Fraction(0)))
    assert undecided < 0.002
    assert heads <= math.exp(-power) + 1e-12 <= heads + undecided + 2e-12
    assert float(found.get(False, Fraction(0))) <= 1 - math.exp(-power) + 1e-12


def test_no_outcome_is_likelier_than_its_law_and_what_is_open_is_what_they_lack() -> None:
    """Adding up only what ends within so many draws gives lower bounds; together they lack what has not ended."""
    rate = Fraction(3, 2)
    found = chances(lambda below: two_sided_geometric(rate, below), 14)
    alpha = math.exp(-float(rate))
    lacking = 0.0
    for z, chance in found.items():
        assert isinstance(z, int)
        law = (1 - alpha) / (1 + alpha) * alpha ** abs(z)
        assert float(chance) <= law + 1e-12
        lacking += law - float(chance)
        assert found[-z] == chance
    open_draws = float(1 - sum(found.values()))
    assert lacking <= open_draws + 1e-12
    assert open_draws < 0.2


def numbers(rng: Generator) -> Below:
    return lambda m: int(rng.integers(m))


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(2), Fraction(7, 5)])
def test_frequencies_are_those_of_the_law(rate: Fraction) -> None:
    below, runs = numbers(np.random.default_rng(3)), 20_000
    seen = Counter(two_sided_geometric(rate, below) for _ in range(runs))
    alpha = math.exp(-float(rate))
    for z in range(-4, 5):
        law = (1 - alpha) / (1 + alpha) * alpha ** abs(z)
        assert abs(seen[z] / runs - law) < 5 * math.sqrt(law / runs)


@given(st.integers(1, 40))
def test_numbers_below_come_from_bits_evenly(m: int) -> None:
    width = (m - 1).bit_length()
    first = Counter()
    for drawn in range(1 << width):
        waiting = iter([drawn, 0])
        first[below_from_bits(lambda bits, waiting=waiting: next(waiting))(m)] += drawn < m
    assert [first[number] for number in range(m)] == [1] * m


def test_sums_rarely_exceed_their_bound() -> None:
    rng = np.random.default_rng(4)
    for rate, count in ((0.05, 6), (1.0, 40)):
        alpha = math.exp(-rate)
        sizes = np.abs(rng.geometric(1 - alpha, (20_000, count)) - rng.geometric(1 - alpha, (20_000, count)))
        for failure in (0.3, 0.01):
            most = largest_sum(rate, count, failure)
            assert (sizes.sum(axis=1) > most).mean() <= failure
            assert most < 4 * count / rate


@given(st.lists(st.integers(-20, 60), min_size=1, max_size=8))
def test_projected_counts_are_the_nearest_ones(row: list[int]) -> None:
    noisy = np.array(row, dtype=np.float64)
    kept = projected(noisy)
    assert (kept >= 0).all()
    if noisy.sum() <= 0:
        assert not kept.any()
        return
    assert kept.sum() == pytest.approx(noisy.sum())
    rng = np.random.default_rng(abs(hash(tuple(row))) % 2**32)
    others = rng.dirichlet(np.ones(len(row)), 200) * noisy.sum()
    assert (((others - noisy) ** 2).sum(axis=1) >= ((kept - noisy) ** 2).sum() - 1e-9).all()


def test_rows_from_noisy_counts_lie_within_their_radii() -> None:
    failure, kept, runs = 0.1, 0, 40
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        true = rng.dirichlet(np.ones(3), 3)
        values = first_order(true, 3000, 10, rng)
        table = np.zeros((4, 3))
        np.add.at(table, (np.zeros(3000, dtype=np.int64), values[:, 0]), 1.0)
        np.add.at(table, (values[:, :-1].ravel() + 1, values[:, 1:].ravel()), 1.0)
        rate = 0.5 / 10
        alpha = math.exp(-rate)
        noise = rng.geometric(1 - alpha, table.shape) - rng.geometric(1 - alpha, table.shape)
        found = private_laws(Noisy(table + noise, rate), failure)
        assert float(found.laws.min()) > 0
        assert found.laws.sum(axis=1) == pytest.approx(np.ones(4))
        truth = np.concatenate([np.full((1, 3), 1 / 3), true])
        apart = np.abs(found.laws - truth).sum(axis=1) / 2
        kept += bool((apart <= found.radii).all())
        assert found.radii.min() < 0.3
    assert kept >= (1 - failure) * runs
    nothing = private_laws(Noisy(np.zeros((4, 3)), 0.1), failure)
    assert nothing.radii.tolist() == [1.0] * 4 and nothing.laws == pytest.approx(np.full((4, 3), 1 / 3))
