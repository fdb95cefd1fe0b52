"""What an attacker who reads one report guesses: the chances in closed form. Proof: guesses.md.

`away`, the logarithm of the chance of a wrong guess, is kept by itself: at epsilon 2,000 the chance is below every
double while the epsilon of the guess still hangs on it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mechanisms.contract import Floats


class Guess(NamedTuple):
    """The guess of the value behind one report; `effective` is the epsilon of the randomised response it equals."""

    correct: float
    wrong: float
    effective: float


CERTAIN = Guess(1.0, 0.0, 0.0)
"""Of one value there is nothing to guess."""


def guess_of(correct: float, away: float, values: int) -> Guess:
    """From P(right) and ln P(wrong), all wrong values being alike."""
    if values == 1:
        return CERTAIN
    effective = math.inf if away == -math.inf else math.log(correct) + math.log(values - 1) - away
    return Guess(correct, math.exp(away), max(0.0, effective))


def supported_guess(log_off: float, log_q: float, values: int) -> Guess:
    """A value among those that the report supports, any value if it supports none.

    The true value is supported but for exp(log_off), each other one with exp(log_q), all independently.
    """
    if values == 1:
        return CERTAIN
    off, q = math.exp(log_off), math.exp(log_q)
    fewer = stays_off(q, values)
    correct = (1.0 - off) * float(fewer.sum()) / values + off * float(fewer[-1]) / values
    # 1 minus the mean of (1-q)^j over j < k is q times a sum of positive terms.
    shared = float((np.arange(values - 1, 0, -1) * fewer[:-1]).sum()) / values
    missed = log_off + math.log1p(-float(fewer[-1]) / values)
    away = float(np.logaddexp(math.log1p(-off) + log_q + math.log(shared) if off < 1.0 else -math.inf, missed))
    return guess_of(correct, away, values)


def stays_off(q: float, values: int) -> Floats:
    """(1-q)^j for j = 0 .. values - 1."""
    powers: Floats = (1.0 - q) ** np.arange(values, dtype=np.float64)
    return powers
