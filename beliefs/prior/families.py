"""The worst of all laws that an adversary may believe, whatever is computed. Proof: worst.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.chosen import Law, Theta, most, under_each
from beliefs.laws.gaussian import GaussianLaw
from beliefs.prior.adversary import Query, context_of
from beliefs.prior.any_law import as_table_law, leak_of_law, method_of, scale_of_law, worst_of_law
from beliefs.prior.calibration import Named
from beliefs.prior.gaussian import Sums, gaussian_leak
from beliefs.prior.releases import Ledger, joint_leak, ledger
from beliefs.prior.worst import EXACT
from beliefs.simplex import Vector


class WorstOfLaws(NamedTuple):
    """The largest leak in nats, rounded up, and the number of the law under which it happens.

    It is `sound` where some law's leak is only bounded.
    """

    epsilon: float
    law: int
    method: str


class ScaleOfLaws(NamedTuple):
    """The scale that suffices under every law, and the number of the law that needs it."""

    scale: float
    law: int
    method: str


def worst_of_laws(theta: Theta, scale: float, weights: Vector | None = None) -> WorstOfLaws:
    """Whoever believes one of these laws, and whatever else he knows, learns no more from the sum than this."""
    found = under_each(theta, lambda law: worst_of_law(law, scale, weights))
    return WorstOfLaws(*most([each.epsilon for each in found]), method_of(each.method for each in found))


def leak_of_laws(
    theta: Theta, scale: float, named: Named, values: tuple[int, ...] | None = None, weights: Vector | None = None
) -> WorstOfLaws:
    """Of one adversary, who may believe any of the laws."""
    found = under_each(theta, lambda law: leak_of_law(law, scale, named, values, weights))
    return WorstOfLaws(*most([each.epsilon for each in found]), method_of(each.method for each in found))


def scale_of_laws(
    theta: Theta, epsilon: float, adversary: str, named: Named | None = None, weights: Vector | None = None
) -> ScaleOfLaws:
    """A leak never rises with the scale, so what suffices under each law by itself suffices under all."""
    found = under_each(theta, lambda law: scale_of_law(law, epsilon, adversary, named, weights))
    return ScaleOfLaws(*most([each.scale for each in found]), method_of(each.method for each in found))


def joint_leak_of_laws(
    theta: Theta,
    queries: Matrix,
    scales: Sequence[float],
    attacked: int,
    known: tuple[int, ...] = (),
    values: tuple[int, ...] | None = None,
) -> WorstOfLaws:
    """Of all sums together; each row of `queries` holds the weights of one."""

    def told(law: Law) -> float:
        if isinstance(law, GaussianLaw):
            return gaussian_leak(law, Sums(queries, np.array(scales)), attacked, known)
        table = as_table_law(law)
        context = None if values is None else context_of(table, known, values)
        asked = [Query.of(table, row, "queries") for row in queries]
        return joint_leak(table, asked, scales, attacked, known, context)

    return WorstOfLaws(*most(under_each(theta, told)), EXACT)


def ledger_of_laws(
    theta: Theta, queries: Matrix, scales: Sequence[float], attacked: int, released: Sequence[float]
) -> tuple[Ledger, int]:
    """The account under the law with the largest total; what was told is the most that any law says of it."""

    def told(law: Law) -> Ledger:
        table = as_table_law(law)
        return ledger(table, [Query.of(table, row, "queries") for row in queries], scales, attacked, released)

    if queries.shape[1] != theta.size:
        raise Invalid("queries", f"has rows of {queries.shape[1]} entries, but there are {theta.size} attributes")
    found = under_each(theta, told)
    place = most([each.total for each in found]).law
    return found[place]._replace(realised=max(each.realised for each in found)), place
