"""A million reports a side through every local mechanism: no event tells more than the level; a fault is noticed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mechanisms.contract import TOTAL
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.contract import Drawn
from mechanisms.local.grr import DrawnResponse
from mechanisms.local.hashing import DrawnHashing, HashReports, hashed
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.registry import DRAWN, drawn, local
from mechanisms.local.subset import DrawnSubset
from mechanisms.local.unary import DrawnBits

DRAWS = 1_000_000
VALUES, EPSILON = 4, 1.0
KEY = field_key(bytes(range(32)), "statistics")
FAILURE = 1e-6
"""A true mechanism is accused once in a million keys; the key is fixed, so the answer here is always the same."""


def supports(found: Drawn, reports: object, value: int) -> np.ndarray:
    """Which of the reports support the value."""
    if isinstance(reports, HashReports):
        assert isinstance(found, DrawnHashing)
        return hashed(np.uint64(value), reports.factors, reports.shifts, found.response.values) == reports.hashes
    assert isinstance(reports, np.ndarray)
    return reports == value if reports.ndim == 1 else reports[:, value] == 1


def times_seen(found: Drawn, value: int, first: int) -> int:
    """How many of a million reports of the value support 0 and not 1: the event that tells the two apart best."""
    coins = report_coins(KEY, first, DRAWS, found.words)
    reports = found.draw(np.full(DRAWS, value, dtype=np.int64), coins)
    if isinstance(found, DrawnHistogram):
        return int(((reports[:, 0] >= found.per_unit) & (reports[:, 1] <= 0)).sum())
    return int((supports(found, reports, 0) & ~supports(found, reports, 1)).sum())


def proven_level(found: Drawn) -> float:
    """The least level that the counts of both sides allow, but for the failure (Clopper and Pearson)."""
    own, other = times_seen(found, 0, 0), times_seen(found, 1, DRAWS)
    low = stats.beta.ppf(FAILURE / 2, own, DRAWS - own + 1)
    high = stats.beta.ppf(1 - FAILURE / 2, other + 1, DRAWS - other)
    return float(math.log(low / high))


@pytest.mark.parametrize("name", DRAWN)
def test_a_million_draws_prove_no_more_than_the_level_and_almost_all_of_it(name: str) -> None:
    found = drawn(name, VALUES, EPSILON)
    proven = proven_level(found)
    assert proven <= found.level
    assert proven >= found.level - 0.04


def louder(found: Drawn) -> Drawn:
    """The same with one part in twenty of the whole moved towards the truth: a fault."""
    if isinstance(found, DrawnResponse):
        low = found.low - TOTAL // 20
        return DrawnResponse(found.values, TOTAL - (found.values - 1) * low, low)
    if isinstance(found, DrawnBits):
        return DrawnBits(found.values, found.one + TOTAL // 20, found.other)
    if isinstance(found, DrawnHistogram):
        cells = list(found.other)
        cells[-1 - found.per_unit + found.first :] = [
            units // 2 for units in cells[-1 - found.per_unit + found.first :]
        ]
        cells[-found.first] += TOTAL - sum(cells)
        return DrawnHistogram(found.values, found.per_unit, found.first, tuple(cells))
    if isinstance(found, DrawnSubset):
        return DrawnSubset(found.values, found.size, found.own + TOTAL // 20)
    assert isinstance(found, DrawnHashing)
    response = louder(found.response)
    assert isinstance(response, DrawnResponse)
    return DrawnHashing(found.values, response)


@pytest.mark.parametrize("name", DRAWN)
def test_a_mechanism_that_tells_a_twentieth_more_is_caught(name: str) -> None:
    found = drawn(name, VALUES, EPSILON)
    assert proven_level(louder(found)) > found.level


@pytest.mark.parametrize("name", DRAWN)
def test_estimates_scatter_around_the_truth_as_they_say(name: str) -> None:
    """200 estimates of 5,000 people each: the mean is the truth, the variance the stated one, both by chi-square."""
    found, described, people, rounds = drawn(name, VALUES, EPSILON), local(name, VALUES, EPSILON), 5_000, 200
    truth = np.array([0.5, 0.3, 0.2, 0.0])
    values = np.repeat(np.arange(VALUES, dtype=np.int64), (truth * people).astype(np.int64))
    estimates, stated = [], np.zeros(VALUES)
    for number in range(rounds):
        coins = report_coins(KEY, number * people, people, found.words)
        one = described.estimate(found.counts(found.draw(values, coins)).astype(float), people)
        estimates.append(one.frequencies)
        stated += one.variances / rounds
    scores = (np.array(estimates) - truth) / np.sqrt(stated)
    assert stats.chi2.sf(float((scores.sum(axis=0) ** 2 / rounds)[1:].sum()), VALUES - 1) > FAILURE
    for column in scores.T:
        spread = float((column**2).sum())
        assert FAILURE < stats.chi2.sf(spread, rounds) < 1 - FAILURE


@pytest.mark.parametrize("name", ["grr", "oue", "sue", "ss"])
def test_reports_follow_their_channel(name: str) -> None:
    found, rows = drawn(name, VALUES, EPSILON), local(name, VALUES, EPSILON).channel()  # type: ignore[attr-defined]
    reports = found.draw(np.full(DRAWS, 2, dtype=np.int64), report_coins(KEY, 0, DRAWS, found.words))
    if reports.ndim > 1:
        reports = reports @ (1 << np.arange(VALUES)[::-1])
    seen = np.bincount(reports, minlength=1 << VALUES)
    places = {"grr": range(VALUES), "ss": [8, 4, 2, 1]}.get(name, range(1 << VALUES))
    expected = rows[2] * DRAWS
    observed = np.array([seen[place] for place in places])
    assert observed.sum() == DRAWS
    assert stats.chi2.sf(float(((observed - expected) ** 2 / expected).sum()), len(expected) - 1) > FAILURE
