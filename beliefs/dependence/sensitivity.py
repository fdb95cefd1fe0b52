"""How far one attribute moves a sum when all that depend on it move along. Proof: sensitivity.md."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.components import components_of
from beliefs.prior.outward import least_above
from beliefs.simplex import TOLERANCE, Vector


class Dependent(NamedTuple):
    """Scales of Laplace noise that is wide enough, rounded up: by coefficients, and without any.

    `group_scale` takes the largest sensitivity for each attribute of the largest component, `component_scale` each
    attribute's own.
    """

    per_attribute: list[float]
    dependent: float
    attacked: int
    scale: float
    components: list[list[int]]
    size: int
    group_scale: float
    component_scale: float


def dependent_sensitivity(coefficients: Matrix, sensitivities: Vector, epsilon: float) -> Dependent:
    """(22), (23) and Theorem 8; coefficients[i, j] is what attribute j moves when i moves, as a share of its own."""
    check_coefficients(coefficients)
    if sensitivities.size != len(coefficients):
        raise Invalid(
            "sensitivities", f"has {sensitivities.size} entries, but there are {len(coefficients)} attributes"
        )
    own = [Fraction(each) for each in sensitivities.tolist()]
    moved = [_moved(row, own) for row in coefficients.tolist()]
    most = max(moved)
    groups = components_of(len(own), np.argwhere(coefficients > 0.0))
    members = [groups.members(each) for each in range(groups.count)]
    together = max(sum(own[each] for each in group) for group in members)
    return Dependent(
        [least_above(each) for each in moved],
        least_above(most),
        moved.index(most),
        least_above(most / Fraction(epsilon)),
        members,
        groups.largest,
        least_above(groups.largest * max(own) / Fraction(epsilon)),
        least_above(Fraction(together) / Fraction(epsilon)),
    )


def check_coefficients(coefficients: Matrix) -> None:
    """Square, shares, and 1 for an attribute itself."""
    if coefficients.shape[0] != coefficients.shape[1]:
        raise Invalid("coefficients", "must be a square table, a row and a column for each attribute")
    for what, wrong in (
        ("must lie between 0 and 1", (coefficients < 0.0) | (coefficients > 1.0)),
        ("must be 1: an attribute moves by itself", np.diag(np.abs(np.diagonal(coefficients) - 1.0) > TOLERANCE)),
    ):
        if bool(wrong.any()):
            row, column = np.argwhere(wrong)[0]
            raise Invalid("coefficients", f"entry [{row}, {column}] {what}")


def _moved(shares: list[float], own: list[Fraction]) -> Fraction:
    return sum((Fraction(share) * each for share, each in zip(shares, own, strict=True) if share), Fraction(0))
