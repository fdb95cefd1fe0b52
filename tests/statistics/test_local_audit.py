"""A million reports a side through every local mechanism: no event proves more than the level, one almost all of it.

An event is "supports u and not v", for every u and v; its chances under two values bound the level from below (Clopper
and Pearson). At levels under a half a million draws are too few to show 95 % of them, so epsilon is 2 and 4 here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from mechanisms.contract import TOTAL, Integers
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.contract import Drawn
from mechanisms.local.grr import DrawnResponse
from mechanisms.local.hashing import DrawnHashing, HashReports, hashed
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.registry import REGISTRY, drawn
from mechanisms.local.subset import DrawnSubset
from mechanisms.local.top_k import DrawnTop, cells_of
from mechanisms.local.unary import DrawnBits

DRAWS, AT_ONCE = 1_000_000, 50_000
KEY = field_key(bytes(range(32)), "statistics")
FAILURE = 1e-6
"""An event accuses a true mechanism once in a million keys; the key is fixed, so the answer is always the same."""


def mechanism(name: str, values: int, epsilon: float) -> Drawn:
    options = {"top": list(range(values // 2))} if name == "top_k" else {}
    return drawn(name, values, epsilon, **options)


def supports(found: Drawn, reports: Any) -> np.ndarray:
    """For each report and value whether it speaks for it, as 1, against it, as -1, or neither: noisy cells between."""
    if isinstance(found, DrawnHistogram):
        return (reports >= found.per_unit).astype(np.float32) - (reports <= 0)
    if isinstance(found, DrawnHashing):
        assert isinstance(reports, HashReports)
        columns = [
            hashed(np.uint64(value), reports.factors, reports.shifts, found.response.values) == reports.hashes
            for value in range(found.values)
        ]
        return 2.0 * np.stack(columns, axis=1).astype(np.float32) - 1.0
    if isinstance(found, DrawnTop):
        reports = reports[:, None] == cells_of(found.values, found.top)
    elif reports.ndim == 1:
        reports = reports[:, None] == np.arange(found.values)
    return 2.0 * reports.astype(np.float32) - 1.0


def times_seen(found: Drawn, value: int, first: int) -> Integers:
    """Of a million reports of the value: how many speak for u and against v, in row u and column v."""
    seen = np.zeros((found.values, found.values), dtype=np.int64)
    values = np.full(AT_ONCE, value, dtype=np.int64)
    for start in range(first, first + DRAWS, AT_ONCE):
        told = supports(found, found.draw(values, report_coins(KEY, start, AT_ONCE, found.words)))
        seen += ((told > 0).astype(np.float32).T @ (told < 0).astype(np.float32)).astype(np.int64)
    return seen


def proven(own: Integers, other: Integers) -> np.ndarray:
    """The least level that the counts of both sides allow, but for the failure."""
    low = np.nan_to_num(stats.beta.ppf(FAILURE / 2, own, DRAWS - own + 1), nan=0.0)
    high = np.nan_to_num(stats.beta.ppf(1 - FAILURE / 2, other + 1, DRAWS - other), nan=1.0)
    with np.errstate(divide="ignore"):
        levels: np.ndarray = np.log(low) - np.log(high)
    return levels


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize(("values", "epsilon"), [(2, 2.0), (4, 4.0), (10, 2.0)])
def test_a_million_draws_prove_no_more_than_the_level_and_almost_all_of_it(
    name: str, values: int, epsilon: float
) -> None:
    found = mechanism(name, values, epsilon)
    one, other = times_seen(found, 0, 0), times_seen(found, 1, DRAWS)
    forth, back = proven(one, other), proven(other, one)
    assert max(float(forth.max()), float(back.max())) <= found.level
    assert forth[0, 1] >= 0.95 * found.level
    assert back[1, 0] >= 0.95 * found.level


def test_several_reports_of_kept_bits_prove_what_they_tell_together_and_no_more() -> None:
    found = drawn("rappor", 4, 2.0, report_zero=0.25, report_one=0.75)
    assert isinstance(found, DrawnRappor)
    for times in (2, 3):
        counts = []
        for value in (0, 1):
            hits, values = 0, np.full(AT_ONCE, value, dtype=np.int64)
            for start in range(0, DRAWS, AT_ONCE):
                coins = report_coins(KEY, value * DRAWS + start, AT_ONCE, (1 + times) * 4)
                kept = found.permanent.draw(values, coins[:, :4])
                rounds = [found.report(kept, coins[:, 4 * each : 4 * each + 4]) for each in range(1, times + 1)]
                hits += int(np.logical_and.reduce([(told[:, 0] == 1) & (told[:, 1] == 0) for told in rounds]).sum())
            counts.append(np.array(hits))
        together = found.level_of_reports(times)
        assert found.level < 0.95 * together <= float(proven(*counts)) <= together <= times * found.level


def louder(found: Drawn) -> Any:
    """The same with one part in twenty of the whole moved towards the truth: a fault."""
    if isinstance(found, DrawnResponse):
        low = found.low - TOTAL // 20
        return DrawnResponse(found.values, TOTAL - (found.values - 1) * low, low)
    if isinstance(found, DrawnBits):
        return DrawnBits(found.values, found.one + TOTAL // 20, found.other)
    if isinstance(found, DrawnRappor):
        return DrawnRappor(louder(found.permanent), found.if_zero, found.if_one)
    if isinstance(found, DrawnTop):
        return DrawnTop(found.values, found.top, louder(found.response))
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
    return DrawnHashing(found.values, louder(found.response))


@pytest.mark.parametrize("name", REGISTRY)
def test_a_mechanism_that_tells_a_twentieth_more_is_caught(name: str) -> None:
    found = mechanism(name, 4, 1.0)
    wrong = louder(found)
    assert float(proven(times_seen(wrong, 0, 0), times_seen(wrong, 1, DRAWS))[0, 1]) > found.level
    assert math.isfinite(found.level)
