from __future__ import annotations

import math

import pytest

from beliefs import json_text
from beliefs.checks import Invalid


def test_repeated_keys_are_remembered_at_every_depth() -> None:
    value = json_text.read(b'{"a": 1, "b": [{"c": 1, "c": 2}], "a": {"d": 1, "d": 1}}')
    assert list(json_text.repeated_keys(value)) == ["a", "a.d", "b[0].c"]
    assert list(json_text.repeated_keys(json_text.read(b'{"a": {"b": 1}}'))) == []


def test_numbers_that_are_not_finite_are_read_and_found() -> None:
    value = json_text.read(b'{"a": [NaN, Infinity, -Infinity, 1e999, 1], "b": {"c": -1e999}}')
    assert list(json_text.unfit_values(value)) == ["a[0]", "a[1]", "a[2]", "a[3]", "b.c"]
    long = json_text.read(b"1" * 5000)
    assert isinstance(long, float)
    assert math.isinf(long)


def test_half_surrogate_pairs_are_found() -> None:
    assert list(json_text.unfit_values(json_text.read(b'{"a": "\\ud800", "b": "\\ud83d\\ude00"}'))) == ["a"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "line 1, column 1"),
        (b"{", "is not JSON"),
        (b'{"a": 1,}', "is not JSON"),
        (b"{'a': 1}", "is not JSON"),
        (b"[1] [2]", "line 1, column 5"),
        (b'"\xff"', "not UTF-8 from byte 1"),
        (b"\xff\xfe[\x00]\x00", "not UTF-8"),
        (b"[" * 101 + b"]" * 101, "nested more than 100 deep"),
        (b"[" * 100_000, "nested more than 100 deep"),
        (b'{"a":' * 100_000, "nested more than 100 deep"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(data: bytes, reason: str) -> None:
    with pytest.raises(Invalid) as caught:
        json_text.read(data)
    assert caught.value.field == "text"
    assert reason in caught.value.reason


def test_a_hundred_levels_and_a_byte_order_mark_are_fine() -> None:
    assert json_text.read(b"\xef\xbb\xbf[1]") == [1]
    value = json_text.read(b"[" * 100 + b"]" * 100)
    assert list(json_text.unfit_values(value)) == []


def test_the_canonical_text_does_not_depend_on_the_way_it_was_written() -> None:
    one = json_text.read(b'{"b": [1, 2.50], "a": "\\u00fc"}')
    other = json_text.read('{ "a" : "ü","b":[1,2.5] }'.encode())
    assert json_text.canonical(one) == json_text.canonical(other) == '{"a":"ü","b":[1,2.5]}'.encode()
