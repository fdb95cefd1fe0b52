"""What one report says of every value: a row that is on average 1 at the own value and 0 elsewhere. Proof: inverted.md.

A report is a row of whole numbers, its features: 1 for each value that it supports, or the steps of noisy cells. Less
`low`, and divided by `span`, it is such a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mechanisms.contract import TOTAL, Floats, Integers
from mechanisms.local.contract import Drawn
from mechanisms.local.grr import DrawnResponse
from mechanisms.local.hashing import DrawnHashing, HashReports, hashed
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.subset import DrawnSubset
from mechanisms.local.top_k import DrawnTop

NAMED, APART, SET, MEASURED = "named", "apart", "set", "measured"
"""How the features of a report hang together: one is 1; not at all; so many are 1; in a way that has to be measured."""


@dataclass(frozen=True)
class Inverted:
    """`own` and `others` are the variances of an entry: at the own value, and at each other one. `kept` is the part of
    them that comes again in every report of one user and value, because the bits behind these reports are kept.
    """

    cells: int
    low: float
    span: float
    own: float
    others: float
    kept: float
    ties: str
    size: int = 1

    def rows(self, features: Integers | Floats) -> Floats:
        return np.asarray((features - self.low) / self.span, dtype=np.float64)


def inverted(found: Drawn) -> Inverted:
    """Of the whole numbers that are drawn; `Invalid` where reports do not depend on values.

    A mechanism's estimate from one report is linear in its features, so two readings of it give both constants.
    """
    none, one = (float(found.estimate(np.full(found.values, sum_), 1).frequencies[0]) for sum_ in (0.0, 1.0))
    span = 1.0 / (one - none)
    low = -none * span
    own, others = (float(found.estimate(np.full(found.values, low + at * span), 1).variances[0]) for at in (1.0, 0.0))
    if isinstance(found, DrawnHistogram):
        low, span = found.cut * found.per_unit, (1.0 - 2.0 * found.cut) * found.per_unit
    kept = _kept_variance(found) / span / span if isinstance(found, DrawnRappor) else 0.0
    size = found.size if isinstance(found, DrawnSubset) else 1
    return Inverted(cells_of(found), low, span, own, others, kept, _ties(found), size)


def cells_of(found: Drawn) -> int:
    """How many entries a row has: the values, or the named ones and all others as one."""
    return len(found.top) + 1 if isinstance(found, DrawnTop) else found.values


def reports_in(reports: Any) -> int:
    """How many there are, in the mechanism's own form."""
    return int(reports.hashes.size if isinstance(reports, HashReports) else reports.shape[0])


def part_of(reports: Any, which: Any) -> Any:
    """Some of them, in the same form."""
    return HashReports(*(each[which] for each in reports)) if isinstance(reports, HashReports) else reports[which]


def sums_of(found: Drawn, reports: Any) -> Integers:
    """The sums of the features of reports, whole numbers whatever the mechanism is."""
    counts = reports.sum(axis=0) if isinstance(found, DrawnHistogram) else found.counts(reports)
    return np.asarray(counts, dtype=np.int64)


def features_of(found: Drawn, reports: Any) -> Integers:
    """A row of whole numbers for each report in the mechanism's own form."""
    if isinstance(found, DrawnHashing):
        return _supported(found, reports)
    if reports.ndim == 1:
        return np.asarray(reports[:, None] == np.arange(cells_of(found)), dtype=np.int64)
    return np.asarray(reports, dtype=np.int64)


def _supported(found: DrawnHashing, reports: HashReports) -> Integers:
    features: Integers = np.empty((reports.hashes.size, found.values), dtype=np.int64)
    for value in range(found.values):
        hashes = hashed(np.uint64(value), reports.factors, reports.shifts, found.response.values)
        features[:, value] = hashes == reports.hashes
    return features


def _kept_variance(found: DrawnRappor) -> float:
    """Of the chance that a kept bit is told as 1: it is flipped as often whatever the value is."""
    flipped = Fraction(found.permanent.other, TOTAL)
    return float(Fraction(found.if_one - found.if_zero, TOTAL) ** 2 * flipped * (1 - flipped))


def _ties(found: Drawn) -> str:
    if isinstance(found, DrawnResponse | DrawnTop):
        return NAMED
    if isinstance(found, DrawnSubset):
        return SET
    return MEASURED if isinstance(found, DrawnHashing) else APART
