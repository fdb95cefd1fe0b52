"""The bound of nested.py for every law within the radii, in whole units; everywhere the same bits. Proof: account.md.

No ratio is above max(q, F(q)), whatever q is; F(q) = q + (the largest gain at q, and what the radii add)/(the least
weight) is convex. So q is searched for where that is least, and a search that ends too early only raises the bound.
"""

from __future__ import annotations

import numpy as np

from beliefs.correlation.bound import Matrix, Places
from beliefs.correlation.nested import powers, weighed
from beliefs.native import kernel
from beliefs.rounding import INFINITE, log_units_up
from beliefs.simplex import Vector

_STEPS = 64


def moved_bound(laws: Matrix, edges: Places, fine: int, coarse: int, radii: Vector) -> int:
    """Units, rounded up: at most both together."""
    if (fine == 0 and coarse == 0) or laws.shape[0] == 1:
        return 0
    low, lower = powers(fine, coarse)
    room = (laws.shape[1] + 8) * 2.0**-52
    highest = float(_raised(laws, edges, low, lower, np.minimum(1.0, radii), room, np.empty(4)))
    return min(INFINITE, fine + coarse, log_units_up(highest * (1.0 + 2.0**-48)))


@kernel
def _raised(laws: Matrix, edges: Places, low: float, lower: float, radii: Vector, room: float, best: Vector) -> float:
    """Over all pairs of secrets. A pair that the last pair's q puts below the highest so far is left at that."""
    level, at, spread = 1.0, 1.0, 1.0 - low * lower
    for first in range(laws.shape[0]):
        for second in range(laws.shape[0]):
            if first != second:
                above, below = radii[first] * spread + room, radii[second] * spread + room
                best[0], best[1] = np.inf, 0.0
                _look(laws[first], laws[second], edges, low, lower, above, below, at, best)
                if best[0] > level:
                    _search(laws[first], laws[second], edges, low, lower, above, below, best)
                    if best[0] > level:
                        level, at = best[0], best[1]
    return level


@kernel
def _look(
    law: Vector,
    other: Vector,
    edges: Places,
    low: float,
    lower: float,
    above: float,
    below: float,
    q: float,
    best: Vector,
) -> None:
    """Keeps in `best` the lowest bound so far and its q. Leaves behind them the numerator and the denominator of the
    report that gains most at this q, each moved by the radii.
    """
    chance, against = weighed(law, other, edges, low, lower, q)
    best[2], best[3] = chance + above, against - below
    excess = best[2] - q * best[3]
    bound = q if excess <= 0.0 else q + excess / (low * lower) if low * lower > 0.0 else np.inf
    if bound < best[0]:
        best[0], best[1] = bound, q


@kernel
def _search(
    law: Vector, other: Vector, edges: Places, low: float, lower: float, above: float, below: float, best: Vector
) -> None:
    """F lies above every line that touches it. From the left q goes to where the line found last meets q itself, or the
    last line that does not fall: nowhere before is a lower bound.
    """
    least = low * lower
    q, right_chance, right_against, right = 0.0, 0.0, 0.0, np.inf
    _look(law, other, edges, low, lower, above, below, q, best)
    left_chance, left_against = best[2], best[3]
    for _ in range(_STEPS):
        if left_against <= least:
            return
        # Where roundings leave no step, a small one: a bound is q itself once nothing exceeds it.
        tried = max(left_chance / left_against, q * (1.0 + 2.0**-50))
        if right < np.inf:
            tried = min(tried, (left_chance - right_chance) / (left_against - right_against))
        if not q < tried < right:
            return
        _look(law, other, edges, low, lower, above, below, tried, best)
        if best[3] <= least:
            right, right_chance, right_against = tried, best[2], best[3]
        elif best[2] - tried * best[3] <= 0.0:
            return
        else:
            q, left_chance, left_against = tried, best[2], best[3]
