"""Mondrian in plain Python: every cut is tried on lists, every box made anew."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from mechanisms.crowds.attributes import Attributes, Box, Numeric, Tree
from mechanisms.crowds.diversity import Rule

Person = tuple[tuple[int, ...], int]
"""Cells and the sensitive value."""


def smallest_box(attributes: Attributes, people: list[Person]) -> Box:
    found = []
    for place, each in enumerate(attributes.each):
        low, high = (end(cells[place] for cells, _ in people) for end in (min, max))
        if isinstance(each, Tree):
            low, high = min(
                ((node.low, node.high) for node in each.nodes if node.low <= low and high <= node.high),
                key=lambda ends: ends[1] - ends[0],
            )
        found.append((low, high))
    return tuple(found)


def shares(attributes: Attributes, box: Box) -> list[Fraction]:
    return [
        Fraction(high - low, max(1, each.cells - 1)) for each, (low, high) in zip(attributes.each, box, strict=True)
    ]


def allowed(rule: Rule, part: list[Person], everybody: list[Person]) -> bool:
    here, there = (Counter(value for _, value in people) for people in (part, everybody))
    apart = sum(abs(Fraction(here[v], len(part)) - Fraction(there[v], len(everybody))) for v in there) / 2
    return (
        len(part) >= rule.k
        and (rule.diverse == 1 or max(here.values()) * rule.diverse <= len(part))
        and (rule.close < 0 or apart <= Fraction(rule.close, 1_000_000))
    )


def cuts(attributes: Attributes, place: int, part: list[Person]) -> list[list[list[Person]]]:
    """The ways to cut an attribute, the one to be tried first in front."""
    each, (low, high) = attributes.each[place], smallest_box(attributes, part)[place]
    if isinstance(each, Numeric):
        median = sorted(cells[place] for cells, _ in part)[(len(part) - 1) // 2]
        ways = [
            [[one for one in part if one[0][place] <= end], [one for one in part if one[0][place] > end]]
            for end in (median, median - 1)
        ]
        return sorted(ways, key=lambda sides: -min(map(len, sides)))
    top = next(at for at, node in enumerate(each.nodes) if (node.low, node.high) == (low, high))
    children = [node for at, node in enumerate(each.nodes) if node.parent == top and at != top]
    sides = [[one for one in part if child.low <= one[0][place] <= child.high] for child in children]
    return [[side for side in sides if side]]


def first_cut(
    attributes: Attributes, rule: Rule, part: list[Person], everybody: list[Person]
) -> list[list[Person]] | None:
    width = shares(attributes, smallest_box(attributes, part))
    for place in sorted(range(len(attributes)), key=lambda at: -width[at]):
        if not width[place]:
            continue
        for sides in cuts(attributes, place, part):
            if len(sides) > 1 and all(side and allowed(rule, side, everybody) for side in sides):
                return sides
    return None


def plain_mondrian(attributes: Attributes, people: list[Person], rule: Rule) -> list[tuple[Box, list[Person]]]:
    """Boxes in order with who is in them; nobody where all together are no crowd."""
    if not people or not allowed(rule, people, people):
        return []
    todo, done = [people], []
    while todo:
        part = todo.pop()
        sides = first_cut(attributes, rule, part, people)
        if sides is None:
            done.append((smallest_box(attributes, part), sorted(part)))
        else:
            todo += sides
    return sorted(done)
