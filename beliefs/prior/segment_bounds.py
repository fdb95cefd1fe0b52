"""Bounds and tails of many pairs of segments of a chain at once. Proof: segments.md."""

from __future__ import annotations

import math

import numpy as np

from beliefs.native import kernel
from beliefs.prior.atoms import Places
from beliefs.prior.scaled import Floats
from beliefs.prior.segments import Flags, Side

Alone = tuple[Floats, Floats]


def bounds_between(
    left: Side, right: Side, lefts: Places, rights: Places, moves: Floats, alone: Alone | None
) -> tuple[Floats, Floats]:
    """Of each pair what the leak is at most, and what its two ends show; `alone` bounds the leaks of single sides."""
    bounds, shown = np.empty(lefts.size), np.empty(lefts.size)
    one, two = (np.empty((0, 0, 0)),) * 2 if alone is None else alone
    lengths = left.length[lefts] + right.length[rights] + 1
    group = (moves[-1] - moves[0]) * lengths * (1.0 + 2.0**-50)
    places = np.ascontiguousarray(lefts), np.ascontiguousarray(rights)
    passed, possible = (left.passed, right.passed), (left.possible, right.possible)
    tails = (left.tails, right.tails)
    _look_between(*places, moves, *passed, *possible, *tails, one, two, group, bounds, shown)
    return bounds, shown


@kernel
def _look_between(
    lefts: Places,
    rights: Places,
    moves: Floats,
    before: Floats,
    behind: Floats,
    left_possible: Flags,
    right_possible: Flags,
    left_tails: Floats,
    right_tails: Floats,
    one: Floats,
    two: Floats,
    group: Floats,
    bounds: Floats,
    shown: Floats,
) -> None:
    """Attacked values a and b count where both can occur beside both segments."""
    for pair in range(lefts.size):
        left, right, most, told = lefts[pair], rights[pair], 0.0, 0.0
        for a in range(moves.size):
            if not (left_possible[left, a] and right_possible[right, a]):
                continue
            for b in range(moves.size):
                if left_possible[left, b] and right_possible[right, b]:
                    passed = abs(moves[a] - moves[b]) + before[left, a, b] + behind[right, a, b]
                    if one.size > 0:
                        single = min(one[left, a, b] + behind[right, a, b], before[left, a, b] + two[right, a, b])
                        passed = min(passed, single)
                    most = max(most, passed)
        for end in range(2):
            high, low = -math.inf, math.inf
            for a in range(moves.size):
                if left_possible[left, a] and right_possible[right, a]:
                    own = moves[a] if end else -moves[a]
                    tail = own + left_tails[left, end, a] + right_tails[right, end, a]
                    high, low = max(high, tail), min(low, tail)
            if high >= low:
                told = max(told, high - low)
        bounds[pair], shown[pair] = min(most * (1.0 + 2.0**-48), group[pair]), told
