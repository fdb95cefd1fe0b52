"""Example 1 of the paper: two binary values that depend on each other are given noises that depend on each other.

The published mechanism releases both; the noise of a release is whether it differs from its value. Everything is summed
over the sixteen outcomes, so nothing is approximated. At strong correlation the second release tells more than epsilon
(see published_crr.md): these are figures of the paper, not a promise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

Joint = dict[tuple[int, int], float]


class NoiseValue(NamedTuple):
    data_correlation: float
    noise_correlation: float
    information: float
    """in nats, between the two noises"""
    noise: tuple[float, float]
    """how likely each release differs from its value"""


def noise_value(start: Sequence[float], flip: float, epsilons: Sequence[float]) -> NoiseValue:
    move = ((1.0 - flip, flip), (flip, 1.0 - flip))
    data: Joint = {(x, z): start[x] * move[x][z] for x, z in itertools.product((0, 1), repeat=2)}
    noises: Joint = dict.fromkeys(data, 0.0)
    for first in (0, 1):
        told = [start[x] * _release(first, x, start, epsilons[0]) for x in (0, 1)]
        chance = sum(told)
        if not chance:
            continue
        belief = [sum(told[x] / chance * move[x][z] for x in (0, 1)) for z in (0, 1)]
        for x, z, second in itertools.product((0, 1), repeat=3):
            weight = told[x] * move[x][z] * _release(second, z, belief, epsilons[1])
            noises[int(first != x), int(second != z)] += weight
    marginals = (noises[1, 0] + noises[1, 1], noises[0, 1] + noises[1, 1])
    return NoiseValue(_correlation(data), _correlation(noises), _information(noises), marginals)


def _release(y: int, x: int, belief: Sequence[float], epsilon: float) -> float:
    covered = math.exp(-epsilon)
    return covered * belief[y] + (-math.expm1(-epsilon) if x == y else 0.0)


def _correlation(joint: Joint) -> float:
    """0 where one of the two never changes."""
    one, other = joint[1, 0] + joint[1, 1], joint[0, 1] + joint[1, 1]
    spread = one * (1.0 - one) * other * (1.0 - other)
    return (joint[1, 1] - one * other) / math.sqrt(spread) if spread > 0 else 0.0


def _information(joint: Joint) -> float:
    first = (joint[0, 0] + joint[0, 1], joint[1, 0] + joint[1, 1])
    second = (joint[0, 0] + joint[1, 0], joint[0, 1] + joint[1, 1])
    terms = [mass * math.log(mass / (first[a] * second[b])) for (a, b), mass in joint.items() if mass > 0]
    return max(0.0, math.fsum(terms))
