"""What `near` costs by its own rows, and a bound below which no mechanism goes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beliefs.distance import Distance, from_table
from beliefs.rounding import budget_units
from mechanisms.contract import design_units
from mechanisms.sequence.near_value import near_value


def line(size: int) -> Distance:
    return from_table([[abs(x - y) for y in range(size)] for x in range(size)], size)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_cost_lies_little_above_the_bound(seed: int, epsilon: float) -> None:
    belief = np.random.default_rng(seed).dirichlet(np.ones(9))
    value = near_value(belief, line(9), design_units(budget_units(epsilon), 0), epsilon)
    blind = min(float((belief * np.abs(np.arange(9) - y)).sum()) for y in range(9))
    assert 0.0 < value.least <= value.cost <= blind + 1e-9
    assert value.gap < 0.1


def test_two_values_are_known_in_closed_form() -> None:
    value = near_value(np.array([0.5, 0.5]), line(2), design_units(budget_units(1.0), 0), 1.0)
    assert value.cost == pytest.approx(0.5 / math.e, abs=1e-6)
    assert value.least == pytest.approx(0.5 / math.e, rel=5e-3)


def test_what_everybody_knows_costs_nothing() -> None:
    value = near_value(np.array([0.0, 1.0, 0.0]), line(3), design_units(budget_units(1.0), 0), 1.0)
    assert value.cost == pytest.approx(0.0, abs=1e-9)
    assert value.gap == 0.0 or value.cost > 0.0
