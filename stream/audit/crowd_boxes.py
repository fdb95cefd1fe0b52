"""Boxes against the people: whether everybody who is said to be in a box may be there, and nobody in two.

A box that was released says how many people it holds, and how many with each sensitive value; not who. People with the
same cells and the same value are alike, so what is asked is whether they can be dealt out: a flow from the people to
the boxes that hold them, each box getting as many as it says. People of one box alone are dealt at once; those whom
several boxes hold go where there is room, and move on where that makes room.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stream.audit.amounts import Integers
from stream.audit.crowd_attributes import Box
from stream.audit.crowd_numbers import alike
from stream.audit.crowd_rules import Asked, Mixed

Cells = tuple[int, ...]


@dataclass(frozen=True)
class Boxed:
    """A released box: how many people or events it holds, and with which sensitive values; `values` is None where
    none are told.
    """

    box: Box
    held: int
    values: Mapping[int, int] | None


def read_box(asked: Asked, told: Any) -> Box | None:
    """None where it is none of these attributes, in their order."""
    if not isinstance(told, dict) or list(told) != [each.name for each in asked.attributes]:
        return None
    ranges = [each.range_in(told[each.name]) for each in asked.attributes]
    return None if None in ranges else tuple(each for each in ranges if each is not None)


def read_counts(mixed: Mixed | None, told: Any, held: int) -> Mapping[int, int] | bool | None:
    """How many have each sensitive value; False where that does not add up, or is told although nobody asks."""
    if mixed is None:
        return None if told is None else False
    if not isinstance(told, list):
        return False
    places = {alike(label): place for place, label in enumerate(mixed.labels)}
    found: dict[int, int] = {}
    for cell in told:
        if not isinstance(cell, dict) or cell.keys() != {"value", "count"} or type(cell["count"]) is not int:
            return False
        place = places.get(alike(cell["value"]))
        if place is None or place in found or cell["count"] < 1:
            return False
        found[place] = cell["count"]
    return found if sum(found.values()) == held and list(found) == sorted(found) else False


def dealt_out(people: Mapping[tuple[Cells, int], int], boxes: Sequence[Boxed]) -> bool:
    """Whether so many people of each kind (cells and sensitive value) can be in the boxes as these say."""
    by_value: dict[int, list[tuple[Cells, int]]] = defaultdict(list)
    for (cells, value), count in people.items():
        by_value[value].append((cells, count))
    told = [boxed for boxed in boxes if boxed.values is not None]
    if len(told) < len(boxes):
        everybody = [pair for pairs in by_value.values() for pair in pairs]
        if not _dealt(everybody, [(boxed.box, boxed.held) for boxed in boxes]):
            return False
    values = {value for boxed in told for value in boxed.values or {}}
    return all(
        _dealt(by_value.get(value, []), [(boxed.box, (boxed.values or {}).get(value, 0)) for boxed in told])
        for value in values
    )


def _dealt(people: Sequence[tuple[Cells, int]], boxes: Sequence[tuple[Box, int]]) -> bool:
    wanted = [held for _, held in boxes]
    left = list(wanted)
    shared: Counter[tuple[int, ...]] = Counter()
    for holders, count in zip(_holders([cells for cells, _ in people], [box for box, _ in boxes]), people, strict=True):
        if len(holders) == 1:
            left[holders[0]] -= min(left[holders[0]], count[1])
        elif holders:
            shared[tuple(holders)] += count[1]
    return _flow(shared, left)


def _holders(people: Sequence[Cells], boxes: Sequence[Box]) -> list[list[int]]:
    """Of each the places of the boxes that hold him."""
    found: list[list[int]] = [[] for _ in people]
    cells = cells_of(people, len(boxes[0]) if boxes else 1)
    for place, box in enumerate(boxes):
        inside = np.ones(len(people), dtype=np.bool_)
        for column, (first, last) in enumerate(box):
            inside &= (cells[:, column] >= first) & (cells[:, column] <= last)
        for person in np.flatnonzero(inside).tolist():
            found[person].append(place)
    return found


def cells_of(people: Sequence[Cells], attributes: int) -> Integers:
    return np.array(people, dtype=np.int64).reshape(len(people), attributes)


def _flow(shared: Mapping[tuple[int, ...], int], left: list[int]) -> bool:
    """Whether those whom several boxes hold fill what is left of all: along paths on which somebody moves on."""
    groups = list(shared)
    free = [shared[group] for group in groups]
    given: list[Counter[int]] = [Counter() for _ in groups]
    of_box: dict[int, list[int]] = defaultdict(list)
    for at, group in enumerate(groups):
        for box in group:
            of_box[box].append(at)
    for box, missing in enumerate(left):
        while missing:
            moved = _path(box, missing, groups, free, given, of_box)
            if not moved:
                return False
            missing -= moved
    return True


def _path(
    box: int,
    missing: int,
    groups: Sequence[tuple[int, ...]],
    free: list[int],
    given: list[Counter[int]],
    of_box: Mapping[int, Sequence[int]],
) -> int:
    """From this box to a group with somebody free, box by box; answers how many have moved along it."""
    came: dict[int, tuple[int, int] | None] = {box: None}
    waiting = [box]
    for here in waiting:
        for at in of_box.get(here, ()):
            if free[at]:
                return _move(here, at, missing, came, free, given)
            for other in groups[at]:
                # Somebody of this group, who is in the other box, comes here, and is missing there.
                if given[at][other] and other not in came:
                    came[other] = (at, here)
                    waiting.append(other)
    return 0


def _move(
    here: int,
    at: int,
    missing: int,
    came: Mapping[int, tuple[int, int] | None],
    free: list[int],
    given: list[Counter[int]],
) -> int:
    steps, box = [], here
    while (step := came[box]) is not None:
        steps.append((box, *step))
        box = step[1]
    moved = min([missing, free[at], *(given[group][there] for there, group, _ in steps)])
    free[at] -= moved
    given[at][here] += moved
    for there, group, then in steps:
        given[group][there] -= moved
        given[group][then] += moved
    return moved


def in_order(boxes: Sequence[Box]) -> bool:
    """By their ranges, attribute by attribute."""
    keys = [tuple(end for side in box for end in side) for box in boxes]
    return keys == sorted(keys)
