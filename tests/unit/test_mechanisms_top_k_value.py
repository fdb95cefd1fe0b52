"""The best epsilon-LDP release for a belief, and the example of correlated noise."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import local_accuracy_by_linear_program

from mechanisms.sequence.noise_value import noise_value
from mechanisms.sequence.top_k_value import top_k_value


def test_no_channel_that_is_local_keeps_more() -> None:
    random = np.random.default_rng(7)
    for _ in range(100):
        prior = random.dirichlet(np.full(int(random.integers(1, 6)), 0.6))
        epsilon = float(random.uniform(0.0, 4.0))
        best = local_accuracy_by_linear_program(prior, epsilon)
        assert top_k_value(prior, epsilon).accuracy == pytest.approx(best, abs=1e-8)


def test_the_smallest_of_equal_sizes() -> None:
    assert top_k_value(np.array([0.25] * 4), 0.0) == (1, 0.25)
    assert top_k_value(np.array([0.25] * 4), 2_000.0) == (4, 1.0)


def test_noises_of_independent_values_are_independent() -> None:
    value = noise_value([0.3, 0.7], 0.5, [1.0, 0.5])
    assert value.noise_correlation == pytest.approx(0.0, abs=1e-12)
    assert value.information == pytest.approx(0.0, abs=1e-12)
    assert value.data_correlation == pytest.approx(0.0, abs=1e-12)


def test_noises_of_equal_values_depend_on_each_other() -> None:
    value = noise_value([0.5, 0.5], 0.1, [1.0, 1.0])
    assert value.data_correlation == pytest.approx(0.8)
    assert value.noise_correlation == pytest.approx(0.168, abs=5e-4)
    assert value.information == pytest.approx(0.0122, abs=5e-5)
    assert value.noise[1] == pytest.approx(0.1369, abs=5e-5)


def test_a_value_that_never_changes_correlates_with_nothing() -> None:
    assert noise_value([0.0, 1.0], 0.0, [1.0, 1.0]) == (0.0, 0.0, 0.0, (0.0, 0.0))
