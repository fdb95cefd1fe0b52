"""Alphabets of tens of thousands of values: what is reserved for one release still fits epsilon."""

from __future__ import annotations

import numpy as np
import pytest
from channels import design, epsilon_units

from beliefs.distance import equal
from beliefs.rounding import log_units_up
from beliefs.simplex import normalised
from mechanisms import registry
from mechanisms.contract import Floats, new_workspace

HOLDING = [name for name, mechanism in registry.MECHANISMS.items() if mechanism.holds_epsilon]
EPSILONS = (0.01, 0.5, 1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 16.0)


def long_belief(shape: str, symbols: int) -> Floats:
    rng = np.random.default_rng(1)
    weights = {
        "equal": np.ones(symbols),
        "zipf": 1.0 / np.arange(1, symbols + 1),
        "random": rng.dirichlet(np.ones(symbols)),
        "steep": rng.dirichlet(np.full(symbols, 0.05)),
    }
    return normalised(weights[shape])


@pytest.mark.parametrize("shape", ["equal", "zipf", "random", "steep"])
@pytest.mark.parametrize("name", HOLDING)
@pytest.mark.parametrize("symbols", [1000, 41_270, 65_536])
def test_the_reserve_of_a_long_alphabet_fits_epsilon(name: str, shape: str, symbols: int) -> None:
    belief = long_belief(shape, symbols)
    work = new_workspace(symbols, equal() if name == "near" else None)
    for units in map(epsilon_units, EPSILONS):
        worst = registry.prepare(registry.MECHANISMS[name].code, belief, design(units), work)
        assert max(log_units_up(ratio) for ratio in worst[:2]) <= units
