"""The file of what is believed of a crowd: both kinds there and back, and every mistake by its place."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from crowd_settings_text import law_text

from beliefs.checks import Invalid
from beliefs.crowd.law_file import PLACES_MAX, TYPES_MAX, CrowdLaw, InvalidCrowdLaw, parse, serialise

PAIR = [[0.4, 0.1], [0.1, 0.4]]
THREE = np.zeros((2, 2, 2))
THREE[0, 0, 0] = THREE[1, 1, 1] = 0.35
for _place in ((0, 0, 1), (0, 1, 0), (1, 0, 0)):
    THREE[_place] = 0.1


def mistakes(data: bytes) -> list[tuple[str, str]]:
    with pytest.raises(InvalidCrowdLaw) as refused:
        parse(data)
    return [(problem.field, problem.reason) for problem in refused.value.problems]


def test_types_come_back_as_they_were_written() -> None:
    law = parse(law_text({"default": (0.25, 0.5, 0.25), "driver": (1.0, 0.0, 0.0)}, learnt_from={"source": "2024"}))
    assert (law.places, law.members, law.household) == (3, 1, None)
    assert {name: each.tolist() for name, each in law.types.items()} == {
        "default": [0.25, 0.5, 0.25],
        "driver": [1.0, 0.0, 0.0],
    }
    again = parse(serialise(law))
    assert serialise(again) == serialise(law)
    assert (again.learnt_from, list(again.types)) == ({"source": "2024"}, ["default", "driver"])


@pytest.mark.parametrize(("joint", "members"), [(PAIR, 2), (THREE.tolist(), 3)])
def test_a_household_comes_back_as_it_was_written(joint: Any, members: int) -> None:
    law = parse(law_text(household=joint))
    assert (law.places, law.members, dict(law.types)) == (2, members, {})
    assert law.household is not None
    assert law.household.tolist() == joint
    assert serialise(parse(serialise(law))) == serialise(law)


def test_what_is_left_of_a_household_does_not_depend_on_who_is_away() -> None:
    law = parse(law_text(household=THREE.tolist()))
    assert law.household is not None
    sums = [law.household.sum(axis=axis) for axis in range(3)]
    assert np.array_equal(sums[0], sums[1])
    assert np.array_equal(sums[1], sums[2])


@pytest.mark.parametrize(
    ("types", "field", "reason"),
    [
        ({"default": (0.5, 0.4)}, "types.default", "sums to 0.9"),
        ({"default": (0.5, 0.6)}, "types.default", "sums to 1.1"),
        ({"default": (1.5, -0.5)}, "types.default", "entry 1 is negative"),
        ({"default": (math.nan, 0.5)}, "types.default", "entry 0 must be a finite number"),
        ({"default": (math.inf, 0.5)}, "types.default", "entry 0 must be a finite number"),
        ({"default": (1.0,)}, "types.default", "must be 2 to"),
        ({"default": ()}, "types.default", "is empty"),
        ({"default": ("0.5", 0.5)}, "types.default", "entry 0 must be a number, found a text"),
        ({"default": (True, 0)}, "types.default", "entry 0 must be a number, found a truth value"),
        ({"default": (0.5, 0.5), "driver": (0.2, 0.3, 0.5)}, "types", "have laws of 2, 3 chances"),
        ({}, "types", "must name 1 to"),
    ],
)
def test_a_law_that_is_none_is_refused_by_its_type(types: Any, field: str, reason: str) -> None:
    found = mistakes(law_text(types))
    assert any(place.startswith(field) and reason in why for place, why in found), found


@pytest.mark.parametrize(
    ("joint", "reason"),
    [
        ([[0.4, 0.2], [0.1, 0.3]], "another law when members 0 and 1 change places"),
        ([[0.5, 0.2], [0.1, 0.1]], "sums to 0.9"),
        ([[1.1, 0.0], [0.0, -0.1]], "entry 3 is negative"),
        ([0.5, 0.5], "a level for each of two members"),
        ([[1.0]], "of two values"),
        ([[0.2, 0.2, 0.1], [0.2, 0.2, 0.1]], "2 and 3 values"),
        (0.5, "lists within lists"),
    ],
)
def test_a_household_that_tells_its_members_apart_is_refused(joint: Any, reason: str) -> None:
    ((field, why),) = mistakes(law_text(household=joint))
    assert field == "household"
    assert reason in why


def test_all_mistakes_are_found_at_once() -> None:
    found = mistakes(law_text({"a": (0.5, 0.4), "b": (2.0, -1.0)}))
    assert [field for field, _ in found] == ["types.a", "types.b"]


def test_other_files_other_versions_and_unknown_keys_are_refused() -> None:
    whole = json.loads(law_text({"default": (0.5, 0.5)}))
    for change, field in (
        ({"format": "sottovoce-law"}, "format"),
        ({"version": 2}, "version"),
        ({"laws": []}, "laws"),
        ({"hash": "sha256:0"}, "hash"),
        ({"household": PAIR}, "types"),
    ):
        assert [place for place, _ in mistakes(json.dumps({**whole, **change}).encode())] == [field]
    assert [place for place, _ in mistakes(law_text())] == ["types"]
    assert mistakes(b"{")
    assert mistakes(b"[]")


def test_there_are_limits_of_types_and_of_places() -> None:
    many = {f"t{number}": (0.5, 0.5) for number in range(TYPES_MAX + 1)}
    assert "must name 1 to" in mistakes(law_text(many))[0][1]
    wide = [1.0, *[0.0] * PLACES_MAX]
    assert mistakes(law_text({"default": wide}))[0][0] == "types.default"


def test_a_law_is_of_one_kind() -> None:
    with pytest.raises(Invalid, match="give one of them"):
        CrowdLaw()
