"""What releases about separate groups tell together when attributes are tied across them. Proof: parallel.md."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.prior.outward import least_above
from beliefs.simplex import Vector


class Together(NamedTuple):
    """Nats, rounded up, and the attribute about which most is told."""

    epsilon: float
    attacked: int
    per_attribute: list[float]


def told_together(epsilons: Vector, sensitivities: Matrix) -> Together:
    """sensitivities[t, i] is how far attribute i, with all that it moves, moves release t."""
    if len(sensitivities) != epsilons.size:
        raise Invalid("sensitivities", f"has {len(sensitivities)} rows, but there are {epsilons.size} epsilons")
    if bool((sensitivities < 0.0).any()):
        raise Invalid("sensitivities", "holds a negative number")
    told = [Fraction(0)] * sensitivities.shape[1]
    for epsilon, row in zip(epsilons.tolist(), sensitivities.tolist(), strict=True):
        most = Fraction(max(row))
        if most > 0:  # a release that nobody moves tells nothing
            told = [before + Fraction(epsilon) * Fraction(own) / most for before, own in zip(told, row, strict=True)]
    most_told = max(told)
    return Together(least_above(most_told), told.index(most_told), [least_above(each) for each in told])
