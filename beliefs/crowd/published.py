"""Formulas as the paper prints them. They are not guarantees: each is below the truth somewhere. See bounds.md."""

from __future__ import annotations

import math
from collections.abc import Sequence

from beliefs.checks import Invalid
from beliefs.crowd.bounds import BERRY_ESSEEN, constant_of_tail


def theorem1_epsilon(users: int, probability: float, minimum: int, delta: float) -> float:
    """A tail bound minus another tail bound is taken for what lies between."""
    return math.log(max(_ratios(users, probability, theorem1_apart(users, probability, minimum, delta))))


def theorem1_epsilon_stated(users: int, probability: float, minimum: int, delta: float) -> float:
    """As the theorem prints it: the odds are exponents, where the proof multiplies by them."""
    fewer, more = _ratios(users, probability, theorem1_apart(users, probability, minimum, delta))
    odds = probability / (1.0 - probability)
    return max(odds * math.log(fewer / odds), math.log(more * odds) / odds)


def theorem1_epsilon_by_side(users: int, probability: float, minimum: int, delta: float) -> float:
    """Equations 6 and 8: one of both ratios, which is not always the larger one, chosen by the probability."""
    fewer, more = _ratios(users, probability, theorem1_apart(users, probability, minimum, delta))
    return math.log(fewer if probability < 0.5 - 0.5 * minimum / users else more)


def theorem1_apart(users: int, probability: float, minimum: int, delta: float) -> float:
    """The theorem's mu; 0 where the formula has a negative number under its root."""
    inside = delta + math.exp(-2.0 * (users * probability - minimum + 1.0) ** 2 / users)
    return math.sqrt(max(-0.5 * users * math.log(inside), 0.0))


def _ratios(users: int, probability: float, apart: float) -> tuple[float, float]:
    mean, other = users * probability, 1.0 - probability
    if mean - apart <= 0.0 or users - mean - apart <= 0.0:
        raise Invalid("delta", "is too small for this crowd: the printed formula has no value there")
    fewer = ((users + 1.0) / (mean - apart) - 1.0) * probability / other
    more = ((users + 1.0) / (users - mean - apart) - 1.0) * other / probability
    return fewer, more


def theorem1_delta(users: int, probability: float, minimum: int, epsilon: float) -> float:
    """As the appendix derives it."""
    return _theorem1_delta(users, probability, minimum, epsilon, users * probability)


def theorem1_delta_stated(users: int, probability: float, minimum: int, epsilon: float) -> float:
    """As the theorem says it: the upper end counts from 0 instead of from the mean."""
    return _theorem1_delta(users, probability, minimum, epsilon, 0.0)


def _theorem1_delta(users: int, probability: float, minimum: int, epsilon: float, middle: float) -> float:
    mean, other = users * probability, 1.0 - probability
    shrunk = math.exp(-epsilon)
    low = probability * (users + 1.0) * shrunk / (other + probability * shrunk)
    high = (mean - other * shrunk) / (probability + other * shrunk)
    below = math.exp(-2.0 * (mean - low) ** 2 / users) - math.exp(-2.0 * (mean - minimum + 1.0) ** 2 / users)
    return max(below, math.exp(-2.0 * (high - middle) ** 2 / users))


def lemma2(delta: float, shift: float, minimum: float, epsilon1: float) -> tuple[float, float]:
    """The constant that the tail needs, and the one that the size of the crowd is said to need."""
    tail = constant_of_tail(delta)
    return tail, max(tail, math.sqrt(epsilon1 * (minimum + 0.5 * shift) / shift))


def tail_without_point(point: float, deviation: float) -> float:
    """Equation 15 bounds a normal tail by this: the density without the point in its denominator."""
    return deviation / math.sqrt(2.0 * math.pi) * math.exp(-0.5 * (point / deviation) ** 2)


def lemma3(thirds: Sequence[float], variances: Sequence[float]) -> float:
    """Squares and powers are misplaced: it changes with the unit of the data."""
    return BERRY_ESSEEN * math.fsum(third * third for third in thirds) / math.fsum(variances)


def theorem4(
    users: float, shift: float, minimum: float, epsilon1: float, variance: float, third: float, cubes: float
) -> tuple[float, float]:
    """The third moments keep their sign, so delta may be negative; `cubes` is the sum of the cubed deviations."""
    delta1 = 1.0 / math.sqrt(users)
    _, constant = lemma2(delta1, shift, minimum, epsilon1)
    exponent = math.sqrt(shift * shift / variance * math.log(users))
    return constant * shift / math.sqrt(variance), _both_sides(1.1182 * third / cubes, exponent) + delta1


def theorem5(
    users: float, neighbourhood: float, deviation: float, third: float, fourth: float, epsilon: float
) -> float:
    """Equation 36, with the neighbourhood as the paper's figures have it: a fraction."""
    if neighbourhood > users:
        raise Invalid("neighbourhood", f"is larger than the crowd of {users}")
    return _both_sides(2.0 * theorem5_apart(neighbourhood, deviation, third, fourth), epsilon) + 1.0 / math.sqrt(users)


def theorem5_apart(neighbourhood: float, deviation: float, third: float, fourth: float) -> float:
    """Equation 35: how far the sum is from the normal law."""
    lonely = neighbourhood * neighbourhood * third / deviation / deviation / deviation
    paired = math.pow(neighbourhood, 1.5) * _paired(deviation, fourth)
    return math.pow(2.0 / math.pi, 0.25) * math.sqrt(lonely + paired)


def theorem5_stated(
    users: float, neighbourhood: float, deviation: float, third: float, fourth: float, epsilon: float
) -> float:
    """As the theorem says it: another power of the neighbourhood, and both sides under the root."""
    lonely = neighbourhood**2 * third / deviation**3
    paired = neighbourhood**3 * _paired(deviation, fourth)
    return _rooted(lonely + _both_sides(paired, epsilon)) + 1.0 / math.sqrt(users)


def theorem7_stated(
    users: float, known: float, neighbourhood: float, deviation: float, third: float, fourth: float, epsilon: float
) -> float:
    """The fraction that is known stands where the neighbourhood belongs, and all is under the root."""
    lonely = known**2 * third / deviation**3
    paired = neighbourhood**3 * _paired(deviation, fourth)
    return _rooted(lonely + _both_sides(paired, epsilon) + 1.0 / math.sqrt(users * (1.0 - known)))


def _paired(deviation: float, fourth: float) -> float:
    return math.sqrt(26.0 / math.pi) * math.sqrt(fourth) / deviation / deviation


def _rooted(inside: float) -> float:
    return 2.0 * math.pow(2.0 / math.pi, 0.25) * math.sqrt(inside)


def _both_sides(apart: float, epsilon: float) -> float:
    """Once under one law, and e^epsilon times under the other; nothing of nothing."""
    if apart == 0.0:
        return 0.0
    return apart * (1.0 + math.exp(epsilon)) if epsilon < 709.0 else math.copysign(math.inf, apart)
