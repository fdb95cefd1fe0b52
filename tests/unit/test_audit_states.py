"""Faults in the belief changelog: each is found, and named for what it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import orjson
import pytest
from audit_world import (
    CHANGELOG,
    Kept,
    Run,
    add_to_word,
    codes,
    differing,
    run,
)


@pytest.fixture
def finished() -> Run:
    return run(4, events=1200, users=12)


@pytest.mark.parametrize(
    ("place", "kind", "field"),
    [
        (16, "<i8", "upper"),
        (24, "<i8", "lower"),
        (32, "<i8", "window_upper"),
        (40, "<i8", "window_lower"),
        (56, "<u4", "window"),
        (60, "<u4", "drift"),
        (64, "<u4", "belief"),
        (76, "<u4", "belief"),
    ],
)
@pytest.mark.parametrize("amount", [1, -1])
def test_one_unit_or_one_code_too_many_or_too_few_is_found(
    finished: Run, place: int, kind: str, field: str, amount: int
) -> None:
    finished.change_state(add_to_word(place, kind, amount))
    assert differing(finished) == {field}


def test_a_stopped_flag_that_nothing_explains_is_found(finished: Run) -> None:
    finished.change_state(add_to_word(1, "u1", 1))
    assert differing(finished) == {"flags"}


def test_a_step_too_many_is_a_lost_event(finished: Run) -> None:
    finished.change_state(add_to_word(48, "<i8", 1))
    assert codes(finished) == {"lost_event"}


def test_a_step_too_few_is_a_state_that_is_behind(finished: Run) -> None:
    finished.change_state(add_to_word(48, "<i8", -1))
    assert "state_behind" in codes(finished)


def test_steps_beyond_all_offsets_are_found_without_counting_up_to_them(finished: Run) -> None:
    finished.change_state(add_to_word(48, "<i8", 2**60))
    assert "state_differs" in codes(finished)


def test_a_wrong_watermark_is_found(finished: Run) -> None:
    finished.change_state(add_to_word(8, "<i8", -1))
    assert codes(finished) == {"wrong_watermark"}


def test_a_state_that_is_missing_is_found(finished: Run) -> None:
    user = finished.states()[-2].key
    finished.topics.logs[CHANGELOG][0] = [one for one in finished.states() if one.key != user]
    assert codes(finished) == {"state_missing"}


def test_a_tombstone_of_a_state_is_a_missing_state(finished: Run) -> None:
    last = finished.states()[-2]
    finished.states().append(Kept(finished.states()[-1].offset + 1, last.key, None))
    assert codes(finished) == {"state_missing"}


def test_a_state_without_events_is_found(finished: Run) -> None:
    row = np.frombuffer(finished.states()[-2].value or b"", dtype=np.uint8)
    finished.states().append(Kept(finished.states()[-1].offset + 1, b"ustranger", row.tobytes()))
    assert "lost_event" in codes(finished)
    finished.change_state(lambda row: row.__setitem__(slice(48, 56), 0))
    assert "state_extra" in codes(finished)


@pytest.mark.parametrize("damage", [b"", b"\x01short", b"\x02" * 80])
def test_a_row_that_cannot_be_read_is_found(finished: Run, damage: bytes) -> None:
    at = len(finished.states()) - 2
    finished.states()[at] = replace(finished.states()[at], value=damage)
    assert codes(finished) == {"quarantined_rows"}


def test_a_row_with_one_wrong_bit_is_found(finished: Run) -> None:
    at = len(finished.states()) - 2
    row = bytearray(finished.states()[at].value or b"")
    row[70] ^= 1
    finished.states()[at] = replace(finished.states()[at], value=bytes(row))
    assert codes(finished) == {"quarantined_rows"}


def test_the_owner_of_the_changelog_must_be_right(finished: Run) -> None:
    control = orjson.loads(finished.states()[0].value or b"")
    finished.states()[0] = replace(finished.states()[0], value=orjson.dumps({**control, "pipeline": "tablets"}))
    assert codes(finished) == {"wrong_owner"}
    del finished.states()[0]
    assert "wrong_owner" in codes(finished)


def test_a_group_ahead_of_the_beliefs_is_found(finished: Run) -> None:
    finished.topics.group = {0: 1200}
    assert codes(finished) == set()
    finished.topics.group = {0: 1201}
    assert codes(finished) == {"group_ahead"}
