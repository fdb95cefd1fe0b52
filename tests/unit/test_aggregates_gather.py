"""The first stage: what counts for which window, when windows close, and that no cut and no crash changes a byte."""

from __future__ import annotations

from random import Random

import pytest
from aggregate_lives import (
    EVERY_KIND,
    MINUTE,
    PEOPLE,
    SECOND,
    SIZES,
    START,
    Life,
    Raw,
    Sent,
    at,
    block_of,
    cut_at_random,
    gather_of,
    promise_of,
    random_stream,
    sums_of,
)
from aggregate_recount import Recount
from hypothesis import given
from hypothesis import strategies as st

from stream.aggregates import partials as partials_room
from stream.errors import StateRefused
from stream.gathering.people import readable_head
from stream.names import DEAD_LETTERED, REPEATED, REPLAYED, TAKEN
from stream.protocol.control import AGGREGATE_KEY
from stream.protocol.inputs import InputBlock


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


def test_a_clock_that_runs_ahead_makes_nobody_else_late() -> None:
    """Its events count in the windows that they name, and close no window before their records' timestamps do."""
    promise = promise_of(PEOPLE)
    life = Life(gather_of(promise))
    life.carry_out(block_of([at(1), at(290, b"ahead", record=2), at(3, b"bob"), at(61, b"bob"), at(400, b"end")]))
    assert life.outcomes() == {TAKEN: 5, REPEATED: 0, REPLAYED: 0, DEAD_LETTERED: 0}
    assert sums_of(promise, life.released) == {0: [2], 1: [1], 2: [0], 3: [0], 4: [1], 5: [0]}


def test_bad_records_keep_their_reasons_beside_untimely_ones() -> None:
    block = InputBlock.of(
        [Raw(0, START, b"ann", b"{"), Raw(1, START, b"ann", at(-5).text), Raw(2, START, None, at(5).text)]
    )
    life = Life(gather_of(promise_of()))
    life.carry_out(block)
    assert [letter["reason"] for letter in life.dead_letters] == ["not_json", "before_start", "user_missing"]


@given(st.integers(0, 2**32), st.integers(1, 60))
def test_cuts_and_restarts_change_no_byte(seed: int, count: int) -> None:
    """The partials are those of the recount, whatever the blocks, with a new worker between two of them or none, with
    closings by the clock, and where so many windows close together that their partials follow one by one.
    """
    chance, promise = Random(seed), promise_of()
    sent = random_stream(chance, count)
    turns = sorted({chance.randrange(count + 1) for _ in range(2)} | {count})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partials_room, "WINDOWS_MAX", chance.choice((1, 2, 4096)))
        whole, cut, recount = Life(gather_of(promise)), Life(gather_of(promise)), Recount(promise)
        begin = 0
        for end in turns:
            part, clock = sent[begin:end], START + chance.randrange(5 * count) * SECOND
            if part:
                whole.carry_out(block_of(part, begin))
            for first, some in cut_at_random(chance, part):
                if chance.random() < 0.4:
                    cut = Life(gather_of(promise), cut.store, cut.effects)
                cut.carry_out(block_of(some, begin + first))
            for each in part:
                recount.see(each)
            whole.close_by_clock(clock)
            cut.close_by_clock(clock)
            recount.close_by_clock(clock)
            begin = end
    assert cut.released == whole.released
    assert cut.store.marks() == whole.store.marks()
    assert dict(cut.store.held()) == dict(whole.store.held())
    assert sums_of(promise, whole.released) == recount.sums()
    reasons = [letter["reason"] for letter in whole.dead_letters]
    assert reasons == [outcome for outcome in recount.outcomes if outcome != "counted"]
    assert cut.outcomes() == whole.outcomes()
    assert whole.outcomes().get(REPEATED, 0) + whole.outcomes().get(TAKEN, 0) == recount.outcomes.count("counted")
    sealed = {record for effects in cut.effects for record in effects.held.values() if record}
    assert len({key_of(record) for record in sealed}) == len(sealed)


def key_of(record: bytes) -> tuple[int, int]:
    head = readable_head(record)
    assert head is not None
    return head.epoch, head.offset


@given(st.integers(0, 2**32))
def test_repeated_blocks_seal_the_same_bytes(seed: int) -> None:
    """An aborted block is prepared again, cut elsewhere: whatever bears the same nonce bears the same text."""
    chance, promise, texts = Random(seed), promise_of(), dict[tuple[int, int], bytes]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partials_room, "WINDOWS_MAX", chance.choice((1, 4096)))
        sent, life, done = random_stream(chance, 40), Life(gather_of(promise)), 0
        while done < len(sent):
            size = chance.choice((1, 3, 9))
            effects = life.pipeline.prepare(block_of(sent[done : done + size], done), life.store)
            for record in filter(None, effects.held.values()):
                assert texts.setdefault(key_of(record), record) == record
            for record in effects.releases:
                nonce = (-1, int.from_bytes((record.value or b"")[18:26], "little"))
                assert texts.setdefault(nonce, record.value or b"") == record.value
            if chance.random() < 0.5:
                life.pipeline.adopt(life.store)  # its transaction failed, and somebody goes on from the store
            else:
                life.commit(effects)
                done += size


def test_a_long_gap_grows_no_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first event comes long after the first window: each event writes one partial, and the clock the rest."""
    monkeypatch.setattr(partials_room, "WINDOWS_MAX", 2)
    promise = promise_of(PEOPLE)
    life = Life(gather_of(promise))
    life.carry_out(block_of([at(1), at(6_000), at(6_001, b"bob"), at(10, b"bob")]))
    assert [len(effects.releases) for effects in life.effects] == [2]
    assert [letter["reason"] for letter in life.dead_letters] == ["late"]
    assert life.pipeline.deadlines.first() == 0
    again = Life(gather_of(promise), life.store, life.effects)
    assert [len(effects.releases) for effects in again.close_by_clock(0)] == [8] * 6
    assert sums_of(promise, again.released) == {0: [1]} | {number: [0] for number in range(1, 99)}
    assert again.pipeline.deadlines.first() == START + (100 * 60 + 15) * SECOND


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


@pytest.mark.parametrize("mark", [b"", b"\x02" + bytes(24), bytes([1]) + bytes(24), bytes([1]) + b"\xff" * 24])
def test_a_mark_that_cannot_be_read_is_refused(mark: bytes) -> None:
    life = Life(gather_of(promise_of()))
    life.store.apply([], *life.store.load([])[:2], 1, {AGGREGATE_KEY: mark})
    with pytest.raises(StateRefused, match="how far windows are closed"):
        life.pipeline.adopt(life.store)
