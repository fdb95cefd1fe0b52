"""What an analyst computes from reports: no bias, the stated variance, intervals that cover; a fault is noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.estimate import Estimate
from mechanisms.local.frequencies import tally
from mechanisms.local.registry import REGISTRY

VALUES, EPSILON, PEOPLE, ROUNDS = 5, 1.5, 2_000, 250
TRUTH = np.array([0.4, 0.3, 0.2, 0.1, 0.0])
KEY = field_key(bytes(range(32)), "frequencies")
FAILURE = 1e-6
"""A true estimate is accused once in a million keys; the key is fixed, so the answer here is always the same."""


OPTIONS: dict[str, dict[str, Any]] = {"top_k": {"top": [1, 0, 4]}}


def truth_of(name: str) -> np.ndarray:
    """The share of each value that is counted by itself, and of all others together."""
    top = OPTIONS.get(name, {}).get("top")
    return TRUTH if top is None else np.append(TRUTH[top], TRUTH.sum() - TRUTH[top].sum())


def estimates_of(name: str) -> list[Estimate]:
    """One estimate a round, from reports of the same people with fresh coins."""
    people = np.repeat(np.arange(VALUES, dtype=np.int64), (TRUTH * PEOPLE).astype(np.int64))
    found = []
    for number in range(ROUNDS):
        one = tally(name, VALUES, EPSILON, **OPTIONS.get(name, {}))
        one.add(one.drawn.draw(people, report_coins(KEY, number * PEOPLE, PEOPLE, one.drawn.words)))
        found.append(one.frequencies().estimate)
    return found


def accusations(found: list[Estimate], truth: np.ndarray, confidence: float = 0.95) -> list[str]:
    """What is wrong with the bias, the variances or the intervals."""
    wrong = []
    apart = np.array([one.frequencies for one in found]) - truth
    scores = apart / np.sqrt(np.mean([one.variances for one in found], axis=0))
    for value, column in enumerate(scores.T):
        if stats.chi2.sf(float(column.sum()) ** 2 / ROUNDS, 1) < FAILURE / VALUES:
            wrong.append(f"bias of value {value}")
        if not FAILURE / VALUES < stats.chi2.sf(float((column**2).sum()), ROUNDS) < 1 - FAILURE / VALUES:
            wrong.append(f"variance of value {value}")
    ends = [one.interval(confidence) for one in found]
    covered = np.sum([(low <= truth) & (high >= truth) for low, high in ends], axis=0)
    for value, times in enumerate(covered):
        if stats.binomtest(int(times), ROUNDS, confidence).pvalue < FAILURE / VALUES:
            wrong.append(f"coverage of value {value}")
    return wrong


@pytest.mark.parametrize("name", REGISTRY)
def test_estimates_have_no_bias_and_the_stated_variance_and_their_intervals_cover(name: str) -> None:
    found, truth = estimates_of(name), truth_of(name)
    assert accusations(found, truth) == []
    assert accusations(found, truth, 0.5) == []
    assert {wrong.split()[0] for wrong in accusations(shifted(found), truth)} == {"bias", "variance", "coverage"}
    assert "variance of value 0" in accusations(misstated(found, 2.0), truth)
    assert "variance of value 0" in accusations(misstated(found, 0.5), truth)
    assert "coverage of value 0" in accusations(misstated(found, 0.3), truth)


def shifted(found: list[Estimate]) -> list[Estimate]:
    """A fault: everything off by one and a half standard errors."""
    return [Estimate(one.frequencies + 1.5 * np.sqrt(one.variances), one.variances) for one in found]


def misstated(found: list[Estimate], factor: float) -> list[Estimate]:
    """A fault: variances that are not those of the reports."""
    return [Estimate(one.frequencies, one.variances * factor) for one in found]
