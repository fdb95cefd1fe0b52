"""Users of the first stage as they stand in the store: sealed, under pseudonyms, and over with their last window."""

from __future__ import annotations

import pytest
from aggregate_lives import (
    MINUTE,
    PEOPLE,
    RING,
    SUMMED,
    TOPIC_ID,
    Life,
    at,
    block_of,
    gather_of,
    promise_of,
    sums_of,
)

from stream.errors import StateRefused
from stream.gathering import people as people_room
from stream.keys import Epoch, KeyRing, Pseudonyms
from stream.names import DEAD_LETTERED, REPEATED, REPLAYED, TAKEN


def held_of(life: Life) -> dict[bytes, bytes]:
    return dict(life.store.held())


def test_users_are_over_with_their_last_window() -> None:
    promise = promise_of(PEOPLE)
    life = Life(gather_of(promise))
    life.carry_out(block_of([at(1), at(2, b"bob"), at(65, b"bob")]))
    assert len(held_of(life)) == 2
    effects = life.carry_out(block_of([at(71, b"cy")], 3))
    gone = Pseudonyms(RING, promise.pipeline).of(b"ann")
    assert effects.held[gone] == b""
    assert {record.key: record.value for record in effects.changelog}[b"h" + gone] is None
    assert len(held_of(life)) == 2
    back = life.carry_out(block_of([at(75)], 4))
    assert set(back.held) == {gone}
    assert back.held[gone]
    assert len(held_of(life)) == 3


def test_a_user_who_is_over_and_comes_back_in_one_block_is_held() -> None:
    life = Life(gather_of(promise_of(PEOPLE)))
    life.carry_out(block_of([at(1), at(80, b"bob"), at(81)]))
    assert sorted(life.offsets_held().values()) == [1, 2]


def test_no_name_and_no_value_stands_in_the_store() -> None:
    life = Life(gather_of(promise_of()))
    effects = life.carry_out(block_of([at(1, b"somebody@example.org", 7.5), at(100, b"another", 0.25)]))
    texts = [text for record in (*effects.changelog, *effects.releases) for text in (record.key, record.value) if text]
    assert len(texts) > 3
    assert not any(b"somebody" in text or b"another" in text for text in texts)


def test_a_record_of_a_user_holds_so_much_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people_room, "HELD_BYTES_MAX", 3 * 8 * (2 + 3))
    life = Life(gather_of(promise_of(PEOPLE, lateness=2 * MINUTE)))
    life.carry_out(block_of([at(60 * number, record=0) for number in range(5)]))
    assert [letter["reason"] for letter in life.dead_letters] == ["too_large"] * 2
    life.carry_out(block_of([at(200, b"bob"), at(180), at(61), at(245)], 5))
    assert life.outcomes() == {TAKEN: 3 + 3, REPEATED: 0, REPLAYED: 0, DEAD_LETTERED: 2 + 1}


def test_what_cannot_be_read_keeps_its_user_out_until_the_windows_close() -> None:
    promise = promise_of(PEOPLE)
    life = Life(gather_of(promise))
    life.carry_out(block_of([at(1), at(2, b"bob")]))
    key = Pseudonyms(RING, promise.pipeline).of(b"ann")
    broken = bytearray(dict(life.store.held())[key])
    broken[-1] ^= 1
    life.store._held[key] = bytes(broken)
    life = Life(gather_of(promise), life.store)
    life.carry_out(block_of([at(3), at(4, b"bob"), at(71, b"bob"), at(72)], 2))
    assert [letter["reason"] for letter in life.dead_letters] == ["state_unreadable"]
    assert sums_of(promise, life.released) == {0: [1]}
    assert sorted(life.offsets_held().values()) == [4, 5]


def test_a_missing_key_epoch_is_refused() -> None:
    life = Life(gather_of(promise_of(PEOPLE)))
    life.carry_out(block_of([at(1)]))
    other = Epoch(2, "", bytes(range(40, 72)))
    with pytest.raises(StateRefused, match="cannot be opened"):
        Life(gather_of(promise_of(PEOPLE, ring=KeyRing((other,), other))), life.store)
    both = KeyRing((*RING.epochs, other), other)
    again = Life(gather_of(promise_of(PEOPLE, ring=both)), life.store)
    again.carry_out(block_of([at(2), at(100, b"bob")], 1))
    assert sums_of(promise_of(PEOPLE, ring=both), again.released) == {0: [1]}


def test_a_replayed_event_is_counted_and_changes_nothing() -> None:
    life = Life(gather_of(promise_of(SUMMED)))
    life.carry_out(block_of([at(1, value=2.0), at(2, value=2.0)]))
    held = dict(life.store.held())
    life.carry_out(block_of([at(2, value=2.0)], 1))
    assert life.outcomes()[REPLAYED] == 1
    assert dict(life.store.held()) == held


def test_partitions_and_topics_do_not_share_a_seal() -> None:
    promise = promise_of(PEOPLE)
    block = block_of([at(1), at(100, b"bob")])
    here, there = (Life(gather_of(promise, partition)).carry_out(block) for partition in (0, 1))
    assert set(here.held) == set(there.held)
    assert set(here.held.values()) & set(there.held.values()) == {b""}
    assert TOPIC_ID.hex() not in str([record.value for record in here.releases])
