"""Which events are looked at once more: settled before the block, from public things alone."""

from __future__ import annotations

from random import Random
from zlib import crc32

import numpy as np
import pytest
from step_help import Run, coins_of, events_of, part, policy_of, sticky_chain

from stream.policy import Events
from stream.protocol.ports import Loaded
from stream.state import Word, seal
from stream.step import advance
from stream.watch import MOST_TESTED, Following, Watch, Watched, most_in_a_block

KEY = bytes(range(1, 33))


def keys_of(users: int) -> list[bytes]:
    return [b"user-%d" % user for user in range(users)]


def smallest(keys: list[bytes], most: int) -> set[bytes]:
    return set(sorted(keys, key=crc32)[:most])


def test_those_with_the_smallest_hashes_of_all_that_came_are_followed() -> None:
    following, keys = Following(5), keys_of(60)
    Random(3).shuffle(keys)
    places: dict[bytes, int] = {}
    for start in range(0, 60, 7):
        some = keys[start : start + 7]
        for i in following.wanted(0, {key: i for i, key in enumerate(some)}, some):
            place = following.admit(0, some[i])
            if place is not None:
                places = {key: at for key, at in places.items() if at != place}
                places[some[i]] = place
        assert set(places) == smallest(keys[: start + 7], 5)
    assert sorted(places.values()) == [0, 1, 2, 3, 4]
    slots = {key: i for i, key in enumerate(keys)}
    assert following.wanted(0, slots, []) == following.wanted(0, slots, keys) == sorted(slots[key] for key in places)
    assert following.wanted(1, slots, []) == []  # users of another partition are other users


def test_a_place_begins_once_and_is_free_when_its_partition_is_lost() -> None:
    following = Following(2)
    assert following.admit(0, b"a") is not None and following.admit(0, b"a") is None
    place = following.admit(1, b"b")
    assert following.place_of(1, b"b") == place
    assert following.lost(1) == [place]
    assert following.place_of(1, b"b") is None
    assert following.admit(2, b"another") == place


def test_nobody_is_followed_where_none_is_wanted() -> None:
    following = Following(0)
    assert following.wanted(0, {b"a": 0}, [b"a"]) == []
    assert following.admit(0, b"a") is None and following.place_of(0, b"a") is None


def chosen(run: Run, events: Events, most: int = 0) -> Watched | None:
    """As a pipeline asks: with the rows of those users who have an event."""
    watch = Watch(Following(most), 0, run.policy, run.chain.symbols)
    users, slot = np.unique(events.slot, return_inverse=True)
    rows = Loaded(run.heads[users], run.codes[users], np.ones(users.shape[0], dtype=np.bool_))
    slots = {b"user-%d" % user: i for i, user in enumerate(users.tolist())}
    return watch.choose(slots, rows, events._replace(slot=slot), coins_of(KEY, events.offset))


def test_each_users_sixteenth_step_is_tested_where_it_begins_a_block() -> None:
    run, events = Run(policy_of(), sticky_chain(4), users=6), events_of(400, 6, 4)
    tested = 0
    for i in range(400):
        one = part(events, i, i + 1)
        watched = chosen(run, one)
        releases = run.block(one)
        assert (watched is not None) == (releases.step[0] % 16 == 0)
        tested += watched is not None
    assert tested == sum(run.heads[:, Word.STEPS] // 16)


def test_the_copies_are_those_from_before_the_block_and_repeat_it() -> None:
    run = Run(policy_of(), sticky_chain(4), users=40)
    run.block(events_of(600, 40, 4))
    events = events_of(300, 40, 4, seed=5, first_offset=600)
    run.heads[:, Word.STEPS] = 15 + np.arange(40) % 2
    for head, codes in zip(run.heads, run.codes, strict=True):
        seal(head, codes, 0, run.policy.model_tag)
    watched = chosen(run, events, most=7)
    assert watched is not None and watched.tested.any()
    again = Run(policy_of(), sticky_chain(4), users=40)
    again.heads, again.codes = watched.heads.copy(), watched.codes
    releases = run.block(events)
    some = advance(
        again.policy, again.arrays, again.bench, again.heads[:-1], again.codes, watched.events, watched.coins
    )
    places = np.searchsorted(events.offset, watched.events.offset)
    for name in ("symbol", "outcome", "upper", "lower", "step"):
        assert getattr(some, name).tolist() == getattr(releases, name)[places].tolist()
    assert (some.step[watched.tested] % 16 == 0).all()
    followed = [key for key in watched.followed if key is not None]
    assert set(followed) == smallest(keys_of(40)[1::2], 7)  # those with sixteen events behind them
    local = {key: i for i, key in enumerate(watched.followed)}
    for key in followed:
        assert (watched.events.slot == local[key]).sum() == (events.slot == int(key[5:])).sum()


def test_at_most_so_many_are_tested_and_their_values_are_not_shown() -> None:
    run = Run(policy_of(), sticky_chain(4), users=200)
    run.heads[:, Word.STEPS] = 15
    watched = chosen(run, events_of(2_000, 200, 4))
    assert watched is not None and watched.tested.sum() == MOST_TESTED
    assert repr(watched) == f"Watched(events={watched.tested.shape[0]})"
    assert chosen(run, part(events_of(10, 200, 4), 0, 0)) is None


@pytest.mark.parametrize(
    ("mechanism", "symbols", "most"),
    [("optimal", 10, 32), ("optimal", 1_000, 32), ("optimal", 41_270, 1), ("randomised_response", 100, 20)],
)
def test_laws_of_many_values_are_tested_rarely(mechanism: str, symbols: int, most: int) -> None:
    assert most_in_a_block(policy_of(mechanism), symbols) == most


def test_laws_that_would_take_too_long_are_not_tested() -> None:
    assert most_in_a_block(policy_of("randomised_response"), 1_001) == 0
