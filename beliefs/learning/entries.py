"""How far single probabilities of a learnt chain may be from the true ones, as factors. Proof: radius.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from beliefs.checks import Invalid
from beliefs.learning.counts import Counts
from beliefs.learning.levels import Level
from beliefs.learning.radius import rows_judged
from beliefs.simplex import Vector

_HALVINGS: Final = 60
_SLACK: Final = 2.0**-44
"""Relative to what is added up: a logarithm of a factorial is a few units in the last place off, 2^-50."""


@dataclass(frozen=True)
class Factor:
    """`largest` is the logarithm of the largest factor, rounded up; None where something was never seen."""

    largest: float | None
    unseen: int
    possible: int


def interval(seen: Vector, visits: Vector, failure: float) -> tuple[Vector, Vector]:
    """For each count of visits the probabilities that it keeps at all times, but for `failure` altogether."""
    if not 0.0 < failure < 1.0:
        raise Invalid("failure", "must lie between 0 and 1")
    others = visits - seen
    ratio = _logs_of_gamma(seen + 0.5) + _logs_of_gamma(others + 0.5)
    whole = _logs_of_gamma(visits + 1.0)
    least = math.log(failure) + ratio - whole - math.log(math.pi)
    least -= _SLACK * (np.abs(ratio) + np.abs(whole) + 1.0)
    middle = seen / np.maximum(visits, 1.0)
    return _edge(seen, others, least, middle, 0.0), _edge(seen, others, least, middle, 1.0)


def _edge(seen: Vector, others: Vector, least: Vector, middle: Vector, outside: float) -> Vector:
    """Between the share and the end: where the likelihood falls to what is allowed, from the outer side."""
    inner, outer = middle, np.full(middle.size, outside)
    for _ in range(_HALVINGS):
        half = (inner + outer) / 2.0
        allowed = _likely(seen, others, half) >= least
        inner, outer = np.where(allowed, half, inner), np.where(allowed, outer, half)
    return outer


def _likely(seen: Vector, others: Vector, chance: Vector) -> Vector:
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(seen > 0, seen * np.log(chance), 0.0)
        rest = np.where(others > 0, others * np.log1p(-chance), 0.0)
    found: Vector = one + rest
    return found


def _logs_of_gamma(values: Vector) -> Vector:
    return np.array([math.lgamma(value) for value in values.tolist()])


def factor_of(level: Level, written: Vector, counts: Counts, start: Vector, failure: float) -> Factor:
    """Of all first values and all transitions of the written order at once."""
    symbols, firsts = counts.symbols, counts.starts.sum(axis=0).astype(np.float64)
    possible = symbols ** (level.order + 1) + symbols
    unseen = possible - int(level.totals.size) - int(np.count_nonzero(firsts))
    if unseen:
        return Factor(None, unseen, possible)
    each = failure / (symbols * rows_judged(symbols, counts.order))
    visits = level.context_sums(level.totals)[level.contexts]
    seen = np.concatenate([level.totals.astype(np.float64), firsts])
    low, high = interval(seen, np.concatenate([visits, np.full(symbols, firsts.sum())]), each)
    laws = np.concatenate([written, start])
    if not low.min() > 0.0:
        return Factor(None, int(np.count_nonzero(low <= 0.0)), possible)
    largest = float(np.maximum(np.log(laws / low), np.log(high / laws)).max())
    return Factor(math.ceil(largest * 10_000 + 1e-6) / 10_000, 0, possible)
