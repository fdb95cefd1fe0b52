"""The robust bound without listing sets: never below the exact one, and near it."""

from __future__ import annotations

import numpy as np
import pytest
from correlation_oracles import some_conditionals

from beliefs.correlation.bound import bound
from beliefs.correlation.robust_hull import hull_bound
from beliefs.correlation.robust_rows import robust_bound


def test_it_is_never_below_that_of_all_sets() -> None:
    generator, alike, apart = np.random.default_rng(21), 0, []
    for laws in some_conditionals(generator, 1_500, size_max=12):
        epsilon = float(generator.choice([0.05, 1.0, 4.0, 30.0, 700.0]))
        radii = generator.uniform(0.0, generator.choice([0.01, 0.2]), laws.shape[0])
        radii[generator.random(radii.size) < 0.2] = 0.0
        exact, found = robust_bound(laws, epsilon, radii), hull_bound(laws, epsilon, radii)
        assert exact - 1e-15 <= found <= epsilon
        alike += found - exact <= 1e-9
        if epsilon == 1.0:
            apart.append(found - exact)
    assert alike > 300
    assert np.mean(apart) < 0.05


def test_without_radii_it_is_the_bound() -> None:
    generator = np.random.default_rng(22)
    for laws in some_conditionals(generator, 300, size_max=40):
        for epsilon in (0.1, 2.0):
            assert hull_bound(laws, epsilon, np.zeros(len(laws))) == pytest.approx(
                bound(laws, epsilon).epsilon, abs=1e-12
            )


def test_no_move_within_the_radii_of_a_law_of_many_values_loses_more() -> None:
    generator = np.random.default_rng(23)
    for _ in range(20):
        laws = generator.dirichlet(np.ones(60), 3)
        radii = generator.uniform(0.0, 0.1, 3)
        most = hull_bound(laws, 1.0, radii)
        assert most >= bound(laws, 1.0).epsilon
        assert most >= hull_bound(laws, 1.0, radii / 2)
        for _ in range(20):
            moved = (1.0 - radii[:, None]) * laws + radii[:, None] * generator.dirichlet(np.full(60, 0.05), 3)
            assert bound(moved, 1.0).epsilon <= most


def test_what_is_trivial() -> None:
    assert hull_bound(np.array([[0.3, 0.7]]), 1.0, np.array([0.1])) == 0.0
    assert hull_bound(np.array([[1.0], [1.0]]), 1.0, np.array([0.1, 0.1])) == 0.0
    assert hull_bound(np.eye(2), 0.0, np.zeros(2)) == 0.0
    assert hull_bound(np.eye(20), 3.0, np.full(20, 0.1)) == 3.0
