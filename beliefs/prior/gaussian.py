"""What adversaries learn from noisy weighted sums of Gaussian attributes: closed forms. Proof: gaussian.md."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.laws.gaussian import GaussianLaw
from beliefs.native import kernel
from beliefs.prior.outward import least_above
from beliefs.prior.scaled import Floats, Powers
from beliefs.prior.worst import EXACT, SOUND
from beliefs.simplex import Vector

Rows = list[list[Fraction]]

SEARCHED_MAX = 22
EXACTLY_UP_TO = 8
CANDIDATES = 16
CERTAIN = 1e-12
"""A variance that is left of less than this share counts as none."""

CLOSE = 1e-9
_NEARLY = 1e-7


class Sums(NamedTuple):
    """Released sums: weights[t, i] of attribute i in sum t, and the scale of its noise."""

    weights: Matrix
    scales: Vector


class WorstOfGaussian(NamedTuple):
    epsilon: float
    attacked: int
    known: tuple[int, ...]
    weakest: float
    method: str


def gaussian_leak(law: GaussianLaw, sums: Sums, attacked: int, known: tuple[int, ...]) -> float:
    """Theorem 6 for several weighted sums, in fractions; rounded up."""
    left = _given(_fractions(law.covariance), known)
    if _certain(law.covariance, left, attacked):
        field = "known" if known else "attacked"
        raise Invalid(field, f"leaves attribute {attacked} without variance: it is known for certain, not attacked")
    return least_above(_leak(law, sums, left, attacked))


def weakest_gaussian(law: GaussianLaw, sums: Sums) -> tuple[float, int]:
    """The largest leak of those who know nobody, and whom they attack."""
    left = _fractions(law.covariance)
    open_to = [each for each in range(law.size) if not _certain(law.covariance, left, each)]
    if not open_to:
        raise Invalid("covariance", "is 0: every attribute is known for certain")
    leaks = [_leak(law, sums, left, each) for each in open_to]
    return least_above(max(leaks)), open_to[leaks.index(max(leaks))]


def worst_gaussian(law: GaussianLaw, sums: Sums, only: int | None = None) -> WorstOfGaussian:
    """Over all adversaries; of equal ones the smallest attacked attribute, then the fewest known ones.

    With `only`, over those who attack that attribute.
    """
    weakest, attacked = weakest_gaussian(law, sums) if only is None else (gaussian_leak(law, sums, only, ()), only)
    if law.size > SEARCHED_MAX:
        bound = _dominated(law, sums, only)
        method = EXACT if bound <= weakest * (1.0 + CLOSE) else SOUND
        return WorstOfGaussian(max(weakest, bound), attacked, (), weakest, method)
    best: tuple[Fraction, int, tuple[int, ...]] | None = None
    for one, known in sorted(_candidates(law, sums, only), key=lambda each: (each[0], len(each[1]), each[1])):
        left = _given(_fractions(law.covariance), known)
        if not _certain(law.covariance, left, one):
            leak = _leak(law, sums, left, one)
            if best is None or leak > best[0] * (1 + Fraction(CERTAIN)):
                best = leak, one, known
    assert best is not None
    return WorstOfGaussian(least_above(best[0] * (1 + Fraction(CERTAIN))), best[1], best[2], weakest, EXACT)


def _candidates(law: GaussianLaw, sums: Sums, only: int | None) -> Iterable[tuple[int, tuple[int, ...]]]:
    """Everybody, or where these are many those whose leak in doubles is near the largest."""
    everyone = range(law.size)
    attacked = everyone if only is None else [only]
    if law.size <= EXACTLY_UP_TO:
        for count in everyone:
            for known in itertools.combinations(everyone, count):
                yield from ((one, known) for one in attacked if one not in known)
        return
    weights = sums.weights / sums.scales[:, None]
    even = 0.5 * (law.covariance + law.covariance.T)
    room = np.empty((law.size + 1, law.size, law.size))
    room[0] = even
    least = np.diagonal(even) * CERTAIN
    tried = np.array(attacked, dtype=np.int64)
    found, masks, leaks = np.zeros(CANDIDATES, np.int64), np.zeros(CANDIDATES, np.int64), np.full(CANDIDATES, -1.0)
    place = np.empty(law.size + 1, dtype=np.int64)
    _search(room, weights, least, tried, place, found, masks, leaks)
    for one, mask, leak in zip(found.tolist(), masks.tolist(), leaks.tolist(), strict=True):
        if leak >= leaks.max() * (1.0 - _NEARLY) and leak >= 0.0:
            yield one, tuple(each for each in everyone if mask >> each & 1)


def _dominated(law: GaussianLaw, sums: Sums, only: int | None) -> float:
    """A bound on everybody's leak from the sizes of partial correlations; attained if none is negative."""
    precision = inverse(0.5 * (law.covariance + law.covariance.T))
    sizes = None if precision is None else -np.abs(precision)
    if sizes is not None:
        np.fill_diagonal(sizes, -np.diagonal(sizes))
        most = inverse(sizes)
        if most is not None and bool((most >= 0.0).all()):
            sizes = np.abs(sums.weights / sums.scales[:, None]).sum(axis=0)
            leaks = np.add.accumulate(sizes[:, None] * most, axis=0)[-1] / np.diagonal(most)
            return float(leaks.max() if only is None else leaks[only]) * law.range * (1.0 + 1e-10)
    raise Invalid(
        "covariance", f"has more than {SEARCHED_MAX} attributes, too dependent on each other to bound every adversary"
    )


def inverse(matrix: Matrix) -> Matrix | None:
    """Of a symmetric matrix by elimination in a fixed order, or None where a pivot is not positive."""
    size = matrix.shape[0]
    left, right = matrix.copy(), np.eye(size)
    for row in range(size):
        if not left[row, row] > CERTAIN * matrix[row, row]:
            return None
        scaled = left[row] / left[row, row], right[row] / left[row, row]
        factor = left[:, row].copy()
        factor[row] = 0.0
        left, right = left - factor[:, None] * scaled[0], right - factor[:, None] * scaled[1]
        left[row], right[row] = scaled
    return right


def _fractions(covariance: Matrix) -> Rows:
    exact = [[Fraction(entry) for entry in row] for row in covariance.tolist()]
    return [[(exact[i][j] + exact[j][i]) / 2 for j in range(len(exact))] for i in range(len(exact))]


def _given(left: Rows, known: Sequence[int]) -> Rows:
    """The covariance of what is left once these are known, one Schur step for each; what adds nothing is left out."""
    first = left
    for one in known:
        pivot = left[one][one]
        if pivot > first[one][one] * Fraction(CERTAIN):
            left = [
                [entry - row[one] * other / pivot for entry, other in zip(row, left[one], strict=True)] for row in left
            ]
    return left


def _certain(covariance: Matrix, left: Rows, attacked: int) -> bool:
    return left[attacked][attacked] <= Fraction(float(covariance[attacked, attacked])) * Fraction(CERTAIN)


def _leak(law: GaussianLaw, sums: Sums, left: Rows, attacked: int) -> Fraction:
    told = Fraction(0)
    for weights, scale in zip(sums.weights.tolist(), sums.scales.tolist(), strict=True):
        moved = sum((Fraction(weight) * row[attacked] for weight, row in zip(weights, left, strict=True)), Fraction(0))
        told += abs(moved) / Fraction(scale)
    return told * Fraction(law.range) / left[attacked][attacked]


@kernel
def _search(
    room: Floats,
    weights: Floats,
    least: Floats,
    tried: Powers,
    place: Powers,
    found: Powers,
    masks: Powers,
    leaks: Floats,
) -> None:
    """All known sets, each from the one without its last attribute; keeps the largest leaks, in no order."""
    size, depth, mask = least.size, 0, 0
    place[0] = -1
    _note(room[0], weights, least, tried, mask, found, masks, leaks)
    one = 0
    while True:
        if one < size:
            _condition(room[depth], room[depth + 1], one, least[one])
            depth += 1
            place[depth] = one
            mask |= 1 << one
            _note(room[depth], weights, least, tried, mask, found, masks, leaks)
            one += 1
        elif depth == 0:
            return
        else:
            one = place[depth] + 1
            mask &= ~(1 << place[depth])
            depth -= 1


@kernel
def _condition(before: Floats, after: Floats, one: int, least: float) -> None:
    size, pivot = before.shape[0], before[one, one]
    for row in range(size):
        factor = before[row, one] / pivot if pivot > least else 0.0
        for column in range(size):
            after[row, column] = before[row, column] - factor * before[one, column]


@kernel
def _note(
    left: Floats,
    weights: Floats,
    least: Floats,
    tried: Powers,
    mask: int,
    found: Powers,
    masks: Powers,
    leaks: Floats,
) -> None:
    for one in tried:
        if mask >> one & 1 or left[one, one] <= least[one]:
            continue
        told = 0.0
        for released in range(weights.shape[0]):
            moved = 0.0
            for other in range(least.size):
                moved += weights[released, other] * left[other, one]
            told += abs(moved)
        told /= left[one, one]
        lowest = 0
        for kept in range(1, leaks.size):
            if leaks[kept] < leaks[lowest]:
                lowest = kept
        if told > leaks[lowest]:
            found[lowest], masks[lowest], leaks[lowest] = one, mask, told
