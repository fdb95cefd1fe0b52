"""Small cases for every definition, theorem and lemma: by enumeration, or on the law that breaks it."""

from __future__ import annotations

import itertools
import math
from typing import Final, NamedTuple

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.dependence.chain import ChainInfluence
from beliefs.dependence.coefficients import Coefficients, coefficients
from beliefs.dependence.information import mutual_information
from beliefs.dependence.leak import Asked
from beliefs.dependence.published import by_degree
from beliefs.dependence.scale import sufficient_scale
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from beliefs.prior.calibration import chain_scale
from beliefs.prior.releases import joint_leak
from beliefs.prior.worst_chain import ChainSearch
from beliefs.rounding import UNITS_PER_NAT

BITS: Final = np.array([0.0, 1.0])
PARITY: Final = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]) / 4.0
"""Three fair bits whose number of ones is even: each two are independent, all three are not."""

TOGETHER: Final = np.array([[0.5, 0.0], [0.0, 0.5]])
ONE_NAT: Final = 1.3423898779
"""The scale at which a noisy sum of those three bits tells exactly 1 about each."""


def bits(joint: Matrix) -> TableLaw:
    return TableLaw(joint, (BITS,) * joint.ndim)


def of_sum(joint: Matrix, scale: float, times: int = 1, *, knows_others: bool = False) -> float:
    """What so many noisy sums of bits tell, to those who know nobody or to anybody."""
    law = bits(joint)
    return Asked.of_sum(law, Query.of(law)).leak(scale, times, knows_others=knows_others)


def of_answers(joint: Matrix, answers: Matrix, scale: float, *, knows_others: bool = False) -> float:
    return Asked.of_answers(joint, answers).leak(scale, 1, knows_others=knows_others)


def exclusive_or() -> tuple[float, float]:
    """Definition 4 for D_i xor D_j, two fair independent bits, with Lap(1): to one who knows nobody, and to anybody."""
    answers = np.array([[0.0, 1.0], [1.0, 0.0]])
    even = np.full((2, 2), 0.25)
    return of_answers(even, answers, 1.0), of_answers(even, answers, 1.0, knows_others=True)


class CommonBit(NamedTuple):
    """Nats about one of ten noisy readings of a hidden bit, from a sum at epsilon 1/2."""

    knowing_nobody: float
    knowing_everybody: float


def common_bit(readings: int = 10, wrong: float = 0.05) -> CommonBit:
    others = readings - 1
    ones = np.arange(readings)
    right, false = (_binomial(others, chance) for chance in (1 - wrong, wrong))
    same, other = (1 - wrong) * right + wrong * false, wrong * right + (1 - wrong) * false
    rows = np.zeros((2, readings + 1))
    rows[1, 1:], rows[0, :-1] = same, other
    support = np.arange(readings + 1.0)
    alone = mutual_information(np.array([0.5, 0.5]), rows, support, 2.0)
    shifted = np.array([[1.0, 0.0], [0.0, 1.0]])
    told = 0.0
    for count in ones.tolist():
        hidden = 0.5 * np.array([false[count], right[count]])
        chance = float(hidden.sum())
        one = float((hidden * np.array([wrong, 1 - wrong])).sum()) / chance
        told += chance * mutual_information(np.array([1 - one, one]), shifted, BITS, 2.0)
    return CommonBit(alone, told)


def _binomial(count: int, chance: float) -> Matrix:
    return np.array([math.comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(count + 1)])


def parity_again() -> dict[int, float]:
    """The sum of three bits, released so often, each release telling 1 nat."""
    return {times: of_sum(PARITY, ONE_NAT, times) for times in (1, 2, 20)}


def two_cells(wrong: float) -> float:
    """Theorem 4: an attribute and its copy, wrong with a chance, each in a release of its own with Lap(1)."""
    law = bits(np.array([[1 - wrong, wrong], [wrong, 1 - wrong]]) / 2.0)
    return joint_leak(law, [Query.of(law, np.eye(2)[each]) for each in (0, 1)], [1.0, 1.0], 0)


def copies_in_a_row(count: int = 12) -> tuple[int, float, float]:
    """Theorem 7 with the degree of a graph for L: the size it sees, the nats at epsilon 1, and by components."""
    ties = np.eye(count) + np.eye(count, k=1) + np.eye(count, k=-1)
    seen = by_degree(ties, np.ones(count), 1.0)
    return seen.size, count / seen.scale, 1.0


class Random(NamedTuple):
    """Of so many random laws of three bits: how many leak more than epsilon 1 at the noise of Theorem 9, and the
    worst; the same for coefficients by Jensen."""

    above: int
    worst: float
    jensen: float
    laws: int


def theorem_9(laws: int) -> Random:
    source, exact, jensen = np.random.default_rng(71), [], []
    for _ in range(laws):
        joint = source.dirichlet(np.ones(8)).reshape(2, 2, 2)
        law = bits(joint)
        for method, told in (("exact", exact), ("jensen", jensen)):
            told.append(of_sum(joint, sufficient_scale(law, Query.of(law), 1.0, method)))
    return Random(sum(each > 1 + 1e-9 for each in exact), max(exact), max(jensen), laws)


def pairs_are_safe(laws: int) -> float:
    """Theorem 9 for two attributes and their sum: the largest leak at epsilon 1."""
    source, worst = np.random.default_rng(72), 0.0
    for _ in range(laws):
        law = TableLaw(source.dirichlet(np.ones(9)).reshape(3, 3), (np.arange(3.0), np.arange(3.0)))
        scale = sufficient_scale(law, Query.of(law), 1.0, "exact")
        worst = max(worst, Asked.of_sum(law, Query.of(law)).leak(scale, 1, knows_others=False))
    return worst


def threshold(dependent: float) -> float:
    """D_i + 1[D_j >= .5], D_j being .45 or .55 along with D_i, at the noise for a coefficient of so much."""
    return of_answers(TOGETHER, np.array([[0.0, 1.0], [1.0, 2.0]]), 1.0 + dependent)


def half() -> Coefficients:
    """D_j = D_i/2: determined, on a domain from 0 to 1."""
    rows = np.zeros((3, 5))
    rows[range(3), range(3)] = 1.0
    return coefficients(rows, np.linspace(0.0, 1.0, 5), 1.0)


def independent() -> Coefficients:
    return coefficients(np.full((3, 41), 1 / 41), np.linspace(0.0, 1.0, 41), 4.0)


def square() -> tuple[float, Coefficients]:
    """D_j = D_i^2 on -1, 0, 1: the correlation, and what the coefficients say."""
    values = np.array([-1.0, 0.0, 1.0])
    correlation = float(np.corrcoef(values, values**2)[0, 1])
    return correlation, coefficients(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), BITS, 1.0)


def example_coefficients(points: int = 400, scale: float = 1.0) -> Coefficients:
    """D_j = D_i/2 + X/2 on a fine grid."""
    support = np.linspace(0.0, 1.0, points + 1)
    rows = [np.where((support >= a / 2) & (support <= a / 2 + 0.5), 1.0, 0.0) for a in np.linspace(0.0, 1.0, 21)]
    return coefficients(np.array([row / row.sum() for row in rows]), support, scale)


class Window(NamedTuple):
    """Sticky bits in a row: what a sum with Lap(1) tells one who knows nobody, the scale for 1 nat, any releases."""

    told: float
    scale: float
    influence: float


def window(length: int) -> Window:
    law = MarkovLaw(np.array([[0.9, 0.1], [0.1, 0.9]]), np.full(2, 0.5), BITS, length)
    told, _, _ = ChainSearch(law, 1.0).weakest()
    units = ChainInfluence.of(law, knowing=False).worst_of(UNITS_PER_NAT).units
    return Window(told, chain_scale(law, 1.0, "weakest").scale, units / UNITS_PER_NAT)


def friend_rows(side: int = 20, wide: float = 0.95) -> tuple[float, float]:
    """Eq. 26 as printed on a grid over a square so wide: the least and the largest sum of a row."""
    a, b, c = 0.0019, 0.196, 1.05
    places = np.array(list(itertools.product(np.linspace(0.0, wide, side), repeat=2)))
    sums = [float((a * (np.abs(places - each).sum(axis=1) + b) ** -c).sum()) for each in places]
    return min(sums), max(sums)


def friend_coefficients(side: int = 20) -> Coefficients:
    """Eq. 26 along one coordinate of the unit square, its rows divided by their sums."""
    support = np.linspace(0.0, 1.0, side)
    near = (np.abs(support[:, None] - support) + 0.196) ** -1.05
    return coefficients(near / near.sum(axis=1, keepdims=True), support, 1.0)


def by_points() -> tuple[float, float]:
    """Definition 6 for Lap(.01) on a bit, outputs in steps of 10^-6: the delta for each output at epsilon 0, and the
    one for sets of outputs."""
    width, scale = 1e-6, 0.01
    single = 0.5 * width / scale
    return single, 1.0 - math.exp(-0.5 / scale)


class Histogram(NamedTuple):
    """Of all graphs of five people: how far one edge, one reported degree, and one rewired person move the counts."""

    edge: int
    degree: int
    person: int


def degree_histogram(people: int = 5) -> Histogram:
    pairs = list(itertools.combinations(range(people), 2))
    graphs = np.arange(1 << len(pairs))
    has = (graphs[:, None] >> np.arange(len(pairs))) & 1
    touching = np.array([[each in pair for pair in pairs] for each in range(people)], dtype=int)
    degrees = has @ touching.T
    counts = np.stack([(degrees == each).sum(axis=1) for each in range(people)], axis=1)
    edge = max(int(np.abs(counts - counts[graphs ^ (1 << bit)]).sum(axis=1).max()) for bit in range(len(pairs)))
    own = [sum(1 << bit for bit, pair in enumerate(pairs) if 0 in pair)]
    subsets = [sum(1 << bit for bit in chosen) for size in range(people) for chosen in
               itertools.combinations([bit for bit, pair in enumerate(pairs) if 0 in pair], size)]  # fmt: skip
    person = max(int(np.abs(counts - counts[(graphs & ~own[0]) | each]).sum(axis=1).max()) for each in subsets)
    return Histogram(edge, 2, person)


def moved_centroids(tries: int) -> float:
    """How far one of nine points moves the two centroids of K-means on [0, 1]^2, begun at the first two points."""
    source, widest = np.random.default_rng(73), 0.0
    for _ in range(tries):
        points = source.random((9, 2)).round(1)
        other = points.copy()
        other[-1] = source.random(2).round(1)
        widest = max(widest, float(np.abs(lloyd(points, points[:2]) - lloyd(other, other[:2])).sum()))
    return widest


def lloyd(points: Matrix, centres: Matrix, steps: int = 50) -> Matrix:
    for _ in range(steps):
        nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        moved = np.array(
            [points[nearest == k].mean(axis=0) if (nearest == k).any() else centres[k] for k in range(len(centres))]
        )
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres


def mixtures(count: int) -> float:
    """Theorem 6: the largest loss beyond epsilon 1 of random mixtures of two channels that keep it."""
    source, beyond = np.random.default_rng(74), -math.inf
    for _ in range(count):
        channels = [_channel(source) for _ in range(2)]
        p = float(source.random())
        mixed = np.concatenate([p * channels[0], (1 - p) * channels[1]], axis=1)
        beyond = max(beyond, float(np.abs(np.log(mixed[0] / mixed[1])).max()) - 1.0)
    return beyond


def _channel(source: np.random.Generator) -> Matrix:
    kept = float(source.uniform(0.5, math.e / (1 + math.e)))
    return np.array([[kept, 1 - kept], [1 - kept, kept]])
