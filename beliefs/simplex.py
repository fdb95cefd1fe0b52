"""Probability vectors: the one place that decides what counts as one, and the only home of a tolerance.

A vector is accepted when its entries are finite and nonnegative and their exact sum is within `TOLERANCE` of 1. The
tolerance forgives decimal printing, never privacy: whoever computes with an accepted vector first divides it by its
sum (`normalised`), and from then on the quotients are the model, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from beliefs.checks import Invalid, finite_number, kind_of

TOLERANCE = 1e-9

Vector = npt.NDArray[np.float64]


def probabilities(values: object, field: str) -> Vector:
    """The values as float64, or `Invalid` naming the offending entry. The result is not yet normalised."""
    entries = _entries(values, field)
    if entries.size == 0:
        raise Invalid(field, "is empty; a law needs at least one probability")
    _refuse_negative(entries, field)
    total = _exact_sum(entries)
    if not abs(total - 1.0) <= TOLERANCE:
        raise Invalid(field, f"sums to {total:.12g}; probabilities must sum to 1 within {TOLERANCE:g}")
    return entries


def portions(values: object, field: str) -> Vector:
    """Parts of a law as float64, none of which is negative and whose sum is at most 1; there may be none."""
    entries = _entries(values, field)
    _refuse_negative(entries, field)
    total = _exact_sum(entries)
    if total > 1.0 + TOLERANCE:
        raise Invalid(field, f"sums to {total:.12g}; parts of a law sum to at most 1")
    return entries


def plain_sum(values: Vector) -> float:
    """The sum from left to right, one rounding after each addition: every machine gets the same bits.

    `numpy.sum` adds in pairs whose grouping depends on its build; a running sum cannot be regrouped.
    """
    if values.size == 0:
        return 0.0
    return float(np.add.accumulate(values)[-1])


def normalised(values: Vector) -> Vector:
    """Each entry divided by the plain sum of all."""
    quotients: Vector = values / plain_sum(values)
    return quotients


def on_the_simplex(values: Vector) -> Vector:
    """The nearest law: a common number is taken from all, and what falls below 0 is 0."""
    lowered = values - values.max()  # the same law is nearest, and large entries lose nothing
    falling = np.sort(lowered)[::-1]
    taken = (np.add.accumulate(falling) - 1.0) / np.arange(1, falling.size + 1)
    kept = int(np.flatnonzero(falling - taken > 0.0)[-1])
    nearest: Vector = np.maximum(lowered - taken[kept], 0.0)
    return nearest / math.fsum(nearest.tolist())


def _refuse_negative(entries: Vector, field: str) -> None:
    negative = np.flatnonzero(entries < 0)
    if negative.size:
        raise Invalid(field, f"entry {negative[0]} is negative")


def _entries(values: object, field: str) -> Vector:
    if isinstance(values, np.ndarray):
        return _array_entries(values, field)
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise Invalid(field, f"must be a list of numbers, found {kind_of(values)}")
    checked = [finite_number(value, field, f"entry {index} ") for index, value in enumerate(values)]
    return np.array(checked, dtype=np.float64) + 0.0  # -0.0 + 0.0 is 0.0: no zero with a sign goes further


def _array_entries(values: npt.NDArray[np.generic], field: str) -> Vector:
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise Invalid(field, "must be a one-dimensional array of numbers")
    entries = values.astype(np.float64) + 0.0
    broken = np.flatnonzero(~np.isfinite(entries))
    if broken.size:
        raise Invalid(field, f"entry {broken[0]} must be a finite number")
    return entries


def _exact_sum(entries: Vector) -> float:
    try:
        return math.fsum(entries.tolist())
    except OverflowError:  # finite entries near 1e308: far above 1, and said so rather than raised
        return math.inf
