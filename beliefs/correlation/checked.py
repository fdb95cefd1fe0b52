"""Whoever asks about correlated fields from Python is told what is wrong, where an answer would mean nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import Invalid
from beliefs.simplex import TOLERANCE

TRANSPOSED = "; its columns do, so it is turned the wrong way (transposed)"
"""The commonest reason why rows do not sum to 1."""


def require_laws(conditional: NDArray[np.float64]) -> None:
    """One law in each row."""
    if conditional.ndim != 2 or conditional.size == 0:
        raise Invalid("conditional", "must be a table with at least one row and one column")
    wrong = np.flatnonzero(~(conditional >= 0.0).all(axis=1))
    if wrong.size:
        raise Invalid("conditional", f"row {wrong[0]} holds a number that is negative, or none at all (NaN)")
    off = np.flatnonzero(~(np.abs(conditional.sum(axis=1) - 1.0) <= TOLERANCE))
    if off.size:
        turned = bool((np.abs(conditional.sum(axis=0) - 1.0) <= TOLERANCE).all())
        found = f"row {off[0]} sums to {float(conditional[off[0]].sum()):.12g}, not to 1"
        raise Invalid("conditional", found + (TRANSPOSED if turned else ""))


def require_level(epsilon: float, field: str = "epsilon") -> None:
    if not epsilon >= 0.0:
        raise Invalid(field, "must be 0 or more nats")


def require_delta(delta: float) -> None:
    if not 0.0 <= delta < 1.0:
        raise Invalid("delta", "must be 0 or more, and below 1")
