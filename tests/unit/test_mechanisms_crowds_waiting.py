from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from beliefs.checks import Invalid, InvariantBroken
from mechanisms.crowds.attributes import Attributes, Numeric
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.kept import Kept
from mechanisms.crowds.packed import float_bits, float_of, numbered, pack, unpack
from mechanisms.crowds.waiting import Arrival, Tally, Waiting

LINE = Attributes((Numeric(101),))


def held(rule: Rule, slots: int, *arrivals: tuple[object, int, int]) -> Waiting:
    found = Waiting(LINE, rule, slots)
    for seq, (user, cell, value) in enumerate(arrivals):
        found.add(Arrival(seq, 0, user, (cell,), value))  # type: ignore[arg-type]
    return found


def test_numbers_come_back() -> None:
    generator = np.random.default_rng(91)
    numbers = [0, -1, 63, 64, -64, -65, 2**63 - 1, -(2**63), *generator.integers(-(10**9), 10**9, 500).tolist()]
    assert list(unpack(pack(numbers))) == numbers
    assert len(pack(range(-64, 64))) == 128
    for wrong in (b"\x80", pack([5]) + b"\xff\xff"):
        with pytest.raises(Invalid, match="within a number"):
            list(unpack(wrong))
    for long in (pack([2**63]), b"\xff" * 10):
        with pytest.raises(Invalid, match="64 bits"):
            list(unpack(long))
    for number in (0.0, -0.0, 0.1, 1.0, 5e-324):
        again = float_of(float_bits(number))
        assert (again, str(again)) == (number, str(number))
    for bits in (-1, 1 << 64):
        with pytest.raises(Invalid, match="no double"):
            float_of(bits)
    assert numbered(iter([2]), 3) == 2
    for wrong_number in (-1, 3):
        with pytest.raises(Invalid, match="not there"):
            numbered(iter([wrong_number]), 3)


def test_users_are_counted_as_sets_count_them() -> None:
    generator = np.random.default_rng(92)
    tally = None
    for _ in range(1_500):
        values = int(generator.integers(0, 5))
        people = [
            (int(generator.integers(6)), 0, int(generator.integers(values)) if values else -1)
            for _ in range(int(generator.integers(1, 25)))
        ]
        there = held(Rule(2, values), 25, *people)
        tally = Tally(there)
        for _ in range(3):  # what one crowd leaves behind must not count for the next
            crowd = generator.permutation(len(people))[: int(generator.integers(1, len(people) + 1))]
            chosen = [people[slot] for slot in crowd]
            assert tally.of(crowd, crowd.size) == len({user for user, _, _ in chosen})
            if values:
                pairs = Counter(value for _, value in {(user, value) for user, _, value in chosen})
                events = Counter(value for _, _, value in chosen)
                assert tally.seen.people.tolist() == [pairs[value] for value in range(values)]
                assert tally.seen.events.tolist() == [events[value] for value in range(values)]


def test_what_comes_in_is_looked_at() -> None:
    there = held(Rule(2, 2), 4, ("ann", 3, 1))
    for wrong in (Arrival(1, 0, "bob", (101,), 0), Arrival(1, 0, "bob", (3, 3), 0), Arrival(1, 0, "bob", (3,), 2)):
        with pytest.raises(InvariantBroken):
            there.add(wrong)
    with pytest.raises(InvariantBroken, match="sensitive"):
        held(Rule(2, 2), 4, ("ann", 3, -1))
    with pytest.raises(InvariantBroken, match="longer"):
        there.add(Arrival(4, 0, "bob", (3,), 0))
    with pytest.raises(InvariantBroken, match="waited"):
        there.drop(2)
    there.clock(5)
    with pytest.raises(InvariantBroken, match="never falls"):
        there.clock(4)


def test_the_oldest_is_found_across_gaps() -> None:
    there = Waiting(LINE, Rule(2), 10)
    assert there.oldest() == -1
    for seq in (3, 5, 12):
        there.add(Arrival(seq, 0, seq % 2, (0,), -1))
    assert (there.oldest(), there.in_order(), there.distinct, there.count) == (3, [3, 5, 2], 2, 3)
    assert [there.drop(slot) for slot in (3, 2)] == [3, 12]
    assert (there.oldest(), there.distinct, there.count) == (5, 1, 1)
    there.drop(5)
    there.add(Arrival(1 << 40, 0, "new", (0,), -1))
    assert there.oldest() == (1 << 40) % 10


def kept_of(there: Waiting, most: int, *boxes: tuple[int, int]) -> Kept:
    kept, tally = Kept(there, most), Tally(there)
    for low, high in boxes:
        crowd = np.array([slot for slot in there.in_order() if low <= there.cells[slot, 0] <= high])
        kept.keep(np.array([low, high]), (high - low) / 100, tally.of(crowd, crowd.size), tally)
    return kept


def test_the_smallest_box_is_found_and_of_equals_the_newest() -> None:
    there = held(Rule(2), 9, *(("abcdefg"[at], cell, -1) for at, cell in enumerate([10, 20, 21, 30, 31, 40, 90])))
    kept = kept_of(there, 3, (10, 40), (20, 30), (21, 31), (30, 40))  # the first is gone: there is room for three
    found = [kept.find(slot) for slot in range(7)]
    assert [None if place < 0 else kept.reuse(place, slot)[0] for slot, place in enumerate(found)] == [
        None, ((20, 30),), ((21, 31),), ((30, 40),), ((30, 40),), ((30, 40),), None,
    ]  # fmt: skip
    assert kept.find(2, below=0.1) == -1
    again = kept_of(there, 3, (20, 30), (21, 31), (20, 30))
    assert again.count == 2  # the same box is about its newest crowd
    assert again.reuse(again.find(2), 2)[0] == ((20, 30),)


def test_a_box_goes_on_where_it_was() -> None:
    people = [("a", 10, 0), ("b", 20, 1), ("c", 20, 1), ("d", 30, 2), ("d", 20, 0)]
    rule = Rule(2, 3, 2)
    there = held(rule, 9, *people)
    kept = kept_of(there, 4, (10, 30), (10, 20))
    # Two of four have the value 0, two the value 1, and one in the larger box the value 2.
    assert [kept.find(slot) for slot in (0, 1)] == [-1, -1]
    assert kept.reuse(kept.find(3), 3) == (((10, 30),), 0.2, 4)
    assert kept.find(3) == -1
    numbers = list(kept.numbers())
    again = Kept(there, 4)
    again.resume(iter(numbers))
    assert list(again.numbers()) == numbers
    assert [again.find(slot) for slot in range(5)] == [kept.find(slot) for slot in range(5)]
    with pytest.raises(Invalid, match="not there"):
        Kept(there, 1).resume(iter(numbers))
