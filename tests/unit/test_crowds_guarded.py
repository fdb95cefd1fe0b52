"""Whom the guard remembers: as every window of a long life would have it, from what is held alone, which is little."""

from __future__ import annotations

from collections import deque
from random import Random

import numpy as np
import pytest
from aggregate_lives import RING, TOPIC_ID
from hypothesis import given
from hypothesis import strategies as st

from stream.crowds import guarded as guarded_room
from stream.crowds.guard import REMEMBERED, Tags
from stream.crowds.guarded import GuardedPeople
from stream.gathering.sealed import Unsealable
from stream.keys import Epoch, KeyRing

K = 4


def new(ring: KeyRing = RING, partition: int = 0) -> GuardedPeople:
    return GuardedPeople(K, ring, "walkers", TOPIC_ID, partition)


def tags(people: set[int]) -> Tags:
    return np.array(sorted(people), np.uint64)


def kept(held: dict[bytes, bytes], changes: dict[bytes, bytes]) -> dict[bytes, bytes]:
    return {key: record for key, record in (held | changes).items() if record}


@given(st.integers(0, 2**32))
def test_it_remembers_the_last_groups_through_every_restart(seed: int) -> None:
    chance = Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guarded_room, "PIECE_BYTES", chance.choice((8, 24, 1 << 18)))
        guard, held, groups = new(), dict[bytes, bytes](), deque[frozenset[int]](maxlen=REMEMBERED)
        people = set(range(20))
        for window in range(chance.choice((5, 100, 160))):
            if chance.random() < 0.7:
                people ^= {chance.randrange(40) for _ in range(chance.choice((1, 3, 5, 30)))}
            asked = tags(people)
            expected = all(not 0 < len(people ^ each) < K for each in groups)
            assert guard.allows(asked) == expected
            if chance.random() < 0.8:
                guard.remember(window, asked)
                held = kept(held, guard.changes())
                if not groups or groups[-1] != people:
                    groups.append(frozenset(people))
            if chance.random() < 0.2:
                guard = new()
                guard.adopt(held)
        assert len({key.partition(b":")[0] for key in held}) < 2 * REMEMBERED


def test_few_who_change_take_few_bytes() -> None:
    """Of a thousand people ten change in each window: a window adds a hundredth of what the first one took."""
    guard, sizes, people = new(), [], set(range(1_000))
    for window in range(200):
        guard.remember(window, tags(people))
        sizes.append(sum(map(len, guard.changes().values())))
        people = {person + 5 for person in people}
    assert max(sizes[1:64]) < sizes[0] / 40
    assert sum(sizes) < 7 * sizes[0]


def test_a_group_that_comes_again_takes_no_place() -> None:
    guard = new()
    guard.remember(0, tags({1, 2, 3, 4}))
    assert len(guard.changes()) == 1
    guard.remember(1, tags({1, 2, 3, 4}))
    assert guard.changes() == {}


def test_what_is_held_says_nothing_and_belongs_to_one_partition() -> None:
    guard, people = new(), tags({2**60 + 5, 2**61 + 7, 2**62 + 1, 2**63 + 3})
    guard.remember(7, people)
    held = guard.changes()
    assert list(held) == [b"g7:0"]
    assert not any(int(tag).to_bytes(8, "big") in record for record in held.values() for tag in people)
    with pytest.raises(Unsealable, match="seal"):
        new(partition=1).adopt(held)
    other = Epoch(2, "", bytes(range(40, 72)))
    with pytest.raises(Unsealable, match="key epoch 1"):
        new(KeyRing((other,), other)).adopt(held)
    again = new(KeyRing((*RING.epochs, other), other))
    again.adopt(held)
    assert not again.allows(tags({2**60 + 5, 2**61 + 7, 2**62 + 1}))


@pytest.mark.parametrize("change", [lambda record: record[:20], lambda record: b"\x09" + record[1:]])
def test_what_cannot_be_read_is_refused(change: object) -> None:
    guard = new()
    guard.remember(7, tags({1, 2, 3, 4}))
    held = {key: change(record) for key, record in guard.changes().items()}
    with pytest.raises(Unsealable, match="too short, or of another version"):
        new().adopt(held)


def test_a_piece_that_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded_room, "PIECE_BYTES", 16)
    guard = new()
    guard.remember(7, tags({1, 2, 3, 4}))
    held = guard.changes()
    assert len(held) == 2
    with pytest.raises(Unsealable, match="a piece of it is missing"):
        new().adopt({b"g7:1": held[b"g7:1"]})
    guard.remember(8, tags({1, 2, 3, 4, 5}))
    with pytest.raises(Unsealable, match="begins with a difference"):
        new().adopt(guard.changes())
