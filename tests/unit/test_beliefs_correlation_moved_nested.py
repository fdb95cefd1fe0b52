"""The bound for reports of any kind through a joint table that is known within radii."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
from account_oracles import both, extreme_columns, moved_leak_units
from account_worlds import some_radii, some_table, some_units

from beliefs.correlation.moved_nested import moved_bound
from beliefs.correlation.nested import grouped
from beliefs.correlation.robust_rows import robust_bound
from beliefs.rounding import nats


@pytest.mark.parametrize("seed", range(3))
def test_reports_of_any_kind_stay_below_the_bound(seed: int) -> None:
    """Against every corner of all columns, groups included; without groups and with small radii it is attained."""
    generator = np.random.default_rng([73, seed])
    for number in range(60):
        shape = tuple(generator.integers(2, 5, 2).tolist())
        weights, groups = some_table(generator, shape), (0, *generator.integers(0, 2, shape[1] - 2).tolist(), 1)
        coarse = 0 if number % 2 else some_units(generator, 0.1, 2.0, 9.0)
        fine, radii = some_units(generator, 0.1, 1.0, 12.0), some_radii(generator, shape[0])
        columns = both(extreme_columns(shape[1], fine), extreme_columns(2, coarse), groups)
        exact = moved_leak_units(weights, 0, [columns], [Decimal(radius) for radius in radii.tolist()])
        arranged = grouped(weights, weights.sum(axis=1), 0, [groups])
        found = moved_bound(*arranged, fine, coarse, radii)
        assert min(exact, fine + coarse) <= found <= fine + coarse
        laws = weights / weights.sum(axis=1, keepdims=True)
        if coarse == 0:
            assert robust_bound(laws, nats(fine), radii) <= nats(found) + 1e-9


def test_without_groups_the_bound_is_where_the_curve_of_all_sets_is_highest() -> None:
    """(1 + w (A + r))/(1 + w max(0, B - r')) on the segments between all sets, which is what the search finds."""
    generator = np.random.default_rng(74)
    for _ in range(60):
        laws = generator.dirichlet(np.full(6, 0.6), 3)
        fine, radii = some_units(generator, 0.1, 1.0, 8.0), generator.choice([0.001, 0.03, 0.2], 3)
        found = moved_bound(laws, np.array([0, 6]), fine, 0, radii)
        weight = math.expm1(nats(fine))
        highest = 0.0
        for one, other in itertools.permutations(range(3), 2):
            order = np.argsort(-laws[one] / laws[other])
            inside, against = (np.concatenate([[0.0], np.cumsum(laws[row][order])]) for row in (one, other))
            for at in np.concatenate([against, [radii[other]]]):
                chance = float(np.interp(at, against, inside)) + radii[one]
                ratio = (1.0 + weight * chance) / (1.0 + weight * max(0.0, float(at) - radii[other]))
                highest = max(highest, ratio)
        assert nats(found) == pytest.approx(min(math.log(highest), nats(fine)), abs=1e-8)
