"""Whose beliefs they are: the record that says so, and every reason to refuse."""

from __future__ import annotations

from dataclasses import replace

import pytest
from protocol_fakes import OURS

from stream.errors import StateRefused
from stream.protocol.control import (
    decode_control,
    decode_progress,
    differences,
    encode_control,
    encode_progress,
    may_change,
    refuse,
    worst,
)

CHANGES = {
    "pipeline": replace(OURS, pipeline="other"),
    "topic_id": replace(OURS, topic_id="made-again"),
    "partitions": replace(OURS, partitions=8),
    "policy": replace(OURS, policy="2:cccc"),
    "model": replace(OURS, model="1:dddd"),
    "key_epoch": replace(OURS, key_epoch=2),
    "key_fingerprint": replace(OURS, key_fingerprint="key-two"),
    "first_key_fingerprint": replace(OURS, first_key_fingerprint="key-zero"),
}


def test_a_control_record_is_read_as_it_was_written() -> None:
    assert decode_control(encode_control(OURS), "here") == OURS


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b'{"pipeline":"p"}',
        encode_control(OURS).replace(b'"partitions":4', b'"partitions":"4"'),
        encode_control(OURS).replace(b'"partitions":4', b'"partitions":true'),
        encode_control(OURS).replace(b"}", b',"more":1}'),
    ],
)
def test_any_other_control_record_is_refused(raw: bytes) -> None:
    with pytest.raises(StateRefused, match="cannot be read"):
        decode_control(raw, "here")


@pytest.mark.parametrize("name", CHANGES)
def test_each_difference_is_named_with_both_sides_and_a_way_out(name: str) -> None:
    found = differences(OURS, CHANGES[name])
    assert [one.field for one in found] == [name]
    error = refuse(worst(found), "topic beliefs, partition 3")
    assert found[0].stored in error.what
    assert found[0].ours in error.what
    assert error.where == "topic beliefs, partition 3"
    assert error.why
    assert error.fix


@pytest.mark.parametrize(
    ("changed", "allowed"),
    [
        (["policy"], True),
        (["key_epoch"], True),
        (["key_epoch", "key_fingerprint"], True),
        (["policy", "key_epoch", "key_fingerprint"], True),
        (["key_fingerprint"], False),
        (["model"], False),
        (["topic_id"], False),
        (["partitions"], False),
        (["pipeline"], False),
        (["first_key_fingerprint"], False),
        (["policy", "model"], False),
    ],
)
def test_what_may_change_once_no_record_waits(changed: list[str], allowed: bool) -> None:
    theirs = replace(OURS, **{name: getattr(CHANGES[name], name) for name in changed})
    assert may_change(differences(OURS, theirs)) is allowed


def test_the_difference_that_can_never_be_allowed_is_told_first() -> None:
    theirs = replace(OURS, policy="2:cccc", partitions=8)
    assert worst(differences(OURS, theirs)).field == "partitions"


def test_a_progress_mark_is_read_as_it_was_written() -> None:
    assert decode_progress(encode_progress(2**62), "here") == 2**62


@pytest.mark.parametrize("raw", [b"", b"1234567", b"123456789"])
def test_any_other_progress_mark_is_refused(raw: bytes) -> None:
    with pytest.raises(StateRefused, match="cannot be read"):
        decode_progress(raw, "here")


@pytest.mark.parametrize("name", ["model", "topic_id", "partitions"])
def test_a_pipeline_of_aggregates_is_told_of_windows_and_not_of_beliefs(name: str) -> None:
    theirs = replace(OURS, model="aggregates@0a1b2c3d")
    assert theirs.is_of_windows
    assert not OURS.is_of_windows
    (found,) = differences(theirs, replace(CHANGES[name], model="aggregates@ffff" if name == "model" else theirs.model))
    error = refuse(found, "here", aggregates=True)
    assert "window" in error.why
    assert (error.why, error.fix) != (refuse(found, "here").why, refuse(found, "here").fix)


def test_a_key_may_change_without_other_words() -> None:
    (found,) = differences(OURS, CHANGES["key_epoch"])
    assert refuse(found, "here", aggregates=True).why == refuse(found, "here").why
