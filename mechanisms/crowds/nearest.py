"""Crowds of who is due and of the users nearest to him; FADS and SKY differ in what near means. Proof: fads.md."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator

import numpy as np

from beliefs.checks import require
from beliefs.native import kernel, part_of_caller
from mechanisms.contract import Floats, Integers
from mechanisms.crowds.attributes import box_of
from mechanisms.crowds.diversity import mixed
from mechanisms.crowds.flow import Emitted, FlowForm, Grouper, Reason
from mechanisms.crowds.kept import Kept
from mechanisms.crowds.waiting import Tally

RECENT = 4
"""A box is let out again while fewer than so many times `events` newer ones were taken."""

KEPT_MOST = 2048
NO_CROWD = 2.0
"""More than every loss: any box that is kept is better."""


class NearestGrouper(Grouper):
    """Who is due takes the k - 1 users nearest to him along, or leaves alone, in a box of late that loses less."""

    def __init__(self, form: FlowForm) -> None:
        super().__init__(form)
        held, rule = self.held, form.rule
        # Each of them has taken k events, none of them older than `events` before the oldest box.
        most = (RECENT + 1) * form.events // rule.k + 1
        self.kept = Kept(held, min(most, KEPT_MOST))
        self.gaps = np.zeros(held.slots)
        self.crowd = np.zeros(held.slots, dtype=np.int64)
        self.box = np.zeros((1, 2 * len(held.attributes)), dtype=np.int64)
        self.counts = Tally(held)
        self._people = np.zeros(rule.values, dtype=np.int64)
        self._heap = np.zeros(held.slots, dtype=np.int64)
        self._first = np.full(held.slots, -1, dtype=np.int64)

    @abstractmethod
    def _measure(self, slot: int) -> None:
        """Writes into `gaps` how far everybody who waits is from this one."""

    @abstractmethod
    def _enclose(self, count: int) -> float:
        """Writes into `box` what the first `count` of `crowd` leave in, the first of them being due; its loss."""

    def _leave(self, slot: int) -> list[Emitted]:
        self._forget()
        self._measure(slot)
        count, reason = self._gather(slot)
        loss = NO_CROWD
        if reason is None:
            loss = self._enclose(count)
            if loss > self.form.rule.loss_most:
                loss, reason = NO_CROWD, "loss"
        place = self.kept.find(slot, loss)
        if place >= 0:
            return [self._again(place, slot)]
        if reason is not None:
            return [Emitted((self.held.drop(slot),), 1, None, 1.0, False, reason)]
        return [self._together(count, loss)]

    def _forget(self) -> None:
        self.kept.forget(self.held.newest - RECENT * self.form.events + 1)

    def _gather(self, slot: int) -> tuple[int, Reason | None]:
        held, rule = self.held, self.form.rule
        count, allowed = gather(
            slot, rule.k, rule.diverse, rule.close, held.seqs, held.users, held.sensitive, self.gaps,
            held.everybody, self._people, self._first, self._heap, self.crowd,
        )  # fmt: skip
        if count < rule.k:
            return count, "too_few"
        return count, None if allowed else "not_diverse"

    def _again(self, place: int, slot: int) -> Emitted:
        box, loss, users = self.kept.reuse(place, slot)
        return Emitted((self.held.drop(slot),), users, box, loss, True, None)

    def _together(self, count: int, loss: float) -> Emitted:
        """The first `count` of `crowd` leave in `box`, which is kept."""
        users = self.counts.of(self.crowd, count)
        require(users >= self.form.rule.k, "a crowd has k users")
        self.kept.keep(self.box[0], loss, users, self.counts)
        seqs = sorted(self.held.drop(int(slot)) for slot in self.crowd[:count])
        return Emitted(tuple(seqs), users, box_of(self.box[0]), loss, False, None)

    def _numbers(self) -> Iterable[int]:
        return self.kept.numbers()

    def _resume(self, numbers: Iterator[int]) -> None:
        self.kept.resume(numbers)


@kernel
def gather(
    slot: int,
    k: int,
    diverse: int,
    close: int,
    seqs: Integers,
    users: Integers,
    sensitive: Integers,
    gaps: Floats,
    everybody: Integers,
    people: Integers,
    first: Integers,
    heap: Integers,
    crowd: Integers,
) -> tuple[int, bool]:
    """How many leave with `slot`, itself included, and whether the rule lets them.

    Others come nearest first, of equals the oldest, one event a user. Where k of them are not mixed enough, whoever has
    a value of which there is too much already is passed over; where that ends badly, all begins anew with as many of
    one value as can be.
    """
    ruled = diverse > 1 or close >= 0
    others = _nearest_of_users(slot, seqs, users, gaps, first, heap)
    left = others
    _alone(slot, ruled, sensitive, people, crowd)
    count = 1
    while left > 0 and (ruled or count < k):
        # Whoever was taken from the heap stands behind it: the nearest last.
        left -= 1
        other, heap[0] = heap[0], heap[left]
        heap[left] = other
        _sift(heap, 0, left, gaps, seqs)
        if ruled and count >= k and _too_much(sensitive[other], count, diverse, close, people, everybody):
            continue
        crowd[count] = other
        count += 1
        if not ruled:
            continue
        people[sensitive[other]] += 1
        if count >= k and mixed(diverse, close, people, count, people, everybody):
            return count, True
    if not ruled or count < k or diverse == 1:
        return count, count >= k and not ruled
    most = _most_of_one(slot, others, k, diverse, sensitive, people, heap)
    _alone(slot, ruled, sensitive, people, crowd)
    count = 1
    for place in range(others - 1, -1, -1):
        other = heap[place]
        if people[sensitive[other]] >= most:
            continue
        people[sensitive[other]] += 1
        crowd[count] = other
        count += 1
        if count >= k and mixed(diverse, close, people, count, people, everybody):
            return count, True
    return max(count, k), False


@part_of_caller
def _alone(slot: int, ruled: bool, sensitive: Integers, people: Integers, crowd: Integers) -> None:
    crowd[0] = slot
    people[:] = 0
    if ruled:
        people[sensitive[slot]] = 1


@part_of_caller
def _most_of_one(
    slot: int, others: int, k: int, diverse: int, sensitive: Integers, people: Integers, heap: Integers
) -> int:
    """The largest m for which a crowd can be made of all with at most m of each value; 0 if there is none.

    Sum of min(people, m) are there then; that must be k or more, and `diverse` times m.
    """
    people[:] = 0
    people[sensitive[slot]] = 1
    for place in range(others):
        people[sensitive[heap[place]]] += 1
    for most in range((others + 1) // diverse, 0, -1):
        there = 0
        for value in range(people.size):
            there += min(people[value], most)
        if there >= k and there >= diverse * most:
            return most
    return 0


@part_of_caller
def _nearest_of_users(slot: int, seqs: Integers, users: Integers, gaps: Floats, first: Integers, heap: Integers) -> int:
    """The nearest event of every other user, as a heap; their number. `first` is -1 everywhere before and after."""
    count = 0
    for other in range(seqs.size):
        user = users[other]
        if seqs[other] < 0 or user == users[slot]:
            continue
        place = first[user]
        if place < 0:
            first[user] = count
            heap[count] = other
            count += 1
        elif _before(other, heap[place], gaps, seqs):
            heap[place] = other
    for place in range(count):
        first[users[heap[place]]] = -1
    for place in range(count // 2 - 1, -1, -1):
        _sift(heap, place, count, gaps, seqs)
    return count


@part_of_caller
def _sift(heap: Integers, place: int, count: int, gaps: Floats, seqs: Integers) -> None:
    moved = heap[place]
    while 2 * place + 1 < count:
        child = 2 * place + 1
        if child + 1 < count and _before(heap[child + 1], heap[child], gaps, seqs):
            child += 1
        if not _before(heap[child], moved, gaps, seqs):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = moved


@part_of_caller
def _before(one: int, two: int, gaps: Floats, seqs: Integers) -> bool:
    return bool(gaps[one] < gaps[two] or (gaps[one] == gaps[two] and seqs[one] < seqs[two]))


@part_of_caller
def _too_much(value: int, count: int, diverse: int, close: int, people: Integers, everybody: Integers) -> bool:
    """One more with the most frequent value breaks m l <= n further; one with more than its share takes laws apart."""
    most = total = 0
    for each in range(people.size):
        most = max(most, people[each])
        total += everybody[each]
    if diverse > 1 and people[value] == most:
        return True
    return bool(close >= 0 and people[value] * total > everybody[value] * count)
