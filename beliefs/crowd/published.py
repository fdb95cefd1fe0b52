"""Formulas as the paper prints them. They are not guarantees: each is below the truth somewhere. See bounds.md."""

from __future__ import annotations

import math

from beliefs.checks import Invalid
from beliefs.crowd.bounds import constant_of_tail


def theorem1_epsilon(users: int, probability: float, minimum: int, delta: float) -> float:
    """A tail bound minus another tail bound is taken for what lies between."""
    mean, other = users * probability, 1.0 - probability
    inside = delta + math.exp(-2.0 * (mean - minimum + 1.0) ** 2 / users)
    apart = math.sqrt(max(-0.5 * users * math.log(inside), 0.0))
    if mean - apart <= 0.0 or users - mean - apart <= 0.0:
        raise Invalid("delta", "is too small for this crowd: the printed formula has no value there")
    fewer = ((users + 1.0) / (mean - apart) - 1.0) * probability / other
    more = ((users + 1.0) / (users - mean - apart) - 1.0) * other / probability
    return math.log(max(fewer, more))


def theorem1_delta(users: int, probability: float, minimum: int, epsilon: float) -> float:
    mean, other = users * probability, 1.0 - probability
    shrunk = math.exp(-epsilon)
    low = probability * (users + 1.0) * shrunk / (other + probability * shrunk)
    high = (mean - other * shrunk) / (probability + other * shrunk)
    below = math.exp(-2.0 * (mean - low) ** 2 / users) - math.exp(-2.0 * (mean - minimum + 1.0) ** 2 / users)
    return max(below, math.exp(-2.0 * (high - mean) ** 2 / users))


def lemma2(delta: float, shift: float, minimum: float, epsilon1: float) -> tuple[float, float]:
    """The constant that the tail needs, and the one that the size of the crowd is said to need."""
    tail = constant_of_tail(delta)
    return tail, max(tail, math.sqrt(epsilon1 * (minimum + 0.5 * shift) / shift))


def theorem4(
    users: int, shift: float, minimum: float, epsilon1: float, variance: float, third: float, cubes: float
) -> tuple[float, float]:
    """The third moments keep their sign, so delta may be negative; `cubes` is the sum of the cubed deviations."""
    delta1 = 1.0 / math.sqrt(users)
    _, constant = lemma2(delta1, shift, minimum, epsilon1)
    exponent = math.sqrt(shift * shift / variance * math.log(users))
    return constant * shift / math.sqrt(variance), _both_sides(1.1182 * third / cubes, exponent) + delta1


def theorem5(users: int, neighbourhood: float, deviation: float, third: float, fourth: float, epsilon: float) -> float:
    """Equation 36, with the neighbourhood as the paper's figures have it: a fraction."""
    if neighbourhood > users:
        raise Invalid("neighbourhood", f"is larger than the crowd of {users}")
    lonely = neighbourhood * neighbourhood * third / deviation / deviation / deviation
    paired = math.pow(neighbourhood, 1.5) * math.sqrt(26.0 / math.pi) * math.sqrt(fourth) / deviation / deviation
    apart = 2.0 * math.pow(2.0 / math.pi, 0.25) * math.sqrt(lonely + paired)
    return _both_sides(apart, epsilon) + 1.0 / math.sqrt(users)


def _both_sides(apart: float, epsilon: float) -> float:
    """Once under one law, and e^epsilon times under the other; nothing of nothing."""
    if apart == 0.0:
        return 0.0
    return apart * (1.0 + math.exp(epsilon)) if epsilon < 709.0 else math.copysign(math.inf, apart)
