"""The first stage: what counts for which window, when windows close, and that no cut and no crash changes a byte."""

from __future__ import annotations

from random import Random

import pytest
from aggregate_lives import (
    EVERY_KIND,
    MINUTE,
    PEOPLE,
    RING,
    SECOND,
    SIZES,
    START,
    SUMMED,
    TOPIC_ID,
    Life,
    Raw,
    Recount,
    Sent,
    block_of,
    cut_at_random,
    gather_of,
    promise_of,
    random_stream,
    sums_of,
)
from hypothesis import given
from hypothesis import strategies as st

from stream.aggregates import partials as partials_room
from stream.aggregates import people as people_room
from stream.aggregates.people import readable_head
from stream.errors import StateRefused
from stream.keys import Epoch, KeyRing, Pseudonyms
from stream.names import DEAD_LETTERED, REPEATED, REPLAYED, TAKEN
from stream.protocol.control import AGGREGATE_KEY
from stream.protocol.inputs import InputBlock


def at(seconds: float, user: bytes = b"ann", value: float = 1.0, job: str = "a", record: float | None = None) -> Sent:
    """An event so long after the first window's start."""
    time = START + round(seconds * SECOND)
    return Sent(user, time, value, job, time if record is None else START + round(record * SECOND))


def cells(queries: tuple[str, ...], row: list[int]) -> dict[str, list[int]]:
    found, start = {}, 0
    for query in queries:
        name = query.partition(":")[0]
        found[name] = row[start : start + SIZES[name]]
        start += SIZES[name]
    return found


def counted(*sent: Sent, queries: tuple[str, ...] = EVERY_KIND) -> dict[str, list[int]]:
    """The cells of the first window after these events."""
    promise = promise_of(*queries)
    life = Life(gather_of(promise))
    life.carry_out(block_of([*sent, at(1000, b"end")]))
    return cells(queries, sums_of(promise, life.released)[0])


def test_every_take_goes_by_its_own_rule() -> None:
    """First by time is 2.0, last is -1.0, and of equal times the one that stands first in the topic stays."""
    found = counted(
        at(20, value=4.0, job="b"), at(5, value=2.0, job="a"), at(30, value=-1.0, job="c"), at(30, value=8.0, job="b")
    )
    assert found == {
        "people": [1],
        "first": [4],
        "last": [-2 - 6, 1],
        "largest": [16],
        "smallest": [2],
        "summed": [8 + 4 - 2],
        "job": [1, 0, 0],
        "top": [0, 0, 1],
    }


def test_a_sum_takes_so_many_events_and_is_clipped_like_one_value() -> None:
    many = [at(second, value=3.0) for second in range(1, 6)]
    assert counted(*many)["summed"] == [16]
    assert counted(*(event._replace(value=1.0) for event in many))["summed"] == [6]
    assert counted(at(1, value=-2), at(2, value=-2), at(3, value=5))["summed"] == [2]


def test_repeated_events_change_nothing() -> None:
    once = [at(3, value=1.5, job="b"), at(9, value=2.5, job="c")]
    assert counted(*once) == counted(*once, *once, once[0])
    life = Life(gather_of(promise_of()))
    life.carry_out(block_of([*once, *once]))
    assert life.outcomes() == {TAKEN: 2, REPEATED: 2, REPLAYED: 0, DEAD_LETTERED: 0}


def test_users_count_in_each_of_their_windows() -> None:
    promise = promise_of(PEOPLE)
    life = Life(gather_of(promise))
    life.carry_out(block_of([at(59), at(61), at(62, b"bob"), at(58, b"bob"), at(500, b"end")]))
    assert sums_of(promise, life.released) == {number: [count] for number, count in enumerate([2, 2, 0, 0, 0, 0, 0, 0])}


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (at(-1), "before_start"),
        (at(301, record=0), "time_ahead"),
        (at(59.999, record=200), "late"),
    ],
)
def test_untimely_events_are_dead_letters(sent: Sent, reason: str) -> None:
    life = Life(gather_of(promise_of()))
    life.carry_out(block_of([at(70), sent]))
    assert [letter["reason"] for letter in life.dead_letters] == [reason]
    assert life.dead_letters[0] == {
        "reason": reason,
        "path": "$.t",
        "topic": "walkers.raw",
        "partition": 0,
        "offset": 1,
    }
    assert life.outcomes() == {TAKEN: 1, REPEATED: 0, REPLAYED: 0, DEAD_LETTERED: 1}


def test_events_on_the_edges_count() -> None:
    life = Life(gather_of(promise_of()))
    life.carry_out(block_of([at(0), at(69.999), at(1), at(300, record=0)]))
    assert life.outcomes()[TAKEN] == 4
    life.carry_out(block_of([at(300), at(299, b"bob")], 4))
    assert [letter["offset"] for letter in life.dead_letters] == []
    assert life.pipeline._closed == START + 4 * MINUTE


def test_bad_records_keep_their_reasons_beside_untimely_ones() -> None:
    block = InputBlock.of(
        [Raw(0, START, b"ann", b"{"), Raw(1, START, b"ann", at(-5).text), Raw(2, START, None, at(5).text)]
    )
    life = Life(gather_of(promise_of()))
    life.carry_out(block)
    assert [letter["reason"] for letter in life.dead_letters] == ["not_json", "before_start", "user_missing"]


@given(st.integers(0, 2**32), st.integers(1, 60))
def test_cuts_and_restarts_change_no_byte(seed: int, count: int) -> None:
    """The partials are those of the recount, whatever the blocks, with a new worker between two of them or none."""
    chance, promise = Random(seed), promise_of()
    sent = random_stream(chance, count)
    whole = Life(gather_of(promise))
    whole.carry_out(block_of(sent))
    cut, sealed = Life(gather_of(promise)), set()
    for first, some in cut_at_random(chance, sent):
        if chance.random() < 0.4:
            cut = Life(gather_of(promise), cut.store, cut.effects)
        effects = cut.carry_out(block_of(some, first))
        sealed |= set(effects.held.values())
    recount = Recount(promise)
    for each in sent:
        recount.see(each)
    assert cut.released == whole.released
    assert cut.store.marks() == whole.store.marks()
    assert dict(cut.store.held()) == dict(whole.store.held())
    assert sums_of(promise, whole.released) == recount.sums()
    reasons = [letter["reason"] for letter in whole.dead_letters]
    assert reasons == [outcome for outcome in recount.outcomes if outcome != "counted"]
    assert cut.outcomes() == whole.outcomes()
    assert whole.outcomes()[REPEATED] + whole.outcomes()[TAKEN] == recount.outcomes.count("counted")
    nonces = [(key_of(record), record) for record in sealed if record]
    assert len({nonce for nonce, _ in nonces}) == len(nonces)


def key_of(record: bytes) -> tuple[int, int]:
    head = readable_head(record)
    assert head is not None
    return head.epoch, head.offset


@given(st.integers(0, 2**32))
def test_repeated_blocks_seal_the_same_bytes(seed: int) -> None:
    """An aborted block is prepared again, cut elsewhere: whatever bears the same nonce bears the same text."""
    chance, promise, texts = Random(seed), promise_of(), dict[tuple[int, int], bytes]()
    sent, life, at_ = random_stream(chance, 40), Life(gather_of(promise)), 0
    while at_ < len(sent):
        size = chance.choice((1, 3, 9))
        effects = life.pipeline.prepare(block_of(sent[at_ : at_ + size], at_), life.store)
        for record in filter(None, effects.held.values()):
            assert texts.setdefault(key_of(record), record) == record
        for record in effects.releases:
            nonce = (-1, int.from_bytes((record.value or b"")[18:26], "little"))
            assert texts.setdefault(nonce, record.value or b"") == record.value
        if chance.random() < 0.5:
            life.pipeline.adopt(life.store)  # its transaction failed, and somebody goes on from the store
        else:
            life.commit(effects)
            at_ += size


def test_a_silent_partition_closes_by_the_clock_and_empty_windows_count() -> None:
    promise = promise_of(PEOPLE)
    life = Life(gather_of(promise))
    assert life.pipeline.deadlines.first() == START + 75 * SECOND
    life.carry_out(block_of([at(1), at(2, b"bob")]))
    assert life.close_by_clock(START + 75 * SECOND - 1) == []
    life.close_by_clock(START + 200 * SECOND)
    assert life.pipeline.deadlines.first() == START + (4 * 60 + 15) * SECOND
    assert sums_of(promise, life.released) == {0: [2], 1: [0], 2: [0]}
    assert list(life.store.held()) == []
    life.carry_out(block_of([at(179, record=200), at(180, record=200)], 2))
    assert [letter["reason"] for letter in life.dead_letters] == ["late"]


def test_the_clock_closes_a_long_gap_in_pieces_and_goes_on_after_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partials_room, "WINDOWS_MAX", 3)
    promise = promise_of(PEOPLE)
    straight, broken = Life(gather_of(promise)), Life(gather_of(promise))
    clock = START + 100 * MINUTE + 15 * SECOND
    assert [len(effects.releases) for effects in straight.close_by_clock(clock)] == [8, 8, 8, 8, 2]
    effects = broken.pipeline.prepare_overdue(broken.store, clock)
    broken.commit(effects)
    broken.pipeline.prepare_overdue(broken.store, clock)  # never commits
    again = Life(gather_of(promise), broken.store, broken.effects)
    again.close_by_clock(clock)
    assert again.released == straight.released
    assert sums_of(promise, again.released) == {number: [0] for number in range(100)}


def test_users_are_over_with_their_last_window() -> None:
    promise = promise_of(PEOPLE)
    life = Life(gather_of(promise))
    life.carry_out(block_of([at(1), at(2, b"bob"), at(65, b"bob")]))
    assert len(life.pipeline._people) == 2
    effects = life.carry_out(block_of([at(71, b"cy")], 3))
    gone = Pseudonyms(RING, promise.pipeline).of(b"ann")
    assert effects.held[gone] == b""
    assert {record.key: record.value for record in effects.changelog}[b"h" + gone] is None
    assert len(life.pipeline._people) == len(dict(life.store.held())) == 2
    back = life.carry_out(block_of([at(75)], 4))
    assert set(back.held) == {gone}
    assert back.held[gone]
    assert len(life.pipeline._people) == 3


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
    assert len(Life(gather_of(promise_of(PEOPLE, ring=both)), life.store).pipeline._people) == 1


@pytest.mark.parametrize("mark", [b"", b"\x02" + bytes(16), bytes([1]) + bytes(16), bytes([1]) + b"\xff" * 16])
def test_a_mark_that_cannot_be_read_is_refused(mark: bytes) -> None:
    life = Life(gather_of(promise_of()))
    life.store.apply([], *life.store.load([])[:2], 1, {AGGREGATE_KEY: mark})
    with pytest.raises(StateRefused, match="how far windows are closed"):
        life.pipeline.adopt(life.store)


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
