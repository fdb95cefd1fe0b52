"""Keyed noise of aggregates follows its law, other laws would be noticed, and no event proves more than its loss.

Events are "at most t" and "at least t" for every t: the likelihood ratio of two shifted laws is monotone, so one of
them is the event that proves most. Chances are bounded from counts (Clopper and Pearson).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from beliefs.rounding import UNITS_PER_NAT
from mechanisms.aggregate.coin_stream import CoinStream
from mechanisms.aggregate.geometric import Geometric, scale_for
from mechanisms.aggregate.registry import REGISTRY
from mechanisms.contract import Integers

DRAWS = 1_000_000
KEY = bytes(range(32))
FAILURE = 1e-6
"""A true mechanism is accused once in a million keys; the keys are fixed, so the answer is always the same."""


def many_keys(noise: Geometric, first: int, keys: int = 200, each: int = 5_000) -> Integers:
    """Draws under as many keys, windows and queries as a pipeline would see in years."""
    parts = [
        noise.draws(CoinStream((first + number).to_bytes(32, "big"), number, number % 7), each)
        for number in range(keys)
    ]
    return np.concatenate(parts)


def p_value(draws: Integers, scale: float, cells: int) -> float:
    """Chi-square against the exact law: cells of single sizes in the middle, both tails beyond."""
    alpha = math.exp(-1.0 / scale)
    sizes = np.arange(-cells, cells + 1)
    law = (1 - alpha) / (1 + alpha) * alpha ** np.abs(sizes)
    tail = alpha ** (cells + 1) / (1 + alpha)
    expected = np.concatenate([[tail], law, [tail]]) * draws.size
    seen = np.bincount(np.clip(draws, -cells - 1, cells + 1) + cells + 1, minlength=2 * cells + 3)
    assert expected.min() > 20
    return float(stats.chi2.sf(((seen - expected) ** 2 / expected).sum(), seen.size - 1))


@pytest.mark.parametrize(("num", "den", "cells"), [(1, 2, 4), (7, 5, 10), (5, 1, 40), (1072694276, 214538855, 40)])
def test_draws_follow_the_law_and_a_scale_off_by_one_in_a_hundred_does_not(num: int, den: int, cells: int) -> None:
    noise = Geometric(num, den)
    for draws in (noise.draws(CoinStream(KEY, 0, 0), DRAWS), many_keys(noise, 1)):
        assert FAILURE < p_value(draws, num / den, cells) < 1 - FAILURE
        assert p_value(draws, 1.01 * num / den, cells) < FAILURE
        assert p_value(np.where(draws > 0, draws - (draws % 50 == 1), draws), num / den, cells) < FAILURE
        assert abs(float(draws.mean())) < 5 * math.sqrt(noise.variance / DRAWS)


def test_neighbouring_cells_and_windows_have_nothing_in_common() -> None:
    noise = Geometric(5, 1)
    rows = np.stack([noise.draws(CoinStream(KEY, window, 0), 10_000) for window in range(40)]).astype(float)
    for one, two in ((rows[:, :-1], rows[:, 1:]), (rows[:-1], rows[1:])):
        seen = float((one * two).mean()) / noise.variance
        assert abs(seen) < 5 / math.sqrt(one.size)


def proven(one: Integers, other: Integers) -> float:
    """The least level that counts of events on both sides allow, but for the failure."""
    edges = np.arange(min(one.min(), other.min()), max(one.max(), other.max()) + 1)
    best = 0.0
    for sign in (1, -1):
        counts = [np.searchsorted(np.sort(sign * each), sign * edges, side="right") for each in (one, other)]
        low = np.nan_to_num(stats.beta.ppf(FAILURE / 2, counts[0], DRAWS - counts[0] + 1), nan=0.0)
        high = np.nan_to_num(stats.beta.ppf(1 - FAILURE / 2, counts[1] + 1, DRAWS - counts[1]), nan=1.0)
        with np.errstate(divide="ignore"):
            best = max(best, float((np.log(low) - np.log(high)).max()))
    return best


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize(("sensitivity", "nats"), [(1, 0.5), (2, 1.0), (80, 0.375), (3, 2.0)])
def test_a_million_releases_a_side_prove_the_loss_and_no_more(name: str, sensitivity: int, nats: float) -> None:
    loss = int(nats * UNITS_PER_NAT)
    noise = REGISTRY[name](sensitivity, loss)
    with_person, without = many_keys(noise, 1_000) + sensitivity, many_keys(noise, 2_000)
    found = max(proven(with_person, without), proven(without, with_person))
    assert 0.95 * nats <= found <= noise.loss(sensitivity) / UNITS_PER_NAT <= nats


def test_noise_that_is_a_twentieth_too_narrow_is_caught() -> None:
    narrow = scale_for(1, int(1.05 * UNITS_PER_NAT))
    with_person, without = many_keys(narrow, 1_000) + 1, many_keys(narrow, 2_000)
    assert max(proven(with_person, without), proven(without, with_person)) > 1.0
