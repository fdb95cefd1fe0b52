"""Mondrian: a window's people, cut at medians into ever smaller boxes while all parts are crowds. Proof: mondrian.md.

The boxes depend on which cells and values there are and how often, and on nothing else: no order of arrival, no user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beliefs.checks import require
from beliefs.native import kernel, part_of_caller
from mechanisms.contract import Integers
from mechanisms.crowds.attributes import Attributes, Box, Space, around, box_of, covered, share
from mechanisms.crowds.diversity import EVENTS_MOST, Rule, mixed, no_counts
from mechanisms.crowds.flow import Reason


@dataclass(frozen=True)
class Crowds:
    """Rows by crowd, ascending; crowds in the order of their boxes. `suppressed` rows are in none, for one `reason`."""

    groups: list[Integers]
    boxes: list[Box]
    losses: list[float]
    suppressed: Integers
    reason: Reason | None


class Cutting(NamedTuple):
    values: Integers  # the sensitive ones, if there is a rule about them
    everybody: Integers  # how often each is there
    rows: Integers  # the people, those of a part beside each other
    scratch: Integers
    label: Integers
    todo: Integers  # a stack of parts: first and behind the last
    parts: Integers  # where the parts of a cut begin, and behind the last
    ends: Integers  # crowds that are done: where they begin, and behind the last
    tried: Integers  # of each attribute
    counts: Integers  # of each sensitive value, in a part
    below: Integers  # of each node, in a part


def mondrian(attributes: Attributes, cells: Integers, sensitive: Integers | None, rule: Rule) -> Crowds:
    """Every row is one user: his cells and his sensitive value."""
    count = cells.shape[0]
    everybody = no_counts(rule)
    values = np.zeros(0, dtype=np.int64)
    require(count <= EVENTS_MOST or not rule.about_values, f"a rule about values compares at most {EVENTS_MOST} people")
    require((sensitive is not None) == (rule.values > 0), "sensitive values come with a rule that counts them")
    if sensitive is not None:
        values = np.ascontiguousarray(sensitive, dtype=np.int64)
        everybody[:] = np.bincount(values, minlength=rule.values)
    cells = np.ascontiguousarray(cells, dtype=np.int64)
    rows = np.arange(count)
    if count < rule.k:
        return Crowds([], [], [], rows, "too_few" if count else None)
    if not rule.allows(everybody, count, everybody, everybody):
        return Crowds([], [], [], rows, "not_diverse")
    space = attributes.space()
    scratch, label = np.zeros((2, count), dtype=np.int64)
    todo, parts, ends = np.zeros((3, count + 2), dtype=np.int64)
    tried, below = np.zeros(len(attributes), dtype=np.int64), np.zeros(space.nodes.shape[0], dtype=np.int64)
    work = Cutting(values, everybody, rows, scratch, label, todo, parts, ends, tried, no_counts(rule), below)
    done = cut(space, cells, rule.k, rule.diverse, rule.close, work)
    return _in_order(space, cells, work, done, rule)


def _in_order(space: Space, cells: Integers, work: Cutting, done: int, rule: Rule) -> Crowds:
    boxes = np.zeros((done, 2 * space.spans.size), dtype=np.int64)
    groups = [np.sort(work.rows[work.ends[each] : work.ends[each + 1]]) for each in range(done)]
    losses = [around(space, cells, group, group.size, boxes, each) for each, group in enumerate(groups)]
    order = [int(each) for each in np.lexsort(boxes.T[::-1])]
    kept = [each for each in order if losses[each] <= rule.loss_most]
    lost = [groups[each] for each in order if losses[each] > rule.loss_most]
    return Crowds(
        [groups[each] for each in kept],
        [box_of(boxes[each]) for each in kept],
        [losses[each] for each in kept],
        np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *lost])),
        "loss" if lost else None,
    )


@kernel
def cut(space: Space, cells: Integers, k: int, diverse: int, close: int, work: Cutting) -> int:
    """Cuts as long as it may; returns the number of crowds. Parts lie in `rows` one behind the other."""
    done = 0
    work.ends[0] = 0
    # Only ends are remembered: what is on top begins where the last crowd ended.
    work.todo[0] = cells.shape[0]
    open_parts = 1
    while open_parts > 0:
        first, last = work.ends[done], work.todo[open_parts - 1]
        parts = _cut_once(space, cells, k, diverse, close, first, last, work)
        if parts == 0:
            open_parts -= 1
            done += 1
            work.ends[done] = last
            continue
        for part in range(parts - 1):
            work.todo[open_parts] = work.parts[parts - 1 - part]
            open_parts += 1
    return done


@kernel
def _cut_once(
    space: Space, cells: Integers, k: int, diverse: int, close: int, first: int, last: int, work: Cutting
) -> int:
    """The widest attribute first, of equals the first; the number of parts of the first cut that may be, or 0."""
    work.tried[:] = 0
    if last - first < 2 * k:
        return 0
    for _ in range(space.spans.size):
        widest = _widest(space, cells, first, last, work)
        if widest < 0:
            return 0
        work.tried[widest] = 1
        ways = 2 if space.leaves[widest] < 0 else 1
        for way in range(ways):
            if ways == 2:
                parts = _label_sides(cells, widest, way, first, last, work)
            else:
                parts = _label_children(space, cells, widest, first, last, work)
            if parts < 2 or _fewest(parts, work) < k:
                continue
            _rearrange(first, last, parts, work)
            if _all_mixed(diverse, close, parts, work):
                return parts
    return 0


@part_of_caller
def _widest(space: Space, cells: Integers, first: int, last: int, work: Cutting) -> int:
    """Of the attributes not tried yet the one whose cover of the part is widest; -1 if all are one cell."""
    best = -1
    most = 0.0
    for attribute in range(space.spans.size):
        if work.tried[attribute]:
            continue
        low, high = _ends(cells, attribute, first, last, work)
        wide = share(space, attribute, low, high)
        if wide > most:
            best, most = attribute, wide
    return best


@kernel
def _ends(cells: Integers, attribute: int, first: int, last: int, work: Cutting) -> tuple[int, int]:
    low = high = cells[work.rows[first], attribute]
    for place in range(first + 1, last):
        cell = cells[work.rows[place], attribute]
        low, high = min(low, cell), max(high, cell)
    return low, high


@kernel
def _label_sides(cells: Integers, attribute: int, way: int, first: int, last: int, work: Cutting) -> int:
    """Divides a number at its median m: either up to m or below m, the evener of both the first way.

    m is the smallest cell that at least half have or are below. Cuts elsewhere are less even than these two.
    """
    low, high = _ends(cells, attribute, first, last, work)
    half = (last - first + 1) // 2
    while low < high:
        middle = (low + high) // 2
        count = 0
        for place in range(first, last):
            count += cells[work.rows[place], attribute] <= middle
        if count >= half:
            high = middle
        else:
            low = middle + 1
    below = upto = 0
    for place in range(first, last):
        cell = cells[work.rows[place], attribute]
        below += cell < low
        upto += cell <= low
    beyond = last - first - upto
    if (below > beyond) != (way == 1):  # the lesser side of the one cut has `below`, of the other `beyond`
        low -= 1
        upto = below
    for place in range(first, last):
        work.label[place] = cells[work.rows[place], attribute] > low
    work.parts[0], work.parts[1], work.parts[2] = first, first + upto, last
    return 2


@kernel
def _label_children(space: Space, cells: Integers, attribute: int, first: int, last: int, work: Cutting) -> int:
    """Divides a hierarchy into what lies below the lowest node above all; returns how many children somebody has."""
    low, high = _ends(cells, attribute, first, last, work)
    low, high = covered(space, attribute, low, high)
    least, most = space.nodes.shape[0], -1
    for place in range(first, last):
        row = space.leaves[attribute] + cells[work.rows[place], attribute]
        above = space.nodes[row, 2]
        while space.nodes[above, 0] > low or space.nodes[above, 1] < high:
            row, above = above, space.nodes[above, 2]
        work.label[place] = row
        work.below[row] += 1
        least, most = min(least, row), max(most, row)
    parts = 0
    work.parts[0] = first
    for row in range(least, most + 1):
        if work.below[row]:
            work.parts[parts + 1] = work.parts[parts] + work.below[row]
            work.below[row] = parts
            parts += 1
    for place in range(first, last):
        work.label[place] = work.below[work.label[place]]
    work.below[least : most + 1] = 0
    return parts


@part_of_caller
def _fewest(parts: int, work: Cutting) -> int:
    fewest = int(work.parts[parts])
    for part in range(parts):
        fewest = min(fewest, int(work.parts[part + 1] - work.parts[part]))
    return fewest


@kernel
def _rearrange(first: int, last: int, parts: int, work: Cutting) -> None:
    """Puts the people of each part beside each other."""
    for place in range(first, last):
        part = work.label[place]
        work.scratch[work.parts[part]] = work.rows[place]
        work.parts[part] += 1
    for part in range(parts - 1, 0, -1):
        work.parts[part] = work.parts[part - 1]
    work.parts[0] = first
    for place in range(first, last):
        work.rows[place] = work.scratch[place]


@part_of_caller
def _all_mixed(diverse: int, close: int, parts: int, work: Cutting) -> bool:
    if diverse <= 1 and close < 0:
        return True
    for part in range(parts):
        work.counts[:] = 0
        for place in range(work.parts[part], work.parts[part + 1]):
            work.counts[work.values[work.rows[place]]] += 1
        users = work.parts[part + 1] - work.parts[part]
        if not mixed(diverse, close, work.counts, users, work.counts, work.everybody):
            return False
    return True
