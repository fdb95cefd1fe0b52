"""Noise for dependent attributes as it was published, which is no guarantee."""

from __future__ import annotations

from collections.abc import Sequence

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.dependence.published import by_correlation, by_degree
from beliefs.dependence.scale import METHODS, sufficient_scale
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from beliefs.simplex import Vector
from stream.compute.correlated_published import NO_GUARANTEE
from stream.compute.sequence import Result

COEFFICIENTS = tuple(name for name in METHODS if name != "group")


def degree(coefficients: Matrix, sensitivities: Vector, epsilon: float) -> Result:
    """Groups as large as the fullest row."""
    return {**by_degree(coefficients, sensitivities, epsilon)._asdict(), **NO_GUARANTEE}


def correlated(correlations: Matrix, sensitivities: Vector, threshold: float, epsilon: float) -> Result:
    """Correlations in the place of coefficients."""
    return {**by_correlation(correlations, sensitivities, threshold, epsilon)._asdict(), **NO_GUARANTEE}


def theorem9(joint: Matrix, domains: Sequence[Vector], epsilon: float, coefficient: str) -> Result:
    """Coefficients of pairs, of however many attributes."""
    law = TableLaw(joint, tuple(domains))
    if coefficient not in COEFFICIENTS:
        raise Invalid("coefficient", f"is not known; there are {', '.join(COEFFICIENTS)}")
    return {"scale": sufficient_scale(law, Query.of(law), epsilon, coefficient), **NO_GUARANTEE}
