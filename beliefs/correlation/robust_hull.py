"""A bound when laws of many values are known roughly, without listing their sets. Proof: robust_hull.md."""

from __future__ import annotations

import math

import numpy as np

from beliefs.correlation.bound import Matrix, log_ratios, roundings, upwards
from beliefs.correlation.frontier import curve
from beliefs.correlation.robust_rows import require_known, room_of
from beliefs.simplex import Vector


def hull_bound(conditional: Matrix, epsilon: float, radii: Vector) -> float:
    """At least `robust_bound`, and never above epsilon; rounded up."""
    require_known(conditional, epsilon, radii)
    rows, columns = conditional.shape
    if rows == 1 or columns == 1 or epsilon == 0.0:
        return 0.0
    # Twice the room: points between two corners are rounded once more, and so is the order of equal ratios.
    rooms = room_of(room_of(radii, columns), columns)
    most = max(
        _of_pair(conditional[[one, other]], epsilon, float(rooms[one]), float(rooms[other]))
        for one in range(rows)
        for other in range(rows)
        if one != other
    )
    return upwards(most, roundings(columns, epsilon), epsilon)


def _of_pair(laws: Matrix, epsilon: float, above: float, below: float) -> float:
    """Along the curve, at its corners and where a radius takes all that there is."""
    against, inside = curve(laws[0], laws[1])
    all_taken, all_given = np.interp(below, against, inside), np.interp(1.0 - above, inside, against)
    against = np.concatenate([against, [below, all_given]])
    inside = np.concatenate([inside, [all_taken, 1.0 - above]])
    high, low = np.minimum(1.0, inside + above), np.maximum(0.0, against - below)
    return float(log_ratios(high[None], low[None], epsilon).max(initial=-math.inf))
