"""Costs of bounded releases, against the linear program that states the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles import cost_by_linear_program

from beliefs.leakage.sequence import channel_leak
from mechanisms.sequence.distortion_value import DistortionValue, distortion_value

CASES = 60


def assert_bounded(prior: np.ndarray, value: DistortionValue, epsilon: float) -> None:
    """For the values that are possible, and any two rows within 2 epsilon for the others."""
    leak = channel_leak(prior.tolist(), [row.tolist() for row in value.channel])
    assert leak.epsilon <= epsilon + 1e-12
    rows = np.array(value.channel)
    for column in rows.T:
        assert column.max() <= column.min() * math.exp(2 * epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_program_lies_between_bound_and_cost(epsilon: float) -> None:
    random = np.random.default_rng(int(10 * epsilon))
    gaps = []
    for number in range(CASES // 3):
        size = int(random.integers(2, 7))
        prior = random.dirichlet(np.full(size, 0.7))
        points = random.uniform(0, 1, (size, 2))
        costs = (
            np.linalg.norm(points[:, None] - points[None], axis=2) if number % 2 else random.uniform(0, 1, (size, size))
        )
        value = distortion_value(prior, costs, epsilon)
        best = cost_by_linear_program(prior, costs, epsilon)
        assert value.lower_bound <= best + 1e-7
        assert value.cost >= best - 1e-7
        assert_bounded(prior, value, epsilon)
        gaps.append(value.cost / max(best, 1e-9) - 1)
    assert np.mean(gaps) <= 0.02, gaps


def test_costs_that_are_all_nothing_and_a_known_value() -> None:
    assert distortion_value(np.array([0.5, 0.5]), np.zeros((2, 2)), 1.0)[:2] == (0.0, 0.0)
    known = distortion_value(np.array([0.0, 1.0]), np.array([[0.0, 1.0], [1.0, 0.0]]), 1.0)
    assert known.cost == pytest.approx(0.0, abs=1e-12)
    assert_bounded(np.array([0.0, 1.0]), known, 1.0)


def test_without_epsilon_the_cheapest_constant_is_the_answer() -> None:
    prior = np.array([0.2, 0.5, 0.3])
    line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    value = distortion_value(prior, line, 0.0)
    assert value.cost == pytest.approx(0.5)
    assert value.lower_bound == pytest.approx(0.5, abs=1e-6)
