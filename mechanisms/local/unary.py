"""Unary encodings: one bit for each value, each bit reported with noise of its own. Proof: unary.md."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np

from beliefs.correlation.outputs import ANY, Sets
from mechanisms.contract import Floats
from mechanisms.local.estimate import Estimate, from_support
from mechanisms.local.guesses import Guess, supported_guess


@dataclass(frozen=True)
class Unary:
    """The own bit is 1 with chance p = 1 - e^log_off, each other bit with chance q = e^log_q."""

    values: int
    p: float
    q: float
    level: float
    log_off: float
    log_q: float
    named: dict[str, object] = field(default_factory=dict)

    def extras(self) -> dict[str, object]:
        return dict(self.named)

    def worst_sets(self) -> Sets:
        return Sets(ANY)

    def guess(self) -> Guess:
        """A value among the bits that are 1."""
        return supported_guess(self.log_off, self.log_q, self.values)

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        return from_support(counts, reports, self.p, self.q)

    def channel(self) -> Floats:
        """Row: value; column: the report, whose first bit is the first value's, read as a binary number."""
        columns = []
        for bits in itertools.product((0, 1), repeat=self.values):
            others = np.array([self.q if bit else 1.0 - self.q for bit in bits])
            own = np.array([self.p if bit else 1.0 - self.p for bit in bits])
            columns.append([own[x] * float(np.delete(others, x).prod()) for x in range(self.values)])
        return np.array(columns).T


def sue(values: int, epsilon: float) -> Unary:
    """Both bits keep themselves alike, with e^(epsilon/2) against 1: basic RAPPOR, its permanent bits reported."""
    log_off = -epsilon / 2.0 - math.log1p(math.exp(-epsilon / 2.0))
    off = math.exp(log_off)
    return Unary(values, 1.0 - off, off, epsilon, log_off, log_off, {"flip": 2.0 * off, "longitudinal": epsilon})


def oue(values: int, epsilon: float) -> Unary:
    """The own bit is a fair coin, the others are 1 as rarely as epsilon allows."""
    log_q = -epsilon - math.log1p(math.exp(-epsilon))
    return Unary(values, 0.5, math.exp(log_q), epsilon, -math.log(2.0), log_q)


def rappor(values: int, flip: float, report_zero: float, report_one: float) -> Unary:
    """A permanent bit, replaced by a fair coin with chance `flip`, then a report of it in every round.

    `level` is that of one round, `longitudinal` that of any number of rounds together: what the permanent bits tell.
    """
    p = (1.0 - flip / 2.0) * report_one + flip / 2.0 * report_zero
    q = flip / 2.0 * report_one + (1.0 - flip / 2.0) * report_zero
    longitudinal = 2.0 * (math.log1p(1.0 - flip) - _log(flip)) if flip > 0.0 else math.inf
    return Unary(values, p, q, _level(p, q), _log(1.0 - p), _log(q), {"flip": flip, "longitudinal": longitudinal})


def _level(p: float, q: float) -> float:
    """The two bits that differ between two values, one reported as 1 and one as 0."""
    if p == q:
        return 0.0
    high, low = max(p, q), min(p, q)
    with_one, with_zero = _log(high) - _log(low), _log(1.0 - low) - _log(1.0 - high)
    return with_one + with_zero


def _log(share: float) -> float:
    return math.log(share) if share > 0.0 else -math.inf
