"""Paths: how they are written, what they find, what they make."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.records.paths import MISSING, Path, PathError, getter, parse_path, setter

NAMES = st.text(max_size=6)
STEPS = st.one_of(NAMES, st.integers(0, 5))
PATHS = st.builds(lambda first, rest: Path((first, *rest)), NAMES, st.lists(STEPS, max_size=5))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("$.a", ("a",)),
        ("$.a.b[0]['c d']", ("a", "b", 0, "c d")),
        ('$["a"]', ("a",)),
        ("$['it\\'s']", ("it's",)),
        ("$['a\\\\b']", ("a\\b",)),
        ('$["say \\"x\\""]', ('say "x"',)),
        ("$['']", ("",)),
        ("$.größe", ("größe",)),
        ("$.a-b:c", ("a-b:c",)),
        ("$['0'][0]", ("0", 0)),
    ],
)
def test_what_a_path_means(text: str, steps: tuple[str | int, ...]) -> None:
    assert parse_path(text).steps == steps


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "$",
        "$.",
        "$a",
        "$..a",
        "$.a.",
        "$.a[",
        "$.a[]",
        "$.a[-1]",
        "$.a[01]",
        "$.a[1:2]",
        "$.a[*]",
        "$.*",
        "$.a[1.5]",
        "$[0]",
        "$.a[1024]",
        "$['a'",
        "$['a]",
        "$[a]",
        "$.a b",
        "$.a$",
        "$.a['b'c]",
        "$.a[?(@.b)]",
        "$.a\\b",
        " $.a",
    ],
)
def test_what_is_no_path(text: str) -> None:
    with pytest.raises(PathError):
        parse_path(text)


def test_a_path_has_a_longest_form() -> None:
    assert len(parse_path("$" + ".a" * 32).steps) == 32
    with pytest.raises(PathError, match="32 are the most"):
        parse_path("$" + ".a" * 33)


@given(PATHS)
def test_a_path_is_read_as_it_was_written(path: Path) -> None:
    assert parse_path(str(path)) == path


def walk(document: Any, steps: tuple[str | int, ...]) -> Any:
    """The getter's meaning, spelled out."""
    for step in steps:
        if isinstance(step, int):
            if not isinstance(document, list) or step >= len(document):
                return MISSING
        elif not isinstance(document, dict) or step not in document:
            return MISSING
        document = document[step]
    return document


@given(PATHS, VALUES)
def test_a_getter_never_raises_and_finds_what_a_walk_finds(path: Path, document: Any) -> None:
    assert getter(path)(document) is walk(document, path.steps)


@pytest.mark.parametrize(
    "document", [{"a": "walking"}, {"a": {"0": 1}}, {"a": None}, {"a": 3}, {"a": []}, [], "a", None]
)
def test_a_position_finds_no_letter_of_a_text(document: Any) -> None:
    assert getter(parse_path("$.a[0]"))(document) is MISSING


@given(PATHS, st.integers())
def test_what_a_setter_puts_a_getter_finds(path: Path, value: int) -> None:
    document: dict[str, Any] = {}
    setter(path)(document, value)
    assert getter(path)(document) == value


def test_setters_share_what_lies_on_the_way() -> None:
    document: dict[str, Any] = {}
    for text in ("$.a.b", "$.a.c[2]", "$.a.c[0].d", "$.e[1][1]"):
        setter(parse_path(text))(document, text)
    assert document == {
        "a": {"b": "$.a.b", "c": [{"d": "$.a.c[0].d"}, None, "$.a.c[2]"]},
        "e": [None, [None, "$.e[1][1]"]],
    }


@pytest.mark.parametrize(
    ("one", "other", "overlaps", "conflicts"),
    [
        ("$.a", "$.a", True, False),
        ("$.a", "$.a.b", True, False),
        ("$.a.b", "$.a", True, False),
        ("$.a.b", "$.a.c", False, False),
        ("$.a", "$.ab", False, False),
        ("$.a[0]", "$.a.b", False, True),
        ("$.a[0]", "$.a['0']", False, True),
        ("$.a[0].x", "$.a[1][2]", False, False),
    ],
)
def test_how_two_paths_relate(one: str, other: str, overlaps: bool, conflicts: bool) -> None:
    first, second = parse_path(one), parse_path(other)
    assert first.overlaps(second) is second.overlaps(first) is overlaps
    assert first.shape_conflict(second) is second.shape_conflict(first) is conflicts
