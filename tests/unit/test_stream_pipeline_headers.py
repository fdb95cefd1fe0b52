"""Chosen headers pass up to a limit; a record with more goes to the dead letters, because it could never be written."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from pipeline_help import Line, Record, promise_of, record_settings, walk

from stream import names
from stream.records.release import CHOSEN_HEADERS_BYTES_MAX, too_large_headers

CHOSEN = frozenset({"trace", "größe"})
LENGTHS = 10


@pytest.mark.parametrize(
    ("headers", "too_large"),
    [
        ([], False),
        ([("trace", None)], False),
        ([("cookie", b"x" * 99_999)], False),
        ([("trace", b"x" * (CHOSEN_HEADERS_BYTES_MAX - LENGTHS - 5))], False),
        ([("trace", b"x" * (CHOSEN_HEADERS_BYTES_MAX - LENGTHS - 4))], True),
        ([("größe", b"x" * (CHOSEN_HEADERS_BYTES_MAX - LENGTHS - 6))], True),
        ([("trace", b"")] * (CHOSEN_HEADERS_BYTES_MAX // (LENGTHS + 5)), False),
        ([("trace", b"")] * (CHOSEN_HEADERS_BYTES_MAX // (LENGTHS + 5) + 1), True),
    ],
)
def test_names_and_values_and_their_number_count(headers: list[tuple[str, bytes | None]], too_large: bool) -> None:
    assert too_large_headers(headers, CHOSEN) is too_large


def large(record: Record) -> Record:
    return replace(record, headers=[("trace", b"canary" * 5_000)])


def test_a_record_with_large_headers_is_a_dead_letter_and_the_others_are_as_without_it() -> None:
    records = walk(60)
    promise = promise_of(record_settings(headers=["trace"]))
    mixed = [large(record) if record.offset % 7 == 3 else record for record in records]
    effects = Line(promise).carry_out(mixed)
    others = Line(promise).carry_out([record for record in records if record.offset % 7 != 3])
    assert list(effects.releases) == list(others.releases)
    letters = [orjson.loads(letter.value or b"") for letter in effects.dead_letters]
    assert [letter["offset"] for letter in letters] == list(range(3, 60, 7))
    assert {(letter["reason"], letter["path"]) for letter in letters} == {(names.TOO_LARGE, "$headers")}
    assert effects.outcomes[names.DEAD_LETTERED] == effects.reasons[names.TOO_LARGE] == len(letters)
    assert b"canary" not in b"".join(letter.value or b"" for letter in effects.dead_letters)


def test_headers_that_nobody_has_chosen_may_be_of_any_size() -> None:
    records = walk(20)
    effects = Line(promise_of()).carry_out([large(record) for record in records])
    assert len(effects.releases) == len(records)
