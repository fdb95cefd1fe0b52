"""The closed form against its certificate in fractions, and against linear programs that state only the definition."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import oracles
import pytest

from beliefs.simplex import Vector
from mechanisms.sequence.optimal_value import (
    bounds_of,
    exact_bounds,
    least_slack,
    optimal_accuracy,
    prices,
    solve,
)

ALL_CASES = {"top", "full", "bound", "donor"}


def integer_weights(source: random.Random, kind: int) -> list[int]:
    size = source.randint(1, 8)
    makers: dict[int, Callable[[], int]] = {
        0: lambda: source.randint(0, 20),
        1: lambda: source.randint(1, 1000) ** 3,
        2: lambda: source.choice((1, 3, 10**6, 2 * 10**11, 10**12)),
        3: lambda: 1,
    }
    if kind in makers:
        weights = [makers[kind]() for _ in range(size)]
    else:
        weights = [source.randint(100, 110) for _ in range(size - 1)] + [source.randint(0, 40)]
    weights[0] += not any(weights)
    return weights


def test_the_certificate_proves_the_optimum_in_fractions() -> None:
    """No tolerance: price times prior equals the accuracy, and no release that the bounds allow earns more."""
    source = random.Random(20)
    cases: Counter[str] = Counter()
    for attempt in range(3000):
        weights = integer_weights(source, attempt % 5)
        prior = [Fraction(weight, sum(weights)) for weight in weights]
        floor, ceiling = Fraction(source.randint(0, 40), 40), Fraction(source.randint(40, 400), 40)
        if attempt % 2 and floor:
            ceiling = 1 / floor
        bounds = exact_bounds(floor, ceiling)
        solution, charged = solve(prior, bounds), prices(prior, bounds)
        assert sum(solution.marginals) == 1
        assert min(solution.marginals) >= 0
        assert sum(price * mass for price, mass in zip(charged, prior, strict=True)) == solution.accuracy
        assert least_slack(prior, charged, bounds) >= 0
        cases[solution.case] += 1
    assert set(cases) == ALL_CASES
    assert min(cases.values()) > 200


def adversarial_law(source: np.random.Generator, kind: int) -> Vector:
    size = int(source.integers(2, 8))
    makers: dict[int, Callable[[], Vector]] = {
        0: lambda: source.dirichlet(np.ones(size)),
        1: lambda: source.dirichlet(np.full(size, 0.2)),
        2: lambda: (
            np.round(9 * source.dirichlet(np.ones(size))) + 1e-11 * (source.random(size) < 0.3) + np.eye(size)[0]
        ),
        3: lambda: 10.0 ** source.uniform(-12, 0, size),
        4: lambda: np.ones(size),
        5: lambda: np.concatenate([source.uniform(0.8, 1, size - 1), [source.uniform(0, 0.3)]]),
        6: lambda: np.eye(size)[int(source.integers(size))],
        7: lambda: np.concatenate([np.full(size - 1, 1.0), [1e-12]]),
    }
    weights = makers[kind]()
    law: Vector = weights / weights.sum()
    return law


@pytest.mark.parametrize("kind", range(8))
def test_the_closed_form_equals_the_linear_program(kind: int) -> None:
    """Random laws, spiky ones, ties with zeros, masses down to 1e-12, equal masses, short tails, point masses, dust."""
    source = np.random.default_rng(kind)
    worst = 0.0
    for attempt in range(260):
        prior = adversarial_law(source, kind)
        lower = upper = float(np.exp(source.uniform(math.log(0.01), math.log(8.0))))
        if attempt % 4 == 0:
            upper = float(np.exp(source.uniform(math.log(0.01), math.log(8.0))))
        found = optimal_accuracy(prior, lower, upper)
        worst = max(worst, abs(found - oracles.accuracy_by_linear_program(prior, lower, upper)))
    assert worst <= 1e-9


def test_floats_agree_with_fractions_of_the_same_bounds() -> None:
    source = random.Random(4)
    for attempt in range(1500):
        weights = integer_weights(source, attempt % 5)
        prior = [Fraction(weight, sum(weights)) for weight in weights]
        floor = Fraction(math.exp(-source.uniform(0.01, 8)))
        ceiling = 1 / floor
        exact = solve(prior, exact_bounds(floor, ceiling)).accuracy
        near = optimal_accuracy(np.array([float(mass) for mass in prior]), -math.log(floor), math.log(ceiling))
        assert near == pytest.approx(float(exact), abs=1e-13)


@pytest.mark.parametrize("prior", [[1.0], [0.0, 1.0], [0.5, 0.5], [0.7, 0.2, 0.1, 0.0], [1e-12, 1 - 1e-12], [0.1] * 10])
def test_the_ends_of_the_range(prior: list[float]) -> None:
    law = np.array(prior)
    top = max(prior)
    assert optimal_accuracy(law, 0.0, 0.0) == pytest.approx(top, abs=1e-15)
    assert optimal_accuracy(law, 0.0, 5.0) == pytest.approx(top, abs=1e-15)
    assert optimal_accuracy(law, 5.0, 0.0) == pytest.approx(top, abs=1e-15)
    assert optimal_accuracy(law, 1e-300, 1e-300) == pytest.approx(top, abs=1e-15)
    assert optimal_accuracy(law, 2000.0, 2000.0) == pytest.approx(1.0, abs=1e-15)
    assert optimal_accuracy(law, 1e308, 1e308) == pytest.approx(1.0, abs=1e-15)
    assert optimal_accuracy(law, 708.9, 709.1) == pytest.approx(1.0, abs=1e-15)
    assert top - 1e-15 <= optimal_accuracy(law, 1.0, 1e-9) <= optimal_accuracy(law, 1.0, 1.0) <= 1.0


def test_more_budget_never_costs_accuracy_and_order_does_not_matter() -> None:
    source = np.random.default_rng(9)
    for _ in range(100):
        prior = source.dirichlet(np.full(6, 0.7))
        values = [optimal_accuracy(prior, epsilon, epsilon) for epsilon in np.linspace(0, 8, 60)]
        assert all(later >= earlier - 1e-14 for earlier, later in itertools.pairwise(values))
        shuffled = optimal_accuracy(source.permutation(prior), 1.0, 1.0)
        assert shuffled == pytest.approx(optimal_accuracy(prior, 1.0, 1.0), abs=1e-14)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_longer_laws_are_certified_in_floats(epsilon: float) -> None:
    weights = 1.0 / np.arange(1, 301)
    prior = (weights / weights.sum()).tolist()
    bounds = bounds_of(epsilon, epsilon)
    charged = prices(prior, bounds)
    paid = math.fsum(price * mass for price, mass in zip(charged, prior, strict=True))
    assert paid == pytest.approx(solve(prior, bounds).accuracy, abs=1e-12)
    assert least_slack(prior, charged, bounds) >= -1e-12


def test_a_wrong_price_is_noticed() -> None:
    prior = [Fraction(2, 5), Fraction(3, 10), Fraction(1, 5), Fraction(1, 10)]
    bounds = exact_bounds(Fraction(1, 3), Fraction(2))
    charged = prices(prior, bounds)
    assert least_slack(prior, charged, bounds) == 0
    assert least_slack(prior, [price - Fraction(1, 1000) for price in charged], bounds) < 0
