"""The published mechanism: its printed row, and its leak, which is not the printed one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beliefs.rounding import UNITS_PER_NAT, log_units_up
from mechanisms.contract import SHAVE_UNITS, TOTAL, Workspace, constants_of, new_workspace
from mechanisms.sequence import published_crr
from mechanisms.sequence.published_crr_value import published_value


def prepared(belief: list[float], epsilon: float) -> tuple[tuple[float, float, float], Workspace]:
    work = new_workspace(len(belief))
    constants = np.array(constants_of(int(epsilon * UNITS_PER_NAT) - SHAVE_UNITS))
    return published_crr.prepare(np.array(belief), constants, work), work


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_row_is_the_printed_one(epsilon: float) -> None:
    belief = [0.5, 0.3, 0.2]
    _, work = prepared(belief, epsilon)
    for x in range(3):
        published_crr.row(x, np.array(belief), work)
        shown = [float(units) / TOTAL for units in work.row[:3]]
        hidden = math.exp(-epsilon)
        assert shown == pytest.approx([hidden * b + (1 - hidden) * (x == y) for y, b in enumerate(belief)], abs=1e-9)


@pytest.mark.parametrize("belief", [[0.5, 0.5], [0.1] * 10, [0.9, 0.09, 0.01], [1e-9, 1 - 1e-9]])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_the_leak_is_the_true_one(belief: list[float], epsilon: float) -> None:
    """log(e + c/b) above, epsilon below, as the exact figures of `published_crr_value` say."""
    worst, work = prepared(belief, epsilon)
    value = published_value(np.array(belief), epsilon)
    assert [math.log(ratio) for ratio in worst[:2]] == pytest.approx([value.upper, value.lower], abs=1e-6)
    for i, mass in enumerate(belief):
        upper, lower, _ = published_crr.column(i, np.array(belief), work)
        expected = math.log(math.exp(-epsilon) + (1 - math.exp(-epsilon)) / mass)
        assert math.log(upper) == pytest.approx(expected, abs=1e-6)
        assert math.log(lower) == pytest.approx(epsilon, abs=1e-6)


def test_the_lower_side_never_exceeds_epsilon() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        belief = rng.dirichlet(np.full(int(rng.integers(2, 9)), 0.5))
        epsilon = float(rng.choice([0.01, 1.0, 8.0]))
        worst, _ = prepared(belief.tolist(), epsilon)
        assert log_units_up(worst[1]) <= int(epsilon * UNITS_PER_NAT)


def test_an_impossible_value_makes_the_reserve_infinite_and_leaves_the_others_finite() -> None:
    belief = [0.6, 0.4, 0.0]
    worst, work = prepared(belief, 1.0)
    assert worst == (math.inf, math.inf, math.inf)
    assert published_crr.column(2, np.array(belief), work) == (math.inf, math.inf, math.inf)
    assert work.likelihood[2] > 0.0
    assert max(published_crr.column(0, np.array(belief), work)) < math.exp(2.0)
