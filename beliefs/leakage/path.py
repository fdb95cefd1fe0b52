"""Bounds that hold for the sequence that really happened, with probability 1 - delta. Never a leak of the definition.

The definition asks for the worst sequence; on its lower side a release may tell epsilon with certainty, so `times`
releases tell times * epsilon. Along the true sequence the log-ratio has a drift of at most epsilon tanh(epsilon/2) a
release and stays within epsilon of it on either side, so Azuma's inequality adds epsilon sqrt(2 times ln(1/delta)).
"""

from __future__ import annotations

import math


def path_bound(times: int, epsilon: float, delta: float) -> float:
    """With probability 1 - delta, log P(y|x)/P(y) of the true x is at most this; rounded up."""
    drift = times * epsilon * math.tanh(epsilon / 2.0)
    return min(times * epsilon, _up(drift + _spread(times, epsilon, delta)))


def published_theorem_2(times: int, epsilon: float, delta: float) -> float:
    """As printed: drift epsilon (e^epsilon - 1). It is no bound on the leak of the definition."""
    if epsilon > 700.0:
        return math.inf
    return _up(times * epsilon * math.expm1(epsilon) + _spread(times, epsilon, delta))


def _spread(times: int, epsilon: float, delta: float) -> float:
    return epsilon * math.sqrt(2.0 * times * -math.log(delta))


def _up(nats: float) -> float:
    return nats * (1.0 + 2.0**-48)
