"""The paper's formulas with the numbers of its captions, and what those numbers may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from beliefs.crowd import published
from beliefs.crowd.bounds import constant_of_tail

USERS: Final = 2_000
"""The paper never says how many."""

TAIL: Final = 1.0 / math.sqrt(USERS)
SHIFTS: Final = tuple(range(1, 11))
SIZES: Final = tuple(range(1, 201))
SHARES: Final = tuple(step / 10 for step in range(1, 10))

Mass = Callable[[float], float]


def as_printed(share: float) -> float:
    """The captions let what is unknown grow with what is known."""
    return share


def what_is_left(share: float) -> float:
    return 1.0 - share


def epsilon_of(shift: float, minimum: float, epsilon1: float, deviation: float, users: float = USERS) -> float:
    """c' s over the deviation, with c' of Theorems 4 to 7."""
    return published.lemma2(1.0 / math.sqrt(users), shift, minimum, epsilon1)[1] * shift / deviation


def figure_1a(shift: float) -> float:
    return epsilon_of(shift, 10, 0.1, 50.0)


def figure_1b(shift: float, users: float = USERS, third: float = 1.0) -> float:
    return published.theorem4(users, shift, 10, 0.1, 2_500.0, third, 100.0)[1]


def figure_1c(minimum: float) -> float:
    return epsilon_of(1.0, minimum, 0.1, 50.0)


def flat_up_to(epsilon1: float = 0.1) -> float:
    """The k up to which Lemma 2's second condition asks for nothing."""
    return constant_of_tail(TAIL) ** 2 / epsilon1 - 0.5


def self_consistent(minimum: float) -> float:
    """Figure 1(c) with epsilon1 = epsilon, as the theorem's own epsilon is meant: (k + s/2) over the deviation."""
    return max(constant_of_tail(TAIL), (minimum + 0.5) / 50.0) / 50.0


def figure_2a(neighbourhood: float) -> float:
    return published.theorem5(USERS, neighbourhood, 50.0, 5.0, 1.0, 0.1)


def figure_2b(epsilon: float) -> float:
    return published.theorem5(USERS, 0.2, 50.0, 5.0, 1.0, epsilon)


def figure_3a(share: float, mass: Mass = as_printed) -> float:
    left = mass(share)
    return published.theorem4(USERS * (1.0 - share), 1.0, 10, 0.1, 10.0 * left, 10.0 * left, 100.0 * left)[1]


def figure_3b(share: float, mass: Mass = as_printed) -> float:
    return epsilon_of(1.0, 10, 0.1, math.sqrt(10.0 * mass(share)), USERS * (1.0 - share))


def figure_4ab(neighbourhood: float, share: float, mass: Mass = as_printed, users: float = USERS) -> float:
    """By Equation 36, the proof's."""
    left = mass(share)
    unknown, deviation = users * (1.0 - share), math.sqrt(1_000.0 * left)
    epsilon = epsilon_of(1.0, 20, 0.1, deviation, unknown)
    return published.theorem5(unknown, neighbourhood, deviation, 5.0 * left, (5.0 * left) ** 2, epsilon)


def figure_4a_stated(share: float) -> float:
    """By Theorem 7, word for word."""
    deviation, left = math.sqrt(1_000.0 * share), 5.0 * share
    epsilon = epsilon_of(1.0, 20, 0.1, deviation, USERS * (1.0 - share))
    return published.theorem7_stated(USERS, share, 0.1, deviation, left, left * left, epsilon)


def figure_4c(share: float, mass: Mass = as_printed) -> float:
    return epsilon_of(1.0, 20, 0.1, math.sqrt(1_000.0 * mass(share)), USERS * (1.0 - share))


def is_u_shaped(users: float) -> bool:
    """Figure 4(a) falls up to .2 and rises from .3 on."""
    drawn = [figure_4ab(0.1, share, users=users) for share in SHARES]
    return drawn[0] > drawn[1] and all(drawn[place] < drawn[place + 1] for place in range(2, len(drawn) - 1))


def least_users(variance: float, cubes: float) -> float:
    """Variances v_i with these sums of v_i and of v_i^(3/2) need so many people: the sum of powers is least when all
    are equal, n (V/n)^(3/2).
    """
    return variance**3 / cubes**2


def most_cubes(variance: float) -> float:
    """And the sum of v_i^(3/2) is largest when all is one person's: V^(3/2)."""
    return variance**1.5


def least_neighbours(variance: float, users: float, fourth_root: float) -> float:
    """Var of a sum is at most max |N_i| times the sum of the variances, and that at most sqrt(n) times the root of the
    fourth moments' sum.
    """
    return variance / (math.sqrt(users) * fourth_root)


CURVES: Final[Mapping[str, Callable[[float], float]]] = {
    "fig1a": figure_1a,
    "fig1b": figure_1b,
    "fig1c": figure_1c,
    "fig2a": figure_2a,
    "fig2b": figure_2b,
    "fig2c": figure_1a,
    "fig3a": figure_3a,
    "fig3b": figure_3b,
    "fig4a": lambda share: figure_4ab(0.1, share),
    "fig4b": lambda neighbourhood: figure_4ab(neighbourhood, 0.1),
    "fig4c": figure_4c,
}
KNOWN: Final[Mapping[str, Mapping[float, float]]] = {
    "fig1a": {1: 0.04585200, 5: 0.22925998, 10: 0.45851996},
    "fig1b": {1: 0.04535856, 5: 0.04827440, 10: 0.05295096},
    "fig1c": {10: 0.04585200, 60: 0.04919350, 100: 0.06340347},
    "fig2a": {0.1: 0.04517183, 0.5: 0.09914518, 0.9: 0.14217271},
    "fig2b": {0.1: 0.06081060, 0.5: 0.07073828, 1.0: 0.09027328},
    "fig2c": {1: 0.04585200, 5: 0.22925998, 10: 0.45851996},
    "fig3a": {0.1: 1.86333705, 0.5: 0.50567461, 0.9: 0.42337712},
    "fig3b": {0.1: 2.27373891, 0.5: 0.96904826, 0.9: 0.61997522},
    "fig4a": {0.1: 0.10997127, 0.2: 0.10810268, 0.3: 0.10841819, 0.9: 0.14949437},
    "fig4b": {0.1: 0.10997127, 0.5: 0.31440437, 0.9: 0.47737831},
    "fig4c": {0.1: 0.22737389, 0.5: 0.09690483, 0.9: 0.06199752},
}
"""At 2,000 users."""
