"""Laws from counts, written so that nothing is impossible that merely was not seen. Proof: learning.md."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.bound import Matrix, Places
from beliefs.correlation.robust_rows import radii_of
from beliefs.laws.friends import nearness_at
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.rows import divided
from beliefs.laws.table import TableLaw
from beliefs.learning.radius import deviation
from beliefs.simplex import Vector, normalised

HALF = 0.5
"""What is added to every count: half an observation."""

CELLS_MAX = 1 << 20
OFFSETS, EXPONENTS = (1e-3, 1e3), (0.0, 8.0)
"""Where they are looked for; offsets as shares of the median distance."""

_GRID, _ROUNDS, _SECTIONS, _SCALINGS = 9, 5, 16, 8
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


class LearntTable(NamedTuple):
    """The true law lies within `radius` of this one in total variation, but for the failure that was asked for."""

    law: TableLaw
    radius: float


class LearntChain(NamedTuple):
    """The same of the start and of each row."""

    law: MarkovLaw
    start: float
    rows: Vector


def block_table(seen: Sequence[Counter[tuple[int, ...]]], size: int, most: int, failure: float) -> LearntTable:
    """The law of contributions 0 to `most` of exchangeable members; each counter holds one component's windows."""
    if not seen:
        raise Invalid("components", "are none")
    if (most + 1) ** size > CELLS_MAX:
        raise Invalid("components", f"of {size} members with {most + 1} values each have more than {CELLS_MAX} cells")
    kinds = list(itertools.combinations_with_replacement(range(most + 1), size))
    place = {kind: number for number, kind in enumerate(kinds)}
    parts: list[list[float]] = [[] for _ in kinds]
    for windows in seen:
        count = sum(windows.values())
        for members, times in windows.items():
            parts[place[tuple(sorted(members))]].append(times / count)
    shares = np.array([math.fsum(part) for part in parts]) / len(seen)  # in whatever order components come
    written = (shares * len(seen) + HALF) / (len(seen) + HALF * len(kinds))
    joint = np.zeros((most + 1,) * size)
    for kind, share in zip(kinds, written.tolist(), strict=True):
        ways = set(itertools.permutations(kind))
        for cell in ways:
            joint[cell] = share / len(ways)
    off = 0.5 * math.fsum(np.abs(written - shares).tolist())
    radius = min(1.0, float(radii_of([len(seen)], len(kinds), failure)[0]) + off)
    domain = np.arange(most + 1.0)
    return LearntTable(TableLaw(joint, (domain,) * size), radius)


def window_chain(steps: Matrix, firsts: Vector, length: int, failure: float) -> LearntChain:
    """steps[a, b] counts how often b followed a, firsts[a] how many users began with a."""
    values = firsts.size
    rows, start = divided(steps + HALF), normalised(firsts + HALF)
    each = failure / (values + 1)
    law = MarkovLaw(rows, start, np.arange(float(values)), length)
    return LearntChain(law, float(_radii(start[None], firsts[None], each)[0]), _radii(rows, steps, each))


def _radii(written: Matrix, counts: Matrix, failure: float) -> Vector:
    visits = counts.sum(axis=1)
    shares = np.divide(counts, visits[:, None], out=np.zeros_like(counts), where=visits[:, None] > 0.0)
    off = 0.5 * np.abs(written - shares).sum(axis=1)
    radii: Vector = np.where(visits > 0.0, deviation(visits, counts.shape[1], failure) + off, 1.0)
    return np.minimum(1.0, radii)


def pair_table(pairs: Places, values: int) -> Matrix:
    """P(x, y) of friends' values, the same both ways: counts[x, y] + counts[y, x] + 1/2 each."""
    counts = np.zeros((values, values))
    np.add.at(counts, (pairs[:, 0], pairs[:, 1]), 1.0)
    both = counts + counts.T + HALF
    table: Matrix = both / both.sum()
    return table


def covariance_of(columns: Matrix, span: float) -> GaussianLaw:
    """Of records, one a row, divided by one less than their number."""
    records, attributes = columns.shape
    if records < 2:
        raise Invalid("records", "must be 2 or more")
    means = [math.fsum(column.tolist()) / records for column in columns.T]
    apart = columns - np.array(means)
    covariance = np.empty((attributes, attributes))
    for one, other in itertools.combinations_with_replacement(range(attributes), 2):
        product = math.fsum((apart[:, one] * apart[:, other]).tolist()) / (records - 1)
        covariance[one, other] = covariance[other, one] = product
    return GaussianLaw(covariance, span)


class Nearness(NamedTuple):
    """The likeliest offset and exponent, the places' weights `people`, and the mean score of an end in nats."""

    offset: float
    exponent: float
    people: Vector
    score: float


def nearness_of(friends: Places, at: Places, distances: Matrix) -> Nearness:
    """Under which friends' places are likeliest; at[u] is user u's place.

    The kernel counts from both ends of a pair. The best exponent is found for each offset of a grid, which is narrowed.
    """
    apart = distances[distances > 0.0]
    if not len(friends) or not apart.size:
        raise Invalid("friends", "are none, or all at one place, so nothing says how far they live from each other")
    shares = normalised(np.bincount(at, minlength=len(distances)).astype(np.float64) + HALF)
    lengths, which = np.unique(distances, return_inverse=True)
    ends = np.concatenate([at[friends], at[friends[:, ::-1]]])
    unit = float(np.median(apart))

    def score(offset: float, exponent: float) -> float:
        near = nearness_at(lengths[None], offset, exponent)[0][which.reshape(distances.shape)]
        people = _people_for(near, shares)
        rows = np.add.accumulate(near * people, axis=1)[:, -1]
        chances = near[ends[:, 0], ends[:, 1]] * people[ends[:, 1]] / rows[ends[:, 0]]
        return math.fsum(np.log(chances).tolist()) / int(chances.size)

    low, high = (math.log(share * unit) for share in OFFSETS)
    best = (-math.inf, 0.0, 0.0)
    for _ in range(_ROUNDS):
        for place in np.linspace(low, high, _GRID).tolist():
            best = max(best, (*_best_exponent(score, math.exp(place)), place))
        room = (high - low) / (_GRID - 1)
        low, high = best[2] - room, best[2] + room
    offset, exponent = math.exp(best[2]), best[1]
    near = nearness_at(distances, offset, exponent)
    return Nearness(offset, exponent, _people_for(near, shares), best[0])


def _best_exponent(score: Callable[[float, float], float], offset: float) -> tuple[float, float]:
    """The largest score and where it is, by golden sections."""
    low, high = EXPONENTS
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    one, two = score(offset, left), score(offset, right)
    for _ in range(_SECTIONS):
        if one >= two:
            high, right, two = right, left, one
            left = high - _GOLDEN * (high - low)
            one = score(offset, left)
        else:
            low, left, one = left, right, two
            right = low + _GOLDEN * (high - low)
            two = score(offset, right)
    return (one, left) if one >= two else (two, right)


def _people_for(near: Matrix, shares: Vector) -> Vector:
    """The places' weights under which one user's place has these shares, by scaling them in turn."""
    people = shares
    for _ in range(_SCALINGS):
        people = normalised(np.sqrt(people * shares / np.add.accumulate(near * people, axis=1)[:, -1]))
    return people
