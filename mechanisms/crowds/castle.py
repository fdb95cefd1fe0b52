"""CASTLE: an event joins the open cluster that it enlarges least, and at its delay the cluster goes out. Proof: castle.md.

Random choices of the published algorithm are replaced by fixed ones, by age in the end; castle.md says which.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from beliefs.native import kernel
from mechanisms.contract import Floats, Integers
from mechanisms.crowds.attributes import Space, around, box_of, gap, loss_joined, loss_with
from mechanisms.crowds.flow import Emitted, FlowForm, Grouper, Reason
from mechanisms.crowds.kept import Kept, float_bits, float_of
from mechanisms.crowds.waiting import Tally

CLUSTERS = 50
"""The published beta: how many clusters are open at most."""
RECENT = 100
"""The published mu: of how many crowds let out last the threshold tau is the mean loss."""
KEPT = 64


class Castle(Grouper):
    NAME = "castle"

    def __init__(self, form: FlowForm, clusters: int = CLUSTERS, recent: int = RECENT, kept: int = KEPT) -> None:
        super().__init__(form)
        held, ends = self.held, 2 * len(form.attributes)
        self.kept, self._tally = Kept(held, kept), Tally(held)
        self.tau = 0.0
        self._recent: deque[float] = deque(maxlen=recent)
        self._cluster = np.zeros(held.slots, dtype=np.int64)
        self._members: list[list[int]] = [[] for _ in range(clusters)]
        self._people: list[dict[int, int]] = [{} for _ in range(clusters)]  # how many events of each user
        # One row more for what is only tried.
        self._boxes = np.zeros((clusters + 1, ends), dtype=np.int64)
        self._losses = np.zeros(clusters + 1)
        self._sizes = np.zeros(clusters, dtype=np.int64)  # users; 0: not open
        self._order = np.zeros(clusters, dtype=np.int64)
        self._opened = 0
        self._some = np.zeros(held.slots, dtype=np.int64)
        self._gaps = np.zeros(held.slots)

    def _join(self, slot: int) -> list[Emitted]:
        held = self.held
        chosen = choose(held.space, self._boxes, self._losses, self._sizes, self._order, held.cells, slot, self.tau)
        if chosen < 0:
            chosen = -1 - chosen
            self._order[chosen] = self._opened
            self._opened += 1
        self._enter(chosen, slot)
        return []

    def _enter(self, cluster: int, slot: int) -> None:
        members, people = self._members[cluster], self._people[cluster]
        members.append(slot)
        user = int(self.held.users[slot])
        people[user] = people.get(user, 0) + 1
        self._sizes[cluster] = len(people)
        self._cluster[slot] = cluster
        self._fit(cluster)

    def _fit(self, cluster: int) -> None:
        self._losses[cluster] = self._around(self._members[cluster], cluster)

    def _around(self, slots: list[int], row: int) -> float:
        """The loss of their box, which is written into the row."""
        self._some[: len(slots)] = slots
        return around(self.held.space, self.held.cells, self._some, len(slots), self._boxes, row)

    def _leave(self, slot: int) -> list[Emitted]:
        home = int(self._cluster[slot])
        crowd = list(self._members[home])
        if not self._allowed(crowd, len(self._people[home])):
            place = self.kept.find(slot)
            if place >= 0:
                box, loss, users = self.kept.reuse(place, slot)
                return [Emitted((self._take_out([slot])), users, box, loss, True, None)]
            reason = self._gather(home, crowd)
            if reason is not None:
                return [self._keep_back(slot, reason)]
        return self._let_out(slot, sorted(crowd, key=lambda each: int(self.held.seqs[each])))

    def _allowed(self, crowd: list[int], users: int) -> bool:
        if users < self.form.rule.k:
            return False
        if not self.form.rule.about_values:
            return True
        self._some[: len(crowd)] = crowd
        return self._tally.allowed(self._some, len(crowd))

    def _gather(self, home: int, crowd: list[int]) -> Reason | None:
        """Adds to the crowd the cluster that enlarges it least, one after the other, until it may go out."""
        trial, people = self._sizes.size, set(self._people[home])
        self._boxes[trial] = self._boxes[home]
        left = self._sizes.copy()
        left[home] = 0
        while not self._allowed(crowd, len(people)):
            nearest = nearest_of(self.held.space, self._boxes, left, self._order, trial)
            if nearest < 0:
                return "too_few" if len(people) < self.form.rule.k else "not_diverse"
            left[nearest] = 0
            crowd += self._members[nearest]
            people.update(self._people[nearest])
            self._around(crowd, trial)
        return None

    def _let_out(self, slot: int, crowd: list[int]) -> list[Emitted]:
        found = []
        trial = self._sizes.size
        for group in self._divided(crowd):
            loss = self._around(group, trial)
            if loss > self.form.rule.loss_most:
                if slot in group:
                    found.append(self._keep_back(slot, "loss"))
                continue
            users = self._tally.of(self._some, len(group))
            self._recent.append(loss)
            self.tau = sum(self._recent) / len(self._recent)
            if loss < self.tau:
                self.kept.keep(self._boxes[trial], loss, users, self._tally)
            box = box_of(self._boxes[trial])
            found.append(Emitted(self._take_out(group), users, box, loss, False, None))
        return found

    def _keep_back(self, slot: int, reason: Reason) -> Emitted:
        return Emitted(self._take_out([slot]), 1, None, 1.0, False, reason)

    def _take_out(self, slots: list[int]) -> tuple[int, ...]:
        """Out of their clusters and of what waits; the sequence numbers, ascending."""
        gone = set(slots)
        for cluster in {int(self._cluster[slot]) for slot in slots}:
            members, people = self._members[cluster], self._people[cluster]
            left = [slot for slot in members if slot not in gone]
            self._members[cluster] = left
            people.clear()
            for slot in left:
                user = int(self.held.users[slot])
                people[user] = people.get(user, 0) + 1
            self._sizes[cluster] = len(people)
            if left:
                self._fit(cluster)
        return tuple(sorted(self.held.drop(slot) for slot in slots))

    def _divided(self, crowd: list[int]) -> list[list[int]]:
        """Crowds of the nearest k users each, as long as there are k; who is left joins the one enlarged least."""
        k, users = self.form.rule.k, self.held.users
        left, groups = crowd, []
        there = [int(users[slot]) for slot in left]
        if len(set(there)) < 2 * k:
            return [crowd]
        while len(set(there)) >= k:
            self._some[: len(left)] = left
            gaps(self.held.space, self.held.cells, self._some, len(left), self._gaps)
            near, seen = [], set()
            for place in np.argsort(self._gaps[: len(left)], kind="stable").tolist():
                if there[place] not in seen:
                    seen.add(there[place])
                    near.append(place)
                    if len(seen) == k:
                        break
            groups.append([left[place] for place in near])
            inside = set(near)
            left = [slot for place, slot in enumerate(left) if place not in inside]
            there = [int(users[slot]) for slot in left]
        return self._mended(self._with_rest(groups, left))

    def _with_rest(self, groups: list[list[int]], rest: list[int]) -> list[list[int]]:
        boxes = np.zeros((len(groups), self._boxes.shape[1]), dtype=np.int64)
        losses = np.zeros(len(groups))
        for place, group in enumerate(groups):
            self._some[: len(group)] = group
            losses[place] = around(self.held.space, self.held.cells, self._some, len(group), boxes, place)
        for slot in rest:
            place = enlarged_least(self.held.space, boxes, losses, self.held.cells, slot)
            groups[place].append(slot)
            self._some[: len(groups[place])] = groups[place]
            losses[place] = around(
                self.held.space, self.held.cells, self._some, len(groups[place]), boxes, place
            )
        return groups

    def _mended(self, groups: list[list[int]]) -> list[list[int]]:
        """Joins groups that the rule forbids with the nearest one; all of them together it allows."""
        if not self.form.rule.about_values:
            return groups
        while True:
            bad = next((group for group in groups if not self._allowed(group, self.form.rule.k)), None)
            if bad is None or len(groups) == 1:
                return groups
            others = [group for group in groups if group is not bad]
            trial = self._sizes.size

            def enlarged(other: list[int], bad: list[int] = bad) -> float:
                return self._around(bad + other, trial) - self._around(other, trial)

            nearest = min(others, key=enlarged)
            nearest += bad
            groups = others

    def _numbers(self) -> Iterable[int]:
        yield len(self._recent)
        yield from (float_bits(loss) for loss in self._recent)
        ranks = {int(cluster): rank for rank, cluster in enumerate(self._in_order())}
        yield from (ranks[int(self._cluster[slot])] for slot in self.held.in_order())
        yield from self.kept.numbers()

    def _resume(self, numbers: Iterator[int]) -> None:
        self._recent.extend(float_of(next(numbers)) for _ in range(next(numbers)))
        self.tau = sum(self._recent) / len(self._recent) if self._recent else 0.0
        self._order[:] = np.arange(self._order.size)
        self._opened = self._order.size
        for slot in self.held.in_order():
            self._enter(next(numbers), slot)
        self.kept.resume(numbers)

    def _in_order(self) -> list[int]:
        there = np.flatnonzero(self._sizes)
        return [int(each) for each in there[np.argsort(self._order[there])]]


@kernel
def choose(
    space: Space,
    boxes: Integers,
    losses: Floats,
    sizes: Integers,
    order: Integers,
    cells: Integers,
    slot: int,
    tau: float,
) -> int:
    """The cluster to join, or -1 - c for a new one in place c.

    Of those enlarged least one that loses at most tau; else a new one where there is room; else any enlarged least.
    Of several that with the fewest users, of these the oldest.
    """
    best = free = -1
    least = 2.0
    kind = 0
    for cluster in range(sizes.size):
        if sizes[cluster] == 0:
            if free < 0:
                free = cluster
            continue
        loss = loss_with(space, boxes, cluster, cells, slot)
        more = loss - losses[cluster]
        small = 1 if loss <= tau else 0
        better = more < least
        if more == least and best >= 0:
            if small != kind:
                better = small > kind
            elif sizes[cluster] != sizes[best]:
                better = sizes[cluster] < sizes[best]
            else:
                better = order[cluster] < order[best]
        if better:
            best, least, kind = cluster, more, small
    if free >= 0 and kind == 0:
        return -1 - free
    return best


@kernel
def nearest_of(space: Space, boxes: Integers, sizes: Integers, order: Integers, trial: int) -> int:
    """The open cluster whose joining makes the box `trial` lose least; of several the oldest; -1 if none is open."""
    best = -1
    least = 2.0
    for cluster in range(sizes.size):
        if sizes[cluster] == 0:
            continue
        loss = loss_joined(space, boxes, trial, cluster)
        if loss < least or (loss == least and order[cluster] < order[best]):
            best, least = cluster, loss
    return best


@kernel
def gaps(space: Space, cells: Integers, some: Integers, count: int, found: Floats) -> None:
    """How far each is from the first."""
    for place in range(count):
        found[place] = gap(space, cells, some[0], some[place])


@kernel
def enlarged_least(space: Space, boxes: Integers, losses: Floats, cells: Integers, slot: int) -> int:
    best = 0
    least = 2.0
    for group in range(losses.size):
        more = loss_with(space, boxes, group, cells, slot) - losses[group]
        if more < least:
            best, least = group, more
    return best
