"""Intervals for single probabilities against enumeration, and chains within the factor that is said of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from chains import counted, first_order

from beliefs.checks import Invalid
from beliefs.learning.choice import choose
from beliefs.learning.entries import Factor, factor_of, interval
from beliefs.learning.levels import levels_of
from beliefs.learning.written import Learnt, keepings_of, learn


def chance_of_leaving(law: float, visits: int, failure: float) -> float:
    """The exact probability that the law is outside the interval at any of the first visits."""
    inside = np.array([1.0])
    for n in range(1, visits + 1):
        following = np.zeros(n + 1)
        following[:-1] += inside * (1 - law)
        following[1:] += inside * law
        low, high = interval(np.arange(n + 1.0), np.full(n + 1, float(n)), failure)
        following[(law < low) | (law > high)] = 0.0
        inside = following
    return 1.0 - float(inside.sum())


@pytest.mark.parametrize("law", [0.5, 0.1, 0.01, 0.0, 1.0])
@pytest.mark.parametrize("failure", [0.5, 0.05])
def test_an_interval_holds_at_all_numbers_of_visits_at_once(law: float, failure: float) -> None:
    left = chance_of_leaving(law, 200, failure)
    assert left <= failure + 1e-12
    if law == 0.5:
        assert left > failure / 20, "an interval that is never left would say nothing"


def test_intervals_hold_the_share_and_shrink() -> None:
    seen, visits = np.array([0.0, 5.0, 50.0, 5e3, 5e8]), np.array([0.0, 10.0, 100.0, 1e4, 1e9])
    low, high = interval(seen, visits, 0.01)
    assert (low[0], high[0]) == (0.0, 1.0)
    assert (low[1:] < 0.5).all() and (high[1:] > 0.5).all()
    assert (np.diff(high - low) < 0).all() and high[-1] - low[-1] < 3e-4
    assert np.allclose(low, 1 - high, atol=1e-9)
    assert interval(np.array([0.0]), np.array([100.0]), 0.01)[0][0] == 0.0
    for wrong in (0.0, 1.0, float("nan")):
        with pytest.raises(Invalid, match="failure"):
            interval(seen, visits, wrong)


def fitted(values: np.ndarray[tuple[int, int], np.dtype[np.int64]], symbols: int) -> tuple[Learnt, Factor]:
    counts = counted(values, symbols, 1)
    levels, rows = levels_of(counts)
    keepings = keepings_of(levels, symbols, 2)
    learnt = learn(levels, choose(levels, rows, symbols, keepings, 1), keepings, symbols, counts.starts.sum(axis=0))
    return learnt, factor_of(levels[1], learnt.deepest, counts, learnt.start, 0.05)


def test_known_chains_are_within_the_factor_that_is_justified() -> None:
    kept = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        truth = 0.8 * rng.dirichlet(np.ones(3), 3) + 0.2 / 3
        learnt, factor = fitted(first_order(truth, 400, 30, rng), 3)
        assert factor.largest is not None and learnt.chain is not None and factor.unseen == 0
        off = max(np.abs(np.log(learnt.chain.dense / truth)).max(), np.abs(np.log(learnt.start * 3)).max())
        kept += float(off) <= factor.largest
        assert factor.largest < 1.0
    assert kept >= 95


def test_what_was_never_seen_justifies_no_factor() -> None:
    values = np.array([[0, 1, 0, 1, 0]] * 16)
    assert fitted(values, 3)[1] == Factor(None, 12 - 3, 12)
    assert math.isclose(float(interval(np.array([1.0]), np.array([1.0]), 0.5)[1][0]), 1.0)
