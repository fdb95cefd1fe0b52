"""Noise for dependent attributes as it was published, which is no guarantee: for comparison. See published.md."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.dependence.sensitivity import check_coefficients
from beliefs.prior.outward import least_above
from beliefs.simplex import TOLERANCE, Vector


class ByDegree(NamedTuple):
    size: int
    scale: float


class ByCorrelation(NamedTuple):
    per_attribute: list[float]
    scale: float


def by_degree(coefficients: Matrix, sensitivities: Vector, epsilon: float) -> ByDegree:
    """Takes the fullest row for the size of a group: whom an attribute is tied to at once, not through others."""
    check_coefficients(coefficients)
    _check_size(sensitivities, len(coefficients))
    size = int((coefficients > 0.0).sum(axis=1).max())
    return ByDegree(size, least_above(size * Fraction(float(sensitivities.max())) / Fraction(epsilon)))


def by_correlation(correlations: Matrix, sensitivities: Vector, threshold: float, epsilon: float) -> ByCorrelation:
    """The sum of |correlation| x sensitivity over all that are correlated by at least the threshold."""
    check_correlations(correlations)
    _check_size(sensitivities, len(correlations))
    sizes = np.abs(correlations)
    kept = np.where(sizes >= threshold, sizes, 0.0)
    moved = [
        sum(
            (Fraction(share) * Fraction(own) for share, own in zip(row, sensitivities.tolist(), strict=True)),
            Fraction(),
        )
        for row in kept.tolist()
    ]
    return ByCorrelation([least_above(each) for each in moved], least_above(max(moved) / Fraction(epsilon)))


def check_correlations(correlations: Matrix) -> None:
    """Square, symmetric, from -1 to 1, and 1 with itself."""
    if correlations.shape[0] != correlations.shape[1]:
        raise Invalid("correlations", "must be a square table, a row and a column for each attribute")
    for what, wrong in (
        ("must lie between -1 and 1", np.abs(correlations) > 1.0 + TOLERANCE),
        ("must be 1: an attribute with itself", np.diag(np.abs(np.diagonal(correlations) - 1.0) > TOLERANCE)),
        ("differs from that the other way round", np.abs(correlations - correlations.T) > TOLERANCE),
    ):
        if bool(wrong.any()):
            row, column = np.argwhere(wrong)[0]
            raise Invalid("correlations", f"entry [{row}, {column}] {what}")


def _check_size(sensitivities: Vector, size: int) -> None:
    if sensitivities.size != size:
        raise Invalid("sensitivities", f"has {sensitivities.size} entries, but there are {size} attributes")
