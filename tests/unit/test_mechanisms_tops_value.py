"""The threshold mechanism for numbers: its three phases by hand, its error rate for bits, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from beliefs.checks import Invalid
from mechanisms.sequence.tops_value import laplace, quantile_of, smooth, tops_value

MIDDLE = 0.5


def test_the_noise_is_laplaces() -> None:
    grid = np.linspace(0.001, 0.999, 999)
    assert laplace(grid) == pytest.approx(stats.laplace.ppf(grid), abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.75, 1.0])
def test_a_quantile_is_not_exceeded_by_its_share(share: float) -> None:
    values = np.random.default_rng(1).normal(size=37)
    found = quantile_of(values, share)
    assert np.mean(values <= found) >= share
    assert np.mean(values < found) <= max(share, 1 / 37)
    assert found in values


def test_smoothing_is_the_mean_of_the_last_ones() -> None:
    released = np.array([4.0, 0.0, 2.0, -6.0, 8.0])
    for length in (1, 2, 3, 9):
        means = [np.clip(np.mean(released[max(0, i + 1 - length) : i + 1]), 0.0, 5.0) for i in range(5)]
        assert smooth(released, length, 5.0) == pytest.approx(means)


def test_the_three_phases_by_hand() -> None:
    """Noise of the range in the first two, of the threshold in the others, values cut at it."""
    uniforms = np.array([0.8, MIDDLE, 0.3, 0.9])
    value = tops_value(np.array([1.0, 2.0, 9.0, 0.0]), 10.0, 2.0, 2, 0.5, 1, uniforms)
    first = 1.0 - 5.0 * math.log(0.4)
    assert value.threshold == 2.0
    assert value.released == pytest.approx([first, 2.0, 2.0 + math.log(0.6), -math.log(0.2)])
    assert value.smoothed == pytest.approx([first, 2.0, 2.0 + math.log(0.6), -math.log(0.2)])
    errors = [first - 1.0, 0.0, 7.0 - math.log(0.6), -math.log(0.2)]
    assert value.distance == pytest.approx(sum(errors) / 4)


def test_a_threshold_stays_in_the_range() -> None:
    high = tops_value(np.array([5.0, 5.0]), 10.0, 1.0, 1, 0.5, 1, np.array([1 - 1e-9, MIDDLE]))
    low = tops_value(np.array([5.0, 5.0]), 10.0, 1.0, 1, 0.5, 1, np.array([1e-9, 0.99]))
    assert (high.threshold, low.threshold) == (10.0, 0.0)
    assert low.released[1] == 0.0


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_a_bit_is_read_wrong_by_the_known_share(epsilon: float) -> None:
    grid = (np.arange(1, 10_001) - 0.5) / 10_000
    bits = np.zeros(10_001)
    bits[0] = 1.0
    # The first value puts the threshold at the whole range; it takes no part in the count.
    value = tops_value(bits, 1.0, epsilon, 1, 1.0, 1, np.concatenate([[MIDDLE], grid]))
    assert value.threshold == 1.0
    assert np.mean(np.array(value.released[1:]) > 0.5) == pytest.approx(math.exp(-epsilon / 2) / 2, abs=2e-4)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("bound", {"bound": 0.0}),
        ("epsilon", {"epsilon": 0.0}),
        ("stream", {"stream": np.array([1.0, 11.0])}),
        ("stream", {"stream": np.array([-1.0, 1.0])}),
        ("stream", {"stream": np.zeros(0), "uniforms": np.zeros(0)}),
        ("samples", {"samples": 3}),
        ("samples", {"samples": 0}),
        ("uniforms", {"uniforms": np.array([0.5])}),
        ("uniforms", {"uniforms": np.array([0.5, 1.0])}),
        ("uniforms", {"uniforms": np.array([0.0, 0.5])}),
    ],
)
def test_what_is_refused(field: str, change: dict[str, object]) -> None:
    usual: dict[str, object] = {
        "stream": np.array([1.0, 2.0]),
        "bound": 10.0,
        "epsilon": 1.0,
        "samples": 1,
        "quantile": 0.5,
        "smoothing": 1,
        "uniforms": np.array([0.5, 0.5]),
    }
    with pytest.raises(Invalid) as refused:
        tops_value(**{**usual, **change})  # type: ignore[arg-type]
    assert refused.value.field == field
