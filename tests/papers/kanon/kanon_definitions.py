"""Small crowds in which a definition of the paper says something else than it is used for."""

from __future__ import annotations

import itertools
import math
from typing import Final, NamedTuple

import numpy as np
from kanon_crowds import chosen

from beliefs.crowd.bounds import constant_of_tail
from beliefs.crowd.members import Group, kinds_of
from beliefs.crowd.normal import normal_delta
from beliefs.crowd.worst import largest_delta, smallest_epsilon

LATTICE: Final = (Group(np.array([0.5, 0.5])), Group(np.array([0.5, 0.0, 0.5]), 99))
"""One person's bit, and 99 others who are 0 or 2."""


class Shifted(NamedTuple):
    """The count of a set moves by `by_count` when a user is removed, its sum by `by_sum` when he changes his value."""

    by_count: int
    by_sum: int
    told: float
    promised: float


def values_move_the_sum(users: int, most: int) -> Shifted:
    """People in one set, all with bits but one, whose value is 0 or `most`. Definition 1 counts people: whoever is
    removed, the set changes by one, and this s the theorems take for the shift of the sum. `promised` is the delta of
    a normal sum with this deviation at the epsilon of s = 1, `told` the exact one there.
    """
    others = Group(np.array([0.5, 0.5]), users - 1)
    one = Group(np.array([0.5, *[0.0] * (most - 1), 0.5]))
    deviation = 0.5 * math.sqrt(users - 1)
    epsilon = constant_of_tail(1.0 / math.sqrt(users)) / deviation
    told = largest_delta(kinds_of([one, others], attacked=0), epsilon)
    everybody = set(range(users))
    by_count = max(len(everybody) - len(everybody - {removed}) for removed in everybody)
    return Shifted(by_count, most, told, normal_delta(1.0, deviation, epsilon))


def of_fixed_data(users: int) -> list[float]:
    """Definition 2 to the letter: a fixed data set and a deterministic release, at every epsilon delta is 0 or 1. Here
    all data sets of bits, the sum, and each neighbour with one user removed.
    """
    found = []
    for data in itertools.product((0, 1), repeat=users):
        for removed in range(users):
            rest = data[:removed] + data[removed + 1 :]
            found.append(0.0 if sum(data) == sum(rest) else 1.0)
    return found


def removed_or_moved(users: int, probability: float, epsilon: float) -> tuple[float, float]:
    """One user removed before the selection, as Theorem 1 says, and M against M + 1, as its proof has it."""
    group = Group(np.array([1.0 - probability, probability]), users)
    more = Group(group.law, users + 1)
    return (
        largest_delta(kinds_of([group], neighbour="remove"), epsilon),
        largest_delta(kinds_of([more]), epsilon),
    )


def without_the_target(deviation: float, shift: float, epsilon: float, users: int) -> tuple[float, float]:
    """Normal data, so that nothing is lost to Lemma 3: the delta that is told by users - 1 others, and the one of
    Theorem 4's variance, in which the target hides himself.
    """
    others = deviation * math.sqrt(users - 1)
    return normal_delta(shift, others, epsilon), normal_delta(shift, deviation * math.sqrt(users), epsilon)


def own_exponents(users: int, shift: float, minimum: float, epsilon1: float, variance: float) -> tuple[float, float]:
    """The exponent of Theorem 4's delta, and the epsilon that it is asked at."""
    tail = constant_of_tail(1.0 / math.sqrt(users))
    constant = max(tail, math.sqrt(epsilon1 * (minimum + 0.5 * shift) / shift))
    return math.sqrt(shift * shift / variance * math.log(users)), constant * shift / math.sqrt(variance)


def everybody_else_is_known(users: int) -> tuple[float, float]:
    """A set of any size whose others never change: delta, and epsilon."""
    crowd = [Group(np.array([0.5, 0.5])), Group(np.array([0.0, 1.0]), users - 1)]
    kinds = kinds_of(crowd, attacked=0)
    return largest_delta(kinds, 50.0), smallest_epsilon(kinds, 0.5)


def nobody_is_chosen(users: int, probability: float) -> float:
    """Seeing that nobody was selected excludes that it was one more: so much of delta no epsilon takes away."""
    return float(chosen(users, probability)[0])
