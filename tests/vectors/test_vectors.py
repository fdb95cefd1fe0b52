"""Every known answer, through the door that a user has.

All `*.json` of this folder run. The folder that the environment variable SOTTOVOCE_VECTORS names runs as well, for the
names that exist here: known answers of somebody else, in the same format.

A known answer is {"id", "what", "inputs", "expected", "tolerance", "why"}. Only the keys that `expected` names are
compared: numbers within the tolerance, or inside {"between": [low, high]}; texts, truth values and null exactly; an
error by the field it names.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from beliefs import json_text
from stream.commands.compute import answer
from stream.compute.catalogue import CATALOGUE

FOLDER = Path(__file__).parent
Vector = Mapping[str, object]


def read_vectors(folder: Path) -> list[Vector]:
    found: list[Vector] = []
    for path in sorted(folder.glob("*.json")):
        document = json_text.read(path.read_bytes())
        assert isinstance(document, list), f"{path.name} must hold a list"
        found += document
    return found


def differences(got: object, want: object, tolerance: object, path: str = "result") -> list[str]:
    """What of `want` is not met; empty when all of it is."""
    if isinstance(want, dict) and set(want) == {"between"}:
        low, high = want["between"]
        fits = is_number(got) and low <= got <= high
        return [] if fits else [f"{path} is {got}, outside [{low}, {high}]"]
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return [f"{path} is no object"]
        missing = [f"{path} has no {key}" for key in want if key not in got]
        return missing + [
            line for key in want if key in got for line in differences(got[key], want[key], tolerance, f"{path}.{key}")
        ]
    if isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            return [f"{path} is no list of {len(want)}"]
        return [line for k, each in enumerate(want) for line in differences(got[k], each, tolerance, f"{path}[{k}]")]
    if isinstance(want, float) or (is_number(want) and isinstance(got, float)):
        return [] if is_number(got) and is_close(got, want, tolerance) else [f"{path} is {got}, expected {want}"]
    return [] if type(got) is type(want) and got == want else [f"{path} is {got!r}, expected {want!r}"]


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_close(got: object, want: object, tolerance: object) -> bool:
    assert isinstance(got, int | float)
    assert isinstance(want, int | float)
    if isinstance(tolerance, dict):
        room = max(tolerance["relative"] * abs(want), tolerance["absolute"])
    else:
        assert isinstance(tolerance, int | float)
        room = max(tolerance * abs(want), tolerance)
    return abs(got - want) <= room and math.isfinite(got)


def assert_known_answer(vector: Vector) -> None:
    expected = vector["expected"]
    assert isinstance(expected, dict)
    given = answer(vector)
    assert isinstance(given, dict)
    if "error" in expected:
        assert given.get("error", {}).get("field") == expected["error"]["field"], given
        assert given["error"]["reason"].endswith(".")
    else:
        assert differences(given.get("result"), expected, vector["tolerance"]) == [], given


@pytest.mark.parametrize("vector", read_vectors(FOLDER), ids=lambda vector: vector["id"])
def test_known_answers(vector: Vector) -> None:
    assert_known_answer(vector)
    assert vector["why"]


def test_known_answers_of_others() -> None:
    folder = os.environ.get("SOTTOVOCE_VECTORS")
    for vector in read_vectors(Path(folder)) if folder else []:
        if vector["what"] in CATALOGUE:
            assert_known_answer(vector)


def test_ids_are_unique_and_every_name_has_good_and_bad_answers() -> None:
    vectors = [json.loads(path.read_bytes()) for path in sorted(FOLDER.glob("*.json"))]
    flat = [vector for file in vectors for vector in file]
    ids = [vector["id"] for vector in flat]
    assert len(ids) == len(set(ids))
    for name in CATALOGUE:
        kinds = {"error" in vector["expected"] for vector in flat if vector["what"] == name}
        assert kinds == {True, False}, f"{name} lacks known answers, good or bad"


def test_a_whole_file_is_itself_a_document() -> None:
    for path in sorted(FOLDER.glob("*.json")):
        document = json_text.read(path.read_bytes())
        assert isinstance(document, list)
        assert answer(document) == [answer(vector) for vector in document]


@pytest.mark.parametrize(
    ("got", "want", "tolerance", "same"),
    [
        (1.0, 1.0 + 9e-10, 1e-9, True),
        (1.0, 1.0 + 2e-9, 1e-9, False),
        (100.0, 100.0 + 9e-8, 1e-9, True),
        (0.0, 9e-10, 1e-9, True),
        (1.0, 1.001, {"relative": 1e-2, "absolute": 0.0}, True),
        (0.001, 0.002, {"relative": 1e-2, "absolute": 1e-4}, False),
        (0.5, {"between": [0.4, 0.6]}, 1e-9, True),
        (0.7, {"between": [0.4, 0.6]}, 1e-9, False),
        ("inf", {"between": [0.4, 0.6]}, 1e-9, False),
        ("inf", "inf", 1e-9, True),
        (math.inf, 1.0, 1e-9, False),
        (3, 3, 1e-9, True),
        (3, 4, 1.0, False),
        (True, 1, 1.0, False),
        (1, True, 1.0, False),
        (True, 1.0, 1.0, False),
        (None, None, 1e-9, True),
        (0.0, None, 1e-9, False),
        ([1.0, 2.0], [1.0, 2.0], 1e-9, True),
        ([1.0, 2.0, 3.0], [1.0, 2.0], 1e-9, False),
        ({"a": 1.0, "b": 2}, {"a": 1.0}, 1e-9, True),
        ({"b": 2}, {"a": 1.0}, 1e-9, False),
    ],
)
def test_the_comparison_itself(got: object, want: object, tolerance: object, same: bool) -> None:
    assert (differences(got, want, tolerance) == []) == same
