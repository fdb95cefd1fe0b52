"""Example 1, Figures 3 and 4: two binary values, and the noises of their releases.

The paper names no epsilon for them and no bound for the noise at time 2: both steps have epsilon 1 here, and the noise
is kept at a tenth. `printed` are the formulas of its appendices D and E; `mechanisms.sequence.noise_value` sums over
the sixteen outcomes. The standard deviation is printed without its square root; with it the two agree.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from paper_releases import channel_of, leak_of

EPSILON: Final = 1.0
NOISE_KEPT: Final = 0.1
STARTS: Final = {"fig3": 0.5, "fig4": 0.95}


class Printed(NamedTuple):
    """What the appendices print; `without_root` uses the standard deviation as it is printed."""

    data_correlation: float
    noise_correlation: float
    without_root: float
    noise_second: float


def printed(one: float, flip: float, epsilon: float = EPSILON) -> Printed:
    """Appendices D and E for both epsilons alike; `one` is P(X1 = 1)."""
    e, zero = math.exp(epsilon), 1.0 - one
    released_one = {
        1: (flip * zero + (1 - flip) * (e - 1 + one)) / e**2,
        0: (flip * (e - one) + (1 - flip) * one) / e**2,
    }
    released_zero = {
        1: ((1 - flip) * zero + flip * (e - 1 + one)) / e**2,
        0: ((1 - flip) * (e - one) + flip * one) / e**2,
    }
    wrong_one, wrong_zero = one / e, zero / e  # at time 1: P(Y1=1 | X1=0) and P(Y1=0 | X1=1)
    first = zero * wrong_one + one * wrong_zero
    both = ((1 - flip) * released_one[1] + flip * released_zero[1]) * zero * wrong_one + (
        flip * released_one[0] + (1 - flip) * released_zero[0]
    ) * wrong_zero * one
    second = 0.0
    for x, y in ((0, 0), (0, 1), (1, 0), (1, 1)):
        wrong = wrong_one if x == 0 else wrong_zero
        chance = (one if x else zero) * (wrong if x != y else 1 - wrong)
        to_zero = 1 - flip if x == 0 else flip
        second += chance * (to_zero * released_one[y] + (1 - to_zero) * released_zero[y])
    cover = both - first * second
    spread = first * (1 - first) * second * (1 - second)
    return Printed(data_correlation(one, flip), cover / math.sqrt(spread), cover / spread, second)


def data_correlation(one: float, flip: float) -> float:
    """Equation (16)."""
    to_one, to_zero = one * flip + (1 - one) * (1 - flip), (1 - one) * flip + one * (1 - flip)
    return (1 - 2 * flip) * math.sqrt(one * (1 - one)) / math.sqrt(to_one * to_zero)


class Steps(NamedTuple):
    """What the two releases tell at most, and what both together tell about both values, by enumeration."""

    first: float
    second: float
    together: float
    noise_second: float


def two_steps(
    mechanism: str, one: float, flip: float, first: float = EPSILON, second: float = EPSILON, *, blind: bool = False
) -> Steps:
    """`blind` builds the second release for the marginal of X2, as if the values were independent."""
    start, move = np.array([1 - one, one]), np.array([[1 - flip, flip], [flip, 1 - flip]])
    channel = channel_of(mechanism, start, first)
    worst, noise, together = 0.0, 0.0, 0.0
    for i in range(channel.released.size):
        told = start * channel.rows[:, i]
        chance, belief = told.sum(), told / told.sum() @ move
        after = channel_of(mechanism, start @ move if blind else belief, second)
        worst = max(worst, leak_of(belief, after))
        for j, released in enumerate(after.released.tolist()):
            noise += chance * belief[1 - released] * after.rows[1 - released, j]
            likelihoods = channel.rows[:, i, None] * after.rows[None, :, j]
            law = float((start[:, None] * move * likelihoods).sum())
            possible = (start[:, None] * move > 0) & (likelihoods > 0)
            together = max(together, float(np.abs(np.log(likelihoods[possible] / law)).max()))
    return Steps(leak_of(start, channel), worst, together, noise)


def least_second(mechanism: str, one: float, flip: float, *, blind: bool) -> float:
    """The smallest epsilon of the second release that keeps its noise at NOISE_KEPT, by halving."""

    def noise(epsilon: float) -> float:
        return two_steps(mechanism, one, flip, EPSILON, epsilon, blind=blind).noise_second

    low, high = 0.0, 12.0
    if noise(1e-6) <= NOISE_KEPT:
        return 0.0
    for _ in range(26):
        middle = (low + high) / 2
        low, high = (low, middle) if noise(middle) <= NOISE_KEPT else (middle, high)
    return high


def breaks_at(one: float) -> float | None:
    """The data's correlation from which on the second step exceeds its epsilon, by halving; None where step 1 does."""
    if two_steps("published_crr", one, 0.5).first > EPSILON:
        return None
    low, high = 1e-9, 0.5
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if two_steps("published_crr", one, middle).second <= EPSILON else (middle, high)
    return data_correlation(one, high)
