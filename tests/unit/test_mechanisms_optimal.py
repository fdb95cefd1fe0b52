"""The integer channel of the optimum: its cases one by one, its known answers, and the selection below it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beliefs.rounding import UNITS_PER_NAT, log_units_up
from mechanisms.contract import SHAVE_UNITS, TOTAL, Floats, Workspace, constants_of, new_workspace
from mechanisms.sequence import optimal, tournament

EPSILON = 1.0


def prepared(belief: list[float] | Floats, epsilon: float = EPSILON) -> tuple[tuple[float, float, float], Workspace]:
    law = np.array(belief)
    work = new_workspace(law.shape[0])
    constants = np.array(constants_of(int(epsilon * UNITS_PER_NAT) - SHAVE_UNITS))
    return optimal.prepare(law, constants, work), work


def row_of(belief: list[float], x: int, work: Workspace) -> list[float]:
    optimal.row(x, np.array(belief), work)
    return [float(units) / TOTAL for units in work.row[: work.size[optimal.COUNT]]]


def released(work: Workspace) -> list[int]:
    return [int(symbol) for symbol in work.head[: work.size[optimal.COUNT]]]


def test_a_fair_coin_is_randomised_response() -> None:
    belief = [0.5, 0.5]
    _, work = prepared(belief)
    keep = 1 - math.exp(-1) + math.exp(-1) / 2
    assert row_of(belief, 0, work) == pytest.approx([keep, 1 - keep], abs=1e-9)
    assert row_of(belief, 1, work) == pytest.approx([1 - keep, keep], abs=1e-9)


def test_a_steep_belief_releases_the_likeliest_alone() -> None:
    """0.15 E < 0.85 e: to reveal the rare value costs more than it brings."""
    worst, work = prepared([0.85, 0.15], 0.5)
    assert released(work) == [0]
    assert worst == (1.0, 1.0, 1.0)


def test_ten_equal_values_release_three_and_a_fourth_rarely() -> None:
    belief = [0.1] * 10
    _, work = prepared(belief)
    assert released(work) == [0, 1, 2, 3]
    floor = 1 / (1 + math.e)
    marginal = [sum(0.1 * row_of(belief, x, work)[i] for x in range(10)) for i in range(4)]
    assert marginal == pytest.approx([floor, floor, floor, 1 - 3 * floor], abs=1e-9)
    accuracy = sum(0.1 * row_of(belief, x, work)[x] for x in range(4))
    assert accuracy == pytest.approx(0.271828182845905, abs=1e-9)
    assert row_of(belief, 4, work) == row_of(belief, 9, work)


def test_a_donor_lends_to_the_last_value() -> None:
    belief = [0.3986, 0.3427, 0.2587]
    _, work = prepared(belief)
    assert work.size[optimal.DONOR] == 1
    assert work.size[optimal.LENT] > 0
    accuracy = sum(mass * row_of(belief, x, work)[x] for x, mass in enumerate(belief))
    assert accuracy == pytest.approx(0.751605230714617, abs=1e-9)


def test_an_impossible_value_shares_the_row_of_the_tail() -> None:
    belief = [0.4, 0.3, 0.2, 0.1, 0.0]
    _, work = prepared(belief)
    assert 4 not in released(work)
    assert 3 not in released(work)
    assert row_of(belief, 4, work) == row_of(belief, 3, work)


def test_equal_beliefs_are_told_apart_by_their_index() -> None:
    _, work = prepared([0.2] * 5)
    assert released(work) == list(range(len(released(work))))


def test_a_hardly_released_value_is_left_out() -> None:
    """At epsilon = log 2 + 1e-10 the fourth of six equal values could be released 3e-11 of the time."""
    _, work = prepared([1 / 6] * 6, math.log(2) + 1e-10)
    assert len(released(work)) == 3
    _, work = prepared([1 / 6] * 6, math.log(2) + 1e-8)
    assert len(released(work)) == 4


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_a_long_alphabet_keeps_epsilon_within_the_shave(epsilon: float, power: float) -> None:
    weights = np.arange(1, 41_271) ** -power
    worst, work = prepared(weights / weights.sum(), epsilon)
    assert max(log_units_up(ratio) for ratio in worst[:2]) <= int(epsilon * UNITS_PER_NAT)
    assert work.size[optimal.COUNT] <= math.exp(epsilon) + 2


def test_the_tournament_gives_the_symbols_in_order() -> None:
    rng = np.random.default_rng(2)
    for symbols in (1, 2, 3, 15, 16, 17, 200, 257, 4_100):
        belief = rng.integers(0, 9, symbols) / 8.0
        strength, winners = np.empty(symbols), np.zeros(symbols, dtype=np.int64)
        final = tournament.build(belief, strength, winners)
        order, any_left = [], True
        while any_left:
            order.append(int(winners[final]))
            any_left = tournament.take_out(strength, winners, order[-1])
        assert order == sorted(range(symbols), key=lambda x: (-belief[x], x))
