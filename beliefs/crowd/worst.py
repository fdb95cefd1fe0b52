"""Whose secret a sum over a crowd gives away most: every kind of member, hidden by all others. Proof: sums.md.

Who hides behind more people is told less about. So the people outside of a group of kinds bound what each of these is
told, and a group that cannot hold the worst is never looked into.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from beliefs.crowd.divergence import Events, apart, least_epsilon
from beliefs.crowd.sums import Sum, added, times, total

Pair = tuple[Sum, Sum]


@dataclass(frozen=True)
class Kind:
    """`count` members who contribute by the law `whole`; `pairs` are what one of them contributes in two cases that are
    not to be told apart. Members without pairs are not asked about, and only hide the others.
    """

    whole: Sum
    count: int
    pairs: tuple[Pair, ...]


def largest_delta(kinds: Sequence[Kind], epsilon: float, events: Events = "all") -> float:
    """The smallest delta with which (epsilon, delta) holds for everybody who has pairs."""

    def told(others: Sum, pairs: Sequence[Pair]) -> float:
        return max(apart(added(others, one), added(others, two), epsilon, events) for one, two in pairs)

    return _largest(
        kinds,
        lambda others, pairs, best: told(others, pairs) > best,
        lambda others, pairs, best: max(best, told(others, pairs)),
    )


def smallest_epsilon(kinds: Sequence[Kind], delta: float, events: Events = "all") -> float:
    """The smallest epsilon with which (epsilon, delta) holds for everybody who has pairs; maybe infinite."""

    def exceeds(others: Sum, pairs: Sequence[Pair], best: float) -> bool:
        return any(apart(added(others, one), added(others, two), best, events) > delta for one, two in pairs)

    def better(others: Sum, pairs: Sequence[Pair], best: float) -> float:
        for pair in pairs:
            one, two = (added(others, case) for case in pair)
            if apart(one, two, best, events) > delta:
                best = least_epsilon(delta, lambda at, one=one, two=two: apart(one, two, at, events))  # type: ignore[misc]
        return best

    return _largest(kinds, lambda *asked: asked[2] < math.inf and exceeds(*asked), better)


@dataclass(frozen=True)
class _Group:
    """Kinds that are asked about, the sum of all their members, and the pairs of all, each once."""

    kinds: tuple[Kind, ...]
    whole: Sum
    pairs: tuple[Pair, ...]
    halves: tuple[_Group, _Group] | None = None


def _largest(
    kinds: Sequence[Kind],
    exceeds: Callable[[Sum, Sequence[Pair], float], bool],
    better: Callable[[Sum, Sequence[Pair], float], float],
) -> float:
    asked = [kind for kind in kinds if kind.pairs and kind.count]
    if not asked:
        return 0.0

    def within(group: _Group, outside: Sum, best: float) -> float:
        if group.halves is None:
            (kind,) = group.kinds
            return better(added(outside, times(kind.whole, kind.count - 1)), kind.pairs, best)
        if not exceeds(outside, group.pairs, best):
            return best
        one, two = group.halves
        return within(two, added(outside, one.whole), within(one, added(outside, two.whole), best))

    others = total([times(kind.whole, kind.count) for kind in kinds if not kind.pairs and kind.count])
    return within(_grouped(asked), others, 0.0)


def _grouped(kinds: Sequence[Kind]) -> _Group:
    if len(kinds) == 1:
        (kind,) = kinds
        return _Group((kind,), times(kind.whole, kind.count), kind.pairs)
    half = len(kinds) // 2
    one, two = _grouped(kinds[:half]), _grouped(kinds[half:])
    pairs = tuple({id(pair): pair for pair in (*one.pairs, *two.pairs)}.values())
    return _Group(tuple(kinds), added(one.whole, two.whole), pairs, (one, two))
