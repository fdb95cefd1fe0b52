"""Noise of aggregates as numbers: its scale for what may be told, how far it goes, and what is drawn under a key."""

from __future__ import annotations

from fractions import Fraction

from beliefs.checks import Invalid
from beliefs.rounding import budget_units, nats
from mechanisms.aggregate.coin_stream import CoinStream
from mechanisms.aggregate.geometric import Geometric, slimmed
from mechanisms.aggregate.registry import REGISTRY
from stream.compute.sequence import Result

DRAWS_MAX = 1 << 16
"""So many still fit on a page."""


def noise(
    mechanism: str, sensitivity: int, epsilon: float, confidence: float = 0.95, more_noise: float = 1.0
) -> Result:
    """The least noise that tells at most epsilon where so much may move, and then so many times as much of it."""
    found = _noise(mechanism, sensitivity, epsilon, more_noise)
    return {
        "num": found.num,
        "den": found.den,
        "scale": float(found.scale),
        "loss": nats(found.loss(sensitivity)),
        "interval": found.interval(confidence),
        "variance": found.variance,
    }


def draws(mechanism: str, sensitivity: int, epsilon: float, key: bytes, window: int, query: int, count: int) -> Result:
    """What that noise is in the first cells of a query of a window, under a key."""
    if count > DRAWS_MAX:
        raise Invalid("count", f"must be at most {DRAWS_MAX}")
    if query >= 1 << 32:
        raise Invalid("query", "must be below 2^32")
    found = _noise(mechanism, sensitivity, epsilon)
    return {"draws": found.draws(CoinStream(key, window, query), count).tolist()}


def _noise(mechanism: str, sensitivity: int, epsilon: float, more_noise: float = 1.0) -> Geometric:
    if more_noise < 1.0:
        raise Invalid("more_noise", "must be 1 or more")
    return slimmed(REGISTRY[mechanism](sensitivity, budget_units(epsilon)), Fraction(more_noise))
