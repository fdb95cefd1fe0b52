"""Lemmas 2 and 3, Theorems 4 and 6 on random crowds of independent people: the bounds as they hold, beside the exact
delta.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from kanon_crowds import bits, from_normal, moments, sum_of

from beliefs.crowd import bounds, published
from beliefs.crowd.divergence import Events
from beliefs.crowd.members import Group, kinds_of
from beliefs.crowd.normal import normal_delta
from beliefs.crowd.worst import largest_delta
from beliefs.simplex import Vector


class Rounds(NamedTuple):
    """How often a bound is below the truth, how often it says anything (is below 1), and how far above it is where it
    does: the median.
    """

    rounds: int
    wrong: int
    useful: int
    above: float


def tails(rounds: int, most: float) -> tuple[int, float]:
    """Lemma 2 at random epsilon up to `most`: how often its delta is exceeded, and the largest share of it that is
    used.
    """
    source, over, largest = np.random.default_rng(44), 0, 0.0
    for _ in range(rounds):
        epsilon, delta = float(source.uniform(0.01, most)), float(10.0 ** source.uniform(-9.0, math.log10(0.3)))
        constant = bounds.constant_of_tail(delta)
        used = normal_delta(1.0, constant / epsilon, epsilon) / delta
        over, largest = over + (used > 1.0), max(largest, used)
    return over, largest


def first_broken(delta: float) -> float:
    """The epsilon from which on Lemma 2 is false at this delta, to a hundredth."""
    constant = bounds.constant_of_tail(delta)
    tried = (step / 100.0 for step in itertools.count(100))
    return next(epsilon for epsilon in tried if normal_delta(1.0, constant / epsilon, epsilon) > delta)


def least_constant(delta: float, epsilon: float) -> float:
    """The smallest c with which epsilon and delta hold for a normal sum: what Lemma 2's c is an upper bound of."""
    low, high = 0.1, bounds.constant_of_tail(delta)
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if normal_delta(1.0, middle / epsilon, epsilon) > delta else (low, middle)
    return high


def distances(rounds: int) -> tuple[int, int]:
    """Lemma 3 on random sums: how often the distance is beyond it as it holds, and as it is printed."""
    source, repaired, printed = np.random.default_rng(45), 0, 0
    for _ in range(rounds):
        laws = [_some_law(source, int(source.integers(2, 5))) for _ in range(int(source.integers(1, 13)))]
        exact, each = from_normal(sum_of(laws)), [moments(law) for law in laws]
        variance, third = (math.fsum(values) for values in ([m.variance for m in each], [m.absolute for m in each]))
        repaired += exact > bounds.BERRY_ESSEEN * third / variance**1.5
        printed += exact > published.lemma3([m.absolute for m in each], [m.variance for m in each])
    return repaired, printed


def _some_law(source: np.random.Generator, size: int) -> Vector:
    law: Vector = source.dirichlet(np.full(size, float(source.choice([0.5, 1.0, 5.0]))))
    return law


def of_bits(rounds: int, known: float = 0.0) -> Rounds:
    """Theorem 4, and 6 where so many are known, as they hold: bits of any kind, all events, kappa = 1."""
    source, told = np.random.default_rng(46), list[tuple[float, float]]()
    while len(told) < rounds:
        kinds = int(source.integers(1, 4))
        groups = [bits(float(source.uniform(0.05, 0.95)), int(source.integers(1, 400))) for _ in range(kinds)]
        one = _told(source, groups, known, "all")
        told += [one] if one else []
    return rounds_of(told)


def of_lattices(rounds: int, known: float = 0.0) -> Rounds:
    """Values of any kind and questions about intervals, kappa = 2."""
    source, told = np.random.default_rng(47), list[tuple[float, float]]()
    while len(told) < rounds:
        groups = []
        for _ in range(int(source.integers(1, 4))):
            law = _some_law(source, int(source.integers(2, 5)))
            if source.random() < 0.4:  # only even values: nothing that these people do hides an odd one
                law = np.stack([law, np.zeros(law.size)], axis=1).ravel()[:-1]
            groups.append(Group(law, int(source.integers(1, 160))))
        one = _told(source, groups, known, "intervals")
        told += [one] if one else []
    return rounds_of(told)


def _told(
    source: np.random.Generator, groups: Sequence[Group], known: float, events: Events
) -> tuple[float, float] | None:
    """The bound and the truth about one person; the variances and third moments are those of whom nobody knows."""
    people = [place for place, group in enumerate(groups) for _ in range(group.count)]
    attacked = int(source.integers(len(people)))
    others = [place for place in range(len(people)) if place != attacked]
    hidden = math.ceil(known * len(people) - 1e-9)
    seen = tuple(sorted(source.choice(others, min(hidden, len(others)), replace=False).tolist())) if hidden else ()
    left = [moments(groups[people[place]].law) for place in others if place not in seen]
    variance, third = math.fsum(each.variance for each in left), math.fsum(each.absolute for each in left)
    if variance < 0.5:
        return None
    (values,) = np.nonzero(groups[people[attacked]].law)
    shift = float(values[-1] - values[0])
    epsilon = float(source.uniform(0.02, 2.5)) * shift / math.sqrt(variance)
    sides = 1 if events == "all" else 2
    bound = bounds.moments_bound(variance, third / variance**1.5, shift, sides, epsilon, None).delta
    return bound, largest_delta(kinds_of(groups, seen, attacked), epsilon, events)


def rounds_of(told: Sequence[tuple[float, float]]) -> Rounds:
    over = [bound / exact for bound, exact in told if bound < 1.0 and exact > 0.0]
    wrong = sum(exact > bound for bound, exact in told)
    return Rounds(len(told), wrong, sum(bound < 1.0 for bound, _ in told), float(np.median(over)) if over else 1.0)


class Known(NamedTuple):
    """Rounds in which the bound by variances alone is below the truth about the worst known set, rounds in which the
    people with the largest variances are that set, and the most by which they are not.
    """

    rounds: int
    wrong: int
    largest_variances: int
    off: float


def worst_known(rounds: int) -> Known:
    """Every set of known people, in small crowds of different bits."""
    source, wrong, alike, off = np.random.default_rng(48), 0, 0, 0.0
    for _ in range(rounds):
        chances = source.uniform(0.03, 0.97, int(source.integers(5, 9)))
        count, epsilon = int(source.integers(1, 3)), float(source.uniform(0.1, 1.0))
        crowd = [bits(float(chance)) for chance in chances]
        by_variance = sorted(range(len(crowd)), key=lambda place: -float(chances[place] * (1.0 - chances[place])))
        sets = [tuple(each) for each in itertools.combinations(range(len(crowd)), count)]
        told = {known: largest_delta(kinds_of(crowd, known), epsilon) for known in sets}
        worst, taken = max(told.values()), told[tuple(sorted(by_variance[:count]))]
        alike += taken >= worst * (1.0 - 1e-12)
        off = max(off, 1.0 - taken / worst)
        left = [float(chances[place] * (1.0 - chances[place])) for place in by_variance[count:]]
        variance = math.fsum(left[1:])  # the one who is attacked hides nobody: the largest that is left
        wrong += worst > bounds.moments_bound(variance, 1.0 / math.sqrt(variance), 1.0, 1, epsilon, None).delta
    return Known(rounds, wrong, alike, off)


def variances_alone(rounds: int) -> Rounds:
    """The same bound where it says something: crowds of a thousand, whoever is known."""
    source, told = np.random.default_rng(49), list[tuple[float, float]]()
    for _ in range(rounds):
        groups = [bits(float(source.uniform(0.3, 0.7)), int(source.integers(100, 500))) for _ in range(3)]
        share, epsilon = float(source.uniform(0.0, 0.5)), float(source.uniform(0.002, 0.15))
        each = sorted((moments(group.law).variance for group in groups for _ in range(group.count)), reverse=True)
        hidden = math.ceil(share * len(each) - 1e-9)
        left = math.fsum(each[hidden + 1 :])
        bound = bounds.moments_bound(left, 1.0 / math.sqrt(left), 1.0, 1, epsilon, None).delta
        order = sorted(range(len(groups)), key=lambda place: -moments(groups[place].law).variance)
        counts = [group.count for group in groups]
        for place in order:
            taken = min(hidden, counts[place])
            counts[place], hidden = counts[place] - taken, hidden - taken
        rest = [Group(group.law, count) for group, count in zip(groups, counts, strict=True) if count]
        told.append((bound, largest_delta(kinds_of(rest), epsilon)))
    return rounds_of(told)
