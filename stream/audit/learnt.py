"""What follows from counts of released pairs, worked out a second time, from the words of beliefs/learning/online.md.

Entries are gone through one by one, in doubles of another order than the pipeline's, so intervals agree to some twelve
digits and not to the last bit; what is compared with them is compared within a billionth.

For values x and x', with chance c of the second after the first, N^(x, x') - c N^(x) is noise of coins and of values.
Coins: Freedman's bound for the variance (sqrt V1 + sqrt V2)^2. Values: Freedman's bound for c (1 - c) N(x). Chances
that would need more of either are outside of the interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from stream.audit.amounts import UNITS, Integers, exponential, withheld, wrong_model

_CLASSES = 256
_SHARE = 2.0**-32  # of the pairs, for what doubles and a channel shaved by 64 units may be off by


@dataclass(frozen=True)
class Found:
    """The chances that the counts allow, and the model in their middle, row by row; `error` covers both ends."""

    low: list[list[float]]
    high: list[list[float]]
    rows: list[list[float]]
    start: list[float]
    error: float


@dataclass(frozen=True)
class Deviation:
    """Freedman's inequality in classes of the variance, a fourth root of 2 apart, from `largest` squared on."""

    nats: float

    def of(self, variance: float, largest: float) -> float:
        return self.beside(raised(variance / largest**2) * largest**2, largest)

    def beside(self, variance: float, largest: float) -> float:
        third = largest * self.nats / 3.0
        return third + math.sqrt(third * third + 2.0 * variance * self.nats)


def raised(amount: float) -> float:
    """The lowest class at or above an amount."""
    steps = 0 if amount <= 1.0 else max(0, math.ceil(4.0 * math.log2(amount) - 1e-9))
    return 2.0 ** (steps / 4.0) if steps < _CLASSES else math.inf


class Evidence:
    """One table of counts, of releases that keep a value with `keep` and make each other one of it with `other`."""

    def __init__(self, counts: Integers, epsilon: int, doubt: float, test: int) -> None:
        self.n = counts.shape[0]
        bound = exponential(epsilon)
        self.other = float(1 / (bound + self.n - 1))
        keep = float(bound / (bound + self.n - 1))
        self.speaks = keep - self.other
        self.top = (1.0 - self.other) / self.speaks
        self.own = keep * (1.0 - keep) / self.speaks**2
        self.foreign = self.other * (1.0 - self.other) / self.speaks**2
        bounds = (5 * self.n * self.n + 2 * self.n) * _CLASSES * test * (test + 1)
        self.deviation = Deviation(math.log(bounds) - math.log(doubt))
        self.m = [[float(value) for value in row] for row in counts.tolist()]
        self.pairs = float(counts.sum())
        self.first = [float(value) for value in counts.sum(axis=1)]
        self.second = [float(value) for value in counts.sum(axis=0)]
        self.visits = [(amount - self.other * self.pairs) / self.speaks for amount in self.first]
        arrivals = [(amount - self.other * self.pairs) / self.speaks for amount in self.second]
        slack = self.deviation.of(self.pairs * self.own, self.top) + self.pairs * self.top * _SHARE
        self.most_visits = [_between(amount + slack, 0.0, self.pairs) for amount in self.visits]
        self.most_arrivals = [_between(amount + slack, 0.0, self.pairs) for amount in arrivals]

    def moves(self, x: int, y: int) -> float:
        b = self.other
        return (self.m[x][y] - b * self.first[x] - b * self.second[y] + b * b * self.pairs) / self.speaks**2

    def of_values(self, x: int, c: float) -> float:
        return self.deviation.beside(c * (1.0 - c) * raised(self.most_visits[x]), 1.0)

    def of_coins(self, x: int, y: int, low: float, high: float) -> float:
        n_first, others = self.first[x], self.pairs - self.first[x]
        slack = self.deviation.of(n_first * self.own, self.top) + n_first * self.top * _SHARE
        led = _between((self.m[x][y] - self.other * n_first) / self.speaks + slack, 0.0, n_first)
        more = self.own - self.foreign
        one = self.top**2 * (self.foreign * n_first + more * led)
        one += (self.other / self.speaks) ** 2 * (self.foreign * others + more * min(others, self.most_arrivals[y]))
        widest = _between(0.5, low, high)
        two = self.own * (widest * (1.0 - widest) * self.most_visits[x] + self.of_values(x, widest))
        two += self.foreign * ((1.0 - low) ** 2 * self.most_arrivals[y] + high**2 * self.pairs)
        variance = (math.sqrt(one) + math.sqrt(two)) ** 2
        return self.deviation.of(variance, self.top * (self.top + 1.0)) + self.pairs * self.top**2 * _SHARE

    def interval(self, x: int, y: int) -> tuple[float, float]:
        low, high = 0.0, 1.0
        moves = self.moves(x, y)
        for _ in range(3):
            coins = self.of_coins(x, y, low, high)

            def is_too_small(c: float, coins: float = coins) -> bool:
                return moves - c * self.visits[x] > coins + self.of_values(x, c)

            def is_too_large(c: float, coins: float = coins) -> bool:
                return c * self.visits[x] - moves > coins + self.of_values(x, c)

            low, high = max(low, _last(is_too_small, 0.0)), min(high, _last(is_too_large, 1.0))
        return low, high


def _between(amount: float, low: float, high: float) -> float:
    return min(max(amount, low), high)


def _last(outside: Callable[[float], bool], end: float) -> float:
    """The last chance seen from one end that is outside, if that end is and the other is not."""
    far = 1.0 - end
    if not outside(end) or outside(far):
        return end
    near = end
    for _ in range(60):
        middle = (near + far) / 2.0
        near, far = (middle, far) if outside(middle) else (near, middle)
    return near


def learnt_from(counts: Integers, epsilon: int, doubt: float, test: int) -> Found:
    evidence = Evidence(counts, epsilon, doubt, test)
    size = range(evidence.n)
    ends = [[evidence.interval(x, y) for y in size] for x in size]
    low = [[max(ends[x][y][0], 1.0 - _sum_but(ends[x], y, 1) - 2.0**-40) for y in size] for x in size]
    high = [[min(ends[x][y][1], 1.0 - _sum_but(ends[x], y, 0) + 2.0**-40) for y in size] for x in size]
    rows = [_shares([_middle(evidence, x, y, low[x][y], high[x][y]) for y in size]) for x in size]
    error = 0.0
    for x in size:
        for y in size:
            if low[x][y] <= 0.0:
                error = math.inf
            else:
                error = max(error, math.log(high[x][y] / rows[x][y]), math.log(rows[x][y] / low[x][y]))
    return Found(low, high, rows, _shares([max(amount, 1.0) for amount in evidence.visits]), error)


def _sum_but(row: list[tuple[float, float]], left_out: int, side: int) -> float:
    return math.fsum(each[side] for place, each in enumerate(row) if place != left_out)


def _middle(evidence: Evidence, x: int, y: int, low: float, high: float) -> float:
    if low > 0.0:
        return math.sqrt(low * high)
    seen = evidence.moves(x, y) / evidence.visits[x] if evidence.visits[x] > 0.0 else 1.0 / evidence.n
    return max(min(seen, high), high / 16.0)


def _shares(amounts: list[float]) -> list[float]:
    total = math.fsum(amounts)
    return [amount / total for amount in amounts]


def needed_for(error: float, epsilon: int, contraction: int, span: int) -> int:
    """What must be withheld of epsilon, in units: the distance itself, or what its total variation costs; at most half,
    rounded up, which holds against everybody.
    """
    half = epsilon - epsilon // 2
    if math.isinf(error):
        return half
    apart = wrong_model(error, contraction, span, 1, by_clock=False)
    root = exponential(apart // 2)  # e^(D/2), D rounded down by less than two units
    variation = (root - 1) / (root + 1) if apart < 64 * UNITS else Fraction(1)
    return min(half, apart, withheld(epsilon, float(variation)))


def is_close(one: float, other: float) -> bool:
    return one == other or abs(one - other) <= 1e-9 * max(abs(one), abs(other))


def rows_agree(found: Found, dense: np.ndarray[tuple[int, int], np.dtype[np.float64]], start: list[float]) -> bool:
    rows = all(
        is_close(a, b)
        for row, its in zip(found.rows, dense.tolist(), strict=True)
        for a, b in zip(row, its, strict=True)
    )
    return rows and all(is_close(a, b) for a, b in zip(found.start, start, strict=True))
