"""How far a learnt law may be from the true one, in total variation, with a stated probability of failure.

Proof: radius.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid
from beliefs.learning.counts import Counts
from beliefs.learning.levels import Level
from beliefs.simplex import Vector

REGULAR_AT = 64.0
"""The number of visits at which the bound over all numbers of visits loses least against one for a known number."""
_OUTWARD = 1.0 + 2.0**-40


@dataclass(frozen=True)
class Radii:
    """Of each context of the written order that was seen: how often, and the radius of its written law."""

    visits: Vector
    rows: Vector
    start: float
    possible: int
    failure: float

    @property
    def worst(self) -> float:
        """The largest over all rows; 1 where some possible context was never seen."""
        return 1.0 if self.visits.size < self.possible else float(self.rows.max(initial=0.0))

    @property
    def average(self) -> float:
        """Weighted by visits: the expected radius at an event like those that were learnt from."""
        return float((self.visits * self.rows).sum() / self.visits.sum()) if self.visits.size else 1.0


def deviation(visits: Vector, values: int, failure: float) -> Vector:
    """For each number of visits the radius that the observed shares keep at all times, but for `failure` altogether."""
    if not 0.0 < failure < 1.0:
        raise Invalid("failure", "must lie between 0 and 1")
    if values == 1:
        return np.zeros(visits.size)
    halves = (values - 1) * math.log(2.0)
    if values <= 60:
        halves = math.log(2.0 ** (values - 1) - 1.0)
    seen = np.maximum(visits, 1.0)
    needed = halves - math.log(failure) + 0.5 * np.log((seen + REGULAR_AT) / REGULAR_AT)
    bound = np.sqrt((seen + REGULAR_AT) * needed / 2.0) / seen * _OUTWARD
    return np.where(visits > 0, np.minimum(bound, 1.0), 1.0)


def rows_judged(symbols: int, most_order: int) -> float:
    """How many laws there are among which the radii are chosen: the start, and all contexts of orders up to that."""
    return 1.0 + sum(float(symbols) ** order for order in range(max(most_order, 1) + 1))


def radii_of(level: Level, written: Vector, counts: Counts, start: Vector, failure: float) -> Radii:
    """Radii around written laws: what the shares may be off, and how far what is written lies from the shares."""
    each = failure / rows_judged(counts.symbols, counts.order)
    visits = level.context_sums(level.totals)
    shares = level.totals / visits[level.contexts]
    elsewhere = np.maximum(1.0 - level.context_sums(written), 0.0)
    apart = (level.context_sums(np.abs(written - shares)) + elsewhere) / 2.0
    rows = np.minimum(1.0, (deviation(visits, counts.symbols, each) + apart) * _OUTWARD)
    firsts = counts.starts.sum(axis=0).astype(np.float64)
    begun = np.array([firsts.sum()])
    off = float(np.abs(start - firsts / max(begun[0], 1.0)).sum()) / 2.0
    of_start = min(1.0, float(deviation(begun, counts.symbols, each)[0]) + off)
    return Radii(visits, rows, of_start, counts.symbols**level.order, failure)
