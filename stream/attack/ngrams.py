"""Whose sequence is this? Counts of what follows what, for each user, and shorter pasts where counts are few."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from stream.audit.amounts import Floats


class NGrams:
    """One user's habits. The law after a past mixes its counts with the law after the past without its oldest value,
    which weighs as much as `weight` more values seen; after none it is uniform."""

    def __init__(self, sequence: Sequence[int], symbols: int, order: int, weight: float = 2.0) -> None:
        self._symbols, self._order, self._weight = symbols, order, weight
        self._seen: Counter[tuple[int, ...]] = Counter()
        self._followed: Counter[tuple[int, ...]] = Counter()
        for at in range(len(sequence)):
            for length in range(min(order - 1, at) + 1):
                past = tuple(sequence[at - length : at])
                self._seen[past] += 1
                self._followed[(*past, sequence[at])] += 1

    def chance(self, past: tuple[int, ...], value: int) -> float:
        shorter = self.chance(past[1:], value) if past else 1.0 / self._symbols
        return (self._followed[(*past, value)] + self._weight * shorter) / (self._seen[past] + self._weight)

    def score(self, sequence: Sequence[int]) -> float:
        """The log chance of a sequence."""
        total = 0.0
        for at in range(len(sequence)):
            total += math.log(self.chance(tuple(sequence[max(0, at - self._order + 1) : at]), sequence[at]))
        return total


def ngram_scores(
    training: Sequence[Sequence[int]], attacked: Sequence[Sequence[int]], symbols: int, order: int
) -> Floats:
    """A row for each attacked sequence, a column for each user. Order 1 does not know how values hang together."""
    habits = [NGrams(sequence, symbols, order) for sequence in training]
    return np.array([[each.score(sequence) for each in habits] for sequence in attacked])
