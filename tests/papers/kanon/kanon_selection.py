"""Theorem 1 on random crowds: how many of a crowd were selected, against one more."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from kanon_crowds import both_ways, chosen, given_at_least

from beliefs.checks import Invalid
from beliefs.crowd import bounds, published
from beliefs.simplex import Vector

SLACK = 1.0 + 1e-9
"""What rounding may do to a sum of chances; a printed formula that is beyond it is wrong."""


class Case(NamedTuple):
    """At least `minimum` of `users` are selected, each with this probability; `mass` is the law of how many."""

    users: int
    probability: float
    minimum: int
    mass: Vector


class Epsilons(NamedTuple):
    """Rounds in which part (I) is below the truth: where the number is always seen, and given that it is at least k;
    rounds in which Equation 8 takes the smaller ratio; rounds in which the repaired one says something, and is wrong.
    """

    rounds: int
    seen: int
    given: int
    smaller: int
    repaired: int
    wrong: int


def by_epsilon(rounds: int) -> Epsilons:
    """Part (I) under all of its conditions: half of the rounds at a delta that just meets the theorem's, half above."""
    source, found = np.random.default_rng(41), [0] * 6
    while found[0] < rounds:
        case = _some_case(source)
        users, probability, minimum, mass = case
        least = float(mass[minimum]) + (1.0 - probability) ** users
        delta = least * float(source.choice([1.0, 1.05, 1.3, 3.0, 10.0, 30.0]))
        if not _meets_the_conditions(case, delta):
            continue
        epsilon = published.theorem1_epsilon(users, probability, minimum, delta)
        found[0] += 1
        found[1] += both_ways(mass, epsilon) > delta * SLACK
        found[2] += both_ways(given_at_least(mass, minimum), epsilon) > delta * SLACK
        found[3] += published.theorem1_epsilon_by_side(users, probability, minimum, delta) < epsilon - 1e-12
        try:
            sound = bounds.selection_epsilon(users, probability, delta)
        except Invalid:
            continue
        found[4] += 1
        found[5] += both_ways(mass, sound) > delta
    return Epsilons(*found)


def _some_case(source: np.random.Generator) -> Case:
    users, probability = int(source.integers(5, 120)), float(source.uniform(0.02, 0.995))
    minimum = int(source.integers(0, int(users * probability) + 1))
    return Case(users, probability, minimum, chosen(users, probability))


def _meets_the_conditions(case: Case, delta: float) -> bool:
    """delta < 1, a real mu, k < np - mu and np + mu < n."""
    mean = case.users * case.probability
    if delta + math.exp(-2.0 * (mean - case.minimum + 1.0) ** 2 / case.users) >= 1.0:
        return False
    apart = published.theorem1_apart(case.users, case.probability, case.minimum, delta)
    return case.minimum < mean - apart and mean + apart < case.users


class Deltas(NamedTuple):
    """Rounds in which part (II) is below the truth, as the appendix has it and as it is stated, and repaired: where
    the number is always seen, and given that it is at least k.
    """

    rounds: int
    appendix: int
    stated: int
    repaired: int
    given: int


def by_delta(rounds: int) -> Deltas:
    source, found = np.random.default_rng(42), [0] * 4
    for _ in range(rounds):
        users, probability, minimum, mass = _some_case(source)
        epsilon = float(source.uniform(0.05, 3.0))
        exact = both_ways(mass, epsilon)
        found[0] += exact > published.theorem1_delta(users, probability, minimum, epsilon) * SLACK
        found[1] += exact > published.theorem1_delta_stated(users, probability, minimum, epsilon) * SLACK
        found[2] += exact > bounds.selection_delta(users, probability, epsilon)
        kept = given_at_least(mass, minimum)
        found[3] += both_ways(kept, epsilon) > delta_given(kept, users, probability, minimum, epsilon) * SLACK
    return Deltas(rounds, *found)


def delta_given(kept: Vector, users: int, probability: float, minimum: int, epsilon: float) -> float:
    """Given at least k: below k nobody is, so k itself counts whole; above that the two ends of Equations 10 and 12."""
    low, high = ends(users, probability, epsilon)
    places = np.arange(kept.size)
    return max(float(kept[places <= max(low, minimum)].sum()), float(kept[places >= high].sum()))


def ends(users: int, probability: float, epsilon: float) -> tuple[float, float]:
    """Up to the first, M is told from M + 1; from the second on, M + 1 from M."""
    factor, other = math.exp(epsilon), 1.0 - probability
    low = probability * (users + 1.0) / (factor * other + probability)
    return low, (factor * users * probability - other) / (factor * probability + other)


def split_of_probabilities(rounds: int) -> int:
    """In how many random rounds the larger of both ratios of Equation 6 is not the one that (q - p)(mu(mu + 1) - npq)
    names: r1 > r2 is (nq + mu + 1)(nq - mu) p^2 > (np + mu + 1)(np - mu) q^2.
    """
    source, differing = np.random.default_rng(43), 0
    for _ in range(rounds):
        users, probability = int(source.integers(5, 400)), float(source.uniform(0.02, 0.98))
        other = 1.0 - probability
        apart = float(source.uniform(0.0, users * min(probability, other)))
        fewer = (users * other + apart + 1.0) / (users * probability - apart) * probability / other
        more = (users * probability + apart + 1.0) / (users * other - apart) * other / probability
        sign = (other - probability) * (apart * (apart + 1.0) - users * probability * other)
        differing += abs(fewer - more) > 1e-9 * more and (fewer > more) != (sign > 0.0)
    return differing
