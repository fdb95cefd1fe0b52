"""A multivariate Gaussian law of attributes, each of which may move by at most a range. Note: laws.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.components import Components, components_of
from beliefs.simplex import TOLERANCE


@dataclass(frozen=True)
class GaussianLaw:
    """Of an attribute's values only pairs within the range of each other are to be hidden, as its domain has no end."""

    covariance: Matrix
    range: float

    def __post_init__(self) -> None:
        check_covariance(self.covariance)
        if not (self.range > 0.0 and math.isfinite(self.range)):
            raise Invalid("range", "must be a finite number above 0")

    @property
    def size(self) -> int:
        return len(self.covariance)

    def components(self) -> Components:
        """Attributes without covariance, directly or through others, are independent."""
        return components_of(self.size, np.argwhere(np.triu(self.covariance, 1) != 0.0))


def check_covariance(covariance: Matrix) -> None:
    """Square, finite, symmetric and positive semidefinite, each within the tolerance of decimal printing."""
    if covariance.ndim != 2 or covariance.shape[0] == 0 or covariance.shape[0] != covariance.shape[1]:
        raise Invalid("covariance", "must be a square table with at least one row")
    if not bool(np.isfinite(covariance).all()):
        row, column = np.argwhere(~np.isfinite(covariance))[0]
        raise Invalid("covariance", f"entry [{row}, {column}] must be a finite number")
    spread = np.diagonal(covariance)
    if bool((spread < 0.0).any()):
        raise Invalid("covariance", f"entry {int((spread < 0.0).argmax())} of the diagonal is a negative variance")
    deviations = np.sqrt(spread)
    apart = np.abs(covariance - covariance.T) > TOLERANCE * deviations[:, None] * deviations
    if bool(apart.any()):
        row, column = np.argwhere(apart)[0]
        raise Invalid("covariance", f"is not symmetric: entries [{row}, {column}] and [{column}, {row}] differ")
    _check_semidefinite(covariance, deviations)


def _check_semidefinite(covariance: Matrix, deviations: Matrix) -> None:
    """Takes one attribute after the other as known, the one with the most variance left first.

    What is left is the law of the others given those; in a covariance no variance falls below 0 on the way, and where
    none is left neither is any covariance. The attributes are first divided by their deviations.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(deviations > 0.0, 1.0 / deviations, 0.0)
    rest = covariance * left[:, None] * left
    if bool((covariance[deviations == 0.0] != 0.0).any()):
        row = int(np.flatnonzero((deviations == 0.0) & (covariance != 0.0).any(axis=1))[0])
        raise Invalid("covariance", f"gives attribute {row} covariances, but no variance")
    open_ones = np.flatnonzero(deviations > 0.0)
    while open_ones.size:
        pivot = int(open_ones[np.argmax(np.diagonal(rest)[open_ones])])
        if rest[pivot, pivot] <= TOLERANCE:
            break
        column = rest[:, pivot] / rest[pivot, pivot]
        rest = rest - column[:, None] * rest[pivot]
        open_ones = open_ones[open_ones != pivot]
    if open_ones.size:
        block = rest[np.ix_(open_ones, open_ones)]
        worst = int(open_ones[np.argmin(np.diagonal(block))])
        if np.diagonal(block).min() < -TOLERANCE or float(np.abs(block).max()) > 4.0 * TOLERANCE:
            raise Invalid("covariance", f"is not positive semidefinite: attribute {worst} does not fit the others")
