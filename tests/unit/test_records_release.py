"""What leaves: the public fields, the released value, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from beliefs.alphabet import Categories, IntegerRange
from stream.records.dead_letters import dead_letter
from stream.records.release import Writer, chosen_headers
from stream.records.shapes import Rejected
from stream.settings.model import RecordSettings

WORDS = Categories(["still", "walking", 'say "x"', "größe"])


def writer(*public: str, path: str = "$.activity", alphabet: Categories | IntegerRange = WORDS) -> Writer:
    return Writer(RecordSettings.model_validate({"protect": {"path": path}, "public": public}), alphabet)


def written(by: Writer, document: dict[str, Any], symbol: int) -> Any:
    """Both ways of writing, which must agree byte for byte."""
    single = by.value(document, symbol)
    assert by.values([document, document], [symbol, symbol]) == [single, single]
    return json.loads(single)


def test_without_public_fields_the_value_stands_alone() -> None:
    secret = {"activity": "walking", "place": "home"}
    for symbol, value in enumerate(WORDS.values):
        assert written(writer(), secret, symbol) == {"activity": value}
    assert written(writer(path="$.a.b[1]"), secret, 0) == {"a": {"b": [None, "still"]}}
    assert written(writer(alphabet=IntegerRange(3, 9)), secret, 2) == {"activity": 5}


@pytest.mark.parametrize(
    ("public", "document", "expected"),
    [
        (("$.b",), {"activity": "walking", "b": 1, "c": 2}, {"b": 1, "activity": "still"}),
        (("$.b",), {"activity": "walking"}, {"activity": "still"}),
        (("$.b",), {"b": None}, {"b": None, "activity": "still"}),
        (("$.b", "$.c"), {"c": [1, {"d": "x"}], "e": 1}, {"c": [1, {"d": "x"}], "activity": "still"}),
        (("$.b.c",), {"b": {"c": 1, "d": 2}}, {"b": {"c": 1}, "activity": "still"}),
        (("$.b.c",), {"b": 3}, {"activity": "still"}),
        (("$.b[1]",), {"b": [1, 2, 3]}, {"b": [None, 2], "activity": "still"}),
        (("$.b[1]",), {"b": [1]}, {"activity": "still"}),
        (("$.b[1]", "$.b[0].c"), {"b": [{"c": 1, "d": 2}, 3]}, {"b": [{"c": 1}, 3], "activity": "still"}),
    ],
)
def test_public_fields_keep_their_places(public: tuple[str, ...], document: dict[str, Any], expected: Any) -> None:
    assert written(writer(*public), document, 0) == expected


def test_a_public_field_beside_a_nested_protected_one() -> None:
    document = {"device": {"activity": "walking", "id": 7, "place": "home"}, "n": 1}
    released = written(writer("$.device.id", "$.n", path="$.device.activity"), document, 0)
    assert released == {"device": {"id": 7, "activity": "still"}, "n": 1}


def test_the_document_that_was_read_stays_as_it_was() -> None:
    document = {"activity": "walking", "b": {"c": [1]}}
    before = orjson.dumps(document)
    written(writer("$.b.c"), document, 0)
    written(writer("$.b"), document, 0)
    assert orjson.dumps(document) == before


def test_a_block_keeps_its_order() -> None:
    documents = [{"b": number} for number in range(5)]
    values = writer("$.b").values(documents, [0, 1, 2, 3, 0])
    assert [json.loads(value)["b"] for value in values] == [0, 1, 2, 3, 4]
    assert [json.loads(value)["activity"] for value in values] == [*WORDS.values, "still"]


def test_chosen_headers_pass_and_no_others() -> None:
    headers: list[tuple[str, bytes | None]] = [("trace", b"1"), ("user", b"canary"), ("trace", None)]
    assert chosen_headers(headers, frozenset({"trace", "other"})) == [("trace", b"1"), ("trace", b"")]


def test_a_dead_letter_says_why_and_where() -> None:
    letter = json.loads(dead_letter(Rejected("outside_alphabet", "$.activity"), "raw", 3, 17))
    assert letter == {
        "reason": "outside_alphabet",
        "path": "$.activity",
        "topic": "raw",
        "partition": 3,
        "offset": 17,
    }
