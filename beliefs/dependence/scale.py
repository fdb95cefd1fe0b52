"""The least noise on a weighted sum that covers what dependent attributes move along. Proof: scale.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.dependence.coefficients import (
    moved_by_transport,
    moved_exactly,
    moved_farthest,
    moved_on_average,
    moved_to_one_end,
    range_of,
)
from beliefs.laws.rows import divided
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from beliefs.prior.calibration import smallest
from beliefs.prior.outward import least_above
from beliefs.prior.published import pair_table
from beliefs.simplex import Vector

Moved = Callable[[Matrix, Vector, float], float]

METHODS: dict[str, Moved] = {
    "exact": moved_exactly,
    "farthest": moved_farthest,
    "farthest_end": moved_to_one_end,
    "jensen": lambda rows, support, _: moved_on_average(rows, support),
    "wasserstein": lambda rows, support, _: moved_by_transport(rows, support),
    "group": lambda _, support, __: range_of(support),
}
"""How far a dependent attribute is taken to move, at a scale of the noise."""

STEPS_MAX = 1 << 24
"""Chances of all pairs of laws that are looked at once for each scale that is tried."""

FOR_ANY_NUMBER = ("farthest", "jensen", "group")
FOR_TWO = ("exact", "wasserstein")
"""Which of them are guarantees: of a sum over any number of attributes, or over two at most."""


@dataclass(frozen=True)
class Tie:
    """One attribute's additions to the sum under each value that the attacked one can have."""

    rows: Matrix
    support: Vector


def sufficient_scale(law: TableLaw, query: Query, epsilon: float, method: str) -> float:
    """The smallest scale at which no attribute, with all it moves, is worth more than epsilon."""
    moved, ties = METHODS[method], [list(_ties(law, query, each)) for each in range(law.size)]
    if method == "wasserstein" and any(tie.rows.size * len(tie.rows) > STEPS_MAX for tied in ties for tie in tied):
        raise Invalid("method", "wasserstein holds each two laws against each other, and here are too many for that")
    upper = least_above(sum(query.ranges, Fraction(0)) / Fraction(epsilon))

    def worth(scale: float) -> float:
        return max(
            least_above(sum((Fraction(moved(tie.rows, tie.support, scale)) for tie in tied), own) / Fraction(scale))
            for own, tied in zip(query.ranges, ties, strict=True)
        )

    return smallest(worth, epsilon, upper)


def _ties(law: TableLaw, query: Query, attacked: int) -> Iterator[Tie]:
    """What every other attribute adds; amounts are counted from the least on, and those that are equal are one."""
    for other in range(law.size):
        if other != attacked and query.ranges[other] > 0:
            table = pair_table(law, attacked, other, (), ())
            support, place = np.unique(query.terms[other], return_inverse=True)
            rows = np.zeros((len(table), support.size))
            np.add.at(rows.T, place, table.T)
            yield Tie(divided(rows[rows.any(axis=1)]), support)
