"""The box of a crowd, and what is in it, as they are written: numbers by their smallest and largest, texts by the name
of the smallest group that holds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson

from beliefs.checks import require
from mechanisms.aggregate.quantised import Amounts
from mechanisms.crowds.attributes import Attribute, Attributes, Box, Tree
from stream.gathering.numbers import exact
from stream.records.fields import FieldForm

_NUMBERS_BYTES: Final = 64
"""Two numbers of 24 characters at most, and what stands around them."""
_COUNT_BYTES: Final = 48


def first_cell(form: FieldForm) -> int:
    """The symbol of an attribute's cell 0: amounts are numbered by their steps from 0 on, which may be below it."""
    return form.alphabet.low_units if isinstance(form.alphabet, Amounts) else 0


def box_told(forms: Sequence[FieldForm], attributes: Attributes, box: Box) -> dict[str, Any]:
    sides = zip(forms, attributes.each, box, strict=True)
    return {form.name: _side(form, attribute, low, high) for form, attribute, (low, high) in sides}


def counts_told(form: FieldForm, values: Iterable[int]) -> list[dict[str, Any]]:
    """How often each value is there, in the order in which they are declared; not those that are not."""
    require(not isinstance(form.alphabet, Amounts), "sensitive values are listed")
    return [
        {"value": form.alphabet.value_at(value), "count": count} for value, count in sorted(Counter(values).items())
    ]


def box_bytes_max(forms: Sequence[FieldForm], attributes: Attributes) -> int:
    """The longest text of a box."""
    return sum(_side_bytes(form, attribute) for form, attribute in zip(forms, attributes.each, strict=True))


def counts_bytes_max(form: FieldForm, most: int) -> int:
    """The longest text of the counts of so many events."""
    require(not isinstance(form.alphabet, Amounts), "sensitive values are listed")
    texts = (len(orjson.dumps(form.alphabet.value_at(value))) for value in range(form.alphabet.size))
    return sum(_COUNT_BYTES + length for length in sorted(texts, reverse=True)[:most])


def _side(form: FieldForm, attribute: Attribute, low: int, high: int) -> Any:
    if isinstance(attribute, Tree):
        return attribute.name_of(low, high)
    require(isinstance(form.alphabet, Amounts), "what is no text is a number")
    first = first_cell(form)
    return [exact(first + low, form.alphabet.grid), exact(first + high, form.alphabet.grid)]


def _side_bytes(form: FieldForm, attribute: Attribute) -> int:
    longest = max(len(orjson.dumps(node.name)) for node in attribute.nodes) if isinstance(attribute, Tree) else 0
    return _NUMBERS_BYTES + len(orjson.dumps(form.name)) + longest
