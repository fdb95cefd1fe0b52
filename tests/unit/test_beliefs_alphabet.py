from __future__ import annotations

import orjson
import pytest

from beliefs.alphabet import INTEGER_MAX, SIZE_MAX, Alphabet, Categories, IntegerRange
from beliefs.checks import Invalid

COLOURS = Categories(["red", "green", "", "Grün", "1"])
DIGITS = IntegerRange(-2, 3)


@pytest.mark.parametrize("alphabet", [COLOURS, DIGITS, IntegerRange(5, 5), Categories(["only"])])
def test_value_and_index_are_inverse(alphabet: Alphabet) -> None:
    values = [alphabet.value_at(index) for index in range(alphabet.size)]
    assert [alphabet.index_of(value) for value in values] == list(range(alphabet.size))
    assert len(set(values)) == alphabet.size


@pytest.mark.parametrize(
    "text", ["true", "1", "1.0", "null", '"blue"', '"RED"', '"red "', "[]", '["red"]', "{}", '"Gru\\u0308n"', "1e0"]
)
def test_strangers_have_no_index_among_texts(text: str) -> None:
    assert COLOURS.index_of(orjson.loads(text)) is None


@pytest.mark.parametrize(
    "text", ["true", "false", "1.0", "-0.0", '"1"', "4", "-3", "1e0", "null", "[1]", "{}", "18446744073709551615"]
)
def test_strangers_have_no_index_among_integers(text: str) -> None:
    assert DIGITS.index_of(orjson.loads(text)) is None


@pytest.mark.parametrize("value", ["red", 1, 1.0, True, None, "green", -2, 0, 3, 4])
@pytest.mark.parametrize("alphabet", [COLOURS, DIGITS])
def test_the_hot_lookup_is_index_of(alphabet: Alphabet, value: object) -> None:
    hot = alphabet.lookup.get(value) if type(value) is alphabet.member_type else None
    assert hot == alphabet.index_of(value)


@pytest.mark.parametrize("index", [-1, 5, 100])
def test_an_index_outside_is_refused(index: int) -> None:
    with pytest.raises(Invalid):
        Categories(["a", "b", "c", "d", "e"]).value_at(index)
    with pytest.raises(Invalid):
        IntegerRange(1, 5).value_at(index)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ([], "values"),
        ("ab", "values"),
        (None, "values"),
        ({"a": 1}, "values"),
        (["a", "b", "a"], "values[2]"),
        (["a", 1], "values[1]"),
        (["a", None], "values[1]"),
        (["a", True], "values[1]"),
        (["a", "\ud800"], "values[1]"),
        ([""] * (SIZE_MAX + 1), "values"),
    ],
)
def test_bad_categories_name_their_place(values: list[str], field: str) -> None:
    with pytest.raises(Invalid) as caught:
        Categories(values)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("low", "high", "field"),
    [
        (3, 2, "high"),
        (0, SIZE_MAX, "high"),
        (True, 2, "low"),
        (0, True, "high"),
        (0.0, 2, "low"),
        ("0", 2, "low"),
        (None, 2, "low"),
        (0, None, "high"),
        (-INTEGER_MAX - 1, 0, "low"),
        (0, INTEGER_MAX + 1, "high"),
    ],
)
def test_bad_ranges_name_their_place(low: int, high: int, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        IntegerRange(low, high)
    assert caught.value.field == field


def test_equality_is_by_content_and_order() -> None:
    assert Categories(["a", "b"]) == Categories(("a", "b"))
    assert Categories(["a", "b"]) != Categories(["b", "a"])
    assert IntegerRange(0, 3) == IntegerRange(0, 3)
    assert len({IntegerRange(0, 3), IntegerRange(0, 3), Categories(["a"])}) == 2
