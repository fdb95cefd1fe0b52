"""Boxes that were let out for a crowd large enough and may be let out again, for one event alone. Proof: flow.md.

Where a rule is about sensitive values, the counts of a box grow with every event that it is used for. Whether its user
was in the crowd already is not known any more (a box would have to remember all its users), so what makes the rule
harder is assumed: one more person has the value, and nobody more is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from beliefs.native import kernel
from mechanisms.contract import Floats, Integers
from mechanisms.crowds.attributes import Box, box_of, holds
from mechanisms.crowds.diversity import EVENTS_MOST, mixed
from mechanisms.crowds.packed import float_bits, float_of, numbered
from mechanisms.crowds.waiting import Tally, Waiting


class Kept:
    """At most `most` boxes, the newest. A box that is let out for another crowd is about that one from then on."""

    def __init__(self, held: Waiting, most: int) -> None:
        ends, values = 2 * len(held.attributes), held.rule.values
        self.held, self.most, self.count = held, most, 0
        self.boxes = np.zeros((most, ends), dtype=np.int64)
        self.losses = np.zeros(most)
        self.users = np.zeros(most, dtype=np.int64)
        self.since = np.full(most, -1, dtype=np.int64)  # the newest event when it was kept
        self.order = np.zeros(most, dtype=np.int64)  # rises with every box that is kept
        self.people, self.events = (np.zeros((most, values), dtype=np.int64) for _ in range(2))
        self._kept = 0

    def keep(self, box: Integers, loss: float, users: int, counts: Tally) -> None:
        """A box that is let out now, with what `counts` has just counted of its crowd."""
        place = self._place_for(box)
        self.boxes[place], self.losses[place], self.users[place] = box, loss, users
        self.since[place], self.order[place] = self.held.newest, self._kept
        self.people[place], self.events[place] = counts.seen.people, counts.seen.events
        self._kept += 1

    def forget(self, before: int) -> None:
        """Drops those kept while the newest event was an older one than `before`."""
        (left,) = np.nonzero(self.since[: self.count] >= before)
        if left.size < self.count:
            for column in self._columns():
                column[: left.size] = column[left]
            self.count = int(left.size)

    def find(self, slot: int, below: float = 2.0) -> int:
        """The place of the box with the least loss, of equals the newest, that an event may leave in; -1 for none.

        Its loss is less than `below`, and the rule holds with this event as well.
        """
        held = self.held
        return find(
            self.boxes, self.losses, self.order, self.count, held.cells, slot, below,
            held.rule.diverse, held.rule.close, self.people, self.users, self.events, held.everybody,
            int(held.sensitive[slot]),
        )  # fmt: skip

    def reuse(self, place: int, slot: int) -> tuple[Box, float, int]:
        """The box, its loss and its crowd's users; the event is counted."""
        if self.held.rule.values:
            value = self.held.sensitive[slot]
            self.people[place, value] += 1
            self.events[place, value] += 1
        return box_of(self.boxes[place]), float(self.losses[place]), int(self.users[place])

    def numbers(self) -> Iterable[int]:
        """Oldest first, so that only the order is told."""
        yield self.count
        for place in np.argsort(self.order[: self.count]):
            yield from (int(end) for end in self.boxes[place])
            yield from (float_bits(float(self.losses[place])), int(self.users[place]))
            yield self.held.newest - int(self.since[place])
            seen = np.flatnonzero(self.events[place])
            yield seen.size
            for value in seen:
                yield from (int(value), int(self.people[place, value]), int(self.events[place, value]))

    def resume(self, numbers: Iterator[int]) -> None:
        self.count = self._kept = numbered(numbers, self.most + 1)
        for place in range(self.count):
            self.boxes[place] = [next(numbers) for _ in range(self.boxes.shape[1])]
            self.losses[place], self.users[place] = float_of(next(numbers)), next(numbers)
            self.since[place], self.order[place] = self.held.newest - next(numbers), place
            for _ in range(next(numbers)):
                value = numbered(numbers, self.held.rule.values)
                self.people[place, value], self.events[place, value] = next(numbers), next(numbers)

    def _place_for(self, box: Integers) -> int:
        same = np.flatnonzero((self.boxes[: self.count] == box).all(axis=1))
        if same.size:
            return int(same[0])
        if self.count == self.most:
            return int(np.argmin(self.order))
        self.count += 1
        return self.count - 1

    def _columns(self) -> tuple[Integers | Floats, ...]:
        return self.boxes, self.losses, self.users, self.since, self.order, self.people, self.events


@kernel
def find(
    boxes: Integers,
    losses: Floats,
    order: Integers,
    count: int,
    cells: Integers,
    slot: int,
    below: float,
    diverse: int,
    close: int,
    people: Integers,
    users: Integers,
    events: Integers,
    everybody: Integers,
    value: int,
) -> int:
    best = -1
    least = below
    for box in range(count):
        if losses[box] > least or not holds(boxes, box, cells, slot):
            continue
        if losses[box] == least and (best < 0 or order[box] < order[best]):
            continue
        if diverse > 1 or close >= 0:
            if events[box].sum() >= EVENTS_MOST - 1:
                continue
            people[box, value] += 1
            events[box, value] += 1
            fits = mixed(diverse, close, people[box], users[box], events[box], everybody)
            people[box, value] -= 1
            events[box, value] -= 1
            if not fits:
                continue
        best, least = box, losses[box]
    return best
