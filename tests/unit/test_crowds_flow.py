"""The second stage of flows: what the grouper says goes out, once, and no cut and no crash changes a byte."""

from __future__ import annotations

from random import Random

import pytest
from aggregate_lives import SECOND, START
from flow_lives import (
    AGES,
    GROUPERS,
    ILL,
    JOBS,
    FlowLife,
    Sent,
    Turn,
    expected_of,
    flow_of,
    flow_promise,
    forwarded,
    people,
    random_events,
    random_turns,
    told,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from stream.crowds.flow import FlowTold
from stream.crowds.promise import CrowdPromise
from stream.names import DEAD_LETTERED, REPEATED, REPLAYED, TAKEN

MEDICAL = {"any": set(JOBS), "medical": {"doctor", "nurse"}, "office": {"clerk", "boss"}, "air": {"pilot"}}
SEEDS = st.integers(0, 2**32)


def promises(chance: Random, grouper: str) -> CrowdPromise:
    k = chance.choice((2, 3, 5))
    return flow_promise(
        grouper, k=k, events=chance.choice((k, 12, 30)), more=chance.choice((ILL, "", "loss_most: 0.4"))
    )


def turns_of(chance: Random, promise: CrowdPromise, count: int = 40) -> list[Turn]:
    streams = [random_events(chance, chance.choice((0, 5, count))) for _ in range(2)]
    return random_turns(chance, promise, streams)


@pytest.mark.parametrize("grouper", GROUPERS)
@given(SEEDS)
@settings(deadline=None, max_examples=25)
def test_cuts_and_restarts_change_no_byte(grouper: str, seed: int) -> None:
    """What goes out is the same with all between two closings as one block, and with blocks cut anywhere, some of them
    prepared and never committed, and a new worker after each or none.
    """
    chance = Random(seed)
    promise = promises(chance, grouper)
    turns = turns_of(chance, promise)
    whole = FlowLife(flow_of(promise, 2))
    whole.turns(turns)
    cut, block = FlowLife(flow_of(promise, 2)), list[Turn]()
    for turn in turns:
        if turn.value is not None:
            block.append(turn)
        if turn.value is None or chance.random() < 0.5:
            if chance.random() < 0.3:
                cut.block(block, commits=False)
                cut = reborn(cut, promise)
            cut.block(block)
            block = []
            if chance.random() < 0.5:
                cut = reborn(cut, promise)
        if turn.value is None:
            if chance.random() < 0.3:
                cut.pipeline.prepare_overdue(cut.store, turn.time)
                cut = reborn(cut, promise)
            cut.close_by_clock(turn.time)
    cut.block(block)
    assert cut.released == whole.released
    assert dict(cut.store.held()) == dict(whole.store.held()) == {}
    assert cut.outcomes() == whole.outcomes()


def reborn(life: FlowLife, promise: CrowdPromise) -> FlowLife:
    return FlowLife(flow_of(promise, 2), life.store, life.effects, life.offset)


@pytest.mark.parametrize("grouper", GROUPERS)
@given(SEEDS)
@settings(deadline=None, max_examples=25)
def test_what_goes_out_is_what_the_grouper_says_of_the_raw_events(grouper: str, seed: int) -> None:
    chance = Random(seed)
    promise = promises(chance, grouper)
    turns = turns_of(chance, promise)
    life = FlowLife(flow_of(promise, 2))
    life.turns(turns)
    expected = expected_of(promise, turns)
    said = told(life.released)
    assert [each["crowd"] for each in said] == list(range(len(expected)))
    assert [record.timestamp for record in life.released] == [each.clock for each in expected]
    for each, wanted in zip(said, expected, strict=True):
        assert (each["reason"], each["events"]) == (wanted.emitted.reason, len(wanted.events))
        if wanted.emitted.reason is None:
            check_crowd(promise, each, wanted.events)
    taken = sum(len(each.events) for each in expected)
    repeated = sum(turn.value is not None for turn in turns) - taken
    assert life.outcomes() == {name: count for name, count in ((TAKEN, taken), (REPEATED, repeated)) if count}


def check_crowd(promise: CrowdPromise, said: dict[str, object], events: list[Sent]) -> None:
    """Every event lies in the box, by its raw values; and they are of k users, or the box was that of k users."""
    box = said["box"]
    assert isinstance(box, dict)
    low, high = box["age"]
    for event in events:
        assert low - 0.25 <= min(max(event.age, 0), AGES) <= high + 0.25
        assert event.job == box["job"] or event.job in MEDICAL[box["job"]]
    assert isinstance(said["users"], int)
    assert said["users"] >= promise.k
    if said["reused"]:
        assert (len(events), said["sensitive"]) == (1, None)
        return
    assert said["users"] == len({event.user for event in events}) >= promise.k
    counts = said["sensitive"]
    if promise.release.sensitive is None:
        assert counts is None
        return
    assert isinstance(counts, list)
    ills = [event.ill for event in events]
    assert {each["value"]: each["count"] for each in counts} == {ill: ills.count(ill) for ill in set(ills)}


def life_of(promise: CrowdPromise, sent: list[Sent], every: float = 1.0) -> FlowLife:
    """After these events, one block each, at so many seconds of the brokers' clock."""
    life = FlowLife(flow_of(promise))
    for i, (value, each) in enumerate(zip(forwarded(promise, sent), sent, strict=True)):
        life.block([Turn(START + round(i * every * SECOND), value, each)])
    return life


@pytest.mark.parametrize("grouper", GROUPERS)
def test_no_event_waits_for_more_events_than_is_declared(grouper: str) -> None:
    """Nor longer: of events of one user none may ever go out in a box, and each is withheld in its time."""
    sent = [each._replace(user=b"ann") for each in people(40)]
    for number, every, longest in ((12, 1.0, 12), (30, 7.0, 66)):
        life = life_of(flow_promise(grouper, events=number), sent, every)
        assert {each["outcome"] for each in told(life.released)} == {"withheld"}
        assert max(each.waiting for each in lives(life)) <= number
        assert max(wait for each in lives(life) for crowd in each.crowds for wait in crowd.waits) <= longest * SECOND


def lives(life: FlowLife) -> list[FlowTold]:
    found = [effects.aggregates for effects in life.effects]
    assert all(isinstance(each, FlowTold) for each in found)
    return [each for each in found if isinstance(each, FlowTold)]


@pytest.mark.parametrize("grouper", GROUPERS)
def test_a_silent_flow_lets_everything_go_by_the_clock(grouper: str) -> None:
    life = life_of(flow_promise(grouper, k=5, more=""), people(5))
    due = life.pipeline.deadlines.first()
    if lives(life)[-1].waiting == 0:  # some groupers let a crowd go as soon as it is one
        assert due is None
        return
    assert due is not None
    assert life.close_by_clock(due - 1) == []
    (effects,) = life.close_by_clock(due)
    assert life.pipeline.deadlines.first() is None
    assert sum(each["events"] for each in told(life.released)) == 5
    assert {record.timestamp for record in effects.releases} == {due}


def test_a_repeated_event_is_taken_once_while_it_waits() -> None:
    promise, sent = flow_promise(k=5, more=""), people(1)
    again = [*sent, *sent, sent[0]._replace(age=2.0), sent[0]._replace(time=START + 5)]
    life = FlowLife(flow_of(promise))
    life.turns([Turn(START, value, None) for value in forwarded(promise, again)])
    assert life.outcomes() == {TAKEN: 2, REPEATED: 2}
    life.close_by_clock(START + 60 * SECOND)
    assert [each["events"] for each in told(life.released)] == [1, 1]
    life.turns([Turn(START + 70 * SECOND, value, None) for value in forwarded(promise, [sent[0]] * 5)[4:]])
    assert life.outcomes() == {TAKEN: 3, REPEATED: 2}


def test_a_tuple_that_comes_twice_counts_once() -> None:
    """As where the first stage has lost where it stood: its raw offset says so, whether the event waits or not."""
    promise = flow_promise(k=5, more="")
    values = forwarded(promise, people(3))
    life = FlowLife(flow_of(promise))
    life.turns([Turn(START, value, None) for value in values])
    life.close_by_clock(START + 90 * SECOND)
    life.turns([Turn(START + 91 * SECOND, value, None) for value in values])
    assert life.outcomes() == {TAKEN: 3, REPLAYED: 3}
    assert dict(life.store.held()) == {}


def test_what_is_no_tuple_is_a_dead_letter() -> None:
    promise = flow_promise()
    whole = forwarded(promise, people(1))[0]
    elsewhere = forwarded(promise, people(1), partition=1)[0]
    other = forwarded(flow_promise(more=""), people(1))[0]
    broken = whole[:-1] + bytes([whole[-1] ^ 1])
    life = FlowLife(flow_of(promise))
    life.turns([Turn(START, value, None) for value in (b"", b"{}", elsewhere, broken, whole[:40], other, whole)])
    assert life.outcomes() == {DEAD_LETTERED: 5, TAKEN: 1, REPLAYED: 1}
    assert {letter["reason"] for letter in life.dead_letters} == {"partial_unreadable"}
    assert [letter["offset"] for letter in life.dead_letters] == [0, 1, 2, 3, 4]
    assert {letter["topic"] for letter in life.dead_letters} == {"walkers-crowds"}
    assert life.effects[0].reasons == {"partial_unreadable": 5}
