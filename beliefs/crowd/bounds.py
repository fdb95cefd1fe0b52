"""Bounds for sums of which only moments are known: the paper's Theorems 1, 4 and 6 as they hold. Proof: bounds.md."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from beliefs.checks import Invalid
from beliefs.crowd.normal import normal_delta

BERRY_ESSEEN: Final = 0.5591
_UP: Final = 1.0 + 2.0**-40


class Bound(NamedTuple):
    epsilon: float
    delta: float


def moments_bound(
    variance: float, ratio: float, shift: float, sides: int, epsilon: float | None, tail: float | None
) -> Bound:
    """For questions with so many `sides`: 1 for "below a?", 2 for "between a and b?".

    `ratio` is the sum of the third absolute central moments over variance^(3/2), both without the target. By `epsilon`
    the normal term is exact; by `tail` it is at most that, at the epsilon of Lemma 2.
    """
    deviation = math.sqrt(variance)
    if tail is not None:
        epsilon, normal = constant_of_tail(tail) * shift / deviation, tail
        if epsilon > 1.0:
            raise Invalid("tail", f"gives epsilon {epsilon:.6g}, but the lemma behind it holds up to 1 only")
    else:
        assert epsilon is not None
        normal = normal_delta(shift, deviation, epsilon)
    factor = 1.0 + math.exp(epsilon) if epsilon < 709.0 else math.inf
    return Bound(epsilon, min(1.0, (normal + sides * factor * BERRY_ESSEEN * ratio) * _UP))


def constant_of_tail(tail: float) -> float:
    """The c of Lemma 2: epsilon1 holds with this delta for a normal sum with a deviation of c shift/epsilon1.

    With t = c - 1/2c its condition is phi(t)/t < tail, so t^2 is Lambert's W of 1/(2 pi tail^2).
    """
    t = math.sqrt(_lambert(-math.log(2.0 * math.pi) - 2.0 * math.log(tail)))
    return 0.5 * (t + math.sqrt(t * t + 2.0))


def _lambert(log_value: float) -> float:
    """w with w + ln w = log_value, by Newton's steps, which come from above and stay there."""
    w = max(log_value, 1.0) if log_value > 1.0 else math.exp(min(log_value, 1.0))
    for _ in range(64):
        w = max(w - (w + math.log(w) - log_value) * w / (w + 1.0), 1e-300)
    return w


def selection_epsilon(users: int, probability: float, delta: float) -> float:
    """Theorem 1 as it holds: the number of members who were chosen, each with this probability, against one more."""
    mean, other = users * probability, 1.0 - probability
    apart = math.sqrt(-0.5 * users * math.log(delta))
    if mean - apart <= 0.0 or users - mean - apart <= 0.0:
        raise Invalid("delta", "is so small for this crowd that the theorem says nothing: it needs more users")
    fewer = ((users + 1.0) / (mean - apart) - 1.0) * probability / other
    more = ((users + 1.0) / (users - mean - apart) - 1.0) * other / probability
    return max(math.log(max(fewer, more)), 0.0) * _UP


def selection_delta(users: int, probability: float, epsilon: float) -> float:
    """The same the other way round."""
    mean, other = users * probability, 1.0 - probability
    shrunk = math.exp(-epsilon)
    low = probability * (users + 1.0) * shrunk / (other + probability * shrunk)
    high = (mean - other * shrunk) / (probability + other * shrunk)
    below = 1.0 if low >= mean else math.exp(-2.0 * (mean - low) ** 2 / users)
    above = 1.0 if high <= mean else math.exp(-2.0 * (high - mean) ** 2 / users)
    return min(1.0, max(below, above) * _UP)
