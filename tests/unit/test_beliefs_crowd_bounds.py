from __future__ import annotations

import math

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.crowd import bounds, published
from beliefs.crowd.members import Group, kinds_of
from beliefs.crowd.normal import normal_delta, normal_epsilon
from beliefs.crowd.worst import largest_delta


def bits(users: int, probability: float) -> Group:
    return Group(np.array([1.0 - probability, probability]), users)


def test_repaired_bounds_are_never_below_the_exact_delta() -> None:
    generator = np.random.default_rng(13)
    useful = 0
    for _ in range(400):
        groups = [bits(int(generator.integers(1, 400)), float(generator.uniform(0.05, 0.95))) for _ in range(3)]
        epsilon = float(generator.uniform(0.05, 1.5))
        attacked = int(generator.integers(3))
        others = [Group(group.law, group.count - (place == attacked)) for place, group in enumerate(groups)]
        shares = [(group.count, float(group.law[1])) for group in others]
        variance = sum(count * p * (1.0 - p) for count, p in shares)
        third = sum(count * p * (1.0 - p) * (p * p + (1.0 - p) ** 2) for count, p in shares)
        place = sum(group.count for group in groups[:attacked])
        if variance < 0.5:
            continue
        found = bounds.moments_bound(variance, third / variance**1.5, 1.0, 1, epsilon, None)
        exact = largest_delta(kinds_of(groups, attacked=place), epsilon)
        assert found.delta >= exact
        useful += found.delta < 1.0
        ranged = bounds.moments_bound(variance, 1.0 / math.sqrt(variance), 1.0, 2, epsilon, None)
        assert ranged.delta >= largest_delta(kinds_of(groups, attacked=place), epsilon, "intervals")
    assert useful > 200


def test_theorem_1_holds_as_repaired_and_not_as_printed() -> None:
    generator = np.random.default_rng(14)
    broken = 0
    for _ in range(600):
        users, probability = int(generator.integers(20, 400)), float(generator.uniform(0.05, 0.95))
        delta = float(generator.choice([0.2, 0.05, 1e-3]))
        try:
            epsilon = bounds.selection_epsilon(users, probability, delta)
        except Invalid:
            continue
        crowd = [bits(users + 1, probability)]
        assert largest_delta(kinds_of(crowd), epsilon) <= delta
        back = bounds.selection_delta(users, probability, epsilon)
        assert largest_delta(kinds_of(crowd), epsilon) <= back
    for users, probability, minimum, delta in ((70, 0.99, 68, 0.13), (50, 0.98, 48, 0.12), (10, 0.3, 2, 0.2)):
        printed = published.theorem1_epsilon(users, probability, minimum, delta)
        broken += largest_delta(kinds_of([bits(users + 1, probability)]), printed) > delta
    assert broken >= 2


def test_the_printed_delta_of_theorem_1_is_below_the_chance_of_nobody() -> None:
    """Seeing that nobody was chosen excludes that one more was chosen for certain."""
    assert published.theorem1_delta(10, 0.3, 2, 3.0) < 0.7**10


def test_the_printed_theorem_4_has_a_negative_delta_and_theorem_5_one_below_the_truth() -> None:
    _, negative = published.theorem4(1000, 1.0, 10, 0.1, 90.0, -72.0, 27.0)
    assert negative < -6.8
    blocks = [Group(np.array([0.5, *[0.0] * 9, 0.5]), 100)]
    epsilon = 0.043337155792
    assert published.theorem5(1000, 0.01, 50.0, 500.0, 500.0, epsilon) < largest_delta(kinds_of(blocks), epsilon)


@pytest.mark.parametrize("step", [1e-6, 1e-3, 0.1, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.5, 2.0, 8.0])
def test_the_normal_divergence_against_its_integral(step: float, epsilon: float) -> None:
    """The sum of max(0, p - e^epsilon q) over a fine grid, in which the loss is exact at each point."""
    places = np.linspace(-12.0, step + 12.0, 400_001)
    near = np.exp(-0.5 * (places - step) ** 2)
    far = np.exp(-0.5 * places**2)
    grid = float(
        np.maximum(near - math.exp(epsilon) * far, 0.0).sum() * (places[1] - places[0]) / math.sqrt(2 * math.pi)
    )
    found = normal_delta(step, 1.0, epsilon)
    assert found == pytest.approx(grid, rel=1e-4, abs=1e-13)
    if 1e-12 < found < 0.999999:
        assert normal_epsilon(step, 1.0, found) == pytest.approx(epsilon, abs=1e-6)


def test_the_constant_of_the_tail_meets_the_lemmas_condition() -> None:
    for tail in (0.5, 0.1, 1e-3, 1e-9, 1e-200):
        c = bounds.constant_of_tail(tail)
        t = c - 0.5 / c
        assert math.exp(-0.5 * t * t - math.log(tail)) / (math.sqrt(2 * math.pi) * t) == pytest.approx(1.0, rel=1e-9)


def test_a_tail_beyond_the_lemma_is_refused() -> None:
    with pytest.raises(Invalid, match="holds up to 1 only") as refusal:
        bounds.moments_bound(4.0, 0.25, 1.0, 1, None, 0.01)
    assert refusal.value.field == "tail"
