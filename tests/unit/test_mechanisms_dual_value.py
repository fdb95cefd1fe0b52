"""What `dual` keeps, against everything that can be released, and its certificate against the linear program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracles import cost_by_linear_program

from beliefs.rounding import budget_units
from mechanisms.contract import TOTAL, design_units
from mechanisms.sequence import dual
from mechanisms.sequence.dual_prices import new_rooms
from mechanisms.sequence.dual_value import dual_value


@pytest.mark.parametrize(("symbols", "length"), [(2, 1), (2, 3), (3, 2), (2, 4)])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_best_lies_between_what_is_kept_and_the_certificate(symbols: int, length: int, epsilon: float) -> None:
    random = np.random.default_rng(5)
    room = new_rooms(symbols, length)[-1]
    costs = room.wrong / length
    for concentration in (0.2, 1.0, 50.0):
        law = random.dirichlet(np.full(symbols**length, concentration))
        value = dual_value(law, design_units(budget_units(epsilon), 0), epsilon, room)
        best = 1.0 - cost_by_linear_program(law, costs, epsilon)
        assert value.agreement <= best + 1e-9
        assert best <= value.most + 1e-9
        assert value.gap < 0.04
        assert (best - value.agreement) / best <= value.gap + 1e-9


def test_what_is_kept_is_the_sum_over_all_that_can_happen() -> None:
    room = new_rooms(2, 3)[-1]
    law = np.random.default_rng(1).dirichlet(np.ones(8))
    value = dual_value(law, design_units(budget_units(1.0), 0), 1.0, room)
    kept = 0.0
    for x, values in enumerate(itertools.product(range(2), repeat=3)):
        dual.row(x, room)
        for i in range(room.counts[dual.COUNT]):
            shown = np.unravel_index(int(room.head[i]), (2, 2, 2))
            right = sum(a == b for a, b in zip(values, shown, strict=True)) / 3
            kept += law[x] * int(room.row[i]) / TOTAL * right
    assert value.agreement == pytest.approx(kept)
