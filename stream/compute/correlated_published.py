"""Formulas about correlated fields as they were published, which are no guarantees."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, bound, rows_of
from beliefs.correlation.outputs import sets_leak
from beliefs.correlation.published import algorithm_1, algorithm_3, equation_6, relaxation
from beliefs.simplex import Vector
from mechanisms.local.registry import MECHANISMS, local
from stream.compute.correlated import ANY, require_rows
from stream.compute.sequence import Result

NO_GUARANTEE = {"guarantee": False}


def through_rows(conditional: Sequence[Vector], channel: Sequence[Vector]) -> Result:
    require_rows(channel, conditional[0].size, "channel", "conditional has that many columns")
    if channel[0].size != len(channel):
        raise Invalid("channel", "is not square; the printed algorithm reads its rows as if they were columns")
    return {"epsilon": algorithm_1(rows_of(conditional), rows_of(channel)), **NO_GUARANTEE}


def sum_of_pairs(counts: Matrix, epsilons: Vector) -> Result:
    if counts.ndim < 2:
        raise Invalid("counts", "has one axis; it needs the secret's and one for each neighbour")
    if epsilons.size != counts.ndim - 1:
        raise Invalid("epsilons", f"has {epsilons.size} entries, but counts has {counts.ndim - 1} neighbours")
    return {"epsilon": equation_6(counts, epsilons.tolist()), **NO_GUARANTEE}


def stepwise(counts: Matrix, mechanism: str, total: float, step: float) -> Result:
    return {"epsilon": algorithm_3(counts, _leak_of(mechanism), total, step), **NO_GUARANTEE}


def relaxed(conditional: Sequence[Vector], epsilon: float, delta: float) -> Result:
    return {"delta": relaxation(rows_of(conditional), epsilon, delta), **NO_GUARANTEE}


def _leak_of(mechanism: str) -> Callable[[Matrix, float], float]:
    if mechanism == ANY:
        return lambda laws, epsilon: bound(laws, epsilon).epsilon
    if mechanism not in MECHANISMS:
        raise Invalid("mechanism", f"is not known; there are {ANY}, {', '.join(MECHANISMS)}")

    def leak(laws: Matrix, epsilon: float) -> float:
        chosen = local(mechanism, laws.shape[1], epsilon)
        return sets_leak(laws, chosen.worst_sets(), chosen.level)

    return leak
