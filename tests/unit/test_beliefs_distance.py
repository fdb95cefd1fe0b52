"""What errors cost: the formulas, the table and the places, and refusals that name the entry."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs import distance
from beliefs.checks import Invalid
from beliefs.distance import EARTH_RADIUS_KM, LARGEST, TABLE_MAX, Distance, arc, cost, sine

LINE = [-3.0, 0.0, 0.5, 10.0]
TOWNS = [(52.52, 13.405), (48.8566, 2.3522), (-33.8688, 151.2093), (90.0, 0.0), (52.52, -180.0)]


def real(measure: Distance, x: int, y: int) -> float:
    return cost(measure, x, y) * measure.unit


def haversine_by_the_book(one: tuple[float, float], other: tuple[float, float]) -> float:
    north, south = math.radians(one[0]), math.radians(other[0])
    east = math.radians(other[1] - one[1])
    share = math.sin((south - north) / 2) ** 2 + math.cos(north) * math.cos(south) * math.sin(east / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(share)))


def test_numbers_on_a_line() -> None:
    near, wide = distance.absolute(LINE), distance.squared(LINE)
    for x, one in enumerate(LINE):
        for y, other in enumerate(LINE):
            assert real(near, x, y) == pytest.approx(abs(one - other), abs=near.unit)
            assert real(wide, x, y) == pytest.approx((one - other) ** 2, abs=wide.unit)
    assert near.costs.max() == wide.costs.max() == LARGEST


def test_points_of_a_plane_and_of_the_globe() -> None:
    plane = distance.euclidean([(0.0, 0.0), (3.0, 4.0), (-1.0, 1.0)])
    assert real(plane, 0, 1) == pytest.approx(5.0, abs=plane.unit)
    assert real(plane, 1, 2) == pytest.approx(5.0, abs=plane.unit)
    globe = distance.haversine(TOWNS)
    for x, one in enumerate(TOWNS):
        for y, other in enumerate(TOWNS):
            assert real(globe, x, y) == pytest.approx(haversine_by_the_book(one, other), abs=2 * globe.unit)
    assert real(globe, 0, 1) == pytest.approx(878, abs=1)  # Berlin and Paris


def test_errors_that_count_alike() -> None:
    measure = distance.equal()
    assert [cost(measure, 1, y) for y in range(3)] == [LARGEST, 0, LARGEST]
    assert measure.costs.size == measure.places.size == 0


def test_beyond_the_table_costs_come_from_the_places_and_are_the_same() -> None:
    points = [(float(x % 20), float(x // 20)) for x in range(400)]
    long, short = distance.euclidean(points), distance.euclidean([*points[:40], points[399]])
    assert long.costs.size == 0
    assert short.costs.shape == (41, 41)
    assert long.unit == short.unit
    assert all(cost(long, x, y) == cost(short, x, y) for x in range(40) for y in range(40))


def test_a_table_is_kept_to_a_unit() -> None:
    rows = [[0.0, 1.5, 3.0], [0.25, 0.0, 1.0], [7.0, 2.0, 0.0]]
    measure = distance.from_table(rows, 3)
    assert all(real(measure, x, y) == pytest.approx(rows[x][y], abs=measure.unit) for x in range(3) for y in range(3))
    assert cost(measure, 2, 0) == LARGEST
    free = distance.from_table([[0, 0], [0, 0]], 2)
    assert not free.costs.any()
    priced = distance.from_table([[1.0, 2.0], [2.0, 1.0]], 2, as_costs=True)
    assert real(priced, 0, 0) == pytest.approx(1.0, abs=priced.unit)


@pytest.mark.parametrize(
    ("rows", "field", "reason"),
    [
        (None, "table", "found null"),
        ([[0.0, 1.0]], "table", "has 1 rows, but the alphabet has 2"),
        ([[0.0, 1.0], [1.0]], "table[1]", "must be square"),
        ([[0.0, 1.0], "ab"], "table[1]", "found a text"),
        ([[0.0, -1.0], [1.0, 0.0]], "table[0][1]", "negative"),
        ([[0.0, 1.0], [math.nan, 0.0]], "table[1][0]", "finite"),
        ([[0.0, math.inf], [1.0, 0.0]], "table[0][1]", "finite"),
        ([[0.0, True], [1.0, 0.0]], "table[0][1]", "truth value"),
        ([[0.0, 1.0], [1.0, 0.5]], "table[1][1]", "a cost table may"),
    ],
)
def test_a_wrong_table_is_refused_by_the_name_of_its_entry(rows: Any, field: str, reason: str) -> None:
    with pytest.raises(Invalid) as caught:
        distance.from_table(rows, 2)
    assert caught.value.field == field
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("make", "points", "field"),
    [
        (distance.absolute, [], "points"),
        (distance.absolute, [0.0, math.nan], "points[1]"),
        (distance.squared, [0.0, 1e308], "points[1]"),
        (distance.euclidean, [(0.0, 1.0), (2.0,)], "points[1]"),
        (distance.euclidean, [(0.0, math.inf)], "points[0]"),
        (distance.haversine, [(90.5, 0.0)], "points[0]"),
        (distance.haversine, [(0.0, 0.0), (0.0, -181.0)], "points[1]"),
    ],
)
def test_wrong_points_are_refused_by_their_number(make: Any, points: Any, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        make(points)
    assert caught.value.field == field


def test_a_table_longer_than_the_limit_is_refused() -> None:
    with pytest.raises(Invalid, match="coordinates"):
        distance.from_table(np.zeros((TABLE_MAX + 1, TABLE_MAX + 1)), TABLE_MAX + 1)


@given(st.floats(-1.5 * math.pi, 1.5 * math.pi))
def test_the_sine_is_the_sine(angle: float) -> None:
    assert sine(angle) == pytest.approx(math.sin(angle), abs=2.0**-46)


@given(st.floats(0.0, 2.0))
def test_the_arc_is_the_arc(chord: float) -> None:
    assert arc(chord, 1.0) == pytest.approx(2.0 * math.asin(chord / 2.0), abs=2.0**-25 if chord > 1.9999 else 2.0**-46)
