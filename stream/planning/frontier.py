"""Which points no other beats, which one is chosen, and how near the others come."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from mechanisms.registry import MECHANISMS
from stream.planning.points import Point
from stream.planning.target import Target, gap, gaps, shown_by

RULE: Final = (
    "of the points that meet the target: the least that is promised for a day; of equals the most that is kept "
    "(the lower end of its interval), then the least delay, the stronger promise, the smaller epsilon"
)
RULE_BY_LEAKAGE: Final = (
    "of the points that meet the target: the most that is kept (the end of its interval that is worse); of equals the "
    "least that is promised for a day, then the least delay, the stronger promise, the smaller epsilon"
)


class Nearest(NamedTuple):
    """The part that is nearest to being met: what is asked, the best that is there with the other parts kept as they
    are (or with none of them, where these cannot be kept together), and the point that gives it.
    """

    name: str
    wanted: float
    best: float
    point: Point
    others_kept: bool


def strength(point: Point) -> int:
    """Promises are of kinds: to every reader (2), to readers who know the model (1), to nobody (0)."""
    mechanism = MECHANISMS[point.candidate.mechanism]
    if mechanism.holds_epsilon:
        return 2 if mechanism.row_epsilons <= 1 else 1
    return 1 if mechanism.row_epsilons < math.inf else 0


def dominates(one: Point, other: Point, by_distance: bool) -> bool:
    """Whether one is at least as good in everything and better in something: what is kept, the delay, what is promised
    for a day at the assumed rate, what a budget promises whatever the rate, and the kind of promise.
    """
    mine, others = _worths(one, by_distance), _worths(other, by_distance)
    return all(a >= b for a, b in zip(mine, others, strict=True)) and mine != others


def _worths(point: Point, by_distance: bool) -> tuple[float, ...]:
    kept = -(point.distance or 0.0) if by_distance else point.agreement
    return kept, -point.delay_ms, -point.worst_per_day, -point.kept_per_day, float(strength(point))


def frontier(points: Sequence[Point], by_distance: bool) -> list[Point]:
    """The points that no other dominates, in their order."""
    return [point for point in points if not any(dominates(other, point, by_distance) for other in points)]


def rule_of(target: Target) -> str:
    return RULE if asks_for_values(target) else RULE_BY_LEAKAGE


def asks_for_values(target: Target) -> bool:
    return target.agreement is not None or target.distance is not None


def choose(points: Sequence[Point], target: Target, by_distance: bool) -> Point | None:
    """The best point for the target by the rule; nothing where none meets it, or where nothing is asked."""
    if not target.asked:
        return None
    meeting = [point for point in points if not gaps(point, target)]

    def order(point: Point) -> tuple[object, ...]:
        kept = shown_by(point, "distance") if by_distance else -shown_by(point, "agreement")
        first = (point.worst_per_day, kept) if asks_for_values(target) else (kept, point.worst_per_day)
        return *first, point.delay_ms, -strength(point), point.candidate.epsilon, _name(point)

    return min(meeting, key=order, default=None)


def nearest(points: Sequence[Point], target: Target) -> Nearest:
    """The part of a target that nothing meets of which least is missing, as a share of what is asked."""
    found = []
    for name, wanted in target.asked.items():
        others = {part: amount for part, amount in target.asked.items() if part != name}
        kept = [point for point in points if all(gap(point, part, amount) == 0 for part, amount in others.items())]
        if kept:
            best = min(kept, key=lambda point: (gap(point, name, wanted), point.worst_per_day, _name(point)))
            found.append((gap(best, name, wanted), Nearest(name, wanted, shown_by(best, name), best, True)))
    if not found:
        for point in points:
            missing = gaps(point, target)
            name = min(missing, key=lambda part: missing[part])
            told = Nearest(name, target.asked[name], shown_by(point, name), point, False)
            found.append((sum(missing.values()), told))
    return min(found, key=lambda each: (each[0], each[1].name, _name(each[1].point)))[1]


def _name(point: Point) -> tuple[object, ...]:
    mine = point.candidate
    return mine.mechanism, mine.epsilon, mine.order, mine.events, mine.nats, mine.length or 0
