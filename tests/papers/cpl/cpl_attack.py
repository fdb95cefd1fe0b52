"""Appendix B carried out: reports are drawn from keyed coins, and a guess is made of each."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from cpl_data import Integers

from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.contract import Drawn
from mechanisms.local.hashing import DrawnHashing, HashReports, hashed
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.registry import drawn

KEY: Final = bytes(range(32))
AT_ONCE: Final = 50_000


def guessed(mechanism: str, epsilon: float, secrets: Integers, values: Integers, copies: int) -> Integers:
    """How often each secret, down, goes with each guess, along, when everybody reports his value so many times."""
    rows, size = int(secrets.max()) + 1, int(values.max()) + 1
    found, source = drawn(mechanism, size, epsilon), np.random.default_rng(61)
    key, counts = field_key(KEY, f"{mechanism} {size} {epsilon:g}"), np.zeros((rows, size), dtype=np.int64)
    repeated, owners = np.repeat(values, copies), np.repeat(secrets, copies)
    for start in range(0, repeated.size, AT_ONCE):
        part = repeated[start : start + AT_ONCE]
        reports = found.draw(part, report_coins(key, start, part.size, found.words))
        cells = owners[start : start + AT_ONCE] * size + guess_of(found, reports, source)
        counts += np.bincount(cells, minlength=rows * size).reshape(rows, size)
    return counts


def guess_of(found: Drawn, reports: Any, source: np.random.Generator) -> Integers:
    """One of the values that a report supports best, all alike; the report itself where it is a value."""
    if isinstance(reports, np.ndarray) and reports.ndim == 1:
        return reports
    support = supported(found, reports)
    best = support == support.max(axis=1, keepdims=True)
    place = source.random(len(best)) * best.sum(axis=1)
    guess: Integers = (np.cumsum(best, axis=1) <= place[:, None]).sum(axis=1)
    return guess


def supported(found: Drawn, reports: Any) -> Integers:
    """One row of numbers for each report: 1 for a value it supports, of noisy cells how likely the value is."""
    if isinstance(found, DrawnHashing) and isinstance(reports, HashReports):
        values = np.arange(found.values, dtype=np.uint64)[None, :]
        hashes = hashed(values, reports.factors[:, None], reports.shifts[:, None], found.response.values)
        matching: Integers = (hashes == reports.hashes[:, None]).astype(np.int64)
        return matching
    if isinstance(found, DrawnHistogram):
        likely: Integers = np.clip(reports, 0, found.per_unit)  # ln of the likelihood but for a factor
        return likely
    bits: Integers = reports
    return bits
