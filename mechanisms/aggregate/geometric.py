"""Two-sided geometric noise on whole numbers: P(z) is proportional to exp(-|z| den/num), exactly. Proof: geometric.md.

No floating point decides a draw, a level or an interval, so every machine draws the same number from the same coins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

from beliefs.checks import Invalid, require
from beliefs.learning.noise import two_sided_geometric
from beliefs.native import kernel, part_of_caller
from beliefs.prior.outward import least_above
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from mechanisms.aggregate.coin_stream import WORD, CoinStream
from mechanisms.coins import Coins
from mechanisms.contract import Integers

SCALE_MIN, SCALE_MAX = Fraction(1, 1 << 10), Fraction(1 << 44)
"""Below the smallest nothing would be hidden anyway; above the largest a number of 62 bits no longer holds the noise:
that it is outgrown has the chance e^(-2^18), and then the draw stops."""

_FINER = 1 + Fraction(1, 1 << 30)
_LONG = 1 << 62
_OUT, _WIDE = -1, -2
_DIGITS, _MORE = 80, 1 + Decimal("1e-50")
_WORDS_A_CELL = 32


@dataclass(frozen=True)
class Geometric:
    """Noise of the scale num/den, in lowest terms."""

    num: int
    den: int

    def __post_init__(self) -> None:
        require(self.num > 0 and self.den > 0, "a scale is a quotient of whole numbers above 0")
        shared = math.gcd(self.num, self.den)
        object.__setattr__(self, "num", self.num // shared)
        object.__setattr__(self, "den", self.den // shared)
        require(self.num < _LONG and self.den < _LONG, "both numbers of a scale have at most 62 bits")
        require(SCALE_MIN <= self.scale <= SCALE_MAX, "a scale of noise lies between 2^-10 and 2^44")

    @property
    def scale(self) -> Fraction:
        return Fraction(self.num, self.den)

    def loss(self, shift: int) -> int:
        """What is told, in units, rounded up, where so much is all that may move: shift den/num nats are attained."""
        return min(INFINITE, -(-abs(shift) * self.den * UNITS_PER_NAT // self.num))

    def draw(self, stream: CoinStream) -> int:
        return two_sided_geometric(Fraction(self.den, self.num), stream.below)

    def draws(self, stream: CoinStream, count: int) -> Integers:
        """The same as so many single draws, and the stream is left where they would leave it."""
        cells = np.zeros(count, dtype=np.int64)
        done, ahead = 0, 0
        while done < count:
            ahead = max(2 * ahead, min(count - done, 1 << 14) * _WORDS_A_CELL)
            before = done
            done, used, why = _fill(stream.ahead(ahead), self.den, self.num, cells, done)
            stream.skip(used)
            if why == _WIDE:
                cells[done] = self.draw(stream)
                done += 1
            if done > before:
                ahead = 0
        return cells

    def interval(self, confidence: Fraction | float) -> int:
        """The smallest m with P(|Z| > m) <= 1 - confidence: at most one above it where 50 digits do not decide.

        P(|Z| > m) = 2 q^(m+1)/(1 + q), q = exp(-den/num).
        """
        outside = 1 - Fraction(str(confidence))
        require(0 < outside < 1, "a confidence lies between 0 and 1")
        with localcontext() as context:
            context.prec = _DIGITS
            rate = Decimal(self.den) / self.num
            left = 2 * Decimal(outside.denominator) / (outside.numerator * (1 + (-rate).exp()))
            steps = left.ln() / rate
            return max(0, math.ceil(steps + abs(steps) / 10**50) - 1)

    @property
    def variance(self) -> float:
        """2 q/(1 - q)^2, rounded up."""
        with localcontext() as context:
            context.prec = _DIGITS
            q = (-Decimal(self.den) / self.num).exp()
            return least_above(Fraction(2 * q / (1 - q) ** 2 * _MORE))


def scale_for(sensitivity: int, loss: int) -> Geometric:
    """The noise that tells at most `loss` units where so much may move: sensitivity den/num is not above it."""
    require(sensitivity > 0, "what nobody can move needs no noise")
    if loss <= 0:
        raise Invalid("epsilon", "is below 2^-40 nat: nothing can be told with it")
    return _at_least(Fraction(sensitivity * UNITS_PER_NAT, loss))


def slimmed(noise: Geometric, factor: Fraction) -> Geometric:
    """So many times as much noise: any loss becomes at most its part."""
    require(factor >= 1, "noise is only added")
    return _at_least(noise.scale * factor)


def _at_least(scale: Fraction) -> Geometric:
    if scale > SCALE_MAX / _FINER:
        raise Invalid("epsilon", "asks for noise beyond 2^44 units of the grid: take a wider grid or a larger epsilon")
    scale = max(scale, SCALE_MIN)
    chosen = simplest_between(scale, scale * _FINER)
    return Geometric(chosen.numerator, chosen.denominator)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator from `low` to `high`: its numbers are what the coins are spent on."""
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    below = whole - 1
    return below + 1 / simplest_between(1 / (high - below), 1 / (low - below))


# `two_sided_geometric`, `_exp_minus` and `below_from_bits` of beliefs/learning/noise.py once more, over words that are
# there already: word for word the same. A place below 0 says why a draw was given up: the words ran out, or a number
# would have more than 62 bits.


@kernel
def _fill(words: Coins, s: int, t: int, cells: Integers, first: int) -> tuple[int, int, int]:
    """Fills cells from the first on; returns the next cell, the words used for whole cells, and why it stopped."""
    place = 0
    for cell in range(first, cells.size):
        drawn, after = _drawn(words, place, s, t)
        if after < 0:
            return cell, place, after
        cells[cell] = drawn
        place = after
    return cells.size, place, 0


@kernel
def _drawn(words: Coins, place: int, s: int, t: int) -> tuple[int, int]:
    while True:
        part, place = _below(words, place, t)
        kept, place = _heads(words, place, part, t)
        if place < 0:
            return 0, place
        if not kept:
            continue
        whole = 0
        again, place = _heads(words, place, 1, 1)
        while again:
            whole += 1
            again, place = _heads(words, place, 1, 1)
        negative, place = _below(words, place, 2)
        if place < 0:
            return 0, place
        if whole >= _LONG // t:
            return 0, _WIDE
        size = (part + t * whole) // s
        if negative == 0:
            return size, place
        if size != 0:
            return -size, place


@kernel
def _heads(words: Coins, place: int, top: int, bottom: int) -> tuple[bool, int]:
    """True with probability exp(-top/bottom); where the words run out it is False."""
    count = 1
    while top > 0 and place >= 0:
        if bottom > _LONG // count:
            return False, _WIDE
        drawn, place = _below(words, place, bottom * count)
        if drawn >= top:
            break
        count += 1
    return place >= 0 and count % 2 == 1, place


@part_of_caller
def _below(words: Coins, place: int, limit: int) -> tuple[int, int]:
    width = 0
    while 1 << width < limit:
        width += 1
    if width == 0 or place < 0:
        return 0, place
    while place < words.size:
        drawn = np.int64(words[place] >> np.uint64(WORD - width))
        place += 1
        if drawn < limit:
            return int(drawn), place
    return 0, _OUT
