"""Slow answers about correlated fields that are right by definition: every set, every output, or a linear program."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

Matrix = npt.NDArray[np.float64]


def sets_of(size: int) -> Iterator[list[int]]:
    for count in range(size + 1):
        yield from (list(each) for each in itertools.combinations(range(size), count))


def bound_by_sets(conditional: Matrix, epsilon: float) -> float:
    """The largest ln (1 + w A)/(1 + w B) over all sets and ordered pairs, listed one by one."""
    weight = math.expm1(epsilon)
    chances = np.array([[math.fsum(law[chosen]) for chosen in sets_of(law.size)] for law in conditional])
    raised = 1.0 + weight * chances
    return float(np.log(raised.max(axis=0) / raised.min(axis=0)).max())


def bound_by_program(first: Matrix, second: Matrix, epsilon: float) -> float:
    """max sum c g with sum c g' = 1 and s <= c <= e^epsilon s: all outputs of all epsilon-LDP mechanisms.

    HiGHS is right to 1e-7 or so, thus only its vertex is taken: which of the two bounds holds for each c. From there
    on the program is solved in fractions. A vertex is worth h, and c (g - h g') says what raising or lowering one c
    gains: while some gain is positive the c are put to where they gain, which is another, higher vertex. When none is,

        sum c g - h = sum c (g - h g') <= s (1 - h + w sum of (g - h g')+) <= 0   for every feasible c,

    which is the program's own proof that h is its value.
    """
    size = first.size
    above = np.hstack([-np.eye(size), np.ones((size, 1))])
    below = np.hstack([np.eye(size), np.full((size, 1), -math.exp(epsilon))])
    found = linprog(
        -np.append(first, 0.0),
        A_ub=np.vstack([above, below]),
        b_ub=np.zeros(2 * size),
        A_eq=np.append(second, 0.0)[None],
        b_eq=[1.0],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    levels, least = found.x[:-1], found.x[-1]
    value = _solved(first, second, epsilon, levels > 0.5 * (1.0 + math.exp(epsilon)) * least)
    assert abs(-found.fun - float(value)) <= 1e-7 * float(value), "the solver was somewhere else"
    return _log_of(value)


def _solved(first: Matrix, second: Matrix, epsilon: float, chosen: npt.NDArray[np.bool_]) -> Fraction:
    weight = Fraction(math.expm1(epsilon))
    one, other = ([Fraction(each) for each in law.tolist()] for law in (first, second))
    raised = set(np.flatnonzero(chosen).tolist())
    while True:
        inside, against = (sum((law[place] for place in raised), Fraction(0)) for law in (one, other))
        # Laws of doubles sum to 1 but for their roundings, which are carried along.
        value = (sum(one) + weight * inside) / (sum(other) + weight * against)
        gains = [g - value * h for g, h in zip(one, other, strict=True)]
        price = sum(one) - value * sum(other) + weight * sum(max(gain, Fraction(0)) for gain in gains)
        if price <= 0:
            return value
        raised = {place for place, gain in enumerate(gains) if gain > 0}


def _log_of(ratio: Fraction) -> float:
    """ln of a ratio of 1 or more to within two last places."""
    return math.log1p(float(ratio - 1))


def leak_by_outputs(conditional: Matrix, channel: Matrix) -> float:
    """The largest log ratio of one output's chances under two secrets."""
    seen = conditional @ channel
    seen = seen[:, seen.max(axis=0) > 0]
    return float(np.log(seen.max(axis=0) / seen.min(axis=0)).max())


def response(size: int, epsilon: float) -> Matrix:
    rows = np.ones((size, size))
    np.fill_diagonal(rows, math.exp(epsilon))
    return rows / (math.exp(epsilon) + size - 1)


def joint_by_outputs(laws: Matrix, channels: Sequence[Matrix]) -> float:
    """Every combination of outputs: the product of the channels, as one channel on all combinations of values."""
    together = np.ones((1, 1))
    for channel in channels:
        together = np.kron(together, channel)
    return leak_by_outputs(laws.reshape(laws.shape[0], -1), together)


def some_conditionals(generator: np.random.Generator, count: int, size_max: int = 6) -> Iterator[Matrix]:
    """Laws of all shapes, some with zeros, some nearly equal."""
    for number in range(count):
        rows, columns = int(generator.integers(2, 5)), int(generator.integers(2, size_max + 1))
        laws = generator.dirichlet(np.full(columns, generator.choice([0.2, 1.0, 30.0])), rows)
        if number % 3 == 0:
            laws = np.where(generator.random(laws.shape) < 0.3, 0.0, laws)
            laws[:, 0] += 0.01
        yield laws / laws.sum(axis=1, keepdims=True)
