"""The mutual information of a secret and a noisy answer, and how large epsilon lets it be. Proof: information.md."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix
from beliefs.dependence.coefficients import moved_exactly, range_of
from beliefs.laws.table import require_ascending
from beliefs.simplex import Vector, normalised

FARTHEST = 64.0
"""Densities between two answers are looked at up to so many scales from either: e^-64 of a mass is left out."""

APART = 4096.0
"""Answers further apart than this, in scales, are told apart as well as at this distance."""

POINTS_MAX = 1 << 26
"""Densities that are looked at: under each secret at each point of the integral."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)


class Told(NamedTuple):
    """Mutual information, the exact epsilon of the answer, and the most that any mechanism of that epsilon tells."""

    nats: float
    bits: float
    epsilon: float
    bound: float


def told_about(prior: Vector, rows: Matrix, support: Vector, scale: float) -> Told:
    """rows[secret] is the law of the answer before noise; secrets that cannot be do not count."""
    require_ascending(support, "support")
    if len(rows) != prior.size:
        raise Invalid("conditional", f"has {len(rows)} rows, but prior has {prior.size} entries")
    if rows.shape[1] != support.size:
        raise Invalid("support", f"has {support.size} values, but conditional has {rows.shape[1]} columns")
    possible = prior > 0.0
    prior, rows = normalised(prior[possible]), rows[possible]
    epsilon = moved_exactly(rows, support, scale) / scale
    most = information_bound(epsilon)
    nats = min(mutual_information(prior, rows, support, scale), most, entropy(prior))
    return Told(nats, nats / math.log(2.0), epsilon, most)


def information_bound(epsilon: float) -> float:
    """t - 1 - ln t at t = epsilon/(1 - e^-epsilon): the most that is learnt on average, in nats."""
    if epsilon < 0.01:  # its series, whose next term is below 2^-52 of it
        return epsilon**2 * (0.125 - epsilon**2 / 576.0 + epsilon**4 / 25_920.0)
    more = epsilon / -math.expm1(-epsilon) - 1.0
    return more - math.log1p(more) if math.isfinite(more) else math.inf


def entropy(law: Vector) -> float:
    some = law[law > 0.0]
    return max(0.0, -math.fsum((some * np.log(some)).tolist()))


def mutual_information(prior: Vector, rows: Matrix, support: Vector, scale: float) -> float:
    """The integral over all released numbers, segment by segment; rounded up by what may be lost."""
    if prior.size == 1 or range_of(support) == 0.0:
        return 0.0
    with np.errstate(over="ignore", divide="ignore"):
        gaps = np.minimum(np.diff(support) / scale, APART)
        logs, known = np.log(rows), np.log(prior)
    panels = math.fsum(np.minimum(np.ceil(gaps), 2.0 * FARTHEST).tolist())
    if panels * _NODES.size * prior.size > POINTS_MAX:
        raise Invalid("support", "is too wide, in scales, to be integrated over for so many secrets")
    left, right = _from_one_side(logs, gaps), _from_one_side(logs[:, ::-1], gaps[::-1])[:, ::-1]
    parts = [_density(known, left[:, -1:], np.ones(1)), _density(known, right[:, :1], np.ones(1))]
    for place, gap in enumerate(gaps.tolist()):
        for begin, end in _pieces(gap):
            at, weights = _grid(begin, end)
            shown = np.logaddexp(left[:, place, None] - at, right[:, place + 1, None] - (gap - at))
            parts.append(_density(known, shown, weights))
    told = math.fsum(parts)
    return told * (1.0 + 2.0**-40) + 2.0**-44 if told > 2.0**-50 else 0.0


def _from_one_side(logs: Matrix, gaps: Vector) -> Matrix:
    """ln of the sum of masses up to each place, each times e^-distance."""
    run = logs.copy()
    for place in range(1, run.shape[1]):
        run[:, place] = np.logaddexp(run[:, place - 1] - gaps[place - 1], logs[:, place])
    return run


def _pieces(gap: float) -> list[tuple[float, float]]:
    return [(0.0, gap)] if gap <= 2.0 * FARTHEST else [(0.0, FARTHEST), (gap - FARTHEST, gap)]


def _grid(begin: float, end: float) -> tuple[Vector, Vector]:
    """Points and weights of Gauss's rule on panels of at most one scale."""
    panels = max(1, math.ceil(end - begin))
    wide = (end - begin) / panels
    starts = begin + wide * np.arange(panels)
    at: Vector = (starts[:, None] + 0.5 * wide * (1.0 + _NODES)).ravel()
    return at, np.tile(0.5 * wide * _WEIGHTS, panels)


def _density(known: Vector, shown: Matrix, weights: Vector) -> float:
    """Half of the sum of weight x chance x density x log ratio to the mean density."""
    joint = shown + known[:, None]
    mean = np.logaddexp.reduce(joint, axis=0)
    with np.errstate(invalid="ignore"):
        told = np.where(np.isneginf(joint), 0.0, np.exp(joint) * (shown - mean))
    return 0.5 * math.fsum((told * weights).ravel().tolist())
