"""Whether a value is one of some: a symbol for every value of their type, a reason for every other."""

from __future__ import annotations

import orjson
import pytest

from beliefs.alphabet import Categories, IntegerRange
from stream import names
from stream.records.among import Among
from stream.records.fields import FieldForm, fields_reader
from stream.records.paths import parse_path
from stream.records.shapes import Rejected

WALKS = Among(Categories(["walking", "running"]))


@pytest.mark.parametrize(("value", "symbol"), [("walking", 1), ("running", 1), ("still", 0), ("Walking", 0), ("", 0)])
def test_one_of_them_counts_and_any_other_does_not(value: str, symbol: int) -> None:
    read = fields_reader([FieldForm("count", parse_path("$.activity"), WALKS)])
    assert read({"activity": value}) == (symbol,)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b'{"activity": 3}', names.FIELD_TYPE),
        (b'{"activity": null}', names.FIELD_TYPE),
        (b'{"activity": ["walking"]}', names.FIELD_TYPE),
        (b"{}", names.FIELD_MISSING),
    ],
)
def test_what_is_no_such_value_is_refused(text: bytes, reason: str) -> None:
    read = fields_reader([FieldForm("count", parse_path("$.activity"), WALKS)])
    assert read(orjson.loads(text)) == Rejected(reason, "$.activity")


def test_numbers_are_counted_by_their_own_kind() -> None:
    read = fields_reader([FieldForm("count", parse_path("$.n"), Among(IntegerRange(3, 5)))])
    assert [read({"n": number}) for number in (2, 3, 5, 6)] == [(0,), (1,), (1,), (0,)]
    assert read({"n": 3.0}) == Rejected(names.FIELD_TYPE, "$.n")
