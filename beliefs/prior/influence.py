"""How much attributes of a law can tell of each other at most, and what that bounds. Proof: influence.md.

`couplings[i, j]` is the largest log odds ratio of two attributes in any context of all others: 0 where each tells
nothing of the other there, infinite where one excludes a value of the other.
"""

from __future__ import annotations

import math

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.native import kernel, part_of_caller
from beliefs.prior.scaled import Floats, Powers

_UP = 1.0 + 2.0**-44
_STEP = 2.0**-48


@part_of_caller
def passed_on(coupling: float, leak: float) -> float:
    """The most that a loss of `leak` about one attribute becomes about another one; rounded up.

    2 ln (1 + e^((c + l)/2)) / (e^(c/2) + e^(l/2)), which is at most the smaller of the two.
    """
    least, most = min(coupling, leak), max(coupling, leak)
    if least <= 0.0 or most == math.inf:
        return max(least, 0.0)
    told = least + 2.0 * (math.log1p(math.exp(-0.5 * (least + most))) - math.log1p(math.exp(-0.5 * (most - least))))
    return min(least, max(told, 0.0) * _UP + _STEP)


def passed_on_by(laws: Matrix, loss: Matrix) -> Matrix:
    """The most that the mean of a function under one law is above that under another, in logarithms; rounded up.

    laws[e, a] are log laws, loss[e] the largest log ratio of two of the function's values. The best function takes one
    value on the states where the laws' ratio is high, and the least elsewhere.
    """
    one, two = np.broadcast_arrays(laws[:, :, None, :], laws[:, None, :, :])
    with np.errstate(invalid="ignore"):
        ratios = np.where(np.isneginf(one), -math.inf, one - two)
        order = np.argsort(-ratios, axis=3, kind="stable")
        above = [_raised(np.take_along_axis(each, order, axis=3), loss[:, None, None, None]) for each in (one, two)]
        found = (above[0] - above[1]).max(axis=3)
    limit, room = loss[:, None, None], (laws.shape[2] + 16) * 2.0**-49
    raised: Matrix = np.minimum(np.where(np.isfinite(found), np.maximum(found, 0.0), 0.0) + room * (1.0 + limit), limit)
    return raised


def _raised(law: Matrix, loss: Matrix) -> Matrix:
    """ln of P(not T) + e^loss P(T) for each T that is a beginning of the order."""
    inside = np.logaddexp.accumulate(law, axis=3)
    outside = np.logaddexp.accumulate(law[..., ::-1], axis=3)[..., ::-1]
    outside = np.concatenate([outside[..., 1:], np.full((*law.shape[:3], 1), -math.inf)], axis=3)
    raised: Matrix = np.logaddexp(outside, loss + inside)
    return raised


def influence_bound(couplings: Matrix, ranges: Matrix, attacked: int, unknown: tuple[int, ...]) -> float:
    """What any release that loses at most ranges[j] about each attribute j, others given, loses about `attacked`.

    The same number bounds the loss where some of `unknown` are known.
    """
    counted = np.zeros(ranges.size, dtype=np.int64)
    counted[list(unknown)] = 1
    counted[attacked] = 2
    leaks = ranges.copy()
    _eliminate(couplings.copy(), leaks, counted)
    return float(leaks[attacked])


@kernel
def _eliminate(couplings: Floats, leaks: Floats, counted: Powers) -> None:
    """Makes those that count 1 unknown, next always the one with the fewest ties; 0 stands for known or gone."""
    size = counted.size
    while True:
        gone = least_tied(couplings, counted)
        if gone < 0:
            return
        counted[gone] = 0
        for one in range(size):
            if counted[one] == 0 or couplings[one, gone] <= 0.0:
                continue
            leaks[one] += passed_on(couplings[one, gone], leaks[gone])
            for two in range(one):
                if counted[two] != 0 and couplings[two, gone] > 0.0:
                    added = couplings[one, two] + passed_on(couplings[one, gone], couplings[two, gone])
                    couplings[one, two] = couplings[two, one] = added


@part_of_caller
def least_tied(couplings: Floats | Powers, counted: Powers) -> int:
    """Of those that count 1 the one with the fewest ties, -1 if there is none; numbers of any kind."""
    gone, fewest = -1, counted.size + 1
    for one in range(counted.size):
        if counted[one] == 1:
            ties = 0
            for two in range(counted.size):
                if counted[two] != 0 and two != one and couplings[one, two] > 0:
                    ties += 1
            if ties < fewest:
                gone, fewest = one, ties
    return gone


@kernel
def widest_odds(table: Floats) -> float:
    """The largest odds ratio of two axes in any context: table[before, one, between, two, after]."""
    befores, ones, betweens, twos, afters = table.shape
    widest = 1.0
    for before in range(befores):
        for between in range(betweens):
            for after in range(afters):
                for first in range(ones):
                    for second in range(first + 1, ones):
                        widest = max(widest, _odds(table[before, :, between, :, after], first, second, twos))
    return widest


@part_of_caller
def _odds(cells: Floats, first: int, second: int, twos: int) -> float:
    """The spread of the ratios of two rows; columns without either are left out, and so is a row without any."""
    low, high = math.inf, 0.0
    met_first = met_second = False
    for column in range(twos):
        above, below = cells[first, column], cells[second, column]
        if above == 0.0 and below == 0.0:
            continue
        met_first |= above > 0.0
        met_second |= below > 0.0
        ratio = above / below
        low, high = min(low, ratio), max(high, ratio)
    if not (met_first and met_second) or low == high:
        return 1.0
    return high / low
