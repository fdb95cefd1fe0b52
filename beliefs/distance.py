"""How far a released value is from the true one: what an error costs, for each pair of values.

A cost is a whole number of units, 2^24 of which are the largest cost that may occur. Whole numbers add up to the same
sum in every order, so that whoever looks for a cheap channel decides alike on every machine. Short alphabets have a
table; longer ones have places in space, from which a cost is worked out when it is needed: a table of 10,000 by 10,000
values would take 800 MB.

Places have three coordinates. Numbers lie on a line, cells of a plane in a plane, and cells of the globe on the sphere,
where the straight line through the ground (`chord`) gives the way over the ground (the great circle, which is what the
haversine formula computes). Only additions, multiplications, divisions and square roots are used: every machine
rounds them alike, which cannot be said of the sine in its library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beliefs.checks import Invalid, finite_number, kind_of
from beliefs.native import kernel

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LARGEST = 1 << 24
TABLE_MAX = 256
"""The most values of which a table is kept. 256 x 256 costs take 512 KiB."""
COORDINATE_MAX = 1e150
EARTH_RADIUS_KM = 6371.0088

EQUAL, SQUARED, STRAIGHT, GREAT_CIRCLE, TABLE = range(5)
_DEGREE = math.pi / 180.0
_RIGHT_ANGLE = math.pi / 2.0
_SINE_TERMS = 47


class Distance(NamedTuple):
    """`costs` is empty above TABLE_MAX values, `places` is empty for a table of the user's own; both are empty for
    `EQUAL`, where all errors count alike. `unit` is what one unit means: kilometres, say."""

    kind: int
    costs: Integers
    places: Floats
    unit: float


def equal() -> Distance:
    """The Hamming distance: a value is right or wrong."""
    return Distance(EQUAL, _no_costs(), _no_places(), 1.0)


def absolute(points: Sequence[float]) -> Distance:
    """|x - y| for values at these points."""
    return _from_places(STRAIGHT, _on_a_line(points))


def squared(points: Sequence[float]) -> Distance:
    """(x - y)^2: twice as far is four times as bad."""
    return _from_places(SQUARED, _on_a_line(points))


def euclidean(points: Sequence[Sequence[float]]) -> Distance:
    """The straight distance between points (x, y) of a plane."""
    places = np.zeros((len(points), 3))
    for index, point in enumerate(points):
        places[index, :2] = _pair(point, index)
    return _from_places(STRAIGHT, places)


def haversine(points: Sequence[Sequence[float]]) -> Distance:
    """The way over the ground, in kilometres, between points (latitude, longitude) in degrees."""
    places = np.zeros((len(points), 3))
    for index, point in enumerate(points):
        latitude, longitude = _pair(point, index)
        if abs(latitude) > 90.0:
            raise Invalid(f"points[{index}]", "has a latitude outside of -90 to 90 degrees")
        if abs(longitude) > 180.0:
            raise Invalid(f"points[{index}]", "has a longitude outside of -180 to 180 degrees")
        north, east = latitude * _DEGREE, longitude * _DEGREE
        level = EARTH_RADIUS_KM * sine(north + _RIGHT_ANGLE)
        places[index] = level * sine(east + _RIGHT_ANGLE), level * sine(east), EARTH_RADIUS_KM * sine(north)
    return _from_places(GREAT_CIRCLE, places)


def from_table(rows: object, size: int, field: str = "table", *, as_costs: bool = False) -> Distance:
    """`rows[x][y]` is what it costs to release y for x. `as_costs` allows that even the right value costs something;
    a distance from a value to itself is 0."""
    if not isinstance(rows, list | tuple | np.ndarray):
        raise Invalid(field, f"must be a list of rows, found {kind_of(rows)}")
    if size > TABLE_MAX:
        raise Invalid(
            field, f"is for {size} values; a table may have {TABLE_MAX}, more need a distance from coordinates"
        )
    if len(rows) != size:
        raise Invalid(field, f"has {len(rows)} rows, but the alphabet has {size} values")
    costs = np.zeros((size, size))
    for x, row in enumerate(rows):
        costs[x] = _table_row(row, x, size, field)
        if costs[x, x] != 0.0 and not as_costs:
            reason = "is not 0: a value is at no distance from itself; a cost table may say that it costs something"
            raise Invalid(f"{field}[{x}][{x}]", reason)
    largest = float(costs.max(initial=0.0))
    if largest == 0.0:
        return Distance(TABLE, np.zeros((size, size), dtype=np.int64), _no_places(), 0.0)
    units = np.floor(costs / largest * LARGEST + 0.5).astype(np.int64)
    return Distance(TABLE, units, _no_places(), largest / LARGEST)


def _table_row(row: object, x: int, size: int, field: str) -> list[float]:
    if not isinstance(row, list | tuple | np.ndarray):
        raise Invalid(f"{field}[{x}]", f"must be a list of numbers, found {kind_of(row)}")
    if len(row) != size:
        raise Invalid(f"{field}[{x}]", f"has {len(row)} entries, but the alphabet has {size} values: it must be square")
    numbers = [finite_number(number, f"{field}[{x}][{y}]") for y, number in enumerate(row)]
    for y, number in enumerate(numbers):
        if number < 0.0:
            raise Invalid(f"{field}[{x}][{y}]", "is negative; an error cannot be worth less than nothing")
    return numbers


def _pair(point: object, index: int) -> tuple[float, float]:
    if not isinstance(point, list | tuple | np.ndarray) or len(point) != 2:
        raise Invalid(f"points[{index}]", "must hold two numbers")
    return _coordinate(point[0], index), _coordinate(point[1], index)


def _on_a_line(points: Sequence[float]) -> Floats:
    places = np.zeros((len(points), 3))
    places[:, 0] = [_coordinate(point, index) for index, point in enumerate(points)]
    return places


def _coordinate(value: object, index: int) -> float:
    number = finite_number(value, f"points[{index}]")
    if abs(number) > COORDINATE_MAX:
        raise Invalid(f"points[{index}]", f"lies beyond {COORDINATE_MAX:g}, where squares are no numbers any more")
    return number


def _no_costs() -> Integers:
    return np.zeros((0, 0), dtype=np.int64)


def _no_places() -> Floats:
    return np.zeros((0, 3))


def _from_places(kind: int, places: Floats) -> Distance:
    if places.shape[0] == 0:
        raise Invalid("points", "is empty; a distance needs at least one point")
    extent = places.max(axis=0) - places.min(axis=0)  # no two points are further apart than the corners of their box
    largest = _cost(kind, float(extent[0] * extent[0] + extent[1] * extent[1] + extent[2] * extent[2]))
    distance = Distance(kind, _no_costs(), places, largest / LARGEST if largest > 0.0 else 1.0)
    if places.shape[0] > TABLE_MAX:
        return distance
    costs = np.zeros((places.shape[0], places.shape[0]), dtype=np.int64)
    _fill(distance, costs)
    return distance._replace(costs=costs)


def sine(angle: float) -> float:
    """The sine of an angle between -3/2 pi and 3/2 pi, by its series: within 2^-46, and the same on every machine."""
    term = total = angle
    for power in range(3, _SINE_TERMS, 2):
        term = -term * angle * angle / (power * (power - 1))
        total += term
    return total


@kernel
def arc(chord: float, radius: float) -> float:
    """The way over a sphere between two of its points, from the straight way through it.

    A chord s and half of its angle a belong together by s / (2 radius) = sin a. The tangent of a/2 follows from the
    sine; three more halvings bring it below tan(pi/32), where nine terms of the series of the inverse tangent are
    exact to the last place.
    """
    s = min(chord / (2.0 * radius), 1.0)
    t = s / (1.0 + math.sqrt(1.0 - s * s))
    for _ in range(3):
        t = t / (1.0 + math.sqrt(1.0 + t * t))
    square = t * t
    series = 1.0 / 17.0
    for odd in range(15, 0, -2):
        series = 1.0 / odd - series * square
    return 32.0 * radius * (t * series)


@kernel
def _cost(kind: int, square: float) -> float:
    """The cost of points whose straight distance has this square."""
    if kind == SQUARED:
        return square
    if kind == GREAT_CIRCLE:
        return arc(math.sqrt(square), EARTH_RADIUS_KM)
    return math.sqrt(square)


@kernel
def units_between(distance: Distance, one: Floats, other: Floats) -> int:
    """What lies between two places, in units, rounded to the nearest."""
    first, second, third = one[0] - other[0], one[1] - other[1], one[2] - other[2]
    return int(_cost(distance.kind, first * first + second * second + third * third) / distance.unit + 0.5)


@kernel
def cost(distance: Distance, x: int, y: int) -> int:
    """What it costs to release y for x, in units."""
    if distance.costs.shape[0] > 0:
        return int(distance.costs[x, y])
    if distance.kind == EQUAL:
        return 0 if x == y else LARGEST
    return units_between(distance, distance.places[x], distance.places[y])


@kernel
def _fill(distance: Distance, costs: Integers) -> None:
    for x in range(costs.shape[0]):
        for y in range(costs.shape[0]):
            costs[x, y] = units_between(distance, distance.places[x], distance.places[y])
