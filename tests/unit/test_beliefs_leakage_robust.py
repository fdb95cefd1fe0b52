"""What others may learn, against the worst belief that a linear program of one variable finds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.checks import Invalid
from beliefs.leakage.path import path_bound, published_theorem_2
from beliefs.leakage.robust import robust_epsilon, robust_leak

EPSILONS = st.floats(1e-6, 8.0)
RADII = st.floats(0.0, 1.0)


def farthest(low: float, high: float, prior: np.ndarray, likelihood: np.ndarray, radius: float) -> float:
    """The largest leak over beliefs within the radius: move that much mass to the lowest, or to the highest entry."""
    worst = 0.0
    for to in (int(likelihood.argmin()), int(likelihood.argmax())):
        belief, left = prior.copy(), radius
        order = np.argsort(likelihood) if likelihood[to] == high else np.argsort(-likelihood)
        for x in order:
            moved = min(left, belief[x]) if x != to else 0.0
            belief[x] -= moved
            belief[to] += moved
            left -= moved
        chance = float(belief @ likelihood)
        worst = max(worst, math.log(high / chance), math.log(chance / low))
    return worst


@given(EPSILONS, RADII, st.integers(0, 1_000))
def test_nobody_within_the_radius_learns_more(epsilon: float, radius: float, seed: int) -> None:
    """Two likelihoods as far from each other as epsilon allows, and any prior under which both sides hold."""
    random = np.random.default_rng(seed)
    top = np.exp(epsilon)
    share = random.uniform(1 / (1 + top), 1.0)  # at least p*: only then may a release tell epsilon upwards
    prior = np.array([share, *(1 - share) * random.dirichlet(np.ones(3))])
    low = math.exp(-epsilon)
    high = min(top, (1 - (1 - share) * low) / share)
    likelihood = np.array([high, low, low, low])
    assert farthest(low, high, prior, likelihood, radius) <= robust_leak(epsilon, radius) + 1e-12


def test_the_bound_is_reached() -> None:
    """One value with mass p* that takes the whole upper side; an adversary who thinks it rarer by r."""
    epsilon, radius = 1.0, 0.1
    top, low = math.e, 1 / math.e
    share = 1 / (1 + top)
    chance = (share - radius) * top + (1 - share + radius) * low
    assert share * top + (1 - share) * low == pytest.approx(1.0)
    assert math.log(top / chance) == pytest.approx(robust_leak(epsilon, radius), abs=1e-12)


@given(EPSILONS, RADII)
def test_what_is_built_for_keeps_what_is_asked_for(epsilon: float, radius: float) -> None:
    design = robust_epsilon(epsilon, radius)
    assert epsilon / 2 <= design <= epsilon
    assert robust_leak(design, radius) <= epsilon * (1 + 1e-13)
    if design < epsilon * (1 - 1e-6) and design > epsilon / 2:
        assert robust_leak(design * (1 + 1e-6), radius) > epsilon * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 30.0, 700.0, 2_000.0])
@pytest.mark.parametrize("radius", [0.0, 1e-300, 1e-9, 0.5, 1.0])
def test_no_size_overflows(epsilon: float, radius: float) -> None:
    assert epsilon <= robust_leak(epsilon, radius) <= 2 * epsilon
    assert epsilon / 2 <= robust_epsilon(epsilon, radius) <= epsilon


@pytest.mark.parametrize(
    ("epsilon", "radius"), [(-1.0, 0.1), (math.inf, 0.1), (1.0, -0.1), (1.0, 1.1), (1.0, math.nan)]
)
def test_what_makes_no_sense_is_refused(epsilon: float, radius: float) -> None:
    for function in (robust_leak, robust_epsilon):
        with pytest.raises(Invalid):
            function(epsilon, radius)


def test_the_path_bound_holds_for_the_true_path() -> None:
    """A bounded binary response, 2,000 sequences of 100: the share above the bound is within delta."""
    epsilon, times, delta = 0.3, 100, 0.05
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    kept = np.random.default_rng(1).random((20_000, times)) < keep
    ratios = np.where(kept, math.log(2 * keep), math.log(2 * (1 - keep))).sum(axis=1)
    assert np.mean(ratios > path_bound(times, epsilon, delta)) <= delta
    assert path_bound(times, epsilon, delta) < published_theorem_2(times, epsilon, delta)
    assert path_bound(1, 1.0, 1e-9) == 1.0
    assert published_theorem_2(10, 800.0, 0.1) == math.inf
