"""What stands in the changelog between two blocks of a flow: sealed, whole, under one nonce each, and bounded."""

from __future__ import annotations

from random import Random

import pytest
from aggregate_lives import RING, SECOND, START
from flow_lives import (
    GROUPERS,
    ILL,
    FlowLife,
    Turn,
    flow_of,
    flow_promise,
    forwarded,
    people,
    random_events,
    random_turns,
)

from mechanisms.crowds.attributes import Attributes, Numeric
from mechanisms.crowds.diversity import Rule
from mechanisms.crowds.flow import FlowForm
from mechanisms.crowds.registry import REGISTRY
from stream.crowds.flow_standing import KNOWN_BYTES_MAX
from stream.errors import StateRefused
from stream.keys import Epoch, KeyRing, Pseudonyms
from stream.names import TAKEN
from stream.protocol.control import AGGREGATE_KEY
from stream.stores.memory import MemoryStore
from stream.stores.rows import NoRows


def test_a_tuple_of_a_newer_key_epoch_stops_the_worker() -> None:
    promise, new = flow_promise(), Epoch(2, "", bytes(range(2, 34)))
    later = flow_promise(ring=KeyRing((RING.first, new), new))
    values = forwarded(later, people(1))
    with pytest.raises(StateRefused, match="newest of the key ring is 1"):
        FlowLife(flow_of(promise)).turns([Turn(START, values[0], None)])
    life = FlowLife(flow_of(later))
    life.turns([Turn(START, values[0], None)])
    assert life.outcomes() == {TAKEN: 1}
    with pytest.raises(StateRefused, match="key epoch 2, which the ring does not have"):
        FlowLife(flow_of(promise), life.store)


@pytest.mark.parametrize("grouper", GROUPERS)
def test_what_waits_goes_on_under_a_new_key_epoch(grouper: str) -> None:
    new = Epoch(2, "", bytes(range(2, 34)))
    old, later = flow_promise(grouper), flow_promise(grouper, ring=KeyRing((RING.first, new), new))
    values = forwarded(old, people(30))
    plain, changed = FlowLife(flow_of(old)), FlowLife(flow_of(old))
    for life in (plain, changed):
        life.turns([Turn(START, value, None) for value in values[:8]])
    changed = FlowLife(flow_of(later), changed.store, changed.effects, changed.offset)
    for life in (plain, changed):
        life.turns([Turn(START + SECOND, value, None) for value in values[8:]])
        life.close_by_clock(START + 99 * SECOND)
    assert plain.released == changed.released != []
    assert plain.store.marks() != changed.store.marks()


def test_what_waits_is_sealed_and_must_be_whole() -> None:
    promise = flow_promise(k=5, more="")
    life = FlowLife(flow_of(promise))
    life.turns([Turn(START, value, None) for value in forwarded(promise, people(3))])
    stored = [text for pair in life.store.held() for text in pair] + [life.store.marks()[AGGREGATE_KEY]]
    assert len(stored) == 7
    pseudonym = Pseudonyms(RING, "walkers").of(b"u0")
    for text in stored:
        assert all(each not in text for each in (b"u0", b"u1", pseudonym, bytes.fromhex(pseudonym.decode()), b"clerk"))
    for changes, why in (
        ({b"1": b""}, "3 events waited, and 2 are there"),
        ({b"1": b"\0" * 30}, "of another version"),
        ({b"1": dict(life.store.held())[b"1"][:-1]}, "its seal is broken"),
    ):
        broken = copy_of(life)
        broken.apply([], *NoRows().new_users(0), 9, {}, changes)
        with pytest.raises(StateRefused, match=why):
            FlowLife(flow_of(promise), broken)
    for mark in (b"", b"\2" * 90, life.store.marks()[AGGREGATE_KEY][:-1], life.store.marks()[AGGREGATE_KEY][:60]):
        broken = copy_of(life)
        broken.apply([], *NoRows().new_users(0), 9, {AGGREGATE_KEY: mark}, {})
        with pytest.raises(StateRefused):
            FlowLife(flow_of(promise), broken)
    with pytest.raises(StateRefused, match="another number of partitions"):
        FlowLife(flow_of(promise, 2), life.store)


def copy_of(life: FlowLife) -> MemoryStore:
    store = MemoryStore(NoRows())
    store.apply([], *NoRows().new_users(0), 8, life.store.marks(), dict(life.store.held()))
    return store


@pytest.mark.parametrize("grouper", GROUPERS)
def test_no_nonce_is_used_for_two_texts(grouper: str) -> None:
    """What the grouper knows stands under the last offset and the turn: whatever the cuts, one text for each."""
    sealed: dict[bytes, bytes] = {}
    for seed in range(12):
        chance, promise = Random(7), flow_promise(grouper)
        turns = random_turns(chance, promise, [random_events(chance, 40), random_events(chance, 20)])
        chance, life = Random(seed), FlowLife(flow_of(promise, 2), hole=0)
        block: list[Turn] = []
        for turn in turns:
            if turn.value is not None:
                block.append(turn)
            if turn.value is None or chance.random() < 0.4:
                life.block(block)
                block = []
            if turn.value is None:
                life.close_by_clock(turn.time)
        for effects in life.effects:
            mark = effects.marks[AGGREGATE_KEY]
            assert sealed.setdefault(mark[5:17], mark) == mark
    assert len(sealed) > 30


@pytest.mark.parametrize("grouper", GROUPERS)
def test_warming_up_leaves_nothing_behind(grouper: str) -> None:
    for more in (ILL, ""):
        promise, sent = flow_promise(grouper, more=more), people(20)
        warm, cold = FlowLife(flow_of(promise)), FlowLife(flow_of(promise))
        warm.pipeline.warm_up()
        for life in (warm, cold):
            life.turns([Turn(START, value, None) for value in forwarded(promise, sent)])
        assert warm.effects[0].marks == cold.effects[0].marks
        assert warm.released == cold.released


@pytest.mark.parametrize("grouper", GROUPERS)
def test_what_a_grouper_knows_fits_into_a_mark(grouper: str) -> None:
    """Even with the most attributes, the finest cells and as many sensitive values as are allowed."""
    rule = Rule(2, values=256, diverse=2)
    form = FlowForm(Attributes((Numeric(1 << 31),) * 8), rule, 2_000, 1_000)
    flow, chance, largest = REGISTRY[grouper](form), Random(1), 0
    for number in range(6_000):
        cells = tuple(chance.randrange(1 << 31) for _ in range(8))
        flow.take(number + 2**40, 2**41, chance.randrange(1_000), cells, chance.randrange(256))
        if number % 1_000 == 999:
            largest = max(largest, len(flow.state()))
    assert 10_000 < largest < KNOWN_BYTES_MAX / 3
