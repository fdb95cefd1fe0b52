"""The open clusters of CASTLE, in arrays. Proof: castle.md.

The box of a cluster is the smallest around its events, so which event is in which cluster says all there is to say.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.native import kernel, part_of_caller
from mechanisms.contract import Floats, Integers
from mechanisms.crowds.attributes import Space, covered, loss_joined, loss_with, point, widen
from mechanisms.crowds.diversity import mixed
from mechanisms.crowds.waiting import Seen, Tally, Waiting, counted, forgotten


class Open(NamedTuple):
    """One row a cluster, and one more of `boxes` for what is only tried."""

    boxes: Integers
    losses: Floats
    sizes: Integers  # users; 0: this one is not open
    order: Integers  # rises with every cluster that is opened; behind the last, how many were
    events: Integers  # of each user, who are numbered as in Waiting
    home: Integers  # slot -> its cluster


class Clusters:
    def __init__(self, held: Waiting, tally: Tally, most: int) -> None:
        self.held, self.most, self._tally = held, most, tally
        self.rows = Open(
            np.zeros((most + 1, 2 * len(held.attributes)), dtype=np.int64),
            np.zeros(most),
            np.zeros(most, dtype=np.int64),
            np.zeros(most + 1, dtype=np.int64),
            np.zeros((most, held.slots), dtype=np.int64),
            np.zeros(held.slots, dtype=np.int64),
        )
        self._listed = np.zeros(held.slots, dtype=np.int64)
        self._chosen = np.zeros(most, dtype=np.int64)

    def join(self, slot: int, tau: float) -> None:
        join(self.held.space, self.rows, self.held.cells, self.held.users, slot, tau)

    def put(self, slot: int, cluster: int) -> None:
        """As it was in a flow whose clusters had these numbers by age."""
        enter(self.held.space, self.rows, self.held.cells, self.held.users, slot, cluster)
        self.rows.order[cluster] = cluster
        self.rows.order[-1] = max(self.rows.order[-1], cluster + 1)

    def crowd_around(self, slot: int, merges: int) -> Integers | None:
        """The event's cluster, merged as often as it takes with the one that enlarges it least: all of them, oldest
        first, as soon as the rule allows them. None if it does not after so many."""
        held, rule = self.held, self.held.rule
        found = gather(
            held.space, self.rows, held.seqs, slot, merges, rule.k, rule.diverse, rule.close, held.everybody,
            self._tally.seen, self._chosen, self._listed,
        )  # fmt: skip
        if not found:
            return None
        count = list_slots(held.seqs, (held.newest + 1) % held.slots, self.rows.home, self._chosen, self._listed)
        return self._listed[:count].copy()

    @property
    def merged(self) -> int:
        """How many others the crowd that was found last took in."""
        return int(self._chosen.sum()) - 1

    def take_out(self, slots: Integers) -> None:
        """They are in `held` still."""
        held = self.held
        take_out(held.space, self.rows, held.cells, held.users, held.seqs, slots)

    def ranks(self) -> list[int]:
        """Of all that wait, oldest first, the cluster: numbered by age."""
        there = np.flatnonzero(self.rows.sizes)
        rank = np.zeros(self.most, dtype=np.int64)
        rank[there[np.argsort(self.rows.order[there])]] = np.arange(there.size)
        return [int(rank[self.rows.home[slot]]) for slot in self.held.in_order()]


@kernel
def join(space: Space, rows: Open, cells: Integers, users: Integers, slot: int, tau: float) -> None:
    """Of the clusters enlarged least one that loses at most tau; else a new one where there is room; else any of them.

    Of several that with the fewest users, of these the oldest.
    """
    best = free = -1
    least = 2.0
    small = False
    for cluster in range(rows.sizes.size):
        if rows.sizes[cluster] == 0:
            if free < 0:
                free = cluster
            continue
        loss = loss_with(space, rows.boxes, cluster, cells, slot)
        more = loss - rows.losses[cluster]
        better = more < least
        if more == least:
            if (loss <= tau) != small:
                better = loss <= tau
            elif rows.sizes[cluster] != rows.sizes[best]:
                better = rows.sizes[cluster] < rows.sizes[best]
            else:
                better = rows.order[cluster] < rows.order[best]
        if better:
            best, least, small = cluster, more, loss <= tau
    if free >= 0 and not small:
        best = free
        rows.order[best] = rows.order[-1]
        rows.order[-1] += 1
    enter(space, rows, cells, users, slot, best)


@kernel
def enter(space: Space, rows: Open, cells: Integers, users: Integers, slot: int, cluster: int) -> None:
    _place(space, rows, cells, slot, cluster, rows.sizes[cluster] == 0)
    if rows.events[cluster, users[slot]] == 0:
        rows.sizes[cluster] += 1
    rows.events[cluster, users[slot]] += 1
    rows.home[slot] = cluster


@part_of_caller
def _place(space: Space, rows: Open, cells: Integers, slot: int, cluster: int, first: bool) -> None:
    if first:
        point(rows.boxes, cluster, cells, slot)
    else:
        widen(space, rows.boxes, cluster, cells, slot)
    rows.losses[cluster] = loss_joined(space, rows.boxes, cluster, cluster)


@kernel
def gather(
    space: Space,
    rows: Open,
    seqs: Integers,
    slot: int,
    merges: int,
    k: int,
    diverse: int,
    close: int,
    everybody: Integers,
    seen: Seen,
    chosen: Integers,
    listed: Integers,
) -> bool:
    """Whether the rule allows the chosen clusters, after at most so many merges."""
    trial, cluster = rows.sizes.size, rows.home[slot]
    for end in range(rows.boxes.shape[1]):
        rows.boxes[trial, end] = rows.boxes[cluster, end]
    chosen[:] = 0
    seen.people[:] = 0
    seen.events[:] = 0
    count = distinct = 0
    allowed = False
    while cluster >= 0 and not allowed:
        chosen[cluster] = 1
        for each in range(seqs.size):
            if seqs[each] >= 0 and rows.home[each] == cluster:
                listed[count] = each
                count += 1
                distinct += counted(each, seen)
        allowed = distinct >= k
        if diverse > 1 or close >= 0:
            allowed = allowed and mixed(diverse, close, seen.people, distinct, seen.events, everybody)
        cluster = -1
        if not allowed and merges > 0:
            merges -= 1
            cluster = _add_nearest(space, rows, chosen)
    forgotten(listed, count, seen)
    return allowed


@part_of_caller
def _add_nearest(space: Space, rows: Open, chosen: Integers) -> int:
    """Widens the tried box by the cluster that enlarges it least, of several the oldest; -1 if there is none."""
    trial = rows.sizes.size
    best = -1
    least = 2.0
    for cluster in range(trial):
        if rows.sizes[cluster] == 0 or chosen[cluster]:
            continue
        loss = loss_joined(space, rows.boxes, trial, cluster)
        if loss < least or (loss == least and rows.order[cluster] < rows.order[best]):
            best, least = cluster, loss
    if best < 0:
        return -1
    for attribute in range(space.spans.size):
        low = min(rows.boxes[trial, 2 * attribute], rows.boxes[best, 2 * attribute])
        high = max(rows.boxes[trial, 2 * attribute + 1], rows.boxes[best, 2 * attribute + 1])
        low, high = covered(space, attribute, low, high)
        rows.boxes[trial, 2 * attribute], rows.boxes[trial, 2 * attribute + 1] = low, high
    return best


@kernel
def list_slots(seqs: Integers, first: int, home: Integers, chosen: Integers, listed: Integers) -> int:
    """The slots of the chosen clusters; `first` is where the oldest may stand."""
    count = 0
    for step in range(seqs.size):
        slot = (first + step) % seqs.size
        if seqs[slot] >= 0 and chosen[home[slot]]:
            listed[count] = slot
            count += 1
    return count


@kernel
def take_out(space: Space, rows: Open, cells: Integers, users: Integers, seqs: Integers, slots: Integers) -> None:
    """Clusters that lose some of their events shrink to what is left; who is out has home -1."""
    for place in range(slots.size):
        slot = slots[place]
        cluster, user = rows.home[slot], users[slot]
        rows.events[cluster, user] -= 1
        if rows.events[cluster, user] == 0:
            rows.sizes[cluster] -= 1
        rows.home[slot] = -1 - cluster
    for place in range(slots.size):
        cluster = -1 - rows.home[slots[place]]
        rows.home[slots[place]] = -1
        if rows.sizes[cluster] > 0 and rows.losses[cluster] >= 0.0:
            rows.losses[cluster] = -1.0  # shrunk below, once
    for cluster in range(rows.sizes.size):
        if rows.sizes[cluster] > 0 and rows.losses[cluster] < 0.0:
            first = True
            for slot in range(seqs.size):
                if seqs[slot] >= 0 and rows.home[slot] == cluster:
                    _place(space, rows, cells, slot, cluster, first)
                    first = False
