"""Faults in what the belief changelog keeps about fields: each is found, and named for what it is."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from field_audit_world import HEAD, FieldRun
from field_faults import BITS, JOB, SEX, WAY, codes, found, world


@pytest.fixture
def right() -> FieldRun:
    return world(SEX, WAY, JOB, BITS)


@pytest.mark.parametrize("change", [-1, 1, 1 << 39])
@pytest.mark.parametrize(
    ("place", "detail"),
    [(1, "the window"), (2, "sex"), (3, "sex, coarse"), (4, "way"), (6, "job"), (7, "job, coarse"), (8, "bits")],
)
def test_an_account_that_differs_is_found(right: FieldRun, place: int, detail: str, change: int) -> None:
    if place in (1, 3, 7) and change < 0:
        change = 5
    right.change_words(b"user-2", place, change)
    assert found(right) == {("field_account", detail): 1}


def test_a_negative_account_is_set_aside(right: FieldRun) -> None:
    right.change_words(b"user-2", 3, -1)
    assert codes(right) == {"quarantined_rows"}


@pytest.mark.parametrize("place", [0, 1, 2, 4, 9, 40])
def test_words_whose_version_tag_or_check_is_wrong_are_set_aside(right: FieldRun, place: int) -> None:
    where, _ = right.words(b"user-1")
    row = bytearray(right.states()[where].value or b"")
    row[HEAD + place] ^= 4
    right.states()[where] = replace(right.states()[where], value=bytes(row))
    assert codes(right) == {"quarantined_rows"}


def test_a_row_without_its_words_is_set_aside(right: FieldRun) -> None:
    where, words = right.words(b"user-1")
    row = right.states()[where].value or b""
    right.states()[where] = replace(right.states()[where], value=row[:HEAD] + row[HEAD + 8 * len(words) :])
    assert codes(right) == {"quarantined_rows"}


def test_an_account_of_an_earlier_event_is_found(right: FieldRun) -> None:
    """The row knows of all steps, but its words do not."""
    where, words = right.words(b"user-3")
    right.change_words(b"user-3", 8, -(1 << 40))
    assert found(right) == {("field_account", "bits"): 1}
    assert struct.unpack_from("<q", right.states()[where].value or b"", HEAD + 64)[0] == words[8] - (1 << 40)
