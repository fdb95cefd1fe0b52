"""The corners that a frontier keeps say as much as all sets of values do, also where rows mirror each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dependence_oracles import through

from beliefs.correlation.bound import Matrix
from beliefs.correlation.frontier import Frontier, _hull

MIRRORED = [
    [[0.9, 0.1], [0.1, 0.9]],
    [[0.9, 1 - 0.9], [0.1, 0.9]],
    [[0.8, 0.2], [0.2, 0.8]],
    [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]],
    [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.3, 0.5, 0.2]],
    [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.1, 0.1, 0.7]],
]


def assert_nothing_is_lost(laws: Matrix) -> None:
    for epsilon in (1e-3, 0.5, 1.0, 4.0, 20.0):
        assert Frontier(laws).bound(epsilon) >= through(laws, epsilon) * (1 - 1e-9)
        assert Frontier(laws).bound(epsilon) <= through(laws, epsilon) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("rows", MIRRORED)
def test_rows_that_mirror_each_other_keep_their_corners(rows: list[list[float]]) -> None:
    assert_nothing_is_lost(np.array(rows))


@pytest.mark.parametrize("seed", range(40))
def test_laws_of_few_different_chances_and_of_many(seed: int) -> None:
    generator = np.random.default_rng(seed)
    shape = (int(generator.integers(2, 6)), int(generator.integers(2, 8)))
    counts = generator.integers(0, 3, shape) if seed % 2 else generator.integers(0, 1000, shape)
    weights = counts + np.where(generator.random(shape) < 0.3, 1e-13, 0.0) + 1e-3
    assert_nothing_is_lost(weights / weights.sum(axis=1, keepdims=True))


def test_points_that_are_one_but_for_a_rounding_do_not_both_go() -> None:
    near = math.nextafter(0.1, 1.0)
    across, up = _hull(np.array([0.0, 0.1, 0.1, near, 1.0]), np.array([0.0, 0.9, 0.9, 0.9, 1.0]))
    assert 0.9 in up
    assert across[0] == 0.0
    assert up[-1] == 1.0


def test_of_many_points_on_one_line_the_ends_stay() -> None:
    line = np.linspace(0.0, 1.0, 1001)
    across, up = _hull(line, np.minimum(line, 1.0) - np.where((line > 0) & (line < 1), 1e-3, 0.0))
    assert across.tolist() == up.tolist() == [0.0, 1.0]
