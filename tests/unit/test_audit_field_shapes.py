"""Reports as they are written are recognised; anything else is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from field_reference import Reference, groups_of

from beliefs.alphabet import Alphabet, Bins, Categories, Grid, IntegerRange
from stream.audit.field_records import (
    MISSING_REPORT,
    NO_SIGNS,
    REPEATED_MEMBER,
    UNREADABLE,
    WITHHELD_REPORT,
    WRONG_REPORT,
    FieldReader,
)
from stream.audit.field_rules import field_of
from stream.records.paths import parse_path
from stream.settings.fields import FieldSettings, FieldsSettings

NAMES = tuple(f"station {number}" for number in range(10))
"""Ten values: bits fill two bytes, six of the last one's are padding."""


def settings_of(mechanism: str, path: str = "$.field", values: Alphabet | None = None, **more: Any) -> FieldSettings:
    named: dict[str, Any] = {"top": (NAMES[7], NAMES[2])} if mechanism == "top_k" else {}
    given = {"path": parse_path(path), "values": values or Categories(NAMES), "mechanism": {"name": mechanism, **named}}
    return FieldSettings.model_validate({"epsilon": 1.0, **given, **more})


def reader_of(*settings: FieldSettings) -> FieldReader:
    return FieldReader([field_of(f"field{number}", one) for number, one in enumerate(settings)])


def wrong(reader: FieldReader, signs: str, document: dict[str, Any]) -> int:
    return reader.read(signs.encode(), document, orjson.dumps(document))[1]


def written(settings: FieldSettings, sign: str, value: Any, seed: int = 1) -> Any:
    reference = Reference(FieldsSettings(each={"field": settings}), None, None)
    return reference.report("field", sign, value, np.random.default_rng(seed))


MECHANISMS = ("grr", "exp", "top_k", "oue", "sue", "rappor", "blh", "olh", "ss", "she", "the")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_is_written_is_recognised(mechanism: str) -> None:
    settings = settings_of(mechanism, lasting=True)
    for seed in range(30):
        assert wrong(reader_of(settings), "0", {"field": written(settings, "0", NAMES[3], seed)}) == 0


@pytest.mark.parametrize("mechanism", [name for name in MECHANISMS if name != "rappor"])
def test_reports_at_lower_levels_and_of_lists_are_recognised(mechanism: str) -> None:
    settings = settings_of(mechanism, beyond="lower", at_most=3, epsilon=4.0)
    for sign in "0123":
        for seed in range(20):
            assert wrong(reader_of(settings), sign, {"field": written(settings, sign, [NAMES[3]], seed)}) == 0


@pytest.mark.parametrize("mechanism", ["grr", "oue", "olh", "ss", "she"])
def test_reports_of_groups_are_recognised(mechanism: str) -> None:
    coarser = {"near": NAMES[:3], "far": NAMES[3:]}
    settings = settings_of(mechanism, beyond="coarsen", coarser=coarser)
    assert groups_of(settings) == [0] * 3 + [1] * 7
    for seed in range(10):
        assert wrong(reader_of(settings), "c", {"field": written(settings, "c", NAMES[5], seed)}) == 0
    assert wrong(reader_of(settings), "c", {"field": NAMES[5]}) == WRONG_REPORT


@pytest.mark.parametrize(
    "values", [IntegerRange(-3, 6), Bins(0.0, 1.0, 7), Grid(Bins(0.0, 1.0, 3), Bins(0.0, 2.0, 4)), Categories(NAMES)]
)
def test_labels_are_values_as_the_alphabet_writes_them(values: Alphabet) -> None:
    reader = reader_of(settings_of("grr", values=values))
    assert wrong(reader, "0", {"field": values.value_at(2)}) == 0
    for other in (None, True, "2", 1e9, [0.5], {"field": 1}, values.value_at(2) if isinstance(values, Bins) else 0.123):
        expected = 0 if other == values.value_at(2) else WRONG_REPORT
        assert wrong(reader, "0", {"field": other}) == expected


def test_null_is_an_empty_slot_or_another_value_and_nothing_else() -> None:
    assert wrong(reader_of(settings_of("grr")), "0", {"field": None}) == WRONG_REPORT
    assert wrong(reader_of(settings_of("grr", at_most=2)), "0", {"field": None}) == 0
    top = reader_of(settings_of("top_k"))
    assert wrong(top, "0", {"field": None}) == wrong(top, "0", {"field": NAMES[7]}) == 0
    assert wrong(top, "0", {"field": NAMES[3]}) == wrong(top, "0", {"field": "elsewhere"}) == WRONG_REPORT


SEED = "9e3779b97f4a7c150123456789abcdef"
RIGHT: dict[str, dict[str, Any]] = {
    "oue": {"version": 1, "length": 10, "bits": "kEA="},
    "olh": {"version": 1, "seed": SEED, "range": 4, "cell": 2},
    "ss": {"version": 1, "of": 10, "subset": [1, 7]},
    "she": {"version": 1, "per_unit": 4, "cells": [5, -3, 0, 0, 1, 0, -96, 100, 0, 2]},
}
BROKEN: list[tuple[str, dict[str, Any]]] = [
    *((mechanism, {"version": version}) for mechanism in RIGHT for version in (2, True, 1.0, "1")),
    *((mechanism, {"more": 0}) for mechanism in RIGHT),
    ("oue", {"length": 11}),
    ("oue", {"length": 10.0}),
    ("oue", {"bits": 36928}),
    ("oue", {"bits": "kEE="}),  # a bit behind the last value
    ("oue", {"bits": "kEB="}),  # the same bytes in another writing
    ("oue", {"bits": "kEA"}),
    ("oue", {"bits": "kA=="}),
    ("oue", {"bits": "kEAA"}),
    ("oue", {"bits": "kEA=\n"}),
    ("oue", {"bits": "k\u00c4A="}),
    ("olh", {"seed": SEED.upper()}),
    ("olh", {"seed": SEED[1:]}),
    ("olh", {"seed": 5}),
    ("olh", {"range": 5}),
    ("olh", {"cell": 4}),
    ("olh", {"cell": -1}),
    ("olh", {"cell": 2.0}),
    ("ss", {"of": 9}),
    ("ss", {"subset": [7, 1]}),
    ("ss", {"subset": [1, 1]}),
    ("ss", {"subset": [1]}),
    ("ss", {"subset": [1, 10]}),
    ("ss", {"subset": "17"}),
    ("she", {"per_unit": 5}),
    ("she", {"cells": [0] * 9}),
    ("she", {"cells": [0] * 9 + [101]}),
    ("she", {"cells": [-97] + [0] * 9}),
    ("she", {"cells": [0.5] + [0] * 9}),
    ("she", {"cells": {"0": 0}}),
]


@pytest.mark.parametrize("mechanism", sorted(RIGHT))
def test_documents_are_right_as_they_stand_in_the_notes(mechanism: str) -> None:
    reader = reader_of(settings_of(mechanism))
    assert wrong(reader, "0", {"field": RIGHT[mechanism]}) == 0
    for member in RIGHT[mechanism]:
        short = {name: value for name, value in RIGHT[mechanism].items() if name != member}
        assert wrong(reader, "0", {"field": short}) == WRONG_REPORT
    for other in (None, 5, "kEA=", [], [RIGHT[mechanism]]):
        assert wrong(reader, "0", {"field": other}) == WRONG_REPORT


@pytest.mark.parametrize(("mechanism", "change"), BROKEN)
def test_a_document_that_differs_in_one_member_is_none(mechanism: str, change: dict[str, Any]) -> None:
    assert wrong(reader_of(settings_of(mechanism)), "0", {"field": RIGHT[mechanism] | change}) == WRONG_REPORT


@pytest.mark.parametrize("header", ["", "0", "000", "4-", "c-", "1-", " -", "0\u00e4"])
def test_a_header_that_says_what_cannot_be_is_unreadable(header: str) -> None:
    reader = reader_of(settings_of("grr", "$.one"), settings_of("grr", "$.two"))
    assert reader.read(header.encode(), {}, b"{}") == (UNREADABLE, NO_SIGNS)


def test_fields_are_there_or_withheld_as_the_header_says() -> None:
    reader = reader_of(settings_of("grr", "$.one"), settings_of("grr", "$.in.two"))
    one, two = {"one": NAMES[0]}, {"in": {"two": NAMES[1]}}
    assert wrong(reader, "00", one | two) == wrong(reader, "--", {}) == wrong(reader, "-0", two) == 0
    assert wrong(reader, "0-", one | two) == WITHHELD_REPORT
    assert wrong(reader, "00", one) == wrong(reader, "00", one | {"in": {}}) == MISSING_REPORT
    assert wrong(reader, "-0", one) == WITHHELD_REPORT | MISSING_REPORT
    assert wrong(reader, "0-", one | {"in": {"two": None}}) == WITHHELD_REPORT
    assert [reader.signs[number] for number in range(3)] == ["00", "--", "-0"]


def test_a_withheld_place_in_an_array_may_be_filled_with_null() -> None:
    reader = reader_of(settings_of("grr", "$.in[0]"), settings_of("grr", "$.in[1]"))
    assert wrong(reader, "-0", {"in": [None, NAMES[1]]}) == wrong(reader, "0-", {"in": [NAMES[1]]}) == 0
    assert wrong(reader, "-0", {"in": [NAMES[0], NAMES[1]]}) == WITHHELD_REPORT
    assert wrong(reader, "0-", {"in": [None]}) == WRONG_REPORT


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        (b'{"field": "station 1", "public": 1.50}', False),
        (b'{"field":"station 1","public":{"a":1,"a":2}}', True),
        (b'{"field":"station 3","field":"station 1"}', True),
        (b'{"field":"station 1","public":' + b"[" * 300 + b"]" * 300 + b" }", False),  # deeper than can be written
        (b'{"field":"station 1","public":' + b"[" * 1020 + b"]" * 1020 + b"}", True),  # deeper than can be looked at
    ],
)
def test_a_member_twice_is_found_and_another_way_to_write_is_not_one(text: bytes, repeats: bool) -> None:
    reader = reader_of(settings_of("grr"))
    found = reader.read(b"0", orjson.loads(text), text)[1]
    assert found == (REPEATED_MEMBER if repeats else 0)
