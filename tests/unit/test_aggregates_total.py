"""The second stage: every window once, in order, with the sums of all partitions and noise that is its own."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pytest
from aggregate_lives import (
    EVERY_KIND,
    MINUTE,
    PEOPLE,
    RING,
    START,
    TOPIC_ID,
    Life,
    Sent,
    block_of,
    block_of_partials,
    empty,
    gather_of,
    promise_of,
    random_stream,
    told,
    total_of,
    without_noise,
)
from aggregate_recount import Recount
from hypothesis import given
from hypothesis import strategies as st

from beliefs.rounding import UNITS_PER_NAT
from stream.aggregates.promise import AggregatePromise
from stream.aggregates.standing import decode_losses, encode_losses, mark_bytes_max
from stream.errors import StateRefused
from stream.gathering import second as total_room
from stream.gathering.standing import Span, Standing, decode, encode
from stream.keys import derived_key
from stream.names import DEAD_LETTERED, PURPOSE_NOISE, REPLAYED, TAKEN
from stream.protocol.control import AGGREGATE_KEY
from stream.protocol.ports import Outgoing

NOISE_KEY = derived_key(RING.current.secret, PURPOSE_NOISE, f"walkers {TOPIC_ID.hex()}")


def partials_of(promise: AggregatePromise, streams: dict[int, list[Sent]], until: int) -> dict[int, list[Outgoing]]:
    """What each partition writes, every window closed by the clock at the end."""
    found = {}
    for partition, sent in streams.items():
        life = Life(gather_of(promise, partition))
        for first in range(0, len(sent), 7):
            life.carry_out(block_of(sent[first : first + 7], first))
        life.close_by_clock(until)
        found[partition] = life.released
    return found


def shuffled(chance: Random, partials: dict[int, list[Outgoing]]) -> list[Outgoing]:
    """The partials of all partitions in one order that keeps each partition's."""
    turns = [partition for partition, each in partials.items() for _ in each]
    chance.shuffle(turns)
    left = {partition: iter(each) for partition, each in partials.items()}
    return [next(left[partition]) for partition in turns]


def recounted(promise: AggregatePromise, streams: dict[int, list[Sent]], until: int) -> dict[int, list[int]]:
    total: dict[int, np.ndarray[Any, Any]] = {}
    for sent in streams.values():
        recount = Recount(promise)
        for each in sent:
            recount.see(each)
        recount.close_by_clock(until)
        for number, row in recount.sums().items():
            total[number] = total.get(number, np.zeros(promise.cells, np.int64)) + row
    return {number: row.tolist() for number, row in total.items()}


@given(st.integers(0, 2**32))
def test_every_window_is_released_once_in_order_with_the_true_sums(seed: int) -> None:
    chance, promise = Random(seed), promise_of(*EVERY_KIND[:-1], horizon=3)
    streams = {partition: random_stream(chance, chance.choice((0, 3, 25))) for partition in range(3)}
    until = max((each.time for sent in streams.values() for each in sent), default=START) + 10 * MINUTE
    order = shuffled(chance, partials_of(promise, streams, until))
    whole = Life(total_of(promise, 3))
    whole.carry_out(block_of_partials(order))
    cut, first = Life(total_of(promise, 3)), 0
    while first < len(order):
        size = chance.choice((1, 1, 2, 6))
        block = block_of_partials(order[first : first + size], first)
        if chance.random() < 0.4:
            cut.pipeline.prepare(block, cut.store)  # never commits
            cut = Life(total_of(promise, 3), cut.store, cut.effects)
        cut.carry_out(block)
        first += size
    assert cut.released == whole.released
    assert cut.store.marks() == whole.store.marks()
    said = told(whole.released)
    truth = recounted(promise, streams, until)
    assert [each["window"]["number"] for each in said] == list(range(len(truth)))
    assert {each["window"]["number"]: without_noise(promise, each, NOISE_KEY) for each in said} == truth
    assert list(cut.store.held()) == []


def test_only_the_largest_cells_of_a_top_are_shown() -> None:
    promise = promise_of(EVERY_KIND[-1])
    sent = [Sent(b"u%d" % i, START, 0.0, "b", START) for i in range(100)]
    life = Life(total_of(promise))
    life.carry_out(block_of_partials(partials_of(promise, {0: sent}, START + 2 * MINUTE)[0]))
    (said,) = told(life.released)
    assert [each["value"] for each in said["aggregates"]["top"]["cells"]] == ["b"]
    assert without_noise(promise, said, NOISE_KEY) == [-1, 100, -1]


def test_a_window_waits_for_the_slowest_partition() -> None:
    promise = promise_of(PEOPLE)
    fast, slow = empty(promise, 5, 2).values()
    life = Life(total_of(promise, 2))
    life.carry_out(block_of_partials(fast))
    assert (life.released, len(dict(life.store.held()))) == ([], 5)
    life.carry_out(block_of_partials(slow[:2], 5))
    assert [each["window"]["number"] for each in told(life.released)] == [0, 1]
    assert sorted(dict(life.store.held())) == sorted(b"0:%d" % (START + number * MINUTE) for number in (3, 4, 5))


def test_a_record_says_what_it_is() -> None:
    promise = promise_of(PEOPLE, target=UNITS_PER_NAT)
    life = Life(total_of(promise))
    life.carry_out(block_of_partials(empty(promise, 1)[0]))
    (record,) = life.released
    headers = dict(record.headers)
    assert (record.key, record.timestamp) == (b"2026-01-01T00:00:00Z", START + MINUTE)
    assert (headers["policy"], headers["outcome"], len(headers["release-id"])) == (b"1:00010203", b"released", 32)
    (said,) = told(life.released)
    assert said["window"] == {"start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:01:00Z", "number": 0}
    assert (said["outcome"], said["reason"]) == ("released", None)
    people = said["aggregates"]["people"]
    assert (people["kind"], people["scale"]) == ("count", 2)
    assert [people["value"] - people["interval"][0], people["interval"][1] - people["value"]] == [6, 6]
    assert said["guarantee"] == {
        "loss": Decimal("0.5"),
        "leak": Decimal("0.5"),
        "total": Decimal("0.5"),
        "windows": 4,
        "target": 1,
        "adversary": "any",
        "protects": "everything",
        "method": "exact",
        "more_noise": 1,
    }


def test_a_budget_withholds_and_lets_go_again() -> None:
    """Half a nat a window, one nat in any four in a row: two of four, whatever is in them."""
    promise = promise_of(PEOPLE, target=UNITS_PER_NAT, horizon=4)
    life = Life(total_of(promise))
    life.carry_out(block_of_partials(empty(promise, 7)[0]))
    said = told(life.released)
    assert [each["outcome"] for each in said] == [*["released"] * 2, *["withheld"] * 2, *["released"] * 2, "withheld"]
    assert said[2]["reason"] == "budget"
    assert (said[2]["aggregates"], said[2]["guarantee"]["loss"], said[2]["guarantee"]["total"]) == ({}, 0, 1)


def test_a_budget_is_topped_up_with_more_noise() -> None:
    promise = promise_of(PEOPLE, target=UNITS_PER_NAT * 6 // 10, horizon=2, beyond="top_up")
    life = Life(total_of(promise))
    life.carry_out(block_of_partials(empty(promise, 3)[0]))
    said = told(life.released)
    assert [each["outcome"] for each in said] == ["released"] * 3
    assert [each["guarantee"]["more_noise"] for each in said] == [1, Decimal("5.00000001"), 1]
    assert [each["aggregates"]["people"]["scale"] for each in said] == [2, Decimal("10.0000001"), 2]
    assert said[1]["guarantee"]["total"] == Decimal("0.6")


def test_more_than_eight_times_the_noise_is_withheld() -> None:
    promise = promise_of(PEOPLE, target=UNITS_PER_NAT * 55 // 100, horizon=2, beyond="top_up")
    life = Life(total_of(promise))
    life.carry_out(block_of_partials(empty(promise, 3)[0]))
    assert [each["outcome"] for each in told(life.released)] == ["released", "withheld", "released"]


def test_missing_partials_withhold_their_windows() -> None:
    promise = promise_of(PEOPLE)
    mine, other = empty(promise, 5, 2).values()
    life = Life(total_of(promise, 2))
    life.carry_out(block_of_partials([*mine[:1], *mine[3:], *other]))
    said = told(life.released)
    assert [each["reason"] for each in said] == [None, "partial_missing", "partial_missing", None, None]
    assert [each["guarantee"]["loss"] for each in said] == [Decimal("0.5"), 0, 0, Decimal("0.5"), Decimal("0.5")]


def test_unreadable_partials_are_dead_letters_and_their_windows_withheld() -> None:
    promise = promise_of(PEOPLE)
    good = empty(promise, 4)[0]
    broken = good[1]._replace(value=(good[1].value or b"")[:-1] + b"?")
    stranger = empty(promise_of(PEOPLE, pipeline="others"), 1)[0][0]
    nothing = [broken, stranger, good[0]._replace(value=None), good[0]._replace(value=b"\x01" * 60)]
    life = Life(total_of(promise))
    life.carry_out(block_of_partials([good[0], *nothing, *good[2:]]))
    assert life.outcomes() == {TAKEN: 3, DEAD_LETTERED: 4}
    assert [letter["reason"] for letter in life.dead_letters] == ["partial_unreadable"] * 4
    assert [letter["offset"] for letter in life.dead_letters] == [1, 2, 3, 4]
    assert [each["reason"] for each in told(life.released)] == [None, "partial_missing", None, None]


def test_a_partial_counts_once() -> None:
    promise = promise_of(PEOPLE)
    good = empty(promise, 2)[0]
    life = Life(total_of(promise))
    life.carry_out(block_of_partials([good[0], good[0], good[1], good[0]]))
    assert life.outcomes() == {TAKEN: 2, REPLAYED: 2}
    assert len(life.released) == 2


def test_a_partial_of_a_partition_that_there_is_not_is_unreadable() -> None:
    promise = promise_of(PEOPLE)
    life = Life(total_of(promise))
    life.carry_out(block_of_partials(empty(promise, 1, 2)[1]))
    assert life.outcomes() == {DEAD_LETTERED: 1}


def test_the_end_of_a_gap_releases_so_many_windows_and_the_next_records_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(total_room, "WINDOWS_AT_ONCE", 3)
    promise = promise_of(PEOPLE)
    order = empty(promise, 12)[0][8:]
    whole, cut = Life(total_of(promise)), Life(total_of(promise))
    whole.carry_out(block_of_partials(order))
    counts = [len(cut.carry_out(block_of_partials([each], place)).releases) for place, each in enumerate(order)]
    assert counts == [3, 3, 3, 3]
    assert cut.released == whole.released
    assert cut.store.marks() == whole.store.marks()
    assert [each["reason"] for each in told(whole.released)] == ["partial_missing"] * 8 + [None] * 4


@given(
    st.lists(st.integers(0, 2**62), max_size=5),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2**50), st.integers(0, 2**50)), max_size=3),
    st.lists(st.sampled_from([0, 5, 2**61]), max_size=30),
)
def test_the_mark_is_read_back(closed: list[int], spans: list[tuple[int, int, int]], losses: list[int]) -> None:
    standing = Standing(7, closed, [Span(*span) for span in spans])
    mark = encode(standing, encode_losses(losses))
    found, remembered = decode(mark)
    assert (found, decode_losses(remembered)) == (standing, losses)
    assert len(mark) <= mark_bytes_max(len(closed), len(losses) + 1)


@pytest.mark.parametrize("losses", [[], [1], [1, 1, 1], [1, -1]])
def test_a_mark_with_other_losses_than_its_windows_have_is_refused(losses: list[int]) -> None:
    """With a loss less, a window would be told for which the target has no room."""
    life = Life(total_of(promise_of(PEOPLE, horizon=9)))
    life.carry_out(block_of_partials(empty(promise_of(PEOPLE), 2)[0]))
    standing, _ = decode(life.store._marks[AGGREGATE_KEY])
    life.store._marks[AGGREGATE_KEY] = encode(standing, encode_losses(losses))
    with pytest.raises(StateRefused, match="cannot be read"):
        life.pipeline.adopt(life.store)


@pytest.mark.parametrize("change", [lambda mark: mark[:-1], lambda mark: mark + b"x", lambda mark: b"\x09" + mark[1:]])
def test_a_mark_that_cannot_be_read_is_refused(change: Any) -> None:
    life = Life(total_of(promise_of(PEOPLE)))
    life.carry_out(block_of_partials(empty(promise_of(PEOPLE), 2)[0]))
    life.store._marks[AGGREGATE_KEY] = change(life.store._marks[AGGREGATE_KEY])
    with pytest.raises(StateRefused, match="how far windows are closed"):
        life.pipeline.adopt(life.store)


def test_another_number_of_partitions_is_refused() -> None:
    life = Life(total_of(promise_of(PEOPLE)))
    life.carry_out(block_of_partials(empty(promise_of(PEOPLE), 2)[0]))
    with pytest.raises(StateRefused):
        Life(total_of(promise_of(PEOPLE), 2), life.store)
