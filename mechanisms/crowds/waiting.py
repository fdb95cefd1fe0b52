"""The events that wait, in arrays that compiled code reads. Proof: flow.md.

An event stands in the slot of its sequence number modulo the number of slots, so a slot says nothing about the past: a
flow that was restored has the same slots. Users are numbered while they wait: only whether two are the same counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from beliefs.checks import Invalid, require
from beliefs.native import kernel, part_of_caller
from mechanisms.contract import Integers
from mechanisms.crowds.attributes import Attributes
from mechanisms.crowds.diversity import EVENTS_MOST, Rule, no_counts


class Arrival(NamedTuple):
    seq: int
    time: int
    user: int | bytes
    cells: tuple[int, ...]
    sensitive: int


class Waiting:
    """What waits; `everybody` counts the sensitive values of all events so far, halved before they are too many."""

    def __init__(self, attributes: Attributes, rule: Rule, slots: int) -> None:
        self.attributes, self.rule, self.slots = attributes, rule, slots
        self.space = attributes.space()
        self.cells = np.zeros((slots, len(attributes)), dtype=np.int64)
        self.seqs = np.full(slots, -1, dtype=np.int64)  # -1: nobody is there
        self.times, self.users, self.sensitive = (np.zeros(slots, dtype=np.int64) for _ in range(3))
        self.everybody = no_counts(rule)
        self.count, self.newest, self.now = 0, -1, 0
        self._oldest = 0  # nothing older waits
        self._events = 0
        self._number: dict[int | bytes, int] = {}
        self._user: list[int | bytes] = [0] * slots
        self._uses = [0] * slots
        self._unused = list(range(slots - 1, -1, -1))

    def clock(self, time: int) -> None:
        require(time >= self.now, "the time of a flow never falls")
        self.now = time

    def add(self, arrival: Arrival) -> int:
        """The slot of one event more; `clock` has its time already."""
        slot = self._put(arrival)
        self._count(arrival.sensitive)
        return slot

    def drop(self, slot: int) -> int:
        """Takes an event out and returns its sequence number."""
        seq = int(self.seqs[slot])
        require(seq >= 0, "what leaves has waited")
        self.seqs[slot] = -1
        self.count -= 1
        number = int(self.users[slot])
        self._uses[number] -= 1
        if not self._uses[number]:
            del self._number[self._user[number]]
            self._unused.append(number)
        return seq

    def oldest(self) -> int:
        """Its slot, or -1."""
        if not self.count:
            return -1
        at = max(self._oldest, self.newest - self.slots + 1)
        while self.seqs[at % self.slots] != at:
            at += 1
        self._oldest = at
        return at % self.slots

    @property
    def distinct(self) -> int:
        """The users who wait."""
        return len(self._number)

    def in_order(self) -> list[int]:
        """The slots of all that wait, oldest first."""
        slots = np.flatnonzero(self.seqs >= 0)
        return [int(slot) for slot in slots[np.argsort(self.seqs[slots])]]

    def numbers(self) -> Iterable[int]:
        return (self.newest, self.now, self._events, self.count, *(int(count) for count in self.everybody))

    def resume(self, numbers: Iterator[int], waiting: Sequence[Arrival]) -> None:
        newest, self.now, self._events, count = [next(numbers) for _ in range(4)]
        if count != len(waiting):
            raise Invalid("state", f"was written while {count} events waited, not {len(waiting)}")
        self.everybody[:] = [next(numbers) for _ in range(self.everybody.size)]
        for arrival in waiting:
            if not max(self.newest, newest - self.slots) < arrival.seq <= newest:
                raise Invalid("state", "was written while other events waited")
            self._put(arrival)
        self.newest = newest

    def _put(self, arrival: Arrival) -> int:
        require(self.attributes.inside(arrival.cells), "the cells of an event are cells of the attributes")
        least = 0 if self.rule.values else -1
        require(least <= arrival.sensitive < max(self.rule.values, 0), "a sensitive value is one of those declared")
        slot = arrival.seq % self.slots
        require(self.seqs[slot] < 0, "nobody waits longer than the delay")
        number = self._number.get(arrival.user)
        if number is None:
            number = self._number[arrival.user] = self._unused.pop()
            self._user[number] = arrival.user
        self._uses[number] += 1
        self.cells[slot] = arrival.cells
        self.seqs[slot], self.times[slot] = arrival.seq, arrival.time
        self.users[slot], self.sensitive[slot] = number, arrival.sensitive
        self.newest = arrival.seq
        self.count += 1
        return slot

    def _count(self, sensitive: int) -> None:
        if sensitive < 0:
            return
        if self._events == EVENTS_MOST:
            self.everybody //= 2
            self._events = int(self.everybody.sum())
        self.everybody[sensitive] += 1
        self._events += 1


class Seen(NamedTuple):
    """Whose events are counted, and what was counted of them."""

    users: Integers
    sensitive: Integers
    last: Integers  # of each user an event with a value that none before it had, or -1
    before: Integers  # the one before it
    people: Integers  # of each value: how many users have it
    events: Integers


class Tally:
    """Counts the users of a crowd and, where there are sensitive values, who of them has which."""

    def __init__(self, held: Waiting) -> None:
        self.held = held
        last, before = np.full(held.slots, -1, dtype=np.int64), np.zeros(held.slots, dtype=np.int64)
        self.seen = Seen(held.users, held.sensitive, last, before, no_counts(held.rule), no_counts(held.rule))

    def of(self, crowd: Integers, count: int) -> int:
        """The distinct users of the first `count` slots; `seen` is about them."""
        return tally(crowd, count, self.seen)

    def allowed(self, crowd: Integers, count: int) -> bool:
        users = self.of(crowd, count)
        return self.held.rule.allows(self.seen.people, users, self.seen.events, self.held.everybody)


@kernel
def tally(crowd: Integers, count: int, seen: Seen) -> int:
    seen.people[:] = 0
    seen.events[:] = 0
    distinct = 0
    for place in range(count):
        distinct += counted(crowd[place], seen)
    forgotten(crowd, count, seen)
    return distinct


@part_of_caller
def counted(slot: int, seen: Seen) -> int:
    """Counts one event more; 1 if its user is new.

    A user's events are chained, one a value: whoever has a value twice is one person with it, and two events.
    """
    user, value = seen.users[slot], seen.sensitive[slot]
    newest = seen.last[user]
    if seen.people.size == 0:
        seen.last[user] = slot
        return int(newest < 0)
    seen.events[value] += 1
    other = newest
    while other >= 0 and seen.sensitive[other] != value:
        other = seen.before[other]
    if other < 0:
        seen.people[value] += 1
        seen.before[slot], seen.last[user] = newest, slot
    return int(newest < 0)


@part_of_caller
def forgotten(crowd: Integers, count: int, seen: Seen) -> None:
    """Makes ready for another crowd; the counts stay."""
    for place in range(count):
        seen.last[seen.users[crowd[place]]] = -1
