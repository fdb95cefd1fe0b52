"""Keyed reports follow the channel that the mechanisms describe, and estimates scatter as the description says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.registry import DRAWN, drawn, local

DRAWS = 1_000_000
VALUES, EPSILON = 4, 1.0
KEY = field_key(bytes(range(32)), "statistics")
FAILURE = 1e-6
"""A true mechanism is accused once in a million keys; the key is fixed, so the answer here is always the same."""


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


@pytest.mark.parametrize("name", ["grr", "exp", "oue", "sue", "rappor", "ss", "the", "top_k"])
def test_reports_follow_their_channel(name: str) -> None:
    options = {"top": [2, 0]} if name == "top_k" else {}
    found: Any = drawn(name, VALUES, EPSILON, **options)
    described: Any = local(name, VALUES, EPSILON, **options)
    rows = described.channel()
    reports = found.draw(np.full(DRAWS, 2, dtype=np.int64), report_coins(KEY, 0, DRAWS, found.words))
    if reports.ndim > 1:
        reports = reports @ (1 << np.arange(VALUES)[::-1])
    seen = np.bincount(reports, minlength=1 << VALUES)
    places = {"grr": range(4), "exp": range(4), "top_k": range(3), "ss": [8, 4, 2, 1]}.get(name, range(1 << VALUES))
    expected = rows[2] * DRAWS
    observed = np.array([seen[place] for place in places])
    assert observed.sum() == DRAWS
    assert stats.chi2.sf(float(((observed - expected) ** 2 / expected).sum()), len(expected) - 1) > FAILURE
