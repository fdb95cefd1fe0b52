"""What counts of values tell about one of the people: of two values, how many others have either.

With J others who have one of the two, x of them the first, he who has the first makes x + 1 of J + 1, and he who has
the second x. Those who have neither say nothing, where all have one law; so delta is the mean over J of

    sum over x of max(0, B(x - 1; J) - e^epsilon B(x; J))          B binomial with p1 / (p1 + p2),

and B(x - 1; J) / B(x; J) rises with x, so it is a tail of one less e^epsilon times a tail of the other. Where there
are several laws, or noise, one count alone is looked at: who sees more is told more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from stream.audit.amounts import Floats
from stream.audit.crowd_sums import Places, least_apart

PAIRS: Final = 24
"""The two that fewest have are told apart best; so many pairs are looked at, the rarest first."""
_DEVIATIONS: Final = 12.0
_MOST: Final = 4096
"""So many numbers of others who have one of two values; with more, several are taken together."""
_OFF: Final = 1e-9
"""What a chance may be off by, of itself: its logarithm is the difference of some large ones."""


def least_of_histogram(
    mine: Floats, laws: Sequence[Floats], rest: Sequence[int], epsilon: float, scale: Fraction | None
) -> float:
    values = [int(value) for value in np.flatnonzero(mine)]
    pairs = _rarest(mine, values)
    if scale is None and sum(1 for count in rest if count) <= 1:
        # Only himself, or others of one law.
        law, count = next(((law, count) for law, count in zip(laws, rest, strict=True) if count), (mine, 0))
        return max((_pair(law, count, one, two, epsilon) for one, two in pairs), default=0.0)
    found = 0.0
    for one in {value for pair in pairs for value in pair}:
        others = [
            (Places.of([1.0 - law[one], law[one]]), count) for law, count in zip(laws, rest, strict=True) if count
        ]
        for by in (1, -1):
            found = max(found, least_apart(Places.certain(by), Places.certain(0), others, epsilon, scale))
    return found


def _rarest(mine: Floats, values: Sequence[int]) -> list[tuple[int, int]]:
    few = sorted(values, key=lambda value: mine[value])[: max(2, math.isqrt(PAIRS) + 2)]
    found = [(one, two) for one in few for two in few if one != two]
    return sorted(found, key=lambda pair: float(mine[pair[0]] + mine[pair[1]]))[:PAIRS]


def _pair(law: Floats, others: int, one: int, two: int, epsilon: float) -> float:
    both = float(law[one] + law[two])
    if both <= 0.0:
        return 1.0
    share, either = float(law[one]) / both, min(1.0, both / float(law.sum()))
    middle, away = others * either, _DEVIATIONS * math.sqrt(others * either * (1.0 - either) + 1.0)
    first, last = max(0, math.floor(middle - away)), min(others, math.ceil(middle + away))
    step = max(1, (last - first) // _MOST)
    logs = _binomial(others, either, first, last)
    found = 0.0
    for start in range(first, last + 1, step):
        # Of several neighbouring numbers the largest: more others hide better.
        end = min(last, start + step - 1)
        weight = float(np.exp(logs[start - first : end - first + 1]).sum())
        found += weight * _apart(end, share, epsilon)
    return min(1.0, found)


def _apart(others: int, share: float, epsilon: float) -> float:
    """P of one more, less e^epsilon times that of as many, over all x from 1 to others + 1 where that is above 0."""
    if not 0.0 < share < 1.0:
        return 1.0
    # B(x - 1)/B(x) = x (1 - share) / ((others + 1 - x) share) is above e^epsilon from here on.
    grown = math.exp(epsilon)
    least = math.floor(grown * share * (others + 1) / (1.0 - share + grown * share)) + 1
    if least > others + 1:
        return 0.0
    last = min(others + 1, least + math.ceil(40.0 * math.sqrt(others + 1.0)) + 40)
    chances = np.exp(_binomial(others, share, least - 1, last))
    return max(0.0, float(chances[:-1].sum()) * (1.0 - _OFF) - grown * float(chances[1:].sum()) * (1.0 + _OFF))


def _binomial(trials: int, chance: float, first: int, last: int) -> Floats:
    """Logarithms of the chances of first..last; of more than there are trials, that of 0."""
    if not 0.0 < chance < 1.0:
        return np.where(np.arange(first, last + 1) == (trials if chance >= 1.0 else 0), 0.0, -np.inf)
    places = np.arange(first, last + 1)
    ways = _factorials(1 << trials.bit_length())
    inside = np.minimum(places, trials)
    logs = ways[trials] - ways[inside] - ways[trials - inside]
    logs = logs + inside * math.log(chance) + (trials - inside) * math.log1p(-chance)
    found: Floats = np.where(places <= trials, logs, -np.inf)
    return found


@lru_cache(maxsize=32)
def _factorials(most: int) -> Floats:
    """Logarithms of 0!, 1!, ..."""
    return np.array([math.lgamma(number + 1.0) for number in range(most + 1)])
