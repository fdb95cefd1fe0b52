"""The integers that are sampled reach the optimum: the closed form's, and that of linear programs with no theory."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import oracles
import pytest
from channels import channel_of, epsilon_units, registered, whole
from random_beliefs import SHAPES, belief_of, cases

from beliefs.rounding import UNITS_PER_NAT
from mechanisms.contract import TOTAL, Floats
from mechanisms.sequence.optimal_value import bounds_of, optimal_accuracy, solve

OPTIMAL = registered("optimal")
LIMIT = 1e-9


def sampled_agreement(belief: Floats, units: int) -> float:
    """P(release = value) of the sampled integers, computed exactly and rounded once."""
    channel = channel_of(OPTIMAL, belief, units)
    masses = whole(belief)
    kept = sum(masses[y] * channel.rows[y][i] for i, y in enumerate(channel.released))
    return float(Fraction(kept, sum(masses) * TOTAL))


def test_the_integers_reach_the_closed_form() -> None:
    reached: Counter[str] = Counter()
    for belief, units in cases(12_000, seed=21):
        epsilon = units / UNITS_PER_NAT
        best = optimal_accuracy(belief, epsilon, epsilon)
        reached[solve(belief.tolist(), bounds_of(epsilon, epsilon)).case] += 1
        assert best - LIMIT <= sampled_agreement(belief, units) <= best + 1e-14
    assert min(reached.values()) > 400
    assert set(reached) == {"full", "top", "bound", "donor"}


@pytest.mark.parametrize("shape", range(SHAPES))
def test_the_integers_reach_the_linear_program(shape: int) -> None:
    """The program states the definition alone: every channel with e p <= a <= E p. 9 x 230 beliefs."""
    rng = np.random.default_rng(100 + shape)
    for _ in range(230):
        epsilon = float(np.exp(rng.uniform(np.log(0.01), np.log(8.0))))
        belief = belief_of(shape, int(rng.integers(2, 7)), epsilon, rng)
        best = oracles.accuracy_by_linear_program(belief, epsilon, epsilon)
        assert sampled_agreement(belief, epsilon_units(epsilon)) == pytest.approx(best, abs=LIMIT)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_integers_reach_the_closed_form_on_a_long_alphabet(epsilon: float) -> None:
    weights = 1.0 / np.arange(1, 301)
    belief = weights / weights.sum()
    best = optimal_accuracy(belief, epsilon, epsilon)
    assert sampled_agreement(belief, epsilon_units(epsilon)) == pytest.approx(best, abs=LIMIT)
