"""What a secret loses at most through another attribute that a local mechanism reports. Proof: bound.md.

`conditional[x, u]` is P(attribute = u | secret = x). With A and B the chances of a set of values under two secrets, and
w = e^epsilon - 1, the loss is the largest ln (1 + w A)/(1 + w B). Rows are laws already divided by their sums.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.correlation.checked import require_delta, require_laws, require_level
from beliefs.simplex import Vector

Matrix = NDArray[np.float64]
Places = NDArray[np.int64]
AnyFloats = NDArray[np.floating[Any]]

LINEAR_UP_TO = 600.0
"""Up to here e^epsilon and e^-epsilon, times what is met, are ordinary doubles; above, logarithms are added."""

_SAME = 1e-12
_UP = 1.0 + 2.0**-40
_SMALL = 1 << 18
_CHUNK = 1 << 21
_MANY = 8
_ROOM = 128  # terms, of 2^-51 each


class Bound(NamedTuple):
    """Nats, rounded up; the two secrets and the values that attain them, or None where nothing is lost."""

    epsilon: float
    rows: tuple[int, int] | None
    subset: tuple[int, ...] | None


def rows_of(conditional: Sequence[Vector]) -> Matrix:
    """Laws as one matrix, each divided by its sum."""
    rows = np.array(conditional, dtype=np.float64)
    sums: Matrix = np.add.accumulate(rows, axis=1)[:, -1:]
    quotients: Matrix = rows / sums
    return quotients


def upwards(nats: float, terms: int, cap: float = math.inf) -> float:
    """A logarithm of a ratio of two sums of so many terms, raised by more than its roundings."""
    if not nats > 0.0:
        return 0.0
    return min(cap, nats * (1.0 + 2.0**-50) + (terms + 16) * 2.0**-51)


def sum_of(levels: Sequence[float]) -> float:
    """The sum of nonnegative levels to the nearest double; infinite beyond the doubles."""
    try:
        return math.fsum(levels)
    except OverflowError:
        return math.inf


def roundings(terms: int, epsilon: float) -> int:
    """Beyond e^600 logarithms of up to a few thousand are subtracted, each of which carries up to 2^-41."""
    return terms if epsilon <= LINEAR_UP_TO else terms + 4096


def log_ratios(inside: Matrix, against: Matrix, epsilon: float) -> Matrix:
    """ln (1 + w A)/(1 + w B) of every pair of entries."""
    if epsilon <= LINEAR_UP_TO:
        weight = math.expm1(epsilon)
        ratios: Matrix = np.log1p(weight * (inside - against) / (1.0 + weight * against))
        return ratios
    with np.errstate(divide="ignore"):
        logs: Matrix = np.logaddexp(-epsilon, np.log(inside)) - np.logaddexp(-epsilon, np.log(against))
    return logs


def bound(conditional: Matrix, epsilon: float) -> Bound:
    """Algorithm 2 over all pairs of secrets and all sets of values."""
    require_laws(conditional)
    require_level(epsilon)
    if math.isinf(epsilon):
        return _saturated(conditional)
    values, size = conditional.shape
    if values == 1 or size == 1 or epsilon == 0.0:
        return Bound(0.0, None, None)
    search = _Search(conditional, epsilon)
    level, firsts, seconds = search.best()
    if level <= _noise(size) * min(1.0, epsilon):
        return Bound(upwards(level, roundings(size + _ROOM, epsilon), epsilon), None, None)
    first, second = search.first_of(firsts, seconds, level)
    told = upwards(level, roundings(size + _ROOM, epsilon), epsilon)
    return Bound(told, (first, second), search.subset(first, second, level))


def saturation(conditional: Matrix) -> float:
    """What an unlimited budget loses: the largest ln P[x, u]/P[x', u], infinite where one of two is 0."""
    return bound(conditional, math.inf).epsilon


def tight_delta(conditional: Matrix, epsilon: float, delta: float, leak: float) -> float:
    """The smallest delta' for which every (epsilon, delta) mechanism leaves the secret (leak, delta')-private."""
    require_delta(delta)
    if delta == 0.0 or math.isinf(epsilon):
        return 0.0
    if epsilon == 0.0:
        return min(delta, delta * excess(conditional, 0.0) * _UP)
    share = math.exp(leak - epsilon) * -math.expm1(-leak) / -math.expm1(-epsilon)
    return min(delta, delta * share * _UP)


def profile(conditional: Matrix, epsilon: float, delta: float, at: float) -> float:
    """The smallest delta' at the level `at` that holds for every (epsilon, delta) mechanism of the attribute."""
    require_delta(delta)
    require_level(at, "at")
    most = excess(conditional, at)
    if math.isinf(epsilon):
        return most
    share = (1.0 - delta) * math.tanh(epsilon / 2.0) + delta
    beyond = math.inf
    if at - epsilon < LINEAR_UP_TO:
        beyond = (1.0 - delta) * math.exp(at - epsilon) * -math.expm1(-at) / (1.0 + math.exp(-epsilon))
    # The difference of two numbers of at most 1 carries their roundings whole.
    apart = share * most - beyond
    return min(1.0, max(delta * most * _UP, apart + 2.0**-48 if apart > 0.0 else 0.0))


def excess(conditional: Matrix, at: float) -> float:
    """The largest sum of (g - e^at g')+ over two secrets' laws: the delta of the attribute itself at that level.

    Above 0 the factor is lowered by more than its rounding, so that no term is too small.
    """
    with np.errstate(divide="ignore", over="ignore"):
        raised = conditional if at == 0.0 else np.exp(at * (1.0 - 2.0**-50) - 2.0**-50 + np.log(conditional))
    return min(1.0, _UP * max(float(np.maximum(law - raised, 0.0).sum(axis=1).max()) for law in conditional))


def _noise(size: int) -> float:
    """What two sums of the same law may differ by; a small budget makes it as much smaller."""
    return (size + 16) * 2.0**-51


class _Search:
    """Raises one level until no pair and no set exceeds it: S = {u: g(u) > e^level g'(u)} is a pair's best answer."""

    def __init__(self, conditional: Matrix, epsilon: float) -> None:
        self.laws, self.epsilon = conditional, epsilon
        self.values, self.size = conditional.shape
        with np.errstate(divide="ignore"):
            self.logs = np.log(conditional)

    def best(self) -> tuple[float, Places, Places]:
        """The largest level, and pairs among which all are that attain it."""
        everyone = np.arange(self.values)
        if self.values * self.values * self.size <= _SMALL:
            firsts, seconds = np.repeat(everyone, self.values), np.tile(everyone, self.values)
            return self.climb(firsts, seconds, 0.0), firsts, seconds
        level, first, second = self.guess()
        firsts, seconds = self.survivors(level)
        if firsts.size > _MANY * self.values:
            firsts, seconds = self.exceeding(level)
        firsts, seconds = np.append(firsts, first), np.append(seconds, second)
        return self.climb(firsts, seconds, 0.0), firsts, seconds

    def guess(self) -> tuple[float, int, int]:
        """A level and a pair that attains it: from a secret to the best other, from that one back, while that gains."""
        pair, level, gained = (0, 0), 0.0, True
        while gained:
            gained = False
            for side in (0, 1):
                if level > LINEAR_UP_TO:
                    return level, *pair
                tried = self.best_partner(pair[side], side, level)
                reached = self.climb(np.array([tried[0]]), np.array([tried[1]]), level)
                if reached > level:
                    pair, level, gained = tried, reached, True
        return level, *pair

    def best_partner(self, fixed: int, side: int, level: float) -> tuple[int, int]:
        """The pair with this secret on that side whose sum (g - h g')+ is largest."""
        lowered = math.exp(level) * (self.laws[fixed] if side else self.laws)
        gains = np.maximum((self.laws if side else self.laws[fixed]) - lowered, 0.0).sum(axis=1)
        other = int(gains.argmax())
        return (other, fixed) if side else (fixed, other)

    def survivors(self, level: float) -> tuple[Places, Places]:
        """The pairs that may reach the level: those with sum (g - h g')+ >= (h - 1)/w.

        With h lowered by more than the roundings no term of the sum is too small by more than one rounding of itself,
        and a sum of positive terms is right to within `size` roundings. Short floats do for sums that are not tiny:
        what they lose below 1e-38 is then nothing beside the room left.
        """
        needed = self.needed(level)
        if level > LINEAR_UP_TO:
            return self.pairs_with(self.laws, 0.0 * self.laws, 0.0)
        short = needed > 2.0**-20 and self.size < 1 << 13 and level < 40.0
        laws: AnyFloats = self.laws.astype(np.float32) if short else self.laws
        lost = 2.0**-20 if short else 2.0**-48
        raised = (math.exp(level) * (1.0 - lost) * self.laws).astype(laws.dtype)
        return self.pairs_with(laws, raised, max(needed * (1.0 - (self.size + 64) * lost), math.ulp(0.0)))

    def exceeding(self, level: float) -> tuple[Places, Places]:
        """Where many pairs are alike: without those that could exceed the level by 2^-44 at most; `_ROOM` is for them.

        All terms are right to 2^-51 together, because a law sums to 1.
        """
        if level > LINEAR_UP_TO:
            return self.survivors(level)
        needed = self.needed(level) * (1.0 + 2.0**-44) - 2.0**-50
        return self.pairs_with(self.laws, math.exp(level) * self.laws, max(needed, math.ulp(0.0)))

    def needed(self, level: float) -> float:
        """(e^level - 1)/w."""
        return math.exp(level - self.epsilon) * -math.expm1(-level) / -math.expm1(-self.epsilon)

    def pairs_with(self, laws: AnyFloats, raised: AnyFloats, needed: float) -> tuple[Places, Places]:
        """The pairs whose sum of positive differences is at least that."""
        scratch, kept = np.empty_like(laws), []
        for law in laws:
            np.subtract(law, raised, out=scratch)
            np.maximum(scratch, 0.0, out=scratch)
            kept.append(np.flatnonzero(scratch.sum(axis=1) >= needed))
        counts = [each.size for each in kept]
        return np.repeat(np.arange(self.values), counts), np.concatenate(kept)

    def climb(self, firsts: Places, seconds: Places, level: float) -> float:
        while True:
            higher = float(self.answers(firsts, seconds, level).max())
            if not higher > level:
                return level
            level = higher

    def answers(self, firsts: Places, seconds: Places, level: float) -> Matrix:
        """What the best set of each pair at this level leaks; a set that is empty leaks nothing."""
        step = max(1, _CHUNK // self.size)
        parts = []
        for start in range(0, firsts.size, step):
            one, two = firsts[start : start + step], seconds[start : start + step]
            chosen = self.above(one, two, level)
            inside = np.where(chosen, self.laws[one], 0.0).sum(axis=1)
            against = np.where(chosen, self.laws[two], 0.0).sum(axis=1)
            parts.append(log_ratios(inside, against, self.epsilon))
        return np.concatenate(parts)

    def above(self, firsts: Places, seconds: Places, level: float) -> NDArray[np.bool_]:
        with np.errstate(invalid="ignore"):  # 0/0 is no number and never above
            chosen: NDArray[np.bool_] = self.logs[firsts] - self.logs[seconds] > level
        return chosen

    def first_of(self, firsts: Places, seconds: Places, level: float) -> tuple[int, int]:
        """The first pair that attains the level."""
        room = self.room(level)
        answers = self.answers(firsts, seconds, level - room)
        reached = np.flatnonzero(answers >= answers.max() - room)
        pairs = sorted(zip(firsts[reached].tolist(), seconds[reached].tolist(), strict=True))
        return pairs[0]

    def room(self, level: float) -> float:
        """Levels that are closer together than this are equal."""
        return _SAME * max(level, min(1.0, self.epsilon))

    def subset(self, first: int, second: int, level: float) -> tuple[int, ...]:
        pair = np.array([first]), np.array([second])
        room = self.room(level)
        chosen = self.above(*pair, level + room)
        if not chosen.any():  # at saturation all values of the best set have the level itself as their ratio
            chosen = self.above(*pair, level - room)
        return tuple(np.flatnonzero(chosen[0]).tolist())


def _saturated(conditional: Matrix) -> Bound:
    values, size = conditional.shape
    with np.errstate(divide="ignore"):
        logs = np.log(conditional)
    highest, lowest = logs.max(axis=0), logs.min(axis=0)
    with np.errstate(invalid="ignore"):
        spread = np.where(highest == -math.inf, 0.0, highest - lowest)
    level = float(spread.max())
    if level <= _noise(size):
        return Bound(upwards(level, size), None, None)
    for first in range(values):
        with np.errstate(invalid="ignore"):
            ratios = np.nan_to_num(logs[first] - logs, nan=0.0, posinf=math.inf, neginf=-math.inf)
        reached = ratios >= (level if math.isinf(level) else level - _SAME * max(1.0, level))
        seconds = np.flatnonzero(reached.any(axis=1))
        if seconds.size:
            second = int(seconds[0])
            return Bound(upwards(level, size), (first, second), tuple(np.flatnonzero(reached[second]).tolist()))
    return Bound(upwards(level, size), None, None)
