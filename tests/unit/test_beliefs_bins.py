"""Numbers and places in cells: which cell a value belongs to, what is released for it, and what is refused."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.alphabet import CLAMP, Bins, Grid
from beliefs.checks import Invalid

WARM = Bins(-10.0, 40.0, 100)
WIDE = Bins(-10.0, 40.0, 100, CLAMP)
TOWN = Grid(Bins(47.3, 47.5, 20), Bins(8.4, 8.7, 30))
NAMED = Grid(TOWN.rows, WIDE, ("lat", "lon"))


@pytest.mark.parametrize("alphabet", [WARM, WIDE, TOWN, NAMED, Bins(0.0, 1.0, 1), Bins(-1e300, 1e300, 7)])
def test_a_released_value_survives_its_text_and_names_its_cell(alphabet: Bins | Grid) -> None:
    for index in range(alphabet.size):
        value = orjson.loads(orjson.dumps(alphabet.value_at(index)))
        assert alphabet.index_of(value) == index
        assert alphabet.released_index(value) == index


@given(st.floats(-10.0, 40.0))
def test_a_number_belongs_to_the_cell_whose_middle_is_next(number: float) -> None:
    index = WARM.index_of(number)
    assert index is not None
    assert abs(WARM.value_at(index) - number) <= 0.25 * (1 + 1e-12)


@given(st.floats(-10.0, 40.0), st.floats(-10.0, 40.0))
def test_order_is_kept(one: float, other: float) -> None:
    low, high = WARM.index_of(min(one, other)), WARM.index_of(max(one, other))
    assert low is not None
    assert high is not None
    assert low <= high


def test_bounds_belong_to_the_cells_and_what_is_beyond_is_refused_or_clamped() -> None:
    assert [WARM.index_of(value) for value in (-10, -10.0, 40, 40.0, 0)] == [0, 0, 99, 99, 20]
    assert [WARM.index_of(value) for value in (-10.01, 40.01, -(1 << 60), 1e308)] == [None] * 4
    assert [WIDE.index_of(value) for value in (-10.01, 40.01, -(1 << 60), 1e308)] == [0, 99, 0, 99]


@pytest.mark.parametrize("value", [True, None, "7", [7], {"low": 7}])
def test_what_is_no_number_belongs_nowhere(value: object) -> None:
    assert WARM.index_of(value) is None
    assert WIDE.index_of(value) is None


@pytest.mark.parametrize("value", [-9.7, -9, 40.0, "-9.75", None])
def test_only_the_middle_of_a_cell_is_a_released_value(value: object) -> None:
    assert WARM.released_index(-9.75) == 0
    assert WARM.released_index(value) is None


def test_places_are_numbered_row_by_row() -> None:
    assert TOWN.size == 600
    assert TOWN.index_of([47.3, 8.4]) == 0
    assert TOWN.index_of([47.3, 8.7]) == 29
    assert TOWN.index_of([47.5, 8.4]) == 570
    assert NAMED.index_of({"lon": -10, "lat": 47.3, "accuracy": 3}) == 0
    assert NAMED.value_at(0) == {"lat": pytest.approx(47.305), "lon": -9.75}


@pytest.mark.parametrize(
    "value", [[47.3], [47.3, 8.4, 1], [47.3, "8.4"], [47.3, True], {"lat": 47.3, "lon": 8.4}, 47.3, None, [47.0, 8.4]]
)
def test_what_is_no_place_belongs_nowhere(value: object) -> None:
    assert TOWN.index_of(value) is None


@pytest.mark.parametrize("value", [[47.3, 8.4], {"lat": 47.3}, {"lat": 47.3, "lon": None}, {"lat": 50.0, "lon": 0}])
def test_what_is_no_named_place_belongs_nowhere(value: object) -> None:
    assert NAMED.index_of(value) is None


def test_a_released_place_has_nothing_else() -> None:
    value = NAMED.value_at(7)
    assert isinstance(value, dict)
    assert NAMED.released_index({**value, "accuracy": 1.0}) is None
    assert NAMED.released_index(value) == 7


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((0.0, 0.0, 3), "high"),
        ((1.0, 0.0, 3), "high"),
        ((-1.7e308, 1.7e308, 3), "high"),
        ((0.0, float("nan"), 3), "high"),
        (("0", 1.0, 3), "low"),
        ((0.0, 1.0, 0), "cells"),
        ((0.0, 1.0, 3.0), "cells"),
        ((0.0, 1.0, 1 << 17), "cells"),
        ((1.0, 1.0 + 2.0**-50, 100), "cells"),
        ((0.0, 1.0, 3, "drop"), "outside"),
    ],
)
def test_wrong_bins_are_refused_by_field(arguments: Any, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        Bins(*arguments)
    assert caught.value.field == field


@pytest.mark.parametrize("names", [("lat",), ("lat", "lat"), ("lat", 2), "ab", ("a", "b", "c")])
def test_wrong_names_are_refused(names: Any) -> None:
    with pytest.raises(Invalid) as caught:
        Grid(WARM, WARM, names)
    assert caught.value.field.startswith("names")


def test_a_grid_of_too_many_cells_is_refused() -> None:
    with pytest.raises(Invalid, match="at most 65536"):
        Grid(Bins(0.0, 1.0, 300), Bins(0.0, 1.0, 300))
