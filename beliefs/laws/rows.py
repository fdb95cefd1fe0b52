"""Many laws at once, one a row: checked without a loop over those that are right."""

from __future__ import annotations

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.simplex import TOLERANCE, probabilities


def require_laws(rows: Matrix, field: str, where: str = "") -> None:
    """Each row holds probabilities; the first that does not is named."""
    with np.errstate(invalid="ignore", over="ignore"):
        sums = np.add.accumulate(rows, axis=1)[:, -1]
        doubtful = ~(np.abs(sums - 1.0) <= 0.5 * TOLERANCE) | (rows < 0.0).any(axis=1)
    for row in np.flatnonzero(doubtful).tolist():
        try:
            probabilities(rows[row], field)
        except Invalid as problem:
            raise Invalid(field, f"{where}row {row} {problem.reason}") from None


def divided(rows: Matrix) -> Matrix:
    """Each row divided by its sum, which is taken from left to right."""
    quotients: Matrix = rows / np.add.accumulate(rows, axis=-1)[..., -1:]
    return quotients
