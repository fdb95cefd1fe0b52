"""Closed ordered sets of values, and the way from a value to its index and back.

Types are exact, because a JSON text says which type it means and Python's equality would blur it (`True == 1 == 1.0`):
a member of `Categories` is a text and nothing else; a member of `IntegerRange` is a JSON number written as an integer
(`7`), so `7.0`, `7e0`, `"7"` and `true` are no members. A producer that writes integers as `7.0` is told so by its dead
letters instead of being guessed at. Texts are compared code point by code point, without any normalisation.

Hot loops use the two public fields directly, without a call per record:

    index = alphabet.lookup.get(value) if type(value) is alphabet.member_type else None
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from beliefs.checks import Invalid, kind_of

SIZE_MAX = 1 << 16
"""State is four bytes a value and user, 256 KiB at this size; and the rounding of longer sums would use up the margin
that mechanisms keep below epsilon (`SHAVE_UNITS` in `mechanisms/contract.py`)."""

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

    def value_at(self, index: int) -> int:
        return self.low + _inside(index, self.size)


Alphabet = Categories | IntegerRange


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


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _inside(index: int, size: int) -> int:
    if not 0 <= index < size:
        raise Invalid("index", f"must lie between 0 and {size - 1}")
    return index
