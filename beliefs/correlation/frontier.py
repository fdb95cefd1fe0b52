"""The bound as a function of epsilon: sorted once, then a few points for each epsilon. Proof: calibration.md.

Every pair of secrets and every prefix of its values by falling ratio is a point (B, A); e^L is the steepest slope from
(-1/w, -1/w) to any of them, so only the upper hull of all points matters, whatever epsilon is.
"""

from __future__ import annotations

import math

import numpy as np

from beliefs.correlation.bound import Matrix, log_ratios, roundings, upwards
from beliefs.correlation.checked import require_laws
from beliefs.simplex import Vector


class Frontier:
    """One attribute's law given a secret, ready for many epsilons."""

    def __init__(self, conditional: Matrix) -> None:
        require_laws(conditional)
        self.size = conditional.shape[1]
        self.against = self.inside = np.zeros(0)
        for first in conditional:
            points = curve(first, conditional)
            against = np.concatenate([self.against, points[0].ravel()])
            inside = np.concatenate([self.inside, points[1].ravel()])
            order = np.lexsort((-inside, against))
            self.against, self.inside = _hull(against[order], inside[order])

    def bound(self, epsilon: float) -> float:
        """What any mechanism of that level loses at most; rounded up."""
        if epsilon == 0.0:
            return 0.0
        if math.isinf(epsilon):
            return upwards(self._saturated(), self.size)
        level = float(log_ratios(self.inside, self.against, epsilon).max())
        return upwards(level, roundings(self.size, epsilon), epsilon)

    def _saturated(self) -> float:
        some = self.inside > 0.0
        with np.errstate(divide="ignore"):
            return float((np.log(self.inside[some]) - np.log(self.against[some])).max())


def curve(first: Vector, second: Matrix) -> tuple[Matrix, Matrix]:
    """The chances of all prefixes, from the empty set on, by falling ratio; `second` is one law, or one a row."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(first > 0.0, np.log(first) - np.log(second), -math.inf)
    order = np.argsort(-ratios, axis=-1, kind="stable")
    nothing = np.zeros((*second.shape[:-1], 1))
    against = np.take_along_axis(second, order, axis=-1)
    return (
        np.concatenate([nothing, np.add.accumulate(against, axis=-1)], axis=-1),
        np.concatenate([nothing, np.add.accumulate(first[order], axis=-1)], axis=-1),
    )


def _hull(across: Vector, up: Vector) -> tuple[Vector, Vector]:
    """The upper hull of points whose first coordinate never falls, and of equal ones the highest first.

    A point on or below the line between its neighbours is no corner and may go while they stay: never two neighbours
    at once, for two that are one point, or nearly, are each on the line between the other and a third.
    """
    first = np.concatenate([[True], np.diff(across) > 0.0])
    across, up, parity = across[first], up[first], 0
    while across.size > 2:
        wide, high = across[2:] - across[:-2], up[2:] - up[:-2]
        turns = (across[1:-1] - across[:-2]) * high - (up[1:-1] - up[:-2]) * wide
        corners = np.concatenate([[True], turns < 0.0, [True]])
        if corners.all():
            break
        corners[parity::2] = True
        across, up, parity = across[corners], up[corners], 1 - parity
    return across, up
