"""Local hashing: a hash function of one's own, and randomised response to the value's hash. Proof: hashing.md."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid
from beliefs.correlation.outputs import ANY, Sets
from mechanisms.coins import Coins
from mechanisms.contract import TOTAL, Floats, Integers
from mechanisms.local.estimate import Estimate, from_support
from mechanisms.local.grr import DrawnResponse, drawn_response
from mechanisms.local.guesses import Guess, supported_guess
from mechanisms.local.units import require_drawable, require_values

HASH_RANGE_MAX = 1 << 16

_DOUBLES_UP_TO, _DIGITS_UP_TO = 700.0, 9_000.0


@dataclass(frozen=True)
class LocalHashing:
    """A report supports all values whose hash is the reported one: the own with p, each other with 1/hash_range."""

    values: int
    level: float
    hash_range: int

    def __post_init__(self) -> None:
        if self.hash_range < 2:
            raise Invalid("hash_range", "must be 2 or more: with one hash reports tell nothing")

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
    if epsilon > _DIGITS_UP_TO:
        raise Invalid("epsilon", f"is above {_DIGITS_UP_TO:g} nats; the hash range would have thousands of digits")
    with localcontext() as context:
        context.prec = int(epsilon) + 30
        nearest = Decimal(epsilon).exp().to_integral_value()
    return LocalHashing(values, epsilon, int(nearest) + 1)


class HashReports(NamedTuple):
    """The function of each report, by its two words, and the hash that was reported."""

    factors: Coins
    shifts: Coins
    hashes: Integers


@dataclass(frozen=True)
class DrawnHashing:
    """What is drawn: a hash function, then a response to the value's hash."""

    values: int
    response: DrawnResponse
    words = 3

    @property
    def level(self) -> float:
        return self.response.level

    def draw(self, values: Integers, coins: Coins) -> HashReports:
        """One report for each value, from two words for the function and one for the response."""
        require_values(values, self.values)
        factors, shifts = coins[:, 0], coins[:, 1]
        own = hashed(values.astype(np.uint64), factors, shifts, self.response.values)
        return HashReports(factors, shifts, self.response.draw(own, coins[:, 2:]))

    def counts(self, reports: HashReports) -> Integers:
        """How many reports have, as their hash, that of each value."""
        found = np.zeros(self.values, dtype=np.int64)
        for value in range(self.values):
            hashes = hashed(np.uint64(value), reports.factors, reports.shifts, self.response.values)
            found[value] = int((hashes == reports.hashes).sum())
        return found

    def estimate(self, counts: Floats, reports: int) -> Estimate:
        return from_support(counts, reports, self.response.high / TOTAL, 1.0 / self.response.values)


def hashed(values: Coins | np.uint64, factors: Coins, shifts: Coins, span: int) -> Integers:
    """((a v + b) mod 2^64 div 2^32) span div 2^32: for two values and random a, b, independent and even to 2^-32."""
    mixed = (factors * values + shifts) >> np.uint64(32)
    return ((mixed * np.uint64(span)) >> np.uint64(32)).astype(np.int64)


def drawn_hashing(values: int, epsilon: float, hash_range: int) -> DrawnHashing:
    if hash_range < 2:
        raise Invalid("hash_range", "must be 2 or more: with one hash reports tell nothing")
    if hash_range > HASH_RANGE_MAX:
        raise Invalid("epsilon", f"needs a hash range of {hash_range}; functions with 2 to {HASH_RANGE_MAX} are drawn")
    require_drawable(values, epsilon)
    return DrawnHashing(values, drawn_response(hash_range, epsilon))


def drawn_blh(values: int, epsilon: float) -> DrawnHashing:
    return drawn_hashing(values, epsilon, 2)


def drawn_olh(values: int, epsilon: float) -> DrawnHashing:
    return drawn_hashing(values, epsilon, olh(values, epsilon).hash_range)
