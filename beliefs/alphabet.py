"""Closed ordered sets of values, and the way from a value to its index and back.

Types are exact, because a JSON text says which type it means and Python's equality would blur it (`True == 1 == 1.0`):
a member of `Categories` is a text and nothing else; a member of `IntegerRange` is a JSON number written as an integer
(`7`), so `7.0`, `7e0`, `"7"` and `true` are no members. A producer that writes integers as `7.0` is told so by its dead
letters instead of being guessed at. Texts are compared code point by code point, without any normalisation.

`Bins` and `Grid` are for numbers and for places: a measured value belongs to a cell, and the middle of a cell is what
is released. There any JSON number is a member, `7` as well as `7.0`.

Hot loops use two public fields of those that can list their members, without a call per record:

    index = alphabet.lookup.get(value) if type(value) is alphabet.member_type else None
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

from beliefs.checks import Invalid, finite_number, kind_of

SIZE_MAX = 1 << 16
"""State is four bytes a value and user, 256 KiB at this size; and the rounding of longer sums would use up the margin
that mechanisms keep below epsilon (`SHAVE_UNITS` in `mechanisms/contract.py`)."""

REFUSE, CLAMP = "refuse", "clamp"

INTEGER_MAX = (1 << 53) - 1
"""Beyond this, JSON readers that keep numbers as doubles no longer agree on which integer was meant."""


@dataclass(frozen=True)
class Categories:
    """Distinct texts in a fixed order."""

    values: tuple[str, ...]
    lookup: dict[object, int] = field(init=False, repr=False, compare=False)
    member_type: type = field(init=False, repr=False, compare=False, default=str)

    def __init__(self, values: Sequence[str]) -> None:
        object.__setattr__(self, "values", _distinct_texts(values))
        object.__setattr__(self, "lookup", {value: index for index, value in enumerate(self.values)})

    @property
    def size(self) -> int:
        return len(self.values)

    def index_of(self, value: object) -> int | None:
        return self.lookup.get(value) if type(value) is str else None

    released_index = index_of

    def value_at(self, index: int) -> str:
        return self.values[_inside(index, self.size)]


@dataclass(frozen=True)
class IntegerRange:
    """The integers from `low` to `high`, both included."""

    low: int
    high: int
    lookup: dict[object, int] = field(init=False, repr=False, compare=False)
    member_type: type = field(init=False, repr=False, compare=False, default=int)

    def __post_init__(self) -> None:
        for name, bound in (("low", self.low), ("high", self.high)):
            if type(bound) is not int:
                raise Invalid(name, f"must be an integer, found {kind_of(bound)}")
            if abs(bound) > INTEGER_MAX:
                raise Invalid(name, f"must lie between -{INTEGER_MAX} and {INTEGER_MAX}")
        if self.low > self.high:
            raise Invalid("high", f"is {self.high}, below low, which is {self.low}")
        if self.size > SIZE_MAX:
            raise Invalid("high", f"gives {self.size} values; at most {SIZE_MAX} are possible")
        object.__setattr__(self, "lookup", {self.low + index: index for index in range(self.size)})

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def index_of(self, value: object) -> int | None:
        return self.lookup.get(value) if type(value) is int else None

    released_index = index_of

    def value_at(self, index: int) -> int:
        return self.low + _inside(index, self.size)


@dataclass(frozen=True)
class Bins:
    """Numbers from `low` to `high` in `cells` cells of one width; a boundary belongs to one of its two cells.

    What lies outside is refused, or, with `outside="clamp"`, belongs to the cell next to it.
    """

    low: float
    high: float
    cells: int
    outside: str = REFUSE
    middles: tuple[float, ...] = field(init=False, repr=False, compare=False)
    lookup: dict[object, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, finite_number(getattr(self, name), name))
        if type(self.cells) is not int:
            raise Invalid("cells", f"must be a whole number, found {kind_of(self.cells)}")
        if not 1 <= self.cells <= SIZE_MAX:
            raise Invalid("cells", f"must lie between 1 and {SIZE_MAX}")
        if not self.low < self.high or math.isinf(self.high - self.low):
            raise Invalid("high", "must be above low, by no more than a number can be")
        if self.outside not in (REFUSE, CLAMP):
            raise Invalid("outside", f'must be "{REFUSE}" or "{CLAMP}"')
        width = self.high - self.low
        middles = tuple(self.low + width * ((index + 0.5) / self.cells) for index in range(self.cells))
        object.__setattr__(self, "middles", middles)
        object.__setattr__(self, "lookup", {middle: index for index, middle in enumerate(middles)})
        if [self.index_of(middle) for middle in middles] != list(range(self.cells)):
            raise Invalid("cells", "are so narrow that numbers cannot tell them apart")

    @property
    def size(self) -> int:
        return self.cells

    def index_of(self, value: object) -> int | None:
        if not is_json_number(value):
            return None
        if not self.low <= value <= self.high:
            return None if self.outside == REFUSE else 0 if value < self.low else self.cells - 1
        return min(int((float(value) - self.low) / (self.high - self.low) * self.cells), self.cells - 1)

    def released_index(self, value: object) -> int | None:
        """The cell of which this is the middle."""
        return self.lookup.get(value) if type(value) is float else None

    def value_at(self, index: int) -> float:
        return self.middles[_inside(index, self.size)]


@dataclass(frozen=True)
class Grid:
    """Places: two numbers, each in cells of its own; places are numbered row by row.

    A place is a list of two numbers, the row's first, or with `names` an object that has them under these two names;
    what else the object has is dropped.
    """

    rows: Bins
    columns: Bins
    names: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.size > SIZE_MAX:
            raise Invalid("columns", f"make {self.size} cells with the rows; at most {SIZE_MAX} are possible")
        if self.names is not None:
            object.__setattr__(self, "names", _two_names(self.names))

    @property
    def size(self) -> int:
        return self.rows.size * self.columns.size

    def pair_in(self, value: object) -> tuple[object, object] | None:
        """The two numbers of a place, or nothing if it is none."""
        pair: tuple[object, object] | None = None
        if self.names is None:
            if isinstance(value, list) and len(value) == 2:
                pair = value[0], value[1]
        elif isinstance(value, dict) and all(name in value for name in self.names):
            pair = value[self.names[0]], value[self.names[1]]
        return pair if pair is not None and is_json_number(pair[0]) and is_json_number(pair[1]) else None

    def index_of(self, value: object) -> int | None:
        pair = self.pair_in(value)
        return None if pair is None else self._joined(self.rows.index_of(pair[0]), self.columns.index_of(pair[1]))

    def released_index(self, value: object) -> int | None:
        pair = self.pair_in(value)
        if pair is None or (isinstance(value, dict) and len(value) != 2):
            return None
        return self._joined(self.rows.released_index(pair[0]), self.columns.released_index(pair[1]))

    def value_at(self, index: int) -> list[float] | dict[str, float]:
        row, column = self.middle_at(index)
        return [row, column] if self.names is None else {self.names[0]: row, self.names[1]: column}

    def middle_at(self, index: int) -> tuple[float, float]:
        row, column = divmod(_inside(index, self.size), self.columns.size)
        return self.rows.middles[row], self.columns.middles[column]

    def _joined(self, row: int | None, column: int | None) -> int | None:
        return None if row is None or column is None else row * self.columns.size + column


Alphabet = Categories | IntegerRange | Bins | Grid


def is_json_number(value: object) -> TypeGuard[int | float]:
    """A truth value is an integer to Python, and none to JSON."""
    return type(value) is int or type(value) is float


def _distinct_texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list | tuple):
        raise Invalid("values", f"must be a list of texts, found {kind_of(values)}")
    if not values:
        raise Invalid("values", "is empty; an alphabet needs at least one value")
    if len(values) > SIZE_MAX:
        raise Invalid("values", f"has {len(values)} values; at most {SIZE_MAX} are possible")
    first: dict[str, int] = {}
    for index, value in enumerate(values):
        if type(value) is not str:
            raise Invalid(f"values[{index}]", f"must be a text, found {kind_of(value)}")
        if not _is_unicode(value):
            raise Invalid(f"values[{index}]", "holds half of a surrogate pair, which no JSON text in UTF-8 can carry")
        if first.setdefault(value, index) != index:
            raise Invalid(f"values[{index}]", f"repeats values[{first[value]}]")
    return tuple(values)


def _two_names(names: object) -> tuple[str, str]:
    if not isinstance(names, list | tuple) or len(names) != 2:
        raise Invalid("names", "must be two names, the row's and the column's")
    try:
        first, second = _distinct_texts(names)
    except Invalid as problem:
        raise Invalid(problem.field.replace("values", "names"), problem.reason.replace("values", "names")) from None
    return first, second


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _inside(index: int, size: int) -> int:
    if not 0 <= index < size:
        raise Invalid("index", f"must lie between 0 and {size - 1}")
    return index
