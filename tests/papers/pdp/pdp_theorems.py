"""Small cases for every definition, theorem and corollary: by enumeration, or on the law that breaks it."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from pdp_graph import least_by_layers, least_over_paths
from pdp_laws import TWO, copies, gauss, leak, table
from prior_oracles import adversaries, leak_on_a_grid
from scipy.special import log_ndtr

from beliefs.correlation.bound import Matrix
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from beliefs.prior.published import chain_rule, correlation_of_values, increments, influences
from beliefs.prior.sound_chain import chain_bounds


def exact_is_exact(count: int) -> float:
    """The largest difference between the leak and what a grid of outputs shows, over all adversaries of random laws."""
    source, widest = np.random.default_rng(31), 0.0
    for _ in range(count):
        law = table(source.dirichlet(np.ones(12)).reshape(2, 3, 2), TWO, np.arange(3.0), TWO)
        for attacked, known in adversaries(3):
            at_atoms, elsewhere = leak_on_a_grid(law, [1.0] * 3, 1.0, attacked, known)
            widest = max(widest, abs(leak(law, attacked, known) - at_atoms), elsewhere - at_atoms)
    return widest


def independent() -> float:
    """Theorem 1 for a noisy sum: how far any adversary is from LS/lambda."""
    law = table(np.einsum("a,b,c->abc", [0.3, 0.7], [0.5, 0.5], [0.9, 0.1]))
    return max(abs(leak(law, attacked, known) - 1.0) for attacked, known in adversaries(3))


def response_to_parity(epsilon: float) -> tuple[float, float]:
    """Theorem 1 for another mechanism: randomised response on x1 xor x2, two fair bits; with x2 known, and without."""
    keep = 1 / (1 + math.exp(-epsilon))
    told = np.array([[keep, 1 - keep], [1 - keep, keep]])
    without = 0.5 * (told + told[::-1])
    return float(np.log(told[0] / told[1]).max()), float(np.log(without[0] / without[1]).max())


def clamped() -> tuple[float, float]:
    """And for Lap(1) on the sum of two fair bits, cut to [.5, 1.5]; with x2 known, and without."""

    def reaching(total: int) -> Matrix:
        """The chances of both ends, and the density at a grid between them."""
        ends = [1 - 0.5 * math.exp(-(0.5 - total)) if total < 0.5 else 0.5 * math.exp(0.5 - total)]
        ends.append(1 - 0.5 * math.exp(1.5 - total) if total > 1.5 else 0.5 * math.exp(total - 1.5))
        return np.concatenate([ends, 0.5 * np.exp(-np.abs(np.linspace(0.5, 1.5, 101) - total))])

    shown = [reaching(total) for total in range(3)]
    known = max(np.abs(np.log(shown[other] / shown[other + 1])).max() for other in (0, 1))
    return float(known), float(np.abs(np.log((shown[0] + shown[1]) / (shown[1] + shown[2]))).max())


class Printed(NamedTuple):
    """On random laws of bits: the shares of adversaries, of those who do not know everybody, of whom the chain rule
    says too little and too much, and the share of laws whose largest value is below the largest leak."""

    below: float
    above: float
    answers: float


def chain_on_random_laws(count: int, laws: int) -> Printed:
    source, apart, answers = np.random.default_rng(32), list[float](), 0
    for _ in range(laws):
        law = table(source.dirichlet(np.ones(2**count)).reshape((2,) * count))
        told = {each: (chain_rule(law, 1.0, *each), leak(law, *each)) for each in adversaries(count)}
        apart += [printed - truth for (_, known), (printed, truth) in told.items() if len(known) < count - 1]
        answers += max(each for each, _ in told.values()) < max(each for _, each in told.values()) - 1e-9
    found = np.array(apart)
    return Printed(float((found < -1e-9).mean()), float((found > 1e-9).mean()), answers / laws)


class Repaired(NamedTuple):
    below: int
    tight: int
    adversaries: int


def repaired(laws: int) -> Repaired:
    """The sound chain rule beside the truth, everybody on random laws of three bits."""
    source, below, tight, count = np.random.default_rng(33), 0, 0, 0
    for _ in range(laws):
        law = table(source.dirichlet(np.ones(8)).reshape(2, 2, 2))
        for adversary, bound in chain_bounds(law, Query.of(law), 1.0).items():
            truth = leak(law, *adversary)
            below += truth > bound + 1e-9
            tight += truth > 0.999 * bound
            count += 1
    return Repaired(below, tight, count)


def leaks_of_copies(most: int) -> list[tuple[int, float, float, float]]:
    """How many copies, the truth, the chain rule, and the repaired one."""
    rows = []
    for count in range(1, most + 1):
        law = copies(count)
        sound = chain_bounds(law, Query.of(law), 1.0)[0, ()]
        rows.append((count, leak(law), chain_rule(law, 1.0, 0, ()), sound))
    return rows


class Signs(NamedTuple):
    """Of so many random tables: those whose influence has another sign than the correlation, those that pass the
    repair's test, and of these those with another sign."""

    other: int
    safe: int
    safe_other: int
    tables: int


def signs(values: int, tables: int) -> Signs:
    """Theorem 3 (2) and (3), x1 a bit and x2 of so many values, the scale above the range of both."""
    source, other, safe, wrong = np.random.default_rng(34), 0, 0, 0
    domain = np.arange(float(values))
    for _ in range(tables):
        joint, scale = source.dirichlet(np.ones(2 * values)).reshape(2, values), float(source.uniform(1.01, 4) * values)
        rho, gain = correlation_of_values(joint, TWO, domain), influences(joint, domain, scale)[0][2]
        rows = joint / joint.sum(axis=1, keepdims=True)
        apart = abs(float(rows[1] @ domain - rows[0] @ domain))
        differs = np.sign(rho) != np.sign(gain)
        held = apart > domain[-1] ** 2 / (8 * scale)
        other, safe, wrong = other + differs, safe + held, wrong + (held and differs)
    return Signs(int(other), int(safe), int(wrong), tables)


def largest_ratio(tables: int) -> float:
    """Theorem 3 (1): the largest |IR| over random tables."""
    source, widest = np.random.default_rng(35), 0.0
    for _ in range(tables):
        domain = np.sort(source.choice(np.arange(20.0), 4, replace=False))
        gains = influences(source.dirichlet(np.full(12, 0.3)).reshape(3, 4), domain, 1.0)
        widest = max(widest, *(abs(gain) / (domain[-1] - domain[0]) for _, _, gain in gains))
    return widest


def covariances(tables: int) -> float:
    """Lemma 3 with the factor that it leaves out: the largest difference over random tables."""
    source, widest = np.random.default_rng(36), 0.0
    for _ in range(tables):
        joint = source.dirichlet(np.ones(4)).reshape(2, 2)
        rows = joint.sum(axis=1)
        means = joint[:, 1] / rows
        covariance = joint[1, 1] - rows[1] * joint[:, 1].sum()
        widest = max(widest, abs(covariance - rows.prod() * (means[1] - means[0])))
    return widest


def all_increments(law: TableLaw) -> list[float]:
    """Every edge's increments in every context, for three attributes with noise of scale 1."""
    return [
        gain
        for attacked, removed in itertools.permutations(range(law.size), 2)
        for known in ((), tuple({0, 1, 2} - {attacked, removed}))
        for gain in increments(law, 1.0, attacked, removed, known, {})
    ]


def paths_and_layers(graphs: int, sign: float) -> int:
    """On how many random graphs of four Theorem 5's least path and Algorithm 1's least layers differ."""
    source, differing = np.random.default_rng(37), 0
    for _ in range(graphs):
        weights = sign * source.uniform(0.0, 1.0, (4, 4, 16))
        differing += any(abs(least_over_paths(weights, i) - least_by_layers(weights, i)) > 1e-12 for i in range(4))
    return differing


def log_density(apart: Matrix, deviation: float) -> Matrix:
    """N(0, deviation^2) + Lap(1), up to a constant: Lemma 2's G, in logarithms."""
    up, down = apart / deviation + deviation, apart / deviation - deviation
    found: Matrix = np.logaddexp(apart + log_ndtr(-up), -apart + log_ndtr(down))
    return found


def slopes(deviation: float) -> Matrix:
    """Of log G from far left to far right: it falls from 1 to -1."""
    across = np.linspace(-40.0, 40.0, 2001)
    found: Matrix = np.diff(log_density(across, deviation)) / np.diff(across)
    return found


def gaussian_against_densities(covariances_tried: int) -> float:
    """Theorem 6 beside the densities themselves, far out and everywhere: the largest difference."""
    source, widest = np.random.default_rng(38), 0.0
    for _ in range(covariances_tried):
        size = int(source.integers(2, 5))
        root = source.normal(size=(size, size))
        law = GaussianLaw(root @ root.T, 1.0)
        known = tuple(sorted(source.choice(np.arange(1, size), int(source.integers(0, size - 1)), replace=False)))
        told = gauss(law, 0, tuple(map(int, known)))
        moved, left = _given_the_rest(law.covariance, list(map(int, known)))
        across = np.concatenate([[-400.0], np.linspace(-30.0, 30.0, 601), [400.0]])
        ratio = np.abs(log_density(across, left) - log_density(across - moved, left))
        widest = max(widest, abs(told - ratio.max()))
    return widest


def _given_the_rest(covariance: Matrix, known: list[int]) -> tuple[float, float]:
    """How far the mean of the sum moves with x0, and the deviation of what is left, by solving for both at once."""
    given = [0, *known]
    rest = [each for each in range(len(covariance)) if each not in given]
    slope = np.linalg.solve(covariance[np.ix_(given, given)], covariance[np.ix_(given, rest)])
    left = covariance[np.ix_(rest, rest)] - covariance[np.ix_(rest, given)] @ slope
    return abs(1.0 + float(slope[0].sum())), math.sqrt(float(left.sum()))
