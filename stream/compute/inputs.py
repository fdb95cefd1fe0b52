"""What a computation may be given: each kind of input has one reader, so that types and ranges fail alike everywhere.

A reader takes the JSON value and the input's name and returns what the computation works with, or raises `Invalid` on
that name.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from beliefs import checks
from beliefs.checks import Invalid, finite_number, kind_of
from beliefs.correlation.checked import TRANSPOSED
from beliefs.correlation.nested_lists import nested_entries
from beliefs.simplex import Vector, probabilities

Reader = Callable[[object, str], object]

share = checks.share

CELLS_MAX = 1 << 24
"""Of a table."""


@dataclass(frozen=True)
class Input:
    """One named input. `needed` is false for those that may be left out or that stand in an alternative."""

    name: str
    read: Reader
    needed: bool = True


def law(value: object, field: str) -> Vector:
    """Nonnegative numbers that sum to 1."""
    return probabilities(value, field)


def channel(value: object, field: str) -> list[Vector]:
    """A list of laws of one length; row x is the law of the release when the value is x."""
    if not isinstance(value, list):
        raise Invalid(field, f"must be a list of rows, found {kind_of(value)}")
    if not value:
        raise Invalid(field, "is empty; a channel needs at least one row")
    try:
        rows = [_row(row, index, field) for index, row in enumerate(value)]
    except Invalid as problem:
        raise Invalid(field, problem.reason + _turned(value)) from None
    for index, row in enumerate(rows):
        if row.size != rows[0].size:
            raise Invalid(field, f"is ragged: row {index} has {row.size} entries, row 0 has {rows[0].size}")
    return rows


def nats(value: object, field: str) -> float:
    """A finite leak or budget in nats, 0 or more."""
    number = finite_number(value, field)
    if number < 0:
        raise Invalid(field, "is negative; it must be 0 or more nats")
    return number


def strict_share(value: object, field: str) -> float:
    """A number between 0 and 1, neither of them."""
    number = share(value, field)
    if number in (0.0, 1.0):
        raise Invalid(field, "must be above 0 and below 1")
    return number


def list_of_nats(value: object, field: str) -> Vector:
    return np.array([nats(each, field) for each in listed(value, field)])


def numbers(value: object, field: str) -> Vector:
    """Finite numbers of either sign."""
    return np.array([finite_number(each, field) for each in listed(value, field)])


def likelihoods(value: object, field: str) -> list[Vector]:
    """For each release a list: how likely it was for each value."""
    return [np.array([share(each, field) for each in listed(row, field)]) for row in listed(value, field)]


def indices(value: object, field: str) -> list[int]:
    return [whole_number(each, field) for each in listed(value, field)]


def table(value: object, field: str) -> list[Vector]:
    """Rows of one length, of finite numbers that are 0 or more."""
    rows = [np.array([_not_negative(each, field) for each in listed(row, field)]) for row in listed(value, field)]
    if any(row.size != rows[0].size for row in rows):
        raise Invalid(field, "is ragged: its rows have different lengths")
    return rows


def truth(value: object, field: str) -> bool:
    if not isinstance(value, bool):
        raise Invalid(field, f"must be true or false, found {kind_of(value)}")
    return value


def count(value: object, field: str) -> int:
    """A whole number, 1 or more."""
    number = whole_number(value, field)
    if number == 0:
        raise Invalid(field, "must be 1 or more")
    return number


def text(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise Invalid(field, f"must be a text, found {kind_of(value)}")
    return value


def whole_number(value: object, field: str) -> int:
    """A whole number, 0 or more."""
    if type(value) is not int:
        raise Invalid(field, f"must be a whole number, found {kind_of(value)}")
    if not 0 <= value < 1 << 63:
        raise Invalid(field, "must be 0 or more, and below 2^63")
    return value


def key(value: object, field: str) -> bytes:
    """32 bytes, written as 64 hexadecimal digits."""
    digits = text(value, field)
    if len(digits) != 64 or not set(digits) <= set("0123456789abcdef"):
        raise Invalid(field, "must be 64 lower-case hexadecimal digits")
    return bytes.fromhex(digits)


def pair_or_more(value: object, field: str) -> int:
    """A whole number, 2 or more: how many values there are to choose between."""
    number = whole_number(value, field)
    if number < 2:
        raise Invalid(field, "must be 2 or more: with fewer values there is no other one")
    return number


def positive(value: object, field: str) -> float:
    """A finite number above 0."""
    number = finite_number(value, field)
    if not number > 0:
        raise Invalid(field, "must be above 0")
    return number


def level(value: object, field: str) -> float:
    """Nats, or the text "inf"."""
    return math.inf if value == "inf" else nats(value, field)


def below_one(value: object, field: str) -> float:
    """A number from 0 to 1, but not 1."""
    number = share(value, field)
    if number == 1.0:
        raise Invalid(field, "must be below 1")
    return number


def list_of_shares(value: object, field: str) -> Vector:
    return np.array([share(each, field) for each in listed(value, field)])


def list_of_counts(value: object, field: str) -> list[int]:
    return [count(each, field) for each in listed(value, field)]


def channels(value: object, field: str) -> list[list[Vector]]:
    """Several channels, one for each neighbour."""
    return [channel(each, field) for each in listed(value, field)]


def nested(value: object, field: str) -> Vector:
    """A table with one axis for each attribute: weights that are 0 or more, with a positive total."""
    entries = _cells(value, field, _not_negative)
    if not entries.any():
        raise Invalid(field, "is 0 everywhere; a table needs a positive total")
    return entries


def nested_numbers(value: object, field: str) -> Vector:
    """A table of finite numbers of either sign."""
    return _cells(value, field, finite_number)


def number(value: object, field: str) -> float:
    """A finite number of either sign."""
    return finite_number(value, field)


def vectors(value: object, field: str) -> list[Vector]:
    """Lists of finite numbers, each of its own length."""
    return [numbers(each, field) for each in listed(value, field)]


def matrix(value: object, field: str) -> Vector:
    """Rows of finite numbers of one length."""
    rows = vectors(value, field)
    if any(row.size != rows[0].size for row in rows):
        raise Invalid(field, "is ragged: its rows have different lengths")
    return np.array(rows)


def integers(value: object, field: str) -> Vector:
    """Whole numbers of either sign that doubles hold exactly."""
    for each in listed(value, field):
        if type(each) is not int or not -(1 << 53) < each < 1 << 53:
            raise Invalid(field, "must hold whole numbers between -2^53 and 2^53")
    return numbers(value, field)


def list_of_positive(value: object, field: str) -> Vector:
    return np.array([positive(each, field) for each in listed(value, field)])


def ascending_set(value: object, field: str) -> tuple[int, ...]:
    """Whole numbers of which none comes twice, in ascending order; there may be none."""
    found = places(value, field)
    if any(before >= after for before, after in itertools.pairwise(found)):
        raise Invalid(field, "must ascend: a set is listed from its smallest member on, each once")
    return found


def places(value: object, field: str) -> tuple[int, ...]:
    """Whole numbers from 0 on; there may be none."""
    return () if value == [] else tuple(indices(value, field))


def objects(value: object, field: str) -> list[dict[str, object]]:
    """A list of objects; there may be none."""
    if not isinstance(value, list):
        raise Invalid(field, f"must be a list, found {kind_of(value)}")
    for each in value:
        if not isinstance(each, dict):
            raise Invalid(field, f"must hold objects, found {kind_of(each)}")
    return value


def listed(value: object, field: str) -> list[object]:
    """A list with at least one entry, whatever these are."""
    if not isinstance(value, list):
        raise Invalid(field, f"must be a list, found {kind_of(value)}")
    if not value:
        raise Invalid(field, "is empty")
    return value


def _cells(value: object, field: str, read: Callable[[object, str], float]) -> Vector:
    try:
        return nested_entries(value, field, read, CELLS_MAX)
    except Invalid as problem:
        raise Invalid(field, f"{problem.field.removeprefix(field)} {problem.reason}".lstrip()) from None


def _not_negative(value: object, field: str) -> float:
    number = finite_number(value, field)
    if number < 0:
        raise Invalid(field, "holds a negative number")
    return number


def _turned(rows: list[object]) -> str:
    """A hint, where it is clear that the rows should be columns."""
    try:
        for column in zip(*rows, strict=True):
            probabilities(column, "")
    except (Invalid, TypeError, ValueError):
        return ""
    return TRANSPOSED


def _row(value: object, index: int, field: str) -> Vector:
    try:
        return probabilities(value, field)
    except Invalid as problem:
        raise Invalid(field, f"row {index} {problem.reason}") from None
