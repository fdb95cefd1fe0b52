"""Fields that are protected each by itself: where they stand in a record, and how what stands there becomes symbols.

A field holds one value, or a list of at most so many different ones, in any order. Of a list the symbols come
ascending, and the slots that it leaves free follow with `alphabet.size`, the symbol of an empty slot: how a producer
orders a list says nothing. Two numbers of one cell are one value, and so one too many.

Of amounts, which are added up, the symbol is the step of their grid, clipped; it may be negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from beliefs.alphabet import Alphabet, Bins, Categories, IntegerRange, is_json_number
from mechanisms.aggregate.quantised import Amounts
from stream import names
from stream.records.among import Among
from stream.records.belonging import NOBODY, Belonging
from stream.records.lookups import Integers
from stream.records.paths import MISSING, Path, getter
from stream.records.shapes import Rejected, Symbols

Reading = Alphabet | Amounts | Among | Belonging
"""How what stands in a field becomes a symbol."""

ValueReader = Callable[[Any], int | str]
FieldsReader = Callable[[dict[str, Any]], Symbols | Rejected]

_NONE: Final[Symbols] = ()


@dataclass(frozen=True, slots=True)
class FieldForm:
    """One such field. With `at_most` it holds a list of so many different values or fewer. `unfit` is why an event is
    refused whose value has no symbol, where the field has a reason of its own.
    """

    name: str
    path: Path
    alphabet: Reading
    at_most: int | None = None
    unfit: str | None = None

    @property
    def slots(self) -> int:
        """How many symbols an event has of this field."""
        return 1 if self.at_most is None else self.at_most


def value_reader(alphabet: Reading) -> ValueReader:
    """A function from a value to its symbol, or to the reason why it has none."""
    is_of_kind = _kind_check(alphabet)
    missing: int | str = NOBODY if isinstance(alphabet, Belonging) else names.FIELD_MISSING

    def read(value: Any) -> int | str:
        if value is MISSING:
            return missing
        if not is_of_kind(value):
            return names.FIELD_TYPE
        symbol = alphabet.index_of(value)
        return names.OUTSIDE_ALPHABET if symbol is None else symbol

    return read


def fields_reader(forms: Sequence[FieldForm]) -> FieldsReader:
    """A function from a document to the symbols of all fields, one field behind the other."""
    if not forms:
        return lambda _: _NONE
    readers = tuple((form.path, getter(form.path), _slots_reader(form)) for form in forms)

    def read(document: dict[str, Any]) -> Symbols | Rejected:
        found: list[int] = []
        for path, get, symbols_of in readers:
            symbols = symbols_of(get(document))
            if isinstance(symbols, str):
                return Rejected(symbols, str(path))
            found += symbols
        return tuple(found)

    return read


def as_columns(rows: Sequence[Symbols], forms: Sequence[FieldForm]) -> tuple[Integers, ...]:
    """One array for each field: a symbol for each event, or a row of symbols for a field that holds lists."""
    table = np.array(rows, dtype=np.int64).reshape(len(rows), sum(form.slots for form in forms))
    columns, start = [], 0
    for form in forms:
        part = table[:, start] if form.at_most is None else table[:, start : start + form.slots]
        columns.append(np.ascontiguousarray(part))
        start += form.slots
    return tuple(columns)


def _kind_check(alphabet: Reading) -> Callable[[Any], bool]:
    if isinstance(alphabet, Among):
        return _kind_check(alphabet.values)
    if isinstance(alphabet, Belonging):
        return lambda value: isinstance(value, str) or is_json_number(value)
    if isinstance(alphabet, Categories | IntegerRange):
        kind = alphabet.member_type
        return lambda value: type(value) is kind
    if isinstance(alphabet, Bins | Amounts):
        return is_json_number
    return lambda value: alphabet.pair_in(value) is not None


def _slots_reader(form: FieldForm) -> Callable[[Any], Sequence[int] | str]:
    read = value_reader(form.alphabet)
    if form.at_most is not None and not isinstance(form.alphabet, Amounts | Among | Belonging):
        return _list_reader(read, form.at_most, form.alphabet.size)

    def one(value: Any) -> Sequence[int] | str:
        symbol = read(value)
        return (form.unfit or symbol) if isinstance(symbol, str) else (symbol,)

    return one


def _list_reader(read: ValueReader, at_most: int, empty: int) -> Callable[[Any], Sequence[int] | str]:
    def several(value: Any) -> Sequence[int] | str:
        if value is MISSING:
            return names.FIELD_MISSING
        if type(value) is not list:
            return names.FIELD_TYPE
        if len(value) > at_most:
            return names.OUTSIDE_ALPHABET
        found: set[int] = set()
        for each in value:
            symbol = read(each)
            if isinstance(symbol, str):
                return symbol
            found.add(symbol)
        if len(found) < len(value):
            return names.OUTSIDE_ALPHABET
        return sorted(found) + [empty] * (at_most - len(value))

    return several
