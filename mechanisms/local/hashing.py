"""Local hashing: a hash function of one's own, and randomised response to the value's hash. Proof: hashing.md."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np

from beliefs.correlation.outputs import ANY, Sets
from mechanisms.contract import Floats
from mechanisms.local.estimate import Estimate, from_support
from mechanisms.local.guesses import Guess, supported_guess

_DOUBLES_UP_TO = 700.0


@dataclass(frozen=True)
class LocalHashing:
    """A report supports all values whose hash is the reported one: the own with p, each other with 1/hash_range."""

    values: int
    level: float
    hash_range: int

    @property
    def _log_weight(self) -> float:
        """ln of what all other hashes weigh beside the own one's 1."""
        return math.log(self.hash_range - 1) - self.level

    @property
    def p(self) -> float:
        return 1.0 / (1.0 + math.exp(self._log_weight))

    @property
    def q(self) -> float:
        return math.exp(-math.log(self.hash_range)) if self.hash_range > 1 << 53 else 1.0 / self.hash_range

    def extras(self) -> dict[str, object]:
        return {"hash_range": self.hash_range}

    def worst_sets(self) -> Sets:
        """With all hash functions, some function and hash stand for any set."""
        return Sets(ANY)

    def guess(self) -> Guess:
        """A value among those whose hash was reported."""
        weight = self._log_weight
        return supported_guess(weight - math.log1p(math.exp(weight)), -math.log(self.hash_range), self.values)

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        return from_support(counts, reports, self.p, self.q)

    def channel(self) -> Floats:
        """Row: value; columns: for each of the hash_range^values functions, each reported hash."""
        low = math.exp(-self.level) * self.p
        functions = itertools.product(range(self.hash_range), repeat=self.values)
        columns = [[self.p if h == y else low for h in hashes] for hashes in functions for y in range(self.hash_range)]
        rows: Floats = np.array(columns).T / self.hash_range**self.values
        return rows


def blh(values: int, epsilon: float) -> LocalHashing:
    return LocalHashing(values, epsilon, 2)


def olh(values: int, epsilon: float) -> LocalHashing:
    """The hash range e^epsilon + 1, to the nearest whole number, has the least variance."""
    if epsilon <= _DOUBLES_UP_TO:
        return LocalHashing(values, epsilon, round(math.exp(epsilon)) + 1)
    with localcontext() as context:
        context.prec = int(epsilon) + 30
        nearest = Decimal(epsilon).exp().to_integral_value()
    return LocalHashing(values, epsilon, int(nearest) + 1)
