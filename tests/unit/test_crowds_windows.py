"""Both stages of windows of a crowd together: every window once, its people and its value as the raw events have them,
and no cut, no crash and no order of the partitions that changes a byte.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from aggregate_lives import MINUTE, RING, START, TOPIC_ID, Life, block_of_partials, cut_at_random, told
from aggregate_recount import Recount
from crowd_lives import (
    COUNT,
    EVERY_KIND,
    FRESH,
    HISTOGRAM,
    HOMES,
    HOUSED,
    LAW,
    MEAN,
    RANGE,
    SUM,
    TOPPED,
    TWO,
    TYPED,
    Walk,
    block_of,
    carried_out_in_pieces,
    crowd_promise,
    gather_of,
    random_walks,
    shuffled,
    windows_of,
)
from crowd_recount import Expected, people_of
from hypothesis import given
from hypothesis import strategies as st

from stream.crowds import parts as parts_room
from stream.crowds.promise import CrowdPromise
from stream.keys import derived_key
from stream.names import PURPOSE_NOISE
from stream.protocol.ports import Outgoing

KINDS: list[tuple[Any, ...]] = [
    (COUNT,),
    (f"{SUM}, take: first",),
    (f"{SUM}, take: largest",),
    (f"{RANGE}, take: smallest",),
    (MEAN, LAW),
    (SUM, TOPPED),
    (HISTOGRAM,),
    (COUNT, TYPED, TWO),
    (COUNT, HOUSED, HOMES),
    (SUM, FRESH),
    (SUM, FRESH.replace("delta: 0.3", "delta: 0.3, windows: 3")),
    (SUM, FRESH.replace("delta: 0.3", "delta: 0.05, windows: 4, beyond: top_up")),
]


def promise_at(place: int, over: str = "all") -> CrowdPromise:
    kinds = [kind for kind in KINDS if over == "all" or HOUSED not in kind]
    release, *more = kinds[place % len(kinds)]
    believes = more[0] if more else "believes: nothing_declared"
    return crowd_promise(release, believes, over=over, law=more[1] if len(more) > 1 else None)


def noise_key(partition: int | None = None) -> bytes:
    name = f"walkers {TOPIC_ID.hex()}{'' if partition is None else f' {partition}'}"
    return derived_key(RING.current.secret, PURPOSE_NOISE, name)


def gathered(
    chance: Random, promise: CrowdPromise, sent: list[Walk], until: int, partition: int
) -> tuple[list[Outgoing], Recount]:
    """What a partition sends and what must be in it: whole, and in pieces with a new worker between two of them."""
    whole, cut = Life(gather_of(promise, partition)), Life(gather_of(promise, partition))
    recount = Recount(promise.windowed)
    if sent:
        whole.carry_out(block_of(sent))
    for first, some in cut_at_random(chance, sent):
        if chance.random() < 0.4:
            cut = Life(gather_of(promise, partition), cut.store, cut.effects)
        cut.carry_out(block_of(some, first))
    for each in sent:
        recount.see(each)
    for life in (whole, cut):
        life.close_by_clock(until)
    recount.close_by_clock(until)
    assert cut.released == whole.released
    assert (cut.store.marks(), dict(cut.store.held())) == (whole.store.marks(), dict(whole.store.held()))
    assert [letter["reason"] for letter in whole.dead_letters] == [
        each for each in recount.outcomes if each != "counted"
    ]
    return whole.released, recount


def check_released(
    promise: CrowdPromise, said: list[dict[str, Any]], recounts: list[Recount], windows: int, partition: int | None
) -> None:
    assert [each["window"]["number"] for each in said] == list(range(windows))
    expected = Expected(promise)
    for each in said:
        assert each["partition"] == partition
        expected.check(each, people_of(promise, recounts, each["window"]["number"]), noise_key(partition))


@given(st.integers(0, 2**32))
def test_every_window_is_released_once_as_the_raw_events_have_it(seed: int) -> None:
    chance = Random(seed)
    promise, partitions = promise_at(chance.randrange(99)), chance.choice((1, 2, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts_room, "BYTES_MAX", chance.choice((130, 300, 256 << 10)))
        patch.setattr(parts_room, "WINDOWS_MAX", chance.choice((1, 2, 256)))
        streams = [random_walks(chance, chance.choice((0, 9, 40))) for _ in range(partitions)]
        until = max((each.record for sent in streams for each in sent), default=START) + 10 * MINUTE
        parts, recounts = zip(
            *(gathered(chance, promise, sent, until, place) for place, sent in enumerate(streams)), strict=True
        )
        order = shuffled(chance, parts)
        whole = Life(windows_of(promise, partitions))
        whole.carry_out(block_of_partials(order))
        cut = carried_out_in_pieces(
            chance, Life(windows_of(promise, partitions)), lambda: windows_of(promise, partitions), order
        )
    assert cut.released == whole.released
    assert cut.store.marks() == whole.store.marks()
    assert dict(cut.store.held()) == dict(whole.store.held())
    windows = (recounts[0].closed - START) // MINUTE
    check_released(promise, told(whole.released), list(recounts), windows, None)


@given(st.integers(0, 2**32))
def test_over_partitions_each_has_its_own_windows(seed: int) -> None:
    chance = Random(seed)
    promise = promise_at(chance.randrange(99), "partition")
    until = START + 40 * MINUTE
    for partition in range(2):
        sent = [each for each in random_walks(chance, 30) if each.record < until - MINUTE]
        parts, recount = gathered(chance, promise, sent, until, partition)
        life = Life(windows_of(promise, 2, partition))
        cut = carried_out_in_pieces(
            chance, Life(windows_of(promise, 2, partition)), lambda p=partition: windows_of(promise, 2, p), parts
        )
        life.carry_out(block_of_partials(parts))
        assert cut.released == life.released
        windows = (recount.closed - START) // MINUTE
        check_released(promise, told(life.released), [recount], windows, partition)
        stranger = Life(windows_of(promise, 2, 1 - partition))
        stranger.carry_out(block_of_partials(parts))
        assert (stranger.released, set(stranger.outcomes())) == ([], {"dead_lettered"})


@given(st.integers(0, 2**32))
def test_no_window_and_no_crowd_of_fewer_than_k_is_ever_released(seed: int) -> None:
    """Whatever is missing, broken, repeated or out of order on the way."""
    chance = Random(seed)
    promise = crowd_promise(chance.choice(EVERY_KIND), k=chance.choice((2, 4)))
    streams = [random_walks(chance, 40, users=5) for _ in range(2)]
    until, parts = START + 30 * MINUTE, []
    for place, sent in enumerate(streams):
        life = Life(gather_of(promise, place))
        life.carry_out(block_of(sent))
        life.close_by_clock(until)
        parts.append([each for each in life.released if chance.random() < 0.9])
    order = shuffled(chance, parts)
    for _ in range(3):
        order.insert(chance.randrange(len(order) + 1), chance.choice(order))
    broken = chance.randrange(len(order))
    order[broken] = order[broken]._replace(value=(order[broken].value or b"")[:-1] + b"?")
    life = Life(windows_of(promise, 2))
    life.carry_out(block_of_partials(order))
    said = told(life.released)
    windows = [each for each in said if "outcome" in each]
    assert [each["window"]["number"] for each in windows] == list(range(len(windows)))
    assert all(each["users"] >= promise.k for each in said if each.get("outcome") != "withheld")
    truth = {each.user for sent in streams for each in sent}
    assert all(each["users"] <= len(truth) for each in said if each.get("users") is not None)
