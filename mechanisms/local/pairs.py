"""The joint table of two fields, from reports of both in one event. Proof: pairs.md.

What is counted are whole numbers: products of the features of both reports, and the features by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from beliefs.checks import Invalid
from mechanisms.contract import Floats, Integers
from mechanisms.local.contract import Drawn
from mechanisms.local.inverted import NAMED, Inverted, features_of, inverted
from mechanisms.local.pooled import Pooling, shares_of

CELLS_MOST = 1 << 20
_BLOCK = 1 << 20
"""Products are made of so many numbers at a time, 8 MiB."""


class JointEstimate(NamedTuple):
    """One row for each value of the first field, one column for each of the second."""

    frequencies: Floats
    variances: Floats
    reports: int


class PairTally:
    """Of one level of each field."""

    def __init__(self, first: Drawn, second: Drawn) -> None:
        self.drawn = first, second
        self.of: tuple[Inverted, Inverted] = (inverted(first), inverted(second))
        rows, columns = self.of[0].cells, self.of[1].cells
        if rows * columns > CELLS_MOST:
            raise Invalid("joint", f"has {rows} x {columns} cells; at most {CELLS_MOST} are counted")
        self.reports = 0
        self.again = 0
        self.products: Integers = np.zeros((rows, columns), dtype=np.int64)
        self.firsts: Integers = np.zeros(rows, dtype=np.int64)
        self.seconds: Integers = np.zeros(columns, dtype=np.int64)

    def add(self, firsts: Any, seconds: Any) -> None:
        """Reports in the mechanisms' own forms, of the same events in the same order."""
        if self.of[0].ties == NAMED and self.of[1].ties == NAMED:
            columns = self.of[1].cells
            counts = np.bincount(firsts * columns + seconds, minlength=self.products.size)
            self.products = self.products + counts.reshape(self.products.shape)
            self.firsts = self.firsts + np.bincount(firsts, minlength=self.firsts.size)
            self.seconds = self.seconds + np.bincount(seconds, minlength=columns)
            self.reports += int(firsts.shape[0])
            return
        one, other = features_of(self.drawn[0], firsts), features_of(self.drawn[1], seconds)
        block = max(1, _BLOCK // other.shape[1])
        for start in range(0, one.shape[0], block):
            part = other[start : start + block]
            for place, column in enumerate(one[start : start + block].T):
                self.products[place] += (column[:, None] * part).sum(axis=0)
        self.firsts, self.seconds = self.firsts + one.sum(axis=0), self.seconds + other.sum(axis=0)
        self.reports += one.shape[0]


def joint_of(tallies: Sequence[PairTally], pooling: Pooling, slots: tuple[int, int] = (1, 1)) -> JointEstimate:
    """Of tallies of all levels; of a field of lists, the share of lists with the value."""
    if not tallies:
        raise Invalid("reports", "are none of both fields, so there is nothing to estimate from")
    weights = shares_of([(each.reports, each.of[0].others * each.of[1].others) for each in tallies], pooling)
    found = np.zeros(tallies[0].products.shape)
    rows, columns = np.zeros(tallies[0].firsts.size), np.zeros(tallies[0].seconds.size)
    for weight, each in zip(weights.tolist(), tallies, strict=True):
        found += weight * _table(each)
        rows += weight * each.of[0].rows(each.firsts / each.reports)
        columns += weight * each.of[1].rows(each.seconds / each.reports)
    together = slots[0] * slots[1]
    law = np.clip(found, 0.0, 1.0 / together)
    shares = np.clip(rows, 0.0, 1.0)[:, None], np.clip(columns, 0.0, 1.0)[None, :]
    variances = np.zeros(found.shape)
    for weight, each in zip(weights.tolist(), tallies, strict=True):
        variances += weight * weight * _noise(each, law, shares, together)
    return JointEstimate(found * together, variances * together**2, sum(each.reports for each in tallies))


def _table(each: PairTally) -> Floats:
    (first, second), n = each.of, each.reports
    apart = second.low * each.firsts[:, None] + first.low * each.seconds[None, :]
    found = (each.products - apart + n * first.low * second.low) / (n * first.span * second.span)
    return np.asarray(found, dtype=np.float64)


def _noise(each: PairTally, law: Floats, shares: tuple[Floats, Floats], together: int) -> Floats:
    (first, second), (row, column), n = each.of, shares, each.reports
    more = first.own + 1.0 - first.others, second.own + 1.0 - second.others
    squares = first.others * second.others + more[0] * second.others * row + first.others * more[1] * column
    squares = squares + more[0] * more[1] * law - law / together
    again = first.kept * second.kept + first.kept * column + second.kept * row
    found: Floats = squares / n + again * each.again / n / n
    return found
