"""Exact values against closed forms, against an enumeration of their own, and against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from planning_help import chain_of, promised

from mechanisms.sequence.optimal_value import optimal_accuracy
from stream.commands.expectation import DAY_MS, carry_out, draw
from stream.planning.exact import exactly
from stream.planning.points import half_width

STICKY = [[0.9, 0.1], [0.2, 0.8]]
ALONE = [[0.5, 0.3, 0.2]] * 3


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_the_first_event_is_the_value_of_the_channel(epsilon: float) -> None:
    chain = chain_of([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]], [0.5, 0.35, 0.15])
    found = exactly(promised("optimal", epsilon), chain, None, 1, DAY_MS)
    assert found is not None
    assert found.agreement == pytest.approx(optimal_accuracy(chain.start, epsilon, epsilon), abs=1e-6)


@pytest.mark.parametrize("steps", [1, 2, 50])
def test_independent_values_are_exact_however_many(steps: int) -> None:
    chain = chain_of(ALONE, ALONE[0])
    found = exactly(promised("optimal", 1.0), chain, None, steps, DAY_MS)
    assert found is not None and "independent" in found.why
    assert found.agreement == pytest.approx(optimal_accuracy(chain.start, 1.0, 1.0), abs=1e-6)


def test_randomised_response_keeps_the_same_share_whatever_the_chain() -> None:
    found = exactly(promised("randomised_response", 1.0), chain_of(STICKY), None, 6, DAY_MS)
    assert found is not None and "followed" in found.why
    assert found.agreement == pytest.approx(math.e / (math.e + 1), abs=1e-7)


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_the_published_mechanism_equals_its_own_recursion(epsilon: float) -> None:
    """It releases x with probability 1 - e^-epsilon, and else a draw from the belief."""
    rows, off = np.array(STICKY), math.exp(-epsilon)

    def total(belief: np.ndarray, left: int) -> float:
        if left == 0:
            return 0.0
        gained = (1 - off) + off * float((belief**2).sum())
        for shown in range(2):
            likelihood = off * belief[shown] + (1 - off) * (np.arange(2) == shown)
            joint = belief * likelihood
            gained += float(joint.sum()) * total(joint / joint.sum() @ rows, left - 1)
        return gained

    steps = 6
    found = exactly(promised("published_crr", epsilon), chain_of(STICKY, [0.3, 0.7]), None, steps, DAY_MS)
    assert found is not None
    assert found.agreement == pytest.approx(total(np.array([0.3, 0.7]), steps) / steps, abs=1e-6)


@pytest.mark.parametrize("budget", [None, 1.5])
def test_simulation_agrees_with_what_is_exact(budget: float | None) -> None:
    chain, steps, users = chain_of(STICKY), 7, 4_000
    given = promised("optimal", 1.0, budget)
    found = exactly(given, chain, 1.0 - np.eye(2), steps, 1000)
    assert found is not None and found.distance == pytest.approx(1.0 - found.agreement, abs=1e-9)
    drawn = draw(given.policy, chain, users, steps, 1000)
    same = carry_out(given, chain, drawn).releases.symbol == drawn.events.symbol
    means = same.reshape(steps, users).mean(axis=0).tolist()
    assert abs(sum(means) / users - found.agreement) < 2 * half_width(means)
    if budget is not None:
        free = exactly(promised("optimal", 1.0), chain, None, steps, 1000)
        assert free is not None and free.agreement > found.agreement + 0.01


def test_what_cannot_be_followed_to_its_end_is_not_called_exact() -> None:
    assert exactly(promised("optimal", 1.0), chain_of(STICKY), None, 40, DAY_MS) is None
    large = chain_of([[1 / 40] * 40] * 40)
    assert exactly(promised("optimal", 1.0), large, None, 2, DAY_MS) is None
