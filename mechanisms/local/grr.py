"""Generalised randomised response: the value itself, or any other, all alike. Proof: grr.md."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from beliefs.correlation.outputs import SINGLETONS, Sets
from mechanisms.contract import Floats
from mechanisms.local.estimate import Estimate, from_support
from mechanisms.local.guesses import Guess, guess_of


@dataclass(frozen=True)
class Response:
    values: int
    level: float

    @property
    def _others(self) -> float:
        """The weight of all other values beside the own one's 1."""
        return (self.values - 1) * math.exp(-self.level)

    @property
    def p(self) -> float:
        return 1.0 / (1.0 + self._others)

    @property
    def q(self) -> float:
        return math.exp(-self.level) / (1.0 + self._others)

    def extras(self) -> dict[str, object]:
        return {}

    def worst_sets(self) -> Sets:
        return Sets(SINGLETONS)

    def guess(self) -> Guess:
        """The report itself."""
        away = math.log(self.values - 1) - self.level - math.log1p(self._others) if self.values > 1 else -math.inf
        return guess_of(self.p, away, self.values)

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        return from_support(counts, reports, self.p, self.q)

    def channel(self) -> Floats:
        """Row: value; column: report."""
        rows = np.full((self.values, self.values), self.q)
        np.fill_diagonal(rows, self.p)
        return rows


def grr(values: int, epsilon: float) -> Response:
    return Response(values, epsilon)
