"""What an attacker believes of somebody's place before and after noisy totals, and where that comes from.

Note: attack.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.simplex import Vector, normalised

_FAR = 1.0e300


class Attack(NamedTuple):
    """Beliefs, the likeliest place, and bits: learnt from knowing the others, and from the release."""

    prior: list[float]
    posterior: list[float]
    guess: int
    context_bits: float
    release_bits: float


def attack(
    counts: Vector,
    released: Vector,
    known_total: Vector,
    candidates: Matrix,
    epsilon: float,
    sensitivity: float,
    prior_weights: Vector | None = None,
    smoothing: float = 0.0,
) -> Attack:
    """(6) to (9): candidates[place] is what somebody at that place adds to the known total of all others."""
    weights = np.ones(counts.size) if prior_weights is None else prior_weights
    _check_sizes(counts, weights, released, known_total, candidates)
    shares = _law_of(counts + smoothing, "counts", "are 0 everywhere; smoothing gives every place a chance")
    prior = _law_of(shares * (weights / max(weights.max(), 5e-324)), "prior_weights", "leave no place a chance")
    away = _further_than_nearest(released, known_total, candidates, prior > 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.log(prior) - away / sensitivity * epsilon
    posterior = normalised(np.exp(logs - logs.max()))
    believed = entropy_bits(prior)
    return Attack(
        prior.tolist(),
        posterior.tolist(),
        int(posterior.argmax()),
        entropy_bits(shares) - believed,
        believed - entropy_bits(posterior),
    )


def entropy_bits(law: Vector) -> float:
    some = law[law > 0.0]
    return max(0.0, -math.fsum((some * np.log2(some)).tolist()))


def _check_sizes(counts: Vector, weights: Vector, released: Vector, known_total: Vector, candidates: Matrix) -> None:
    for field, found, wanted, of in (
        ("prior_weights", weights.size, counts.size, "counts"),
        ("known_total", known_total.size, released.size, "released"),
        ("candidates", len(candidates), counts.size, "counts"),
    ):
        if found != wanted:
            raise Invalid(field, f"has {found} entries, but {of} has {wanted}")
    if candidates.shape[1] != released.size:
        raise Invalid("candidates", f"has rows of {candidates.shape[1]} entries, but released has {released.size}")


def _law_of(weights: Vector, field: str, problem: str) -> Vector:
    top = float(weights.max())
    if not top > 0.0:
        raise Invalid(field, problem)
    return normalised(weights / top)


def _further_than_nearest(
    released: Vector, known_total: Vector, candidates: Matrix, possible: NDArray[np.bool_]
) -> Vector:
    """|released - known - candidate|_1 less that of the nearest possible place.

    Numbers near the end of the doubles are made smaller first.
    """
    largest = max(float(np.abs(each).max()) for each in (released, known_total, candidates))
    unit = 1.0 if largest < _FAR / (4.0 * released.size) else 4.0e8 * released.size
    away = np.abs((released / unit - known_total / unit) - candidates / unit)
    totals: Vector = np.add.accumulate(away, axis=1)[:, -1]
    further = np.where(possible, totals - totals[possible].min(), 0.0)
    with np.errstate(over="ignore"):
        apart: Vector = further * unit
    return apart
