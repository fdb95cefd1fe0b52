"""How many users a target needs, and what a window of so many would be: released, withheld, with noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from crowd_settings_text import (
    HOMES,
    NOTHING,
    PAIR,
    TWO,
    TYPES,
    crowd_text,
    law_text,
    opened_crowds,
)

from beliefs.crowd.account import Present
from beliefs.crowd.required import required_users
from stream.crowds.expected import least_enough, needed_users, outlook, present_in, present_of
from stream.crowds.promise import CrowdPromise


def promise(folder: Path, text: str, law: bytes | None = None) -> CrowdPromise:
    return opened_crowds(folder, text, law).promise


def test_the_smallest_number_that_is_enough_is_found() -> None:
    for needed in (1, 2, 3, 7, 64, 65, 99, 100):
        asked: list[int] = []

        def enough(number: int, needed: int = needed, asked: list[int] = asked) -> bool:
            asked.append(number)
            return number >= needed

        assert least_enough(enough, 1, 100) == needed
        assert len(asked) <= 2 * 7 + 2
    assert least_enough(lambda _: False, 1, 100) is None
    assert least_enough(lambda _: True, 5, 4) is None
    assert least_enough(lambda number: number >= 3, 10, 20) == 10
    assert [least_enough(lambda number, at=at: number >= at, 0, 9) for at in (0, 1, 9, 10)] == [0, 1, 9, None]


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.1), (1.0, 0.01), (1.0, 0.001), (0.5, 0.01)])
@pytest.mark.parametrize("known", ["0", "0.2", "0.5"])
def test_needed_users_are_those_of_the_exact_sum(tmp_path: Path, epsilon: float, delta: float, known: str) -> None:
    text = crowd_text(
        k="2", believes=f"{{law: law.json, known: {known}}}", target=f"{{epsilon: {epsilon}, delta: {delta}}}"
    )
    found = needed_users(promise(tmp_path, text))
    assert found == max(2, required_users(np.array([0.5, 0.5]), epsilon, delta, float(known)))


def test_needed_users_are_no_fewer_than_k_and_what_cannot_be_is_none(tmp_path: Path) -> None:
    assert needed_users(promise(tmp_path, crowd_text(k="500"))) == 500
    certain = law_text({"default": (1.0, 0.0)})
    assert needed_users(promise(tmp_path, crowd_text(), certain)) == 10
    assert needed_users(promise(tmp_path, crowd_text(believes=NOTHING, target=None))) is None
    pairs = needed_users(promise(tmp_path, crowd_text(k="3", believes=HOMES), PAIR))
    assert pairs is not None
    assert pairs % 2 == 0
    assert pairs >= 4


def test_who_is_there_is_put_together_by_type_and_by_household(tmp_path: Path) -> None:
    typed = promise(tmp_path, crowd_text(believes=TYPES), TWO)
    assert present_of(typed, 7, 1) == Present((0, 7))
    assert present_in(typed, (3, 4)) == Present((3, 4))
    homes = promise(tmp_path, crowd_text(believes=HOMES), PAIR)
    assert present_of(homes, 7) == Present((), (1, 3))
    assert present_of(homes, 8) == Present((), (0, 4))
    assert present_of(homes, 7).users == 7


def test_a_window_is_released_if_its_people_are_enough_and_its_delta_is(tmp_path: Path) -> None:
    mine = promise(tmp_path, crowd_text())
    account = mine.account
    assert account is not None
    for users in (1, 9, 10, 16, 17, 40):
        found = outlook(mine, Present((users,)))
        assert found.delta == account.worst(Present((users,)))
        assert found.released == (users >= 10 and found.delta <= 0.01)
        assert [told.adversary for told in found.told(account)] == ["independent"]
    bare = promise(tmp_path, crowd_text(believes=NOTHING, target=None))
    assert [outlook(bare, Present((users,))).released for users in (9, 10)] == [False, True]
    assert outlook(bare, Present((10,))).delta is None


def test_noise_is_added_only_where_it_is_lacking(tmp_path: Path) -> None:
    topped = promise(tmp_path, crowd_text(k="2", target="{epsilon: 1, delta: 0.01, beyond: top_up}"))
    few, many = outlook(topped, Present((4,))), outlook(topped, Present((40,)))
    assert few.scale is not None
    assert few.scale > 0
    assert few.released
    assert few.delta is not None
    assert few.delta <= 0.01
    assert many.scale is None
    assert many.released


def test_fresh_windows_have_one_target_together(tmp_path: Path) -> None:
    fresh = "{law: law.json, windows: fresh}"
    alone = promise(tmp_path, crowd_text(believes=fresh, target="{epsilon: 1, delta: 0.01}"))
    several = promise(tmp_path, crowd_text(believes=fresh, target="{epsilon: 1, delta: 0.01, windows: 20}"))
    assert alone.total is None
    assert several.total is not None
    item = several.total.item(Present((200,)))
    together = outlook(several, Present((200,))).delta
    assert together == pytest.approx(several.total.delta_with([item] * 19, item), rel=1e-6)
    single = outlook(alone, Present((200,))).delta
    assert single is not None
    assert together is not None
    assert together > single
    more, fewer = needed_users(several), needed_users(alone)
    assert more is not None
    assert fewer is not None
    assert more > 4 * fewer
    assert outlook(several, Present((more,))).released
    assert not outlook(several, Present((more - 64,))).released


def test_fresh_windows_are_topped_up_together(tmp_path: Path) -> None:
    target = "{epsilon: 1, delta: 0.01, windows: 10, beyond: top_up}"
    mine = promise(tmp_path, crowd_text(believes="{law: law.json, windows: fresh}", target=target))
    one = promise(tmp_path, crowd_text(target="{epsilon: 1, delta: 0.01, beyond: top_up}"))
    found, single = outlook(mine, Present((12,))), outlook(one, Present((12,)))
    assert found.scale is not None
    assert single.scale is not None
    assert found.scale > single.scale
    assert found.released
