"""Laws and radii from noisy counts. Proof: noise.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from beliefs.learning.noise import largest_sum
from beliefs.learning.radius import deviation, rows_judged
from beliefs.simplex import Vector, normalised


@dataclass(frozen=True)
class Noisy:
    """Counts with noise: `table[0]` first values, `table[1 + x]` what follows x. The noise has exp(-rate |z|)."""

    table: Vector
    rate: float


@dataclass(frozen=True)
class PrivateLaws:
    """The start above the rows, and a radius for each."""

    laws: Vector
    radii: Vector


def projected(row: Vector) -> Vector:
    """The nearest counts that are not negative and have the same sum; none, where that is not above 0."""
    whole = float(row.sum())
    if whole <= 0.0:
        return np.zeros(row.size)
    falling = np.sort(row)[::-1]
    excess = (np.cumsum(falling) - whole) / np.arange(1, row.size + 1)
    last = int(np.flatnonzero(falling > excess)[-1])
    nearest: Vector = np.maximum(row - excess[last], 0.0)
    return nearest


def private_laws(noisy: Noisy, failure: float) -> PrivateLaws:
    """Projected, mixed, and each with what it may be off by."""
    values = noisy.table.shape[1]
    weight = values / noisy.rate
    kept = np.array([projected(row) for row in noisy.table])
    always = _mixed(projected(noisy.table[1:].sum(axis=0)), np.full(values, 1.0 / values), weight)
    laws = np.array([_mixed(row, always, weight) for row in kept])
    rows = zip(noisy.table, kept, laws, strict=True)
    return PrivateLaws(laws, np.array([_radius(*parts, noisy.rate, failure) for parts in rows]))


def _mixed(counts: Vector, with_law: Vector, weight: float) -> Vector:
    return normalised((counts + weight * with_law) / (counts.sum() + weight))


def _radius(noisy: Vector, kept: Vector, law: Vector, rate: float, failure: float) -> float:
    values = noisy.size
    most = largest_sum(rate, values, failure / 2 / (values + 1))
    whole = float(noisy.sum())
    if whole <= most:
        return 1.0
    off = (float(np.abs(kept - noisy).sum()) + most) / whole
    mixed = float(np.abs(law - kept / kept.sum()).sum()) / 2
    visits = np.array([math.floor(whole - most)], dtype=np.float64)
    return min(1.0, mixed + off + float(deviation(visits, values, failure / 2 / rows_judged(values, 1))[0]))
