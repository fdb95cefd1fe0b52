"""A chain from the releases of a locally private beginning, with an interval for each of its probabilities.

    counts of released pairs -> intervals that are right at every checkpoint -> a chain, and how far it may be off
    -> what is withheld of epsilon for it

A partition that has no model releases by randomised response over all values. `learn` takes the counts of pairs of
consecutive releases of one user, `counts[y, z]`, and answers a chain of which each probability of the true one is
within exp(+-error), but for `doubt` over all checkpoints together. Whole numbers go in, and nothing here is drawn,
read from a clock or summed in another order on another machine: who knows the releases finds the same bits. Proof:
online.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from beliefs.chain import Chain
from beliefs.checks import Invalid, require
from beliefs.leakage.robust import chain_error_units, total_variation, withheld_units
from beliefs.learning.deviations import CLASSES, deviation, upper_class
from beliefs.rounding import UNITS_PER_NAT, log_units_up, nats
from beliefs.simplex import Vector, plain_sum

Counts = NDArray[np.int64]

FIRST_CHECKPOINT = 1024
DOUBT = 1e-6
WITHHELD_SHARE = 0.1

_OUTWARD = 1.0 + 2.0**-40
# What the doubles of an estimate, and a channel that is shaved by 64 units (2^-34 nat), may make of a pair.
_OF_DOUBLES = 2.0**-32
_ROUNDS = 3
_HALVINGS = 60


@dataclass(frozen=True)
class Setup:
    """`epsilon_units` is what randomised response is built for and what is promised; `doubt` the chance that some
    interval of this partition is ever wrong; `withheld` the share of epsilon that a switch may cost at most.
    """

    symbols: int
    epsilon_units: int
    doubt: float = DOUBT
    withheld: float = WITHHELD_SHARE

    def __post_init__(self) -> None:
        if self.symbols < 2:
            raise Invalid("symbols", "must be 2 or more: of one value there is nothing to learn")
        if self.epsilon_units <= 0:
            raise Invalid("epsilon", "must be above 0: releases that tell nothing teach nothing")
        if not 0.0 < self.doubt < 1.0:
            raise Invalid("doubt", "must lie between 0 and 1")
        if not 0.0 < self.withheld <= 0.5:
            raise Invalid(
                "withheld", "must be a share of epsilon above 0, and at most 0.5, which holds against anybody"
            )


@dataclass(frozen=True)
class Learnt:
    """`error` is infinite where some probability may still be 0. `withheld_units` is at most half of epsilon, which
    holds epsilon whatever the chain is. `checkpoint` is the number that was given.
    """

    chain: Chain
    error: float
    withheld_units: int
    pairs: int
    checkpoint: int


@dataclass(frozen=True)
class Response:
    """Randomised response: a value is kept with `keep` and becomes each other one with `other`."""

    keep: float
    other: float

    @property
    def speaks(self) -> float:
        """(1{y = x} - other) / apart is 1 on average if the value is x, and otherwise 0."""
        return self.keep - self.other

    @property
    def largest(self) -> float:
        """The most that this estimate, and its distance from the truth, may be."""
        return (1.0 - self.other) / self.speaks

    @property
    def of_itself(self) -> float:
        """The variance of the estimate for the value itself."""
        return self.keep * (1.0 - self.keep) / self.speaks**2

    @property
    def of_another(self) -> float:
        return self.other * (1.0 - self.other) / self.speaks**2


def next_checkpoint(records: int) -> int:
    """The first checkpoint behind so many records of an epoch: they are at 1024, 2048, 4096, ... records."""
    checkpoint = FIRST_CHECKPOINT
    while checkpoint <= records:
        checkpoint *= 2
    return checkpoint


def uniform_chain(symbols: int) -> Chain:
    """What is believed before anything was learnt: nothing."""
    law = [1.0 / symbols] * symbols
    return Chain.from_dense(law, [law] * symbols)


def response_of(setup: Setup) -> Response:
    with localcontext() as context:
        context.prec = 60
        bound = (Decimal(setup.epsilon_units) / UNITS_PER_NAT).exp()
        return Response(float(bound / (bound + setup.symbols - 1)), float(1 / (bound + setup.symbols - 1)))


def learn(setup: Setup, counts: Counts, checkpoint_number: int) -> Learnt:
    """`checkpoint_number` counts the checkpoints of the partition from 1, those of earlier epochs included: the doubt
    is divided among them.
    """
    n = setup.symbols
    require(counts.shape == (n, n) and bool((counts >= 0).all()), "pairs are counted for each two values")
    lows, highs = intervals(setup, counts, checkpoint_number)
    chain = _middle(setup, counts, lows, highs)
    error = error_of(chain, lows, highs)
    return Learnt(chain, error, withheld_for(setup, chain, error), int(counts.sum()), checkpoint_number)


def withheld_for(setup: Setup, chain: Chain, error: float) -> int:
    """In Hilbert's metric or by total variation, whichever costs less, and never more than half of epsilon."""
    half = setup.epsilon_units - setup.epsilon_units // 2
    if math.isinf(error):
        return half
    apart = chain_error_units(error, chain.contraction, chain.span)
    return min(half, apart, withheld_units(setup.epsilon_units, total_variation(apart)))


def error_of(chain: Chain, lows: Vector, highs: Vector) -> float:
    """The smallest error that covers all intervals; rounded up."""
    if not bool((lows > 0.0).all()):
        return math.inf
    ratios = np.maximum(highs / chain.dense, chain.dense / lows) * _OUTWARD
    return nats(log_units_up(float(ratios.max())))


def intervals(setup: Setup, counts: Counts, checkpoint_number: int) -> tuple[Vector, Vector]:
    """The least and the most that each probability may be."""
    require(checkpoint_number >= 1, "checkpoints are numbered from 1")
    n = setup.symbols
    evidence = _Evidence(response_of(setup), counts, _doubt_nats(setup, checkpoint_number))
    lows, highs = np.zeros((n, n)), np.ones((n, n))
    for _ in range(_ROUNDS):
        low, high = evidence.within(lows, highs)
        lows, highs = np.maximum(lows, low), np.minimum(highs, high)
    return _by_sums(lows, highs)


def _doubt_nats(setup: Setup, checkpoint_number: int) -> float:
    """ln(1/alpha), rounded up, for each of the bounds of one checkpoint, in each class of what they are about."""
    n, k = setup.symbols, checkpoint_number
    bounds = (5 * n * n + 2 * n) * CLASSES * k * (k + 1)
    with localcontext() as context:
        context.prec = 60
        return float((Decimal(bounds) / Decimal(setup.doubt)).ln()) * _OUTWARD


class _Evidence:
    """What the counts say. All is elementwise over the table of pairs (x, x'), so that no order of sums decides."""

    def __init__(self, response: Response, counts: Counts, doubt: float) -> None:
        self._doubt, self._of, self._pairs = doubt, response, float(counts.sum())
        of_first, of_second = counts.sum(axis=1).astype(np.float64), counts.sum(axis=0).astype(np.float64)
        b, apart = response.other, response.speaks
        first, second = of_first[:, None], of_second[None, :]
        self.visits = (first - b * self._pairs) / apart + np.zeros(counts.shape)
        self.moves = (counts - b * first - b * second + b * b * self._pairs) / apart**2
        largest, pairs = response.largest, self._pairs
        off = deviation(np.array(pairs * response.of_itself), largest, doubt) + pairs * largest * _OF_DOUBLES
        self._most_visits = np.clip(self.visits + off, 0.0, pairs)
        self._most_arrivals = np.clip((second - b * pairs) / apart + off, 0.0, pairs)
        beside = deviation(first * response.of_itself, largest, doubt) + first * largest * _OF_DOUBLES
        # How often a release of x was followed by the value x' itself.
        self._most_led = np.clip((counts - b * first) / apart + beside, 0.0, first)
        self._first = first
        self._visits_class = upper_class(self._most_visits)

    def within(self, lows: Vector, highs: Vector) -> tuple[Vector, Vector]:
        """Narrower intervals for probabilities that lie within these."""
        noise = self._noise(lows, highs)

        def rejected(c: Vector, side: float) -> NDArray[np.bool_]:
            beyond: NDArray[np.bool_] = side * (self.moves - c * self.visits) > noise + self._of_values(c)
            return beyond

        return _edge(lambda c: rejected(c, 1.0), 0.0, noise.shape), _edge(lambda c: rejected(c, -1.0), 1.0, noise.shape)

    def _of_values(self, c: Vector) -> Vector:
        """How far the values themselves may be from what is expected: concave in c."""
        third = self._doubt / 3.0
        deviated: Vector = third + np.sqrt(third * third + 2.0 * c * (1.0 - c) * self._visits_class * self._doubt)
        return deviated * _OUTWARD

    def _noise(self, lows: Vector, highs: Vector) -> Vector:
        """How far the channel's coins may have moved the estimate, for any probability between these."""
        of, pairs, first = self._of, self._pairs, self._first
        widest = np.clip(0.5, lows, highs)  # where c (1 - c) is largest
        others = pairs - first
        more = of.of_itself - of.of_another
        low_square, square = (of.other / of.speaks) ** 2, of.largest**2
        as_second = square * (of.of_another * first + more * self._most_led)
        as_second = as_second + low_square * (of.of_another * others + more * np.minimum(others, self._most_arrivals))
        own = widest * (1.0 - widest) * self._most_visits + self._of_values(widest)
        as_first = of.of_itself * own
        as_first = as_first + of.of_another * ((1.0 - lows) ** 2 * self._most_arrivals + highs**2 * pairs)
        variance = (np.sqrt(as_second) + np.sqrt(as_first)) ** 2 * _OUTWARD
        return deviation(variance, of.largest * (of.largest + 1.0), self._doubt) + pairs * square * _OF_DOUBLES


def _edge(rejected: Callable[[Vector], NDArray[np.bool_]], end: float, shape: tuple[int, ...]) -> Vector:
    """The last probability seen from `end` (0 or 1) that is rejected, if the other end is not; otherwise `end`."""
    out, inside = np.full(shape, end), np.full(shape, 1.0 - end)
    whole = rejected(out) & ~rejected(inside)
    for _ in range(_HALVINGS):
        middle = (out + inside) / 2.0
        beyond = rejected(middle)
        out, inside = np.where(beyond, middle, out), np.where(beyond, inside, middle)
    return np.where(whole, out, end)


def _by_sums(lows: Vector, highs: Vector) -> tuple[Vector, Vector]:
    """A row adds up to 1, so what the others are at least, or at most, says something about each."""
    slack = 2.0**-40
    others_low = np.array([[plain_sum(np.delete(row, x)) for x in range(row.size)] for row in lows])
    others_high = np.array([[plain_sum(np.delete(row, x)) for x in range(row.size)] for row in highs])
    return np.maximum(lows, 1.0 - others_high - slack), np.minimum(highs, 1.0 - others_low + slack)


def _middle(setup: Setup, counts: Counts, lows: Vector, highs: Vector) -> Chain:
    """The geometric middle of each interval; where it begins at 0 the estimate itself, but not 0."""
    n, response = setup.symbols, response_of(setup)
    evidence = _Evidence(response, counts, 0.0)
    known = evidence.visits > 0.0
    estimate = np.where(known, evidence.moves / np.where(known, evidence.visits, 1.0), 1.0 / n)
    middle = np.where(lows > 0.0, np.sqrt(lows * highs), np.maximum(np.minimum(estimate, highs), highs / 16.0))
    start = np.maximum(evidence.visits[:, 0], 1.0)
    rows = [row / plain_sum(row) for row in middle]
    return Chain.from_dense(start / plain_sum(start), rows)
