"""Bins that count amounts without keeping them, and the rule by which small groups of users vanish from what is shown.

A bin is named by its upper edge, so whatever is read from bins errs towards more leakage, never towards less.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import require
from beliefs.rounding import INFINITE, UNITS_PER_NAT, budget_units

Integers = NDArray[np.int64]
Doubles = NDArray[np.float64]

RELEASE_EDGES: Final = [2.0**octave * part for octave in range(-10, 4) for part in (1.0, 1.5)] + [16.0]
"""Of what single releases and reports tell, in nats: half octaves from a thousandth to 16."""
SHARES: Final = 200
OVER_BUDGET: Final = SHARES + 1
SHARE_BINS: Final = OVER_BUDGET + 1
# 200 bins times an amount just above the budget must stay below 2^63: 200 < 2^8, so amounts stay below 2^54.
_SHARE_AMOUNT_BITS: Final = 54

# Lifetime totals are binned by their binary exponent and the next three bits: eight an octave, none wider than 1/8.
_BINS_PER_OCTAVE: Final = 8
_MANTISSA_BITS_DROPPED: Final = 52 - 3
_LOWEST_EXPONENT: Final = 30  # 2^30 units are 2^-10 nat; everything up to there shares bin 0
_LOWEST_BIN: Final = (1023 + _LOWEST_EXPONENT) * _BINS_PER_OCTAVE
_OCTAVES: Final = 62 - _LOWEST_EXPONENT
LIFETIME_BINS: Final = _OCTAVES * _BINS_PER_OCTAVE + 2


class Bucket(NamedTuple):
    upper_edge: float
    cumulative: int


def edges_in_units(nats: Sequence[float]) -> Integers:
    return np.array([budget_units(edge) for edge in nats], np.int64)


class Tally:
    """A histogram of integers with inclusive upper edges and an exact sum, for events: its counts only grow."""

    def __init__(self, edges: Integers, per_unit: int) -> None:
        require(bool(np.all(np.diff(edges) > 0)), "edges rise")
        self._edges = edges
        self._edge_list: list[int] = edges.tolist()
        self._per_unit = per_unit
        self._counts = np.zeros(len(edges) + 1, np.int64)
        self._sum = 0
        self._infinities = 0

    def add(self, amounts: Integers, weight: int = 1) -> int:
        """Count each amount `weight` times; the answer is the largest."""
        if not len(amounts):
            return 0
        counted = np.bincount(self._edges.searchsorted(amounts), minlength=len(self._edges) + 1)
        self._counts += counted if weight == 1 else counted * weight
        largest = int(np.maximum.reduce(amounts))
        # 2^50 times the few thousand events of a block stay below 2^63, so the fast sum cannot wrap.
        if largest < 1 << 50:
            self._sum += int(np.add.reduce(amounts)) * weight
        else:
            finite = amounts[amounts < INFINITE].tolist()
            self._infinities += (len(amounts) - len(finite)) * weight
            self._sum += sum(finite) * weight
        return largest

    def add_one(self, amount: int) -> None:
        self._counts[bisect_left(self._edge_list, amount)] += 1
        self._sum += amount

    @property
    def count(self) -> int:
        return int(self._counts.sum())

    @property
    def sum_exact(self) -> int:
        """In the tally's own integers, infinite amounts left out."""
        return self._sum

    @property
    def sum(self) -> float:
        return math.inf if self._infinities else float(Fraction(self._sum, self._per_unit))

    def buckets(self) -> list[Bucket]:
        uppers = [float(Fraction(edge, self._per_unit)) for edge in self._edge_list] + [math.inf]
        return [Bucket(*pair) for pair in zip(uppers, np.cumsum(self._counts).tolist(), strict=True)]


class ShareBins:
    """Spent share of a budget: bin 0 for nothing, bin b for shares in ((b-1)/200, b/200], bin 201 for what is over."""

    def __init__(self, budget: int) -> None:
        require(0 < budget < INFINITE, "a budget to take shares of is positive and finite")
        # The budget is rounded down and amounts are rounded up, so that a share is never read too small.
        self._shift = max(0, budget.bit_length() - _SHARE_AMOUNT_BITS)
        self._budget = budget >> self._shift
        self._divisor = np.uint64(self._budget)

    def index(self, spent: Integers) -> Integers:
        if self._shift:
            spent = (spent + ((1 << self._shift) - 1)) >> self._shift
        # Everything over the budget counts as one more than it, and any share above 1 rounds up to bin 201 or further.
        scaled: Integers = np.minimum(spent, self._budget + 1)
        scaled *= SHARES
        scaled += self._budget - 1
        # Nothing is negative here, and numpy divides unsigned integers by one number much faster.
        unsigned = scaled.view(np.uint64)
        unsigned //= self._divisor
        return np.minimum(scaled, OVER_BUDGET, out=scaled)


def share_edges() -> list[float]:
    return [index / SHARES for index in range(SHARES + 1)] + [math.inf]


def lifetime_index(units: Doubles) -> Integers:
    """Bins of amounts that were turned into doubles; the answer is written over them.

    The bits of doubles sort like the numbers themselves, so the exponent and three more bits are a bin by one shift. An
    amount of at least an edge counts above it. Rounding to a double is monotone and edges are doubles, so an amount
    that is rounded never falls below an edge that it had reached.
    """
    index = units.view(np.int64)
    index >>= _MANTISSA_BITS_DROPPED
    index -= _LOWEST_BIN - 1
    return np.maximum(index, 0, out=index)


def lifetime_edges() -> list[float]:
    """In nats. The last bin holds infinite amounts only."""
    lowest = 2.0**_LOWEST_EXPONENT / UNITS_PER_NAT
    steps = [divmod(index, _BINS_PER_OCTAVE) for index in range(LIFETIME_BINS - 1)]
    return [math.ldexp(lowest * (1 + part / _BINS_PER_OCTAVE), octave) for octave, part in steps] + [math.inf]


def coarse(counts: Integers, edges: Sequence[float], wanted: Sequence[float]) -> list[Bucket]:
    """Cumulative counts at some of the edges; infinity closes the list."""
    sums = np.cumsum(counts).tolist()
    place = {edge: index for index, edge in enumerate(edges)}
    return [Bucket(edge, sums[place[edge]]) for edge in wanted] + [Bucket(math.inf, sums[-1])]


def without_small_groups(buckets: Sequence[Bucket], floor: int) -> list[Bucket]:
    """Cumulative counts over users in which every bucket is empty or holds at least `floor` users.

    From the top bucket down, a bucket that holds fewer takes the missing users from the one below it; where fewer than
    `floor` are left at the bottom, they move up. So users only ever move towards more leakage: a boundary is moved by
    less than `floor` users, the lowest once more by less than that, so the number above an edge is too high by less
    than 2 `floor`. Fewer users than `floor` in all are shown as none.
    """
    total = buckets[-1].cumulative
    above = total if total >= floor else 0
    shown = [above]
    for bucket in reversed(buckets[:-1]):
        if above - bucket.cumulative > 0:
            above = min(bucket.cumulative, above - floor)
        if above < floor:
            above = 0
        shown.append(above)
    return [Bucket(bucket.upper_edge, count) for bucket, count in zip(buckets, reversed(shown), strict=True)]


def quantile(counts: Integers, edges: Sequence[float], share: float) -> float:
    """The upper edge of the bin that the user at this share of the order is in; 1 gives the maximum."""
    sums = np.cumsum(counts)
    total = int(sums[-1])
    require(total > 0, "quantiles need users")
    rank = max(1, math.ceil(Fraction(str(share)) * total))
    return edges[int(sums.searchsorted(rank))]


def at_least(counts: Integers, edges: Sequence[float], share: float) -> int:
    """How many are in bins whose upper edge reaches the share."""
    return int(counts[bisect_left(edges, share) :].sum())


def above(counts: Integers, edges: Sequence[float], share: float) -> int:
    """How many are in bins whose upper edge exceeds the share."""
    return int(counts[bisect_right(edges, share) :].sum())
