"""Slow answers that are right by definition, for the fast ones to be compared with.

Enumerations use fractions and are exact; linear programs use HiGHS at its narrowest tolerance. Nothing here shares a
line of reasoning with what it checks: paths are listed one by one, and programs state the definition, not the theorem.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, kron, vstack

Vector = npt.NDArray[np.float64]
LINPROG_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "presolve": True}


def posterior_by_enumeration(
    start: Sequence[Fraction],
    transitions: Sequence[Sequence[Fraction]],
    likelihoods: Sequence[Sequence[Fraction]],
) -> list[Fraction]:
    """P(last value | all releases), as the sum over every hidden path: weight = chain times likelihoods."""
    states = range(len(start))
    weights = [Fraction(0)] * len(start)
    for path in itertools.product(states, repeat=len(likelihoods)):
        weight = start[path[0]] * likelihoods[0][path[0]]
        for before, now, likelihood in zip(path, path[1:], likelihoods[1:], strict=False):
            weight *= transitions[before][now] * likelihood[now]
        weights[path[-1]] += weight
    total = sum(weights, Fraction(0))
    return [weight / total for weight in weights]


def accuracy_by_linear_program(prior: Vector, lower: float, upper: float) -> float:
    """max of sum b(x) a(x|x) over channels with e p <= a <= U p and p = b a: the definition, and nothing else."""
    return -_least_over_channels(prior, -np.diag(prior), lower, upper)


def cost_by_linear_program(prior: Vector, costs: Vector, epsilon: float) -> float:
    """min of sum b(x) a(y|x) D(x, y) over channels with e p <= a <= E p and p = b a, for every x."""
    return _least_over_channels(prior, prior[:, None] * costs, epsilon, epsilon)


def _least_over_channels(prior: Vector, prices: Vector, lower: float, upper: float) -> float:
    n = prior.size
    identity = eye_array(n, format="csr")
    marginal = kron(csr_array(np.tile(prior, (n, 1))), identity)  # row (x, y): p(y)
    channel = eye_array(n * n)
    return _least(
        prices.ravel(),
        A_ub=vstack([channel - math.exp(upper) * marginal, math.exp(-lower) * marginal - channel], format="csr"),
        b_ub=np.zeros(2 * n * n),
        A_eq=csr_array(kron(identity, csr_array(np.ones((1, n))))),
        b_eq=np.ones(n),
    )


def _least(prices: Vector, **rules: object) -> float:
    result = linprog(prices, **rules, bounds=(0, 1), method="highs", options=LINPROG_OPTIONS)
    if result.status != 0:
        raise AssertionError(f"the program was not solved: {result.message}")
    return float(result.fun)


def local_accuracy_by_linear_program(prior: Vector, epsilon: float) -> float:
    """max of sum b(x) a(x|x) over channels with a(y|x) <= E a(y|z) for every x, z and y."""
    n = prior.size
    bounds = []
    for y, x, z in itertools.product(range(n), repeat=3):
        if x != z:
            row = np.zeros((n, n))
            row[x, y], row[z, y] = 1.0, -math.exp(epsilon)
            bounds.append(row.ravel())
    return -_least(
        -np.diag(prior).ravel(),
        A_ub=np.array(bounds) if bounds else None,
        b_ub=np.zeros(len(bounds)) if bounds else None,
        A_eq=np.kron(np.eye(n), np.ones((1, n))),
        b_eq=np.ones(n),
    )
