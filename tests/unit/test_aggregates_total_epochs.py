"""Key epochs in the second stage: old ones stay, newer ones than a worker's own stop it, and noise goes by the sums."""

from __future__ import annotations

import pytest
from aggregate_lives import (
    PEOPLE,
    RING,
    TOPIC_ID,
    Life,
    block_of_partials,
    empty,
    promise_of,
    told,
    total_of,
    without_noise,
)

from stream.errors import StateRefused
from stream.keys import Epoch, KeyRing, derived_key
from stream.names import PURPOSE_NOISE


def test_an_epoch_that_is_gone_is_refused_and_a_new_one_goes_on() -> None:
    promise = promise_of(PEOPLE)
    fast, slow = empty(promise, 2, 2).values()
    life = Life(total_of(promise, 2))
    life.carry_out(block_of_partials(fast))
    other = Epoch(2, "", bytes(range(40, 72)))
    with pytest.raises(StateRefused, match="cannot be opened"):
        Life(total_of(promise_of(PEOPLE, ring=KeyRing((other,), other)), 2), life.store)
    both = KeyRing((*RING.epochs, other), other)
    again = Life(total_of(promise_of(PEOPLE, ring=both), 2), life.store)
    again.carry_out(block_of_partials(slow, 2))
    old = Life(total_of(promise, 2))
    old.carry_out(block_of_partials([*fast, *slow]))
    assert again.released == old.released  # their sums were sealed with the first key


def test_a_worker_with_an_older_ring_than_the_others_stops_and_withholds_nothing() -> None:
    newer = Epoch(2, "", bytes(range(40, 72)))
    theirs = promise_of(PEOPLE, ring=KeyRing((*RING.epochs, newer), newer))
    partials = empty(theirs, 2)[0]
    life = Life(total_of(promise_of(PEOPLE)))
    with pytest.raises(StateRefused, match="sealed with key epoch 2, and the newest of the key ring is 1"):
        life.carry_out(block_of_partials(partials))
    assert (life.released, life.dead_letters) == ([], [])
    again = Life(total_of(theirs), life.store)
    again.carry_out(block_of_partials(partials))
    assert [each["outcome"] for each in told(again.released)] == ["released"] * 2


def test_noise_comes_from_the_latest_epoch_of_the_sums() -> None:
    """Whatever the ring's current one is: a window that is released again draws the same."""
    other = Epoch(2, "", bytes(range(40, 72)))
    both = (*RING.epochs, other)
    new, old = (promise_of(PEOPLE, ring=KeyRing(both, current)) for current in (other, both[0]))
    order = [*empty(old, 1, 2)[0], *empty(new, 1, 2)[1]]
    released = []
    for promise in (new, old):
        life = Life(total_of(promise, 2))
        life.carry_out(block_of_partials(order))
        released.append(life.released)
    assert released[0] == released[1]
    key = derived_key(other.secret, PURPOSE_NOISE, f"walkers {TOPIC_ID.hex()}")
    assert without_noise(old, told(released[0])[0], key) == [0]
