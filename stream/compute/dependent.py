"""Numbers of dependent differential privacy: noise for attributes that move along with each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from beliefs.checks import Invalid, finite_number, read_object
from beliefs.correlation.bound import Matrix, rows_of
from beliefs.dependence.accuracy import COORDINATES_MAX, LARGEST, SUM, chance_beyond, margin_of
from beliefs.dependence.attack import attack as attacked_by
from beliefs.dependence.coefficients import coefficients
from beliefs.dependence.information import told_about
from beliefs.dependence.leak import Asked
from beliefs.dependence.parallel import told_together
from beliefs.dependence.scale import FOR_ANY_NUMBER, FOR_TWO, sufficient_scale
from beliefs.dependence.sensitivity import dependent_sensitivity
from beliefs.dependence.underestimate import kept
from beliefs.laws.friends import FriendsLaw, city_blocks
from beliefs.laws.table import TableLaw, require_ascending
from beliefs.prior.adversary import Query
from beliefs.prior.calibration import WEAKEST, WORST
from beliefs.prior.outward import least_above
from beliefs.prior.worst import worst_of_table
from beliefs.simplex import Vector
from stream.compute.sequence import Result


def friends(value: object, field: str) -> dict[str, float]:
    """How the chance of a friend at a place falls with the distance: (distance + offset)^-exponent."""
    given = read_object(value, field)
    if set(given) != {"offset", "exponent"}:
        raise Invalid(field, "must have offset and exponent, and nothing else")
    try:
        return {name: finite_number(each, name) for name, each in given.items()}
    except Invalid as problem:
        raise Invalid(field, f"has a wrong {problem.field}, which {problem.reason}") from None


def coefficient(
    support: Vector,
    scale: float,
    conditional: Sequence[Vector] | None = None,
    friends: dict[str, float] | None = None,
) -> Result:
    """What another attribute moves along, as a share of its range."""
    require_ascending(support, "support")
    if conditional is not None:
        rows = rows_of(conditional)
    else:
        assert friends is not None
        rows = _friends_of(support, friends)
    return coefficients(rows, support, scale)._asdict()


def _friends_of(support: Vector, friends: dict[str, float]) -> Matrix:
    nobody = np.zeros((0, 2), dtype=np.int64)
    try:
        law = FriendsLaw(1, nobody, city_blocks(support[:, None]), friends["offset"], friends["exponent"])
    except Invalid as problem:
        wrong = "friends" if problem.field in friends else "support"
        raise Invalid(wrong, f"has a wrong {problem.field}, which {problem.reason}") from None
    return law.kernel()


def sensitivity(coefficients: Matrix, sensitivities: Vector, epsilon: float) -> Result:
    """(22), (23), Theorem 8, and what groups need."""
    return dependent_sensitivity(coefficients, sensitivities, epsilon)._asdict()


def scale(
    joint: Matrix, domains: Sequence[Vector], epsilon: float, method: str, weights: Vector | None = None
) -> Result:
    """The least noise that a method finds sufficient."""
    law = TableLaw(joint, tuple(domains))
    query = Query.of(law, weights)
    if method not in (*FOR_ANY_NUMBER, *FOR_TWO):
        raise Invalid("method", f"is not known; there are {', '.join((*FOR_ANY_NUMBER, *FOR_TWO))}")
    if method in FOR_TWO and law.size > 2:
        raise Invalid("method", f"{method} is a guarantee for two attributes only; use {', '.join(FOR_ANY_NUMBER)}")
    return {"scale": sufficient_scale(law, query, epsilon, method)}


def leak(
    joint: Matrix,
    scale: float,
    domains: Sequence[Vector] | None = None,
    weights: Vector | None = None,
    answers: Matrix | None = None,
    adversary: str = WORST,
    times: int = 1,
) -> Result:
    """The exact leak of a sum or of any other number, asked once or several times."""
    knows_others = knows(adversary)
    if answers is not None:
        if weights is not None:
            raise Invalid("weights", "belong to domains; answers already hold a number for every cell")
        law = TableLaw(joint, tuple(np.arange(float(length)) for length in joint.shape))
        return {"epsilon": Asked.of_answers(law.joint, answers).leak(scale, times, knows_others=knows_others)}
    assert domains is not None
    law = TableLaw(joint, tuple(domains))
    query = Query.of(law, weights)
    if times == 1 and knows_others:
        return {"epsilon": worst_of_table(law, query, scale).epsilon}
    return {"epsilon": Asked.of_sum(law, query).leak(scale, times, knows_others=knows_others)}


def knows(adversary: str) -> bool:
    """Whether others may be known."""
    if adversary not in (WORST, WEAKEST):
        raise Invalid("adversary", f"is not known; there are {WORST}, {WEAKEST}")
    return adversary == WORST


def parallel(epsilons: Vector, sensitivities: Matrix) -> Result:
    """Releases about separate groups."""
    return told_together(epsilons, sensitivities)._asdict()


def information(prior: Vector, conditional: Sequence[Vector], support: Vector, scale: float) -> Result:
    """Mutual information, and its bound."""
    return told_about(prior, rows_of(conditional), support, scale)._asdict()


def accuracy(
    sensitivity: float,
    epsilon: float | None = None,
    margin: float | None = None,
    failure: float | None = None,
    coordinates: int = 1,
    norm: str = SUM,
) -> Result:
    """Of epsilon, margin and failure the one that is not given."""
    if [epsilon, margin, failure].count(None) != 1:
        raise Invalid("epsilon", "belongs to a choice: give exactly two of epsilon, margin, failure")
    if norm not in (SUM, LARGEST):
        raise Invalid("norm", f"is not known; there are {SUM}, {LARGEST}")
    if coordinates > COORDINATES_MAX:
        raise Invalid("coordinates", f"must be at most {COORDINATES_MAX}")
    if failure is None:
        assert margin is not None
        assert epsilon is not None
        margins = least_above(Fraction(margin) * Fraction(epsilon) / Fraction(sensitivity))
        return {"failure": chance_beyond(margins, coordinates, norm)}
    margins = margin_of(failure, coordinates, norm)
    if margin is None:
        assert epsilon is not None
        return {"margin": _times(margins, Fraction(sensitivity) / Fraction(epsilon))}
    if margin == 0.0 and failure < 1.0:
        raise Invalid("failure", "must be 1 for a margin of 0, which every noise reaches")
    return {"epsilon": 0.0 if failure == 1.0 else _times(margins, Fraction(sensitivity) / Fraction(margin))}


def _times(number: float, factor: Fraction) -> float:
    return number if math.isinf(number) else least_above(Fraction(number) * factor)


def underestimate(sensitivity: float, own_sensitivity: float, fraction: float, epsilon: float) -> Result:
    """Noise that was made for weaker ties."""
    return kept(sensitivity, own_sensitivity, fraction, epsilon)._asdict()


def attack(**inputs: Any) -> Result:
    """(6) to (9), and where the bits come from."""
    return attacked_by(**inputs)._asdict()
