"""A crowd of many divided into crowds of the nearest k users each. Proof: castle.md."""

from __future__ import annotations

import numpy as np

from beliefs.checks import require
from beliefs.native import kernel, part_of_caller
from mechanisms.contract import Floats, Integers
from mechanisms.crowds.attributes import Space, around, gap, loss_joined, loss_with, widen
from mechanisms.crowds.waiting import Tally, Waiting


class Division:
    """Its scratch; nothing outlives a call."""

    def __init__(self, held: Waiting, tally: Tally) -> None:
        k = held.rule.k
        groups = held.slots // k + 1
        self.held, self._tally = held, tally
        self._boxes = np.zeros((groups, 2 * len(held.attributes)), dtype=np.int64)
        self._losses = np.zeros(groups)
        self._label, self._left, self._events = (np.zeros(held.slots, dtype=np.int64) for _ in range(3))
        self._near, self._apart = np.zeros(k, dtype=np.int64), np.zeros(k)

    def of(self, crowd: Integers, users: int) -> list[Integers]:
        """The crowd, its slots oldest first, in groups that the rule allows where it allows the crowd itself."""
        held = self.held
        k = held.rule.k
        if users < 2 * k:
            return [crowd]
        count = divide(
            held.space, held.cells, held.users, crowd, users, k,
            self._label, self._left, self._events, self._near, self._apart, self._boxes, self._losses,
        )  # fmt: skip
        groups = [crowd[self._label[: crowd.size] == group] for group in range(count)]
        return self._mended(groups) if held.rule.about_values else groups

    def _mended(self, groups: list[Integers]) -> list[Integers]:
        """A group that the rule forbids is joined with the nearest, until it is allowed: all together they are."""
        space, cells = self.held.space, self.held.cells
        there = np.ones(len(groups), dtype=np.int64)
        for group in range(len(groups)):
            while there[group] and not self._tally.allowed(groups[group], groups[group].size):
                other = nearest(space, self._boxes, there, group)
                require(other >= 0, "only a crowd that the rule allows is divided")
                there[other] = 0
                groups[group] = np.concatenate([groups[group], groups[other]])
                around(space, cells, groups[group], groups[group].size, self._boxes, group)
        return [group for group, left in zip(groups, there, strict=True) if left]


@kernel
def divide(
    space: Space,
    cells: Integers,
    users: Integers,
    crowd: Integers,
    distinct: int,
    k: int,
    label: Integers,
    left: Integers,
    events: Integers,
    near: Integers,
    apart: Floats,
    boxes: Integers,
    losses: Floats,
) -> int:
    """Labels each of the crowd with its group; returns how many there are.

    As long as k users are left: of all events left the one farthest from the oldest is a seed; to it come the nearest
    events of the k - 1 other users that are nearest; of equally near ones the older. Then each that is left joins the
    group that it enlarges least.
    """
    count = crowd.size
    for each in range(count):
        left[each] = each
        label[each] = -1
        events[users[crowd[each]]] = 0
    for each in range(count):
        events[users[crowd[each]]] += 1
    groups = 0
    while distinct >= k:
        seed = 0
        far = -1.0
        for each in range(count):
            away = gap(space, cells, crowd[left[0]], crowd[left[each]])
            if away > far:
                seed, far = each, away
        _nearest_users(space, cells, users, crowd, left, count, crowd[left[seed]], k, near, apart)
        for one in range(k):
            label[near[one]] = groups
            near[one] = crowd[near[one]]
            user = users[near[one]]
            events[user] -= 1
            if events[user] == 0:
                distinct -= 1
        losses[groups] = around(space, cells, near, k, boxes, groups)
        kept = 0
        for each in range(count):
            if label[left[each]] < 0:
                left[kept] = left[each]
                kept += 1
        count = kept
        groups += 1
    for each in range(count):
        label[left[each]] = _join_best(space, cells, crowd[left[each]], groups, boxes, losses)
    return groups


@part_of_caller
def _join_best(space: Space, cells: Integers, slot: int, groups: int, boxes: Integers, losses: Floats) -> int:
    """The group that one more enlarges least, of several the first, once it is enlarged."""
    best = 0
    least = 2.0
    for group in range(groups):
        more = loss_with(space, boxes, group, cells, slot) - losses[group]
        if more < least:
            best, least = group, more
    widen(space, boxes, best, cells, slot)
    losses[best] = loss_joined(space, boxes, best, best)
    return best


@part_of_caller
def _nearest_users(
    space: Space,
    cells: Integers,
    users: Integers,
    crowd: Integers,
    left: Integers,
    count: int,
    seed: int,
    k: int,
    near: Integers,
    apart: Floats,
) -> None:
    """Writes into `near` the places in the crowd of the events nearest to the seed, one of each of k users."""
    filled = 0
    for each in range(count):
        slot = crowd[left[each]]
        here = gap(space, cells, seed, slot)
        if filled == k and here >= apart[k - 1]:
            continue
        same = 0
        while same < filled and users[crowd[near[same]]] != users[slot]:
            same += 1
        if same < filled and apart[same] <= here:
            continue
        # From the end, or from where the user stood before, all that are farther move on by one.
        at = min(same, k - 1)
        filled = max(filled, at + 1)
        while at > 0 and apart[at - 1] > here:
            near[at], apart[at] = near[at - 1], apart[at - 1]
            at -= 1
        near[at], apart[at] = left[each], here


@kernel
def nearest(space: Space, boxes: Integers, there: Integers, group: int) -> int:
    """Of the other groups that are there the one whose box with this one's loses least; -1 if there is none."""
    best = -1
    least = 2.0
    for other in range(there.size):
        if there[other] and other != group:
            loss = loss_joined(space, boxes, group, other)
            if loss < least:
                best, least = other, loss
    return best
