"""Bounds for the true path: against every sequence of releases, and against the known figures."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from beliefs.checks import InvariantBroken
from beliefs.leakage import losses
from beliefs.leakage.losses import concentrated_bound, path_losses
from mechanisms.sequence.published_crr_value import likelihood_of

Channel = list[list[float]]
FAIR = [0.5, 0.5]


def response(prior: list[float], epsilon: float) -> Channel:
    values = np.array(prior)
    return np.array([likelihood_of(values, epsilon, y) for y in range(values.size)]).T.tolist()


def exceeded(prior: list[float], channel: Channel, path: tuple[int, ...], bound: float, sign: int) -> float:
    """The probability that the loss of this path of true values is above the bound, over all releases."""
    rows, marginal = np.array(channel), np.array(prior) @ np.array(channel)
    chance = 0.0
    for released in itertools.product(range(len(channel[0])), repeat=len(path)):
        probability = math.prod(rows[x, y] for x, y in zip(path, released, strict=True))
        loss = sum(math.log(rows[x, y] / marginal[y]) for x, y in zip(path, released, strict=True) if rows[x, y])
        chance += probability if probability and sign * loss > bound + 1e-12 else 0.0
    return chance


@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-3])
def test_no_path_exceeds_a_bound_more_often_than_delta(delta: float) -> None:
    """Constant and changing true values, channels of any kind."""
    rng = np.random.default_rng(1)
    for _ in range(12):
        values, outputs, times = int(rng.integers(2, 4)), int(rng.integers(2, 4)), int(rng.integers(1, 6))
        prior = rng.dirichlet(np.ones(values)).tolist()
        channel = rng.dirichlet(np.ones(outputs), size=values).tolist()
        told = path_losses(prior, channel, times, delta)
        for path in itertools.product(range(values), repeat=times):
            for side, sign in ((told.upper, 1), (told.lower, -1)):
                for bound in side:
                    assert exceeded(prior, channel, path, bound, sign) <= delta * (1 + 1e-9)


def test_the_known_figures() -> None:
    told = path_losses(FAIR, response(FAIR, 0.1), 100, 1e-6)
    assert told.upper.renyi == pytest.approx(5.242, abs=5e-4)
    assert told.upper.distribution == pytest.approx(4.890, abs=5e-4)
    assert concentrated_bound(100, 0.1, 1e-6) == pytest.approx(5.757, abs=6e-4)


@pytest.mark.parametrize(("times", "delta"), [(1, 0.4), (7, 0.1), (100, 1e-6), (2_000, 1e-9)])
def test_two_equal_values_are_the_binomial_law(times: int, delta: float) -> None:
    epsilon = 0.3
    kept, changed = math.log(2 - math.exp(-epsilon)), epsilon
    share = 1 - math.exp(-epsilon) / 2
    most = int(stats.binom.isf(delta, times, share))
    while most > 0 and stats.binom.sf(most - 1, times, share) <= delta:
        most -= 1
    expected = most * kept - (times - most) * changed
    found = path_losses(FAIR, response(FAIR, epsilon), times, delta).upper.distribution
    assert found == pytest.approx(max(0.0, expected), abs=1e-6)
    assert found >= expected


def test_a_grid_rounds_up_and_not_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same sums, exactly and put on a grid from the first one on."""
    for epsilon, times in ((0.3, 40), (1.0, 700), (2.0, 3)):
        channel = response([0.7, 0.3], epsilon)
        exact = path_losses([0.7, 0.3], channel, times, 1e-4)
        with monkeypatch.context() as changed:
            changed.setattr(losses, "_PAIRS_MAX", 0)
            rough = path_losses([0.7, 0.3], channel, times, 1e-4)
        for fine, coarse in zip(exact, rough, strict=True):
            assert fine.distribution <= coarse.distribution <= fine.distribution + 2e-3 * times * epsilon
            assert fine.renyi == coarse.renyi


def test_more_releases_than_units_hold() -> None:
    """10^12 releases: losses are counted in coarser units then, and the bounds stay finite and in order."""
    told = path_losses(FAIR, response(FAIR, 0.1), 10**12, 1e-6)
    mean = 10**12 * (0.5475812909820202 * math.log(2 - math.exp(-0.1)) - 0.4524187090179798 * 0.1)
    assert mean < told.upper.renyi < mean * 1.001
    assert mean < told.upper.distribution


def test_a_channel_that_tells_nothing_or_everything() -> None:
    nothing = path_losses([0.3, 0.7], [[0.4, 0.6], [0.4, 0.6]], 50, 1e-3)
    assert nothing.upper == pytest.approx((0.0, 0.0), abs=1e-9)
    everything = path_losses(FAIR, [[1.0, 0.0], [0.0, 1.0]], 10, 1e-3)
    assert everything.upper == pytest.approx((10 * math.log(2),) * 2)
    assert everything.lower == (0.0, 0.0)


def test_an_impossible_value_has_no_path() -> None:
    with_it = path_losses([0.5, 0.5, 0.0], [[0.7, 0.3], [0.3, 0.7], [1.0, 0.0]], 20, 0.01)
    assert with_it == path_losses(FAIR, [[0.7, 0.3], [0.3, 0.7]], 20, 0.01)


@pytest.mark.parametrize("order", [0.01, 0.5, 1.0, 4.0, 40.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0])
def test_concentrated_privacy_covers_the_binary_response(order: float, epsilon: float) -> None:
    moment = np.logaddexp((order + 1) * epsilon, -order * epsilon) - np.logaddexp(epsilon, 0.0)
    assert moment <= order * (order + 1) * epsilon**2 / 2 + 1e-12


def test_the_sum_is_never_exceeded_and_nonsense_is_refused() -> None:
    assert concentrated_bound(3, 2.0, 1e-9) == 6.0
    for times, delta in ((0, 0.1), (1, 0.0), (1, 1.0)):
        with pytest.raises(InvariantBroken):
            path_losses(FAIR, response(FAIR, 1.0), times, delta)
