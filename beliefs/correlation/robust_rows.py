"""The bound when each secret's law is only known up to a total variation. Proof: robust_rows.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, log_ratios, roundings, upwards
from beliefs.correlation.checked import require_laws, require_level
from beliefs.simplex import Vector

COLUMNS_MAX = 16
"""All sets of values are listed: 2^16 of them at most."""


def radii_of(samples: Sequence[int], columns: int, failure: float) -> Vector:
    """Within which total variation the shares that were seen keep, but for `failure` over all rows together."""
    rows = len(samples)
    if not 0.0 < failure < 1.0 or not all(seen > 0 for seen in samples):
        raise Invalid("samples", "must be 1 or more each, and failure between 0 and 1")
    needed = columns * math.log(2.0) + math.log(rows / failure)
    return np.array([min(1.0, 0.5 * math.sqrt(2.0 * needed / seen) * (1.0 + 2.0**-40)) for seen in samples])


def robust_bound(conditional: Matrix, epsilon: float, radii: Vector) -> float:
    """The largest bound over all laws within the radii; rounded up, and never above epsilon."""
    require_known(conditional, epsilon, radii)
    rows, columns = conditional.shape
    if rows == 1 or columns == 1 or epsilon == 0.0:
        return 0.0
    chances = _of_every_set(conditional)
    # Empty or full, a set has the chance 0 or 1 under every law: only the sets between can be moved.
    room = room_of(radii, columns)[:, None]
    high = np.minimum(1.0, chances[:, 1:-1] + room)
    low = np.maximum(0.0, chances[:, 1:-1] - room)
    most = 0.0
    for first in range(rows):
        others = np.delete(low, first, axis=0).min(axis=0)
        most = max(most, float(log_ratios(high[first], others, epsilon).max()))
    return upwards(most, roundings(columns, epsilon), epsilon)


def require_known(conditional: Matrix, epsilon: float, radii: Vector) -> None:
    require_laws(conditional)
    require_level(epsilon)
    if radii.shape != conditional.shape[:1]:
        raise Invalid("radii", f"are {radii.size}, but there are {conditional.shape[0]} rows")
    if not bool(((radii >= 0.0) & (radii <= 1.0)).all()):
        raise Invalid("radii", "must lie between 0 and 1")


def room_of(radii: Vector, columns: int) -> Vector:
    """Radii with the roundings of a chance, which a large budget makes large where a radius takes nearly all of it."""
    room: Vector = np.where(radii > 0.0, radii + (columns + 4) * 2.0**-52, 0.0)
    return room


def _of_every_set(conditional: Matrix) -> Matrix:
    """Column s holds the chances of the set whose members are the binary digits of s."""
    chances = np.zeros((conditional.shape[0], 1))
    for column in range(conditional.shape[1]):
        chances = np.concatenate([chances, chances + conditional[:, column, None]], axis=1)
    return chances
