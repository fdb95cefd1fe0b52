"""The box of a crowd, and what is in it, as they are written: numbers by their smallest and largest, texts by the name
of the smallest group that holds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final, NamedTuple

import orjson

from mechanisms.aggregate.quantised import Amounts
from mechanisms.crowds.attributes import Attribute, Attributes, Box, Numeric, Tree
from stream.crowds.promise import Release
from stream.gathering.numbers import exact

_NUMBERS_BYTES: Final = 64
"""Two numbers of 24 characters at most, and what stands around them."""
_COUNT_BYTES: Final = 48


class Side(NamedTuple):
    """How the cells of one attribute are written: of numbers, cell 0 is so many steps of the grid."""

    name: str
    attribute: Attribute
    first: int
    grid: Decimal


class Boxes:
    """Writes what is known of a crowd in one pipeline."""

    def __init__(self, release: Release) -> None:
        self._labels = release.labels
        self._sides = [
            Side(form.name, attribute, offset, form.alphabet.grid if isinstance(form.alphabet, Amounts) else Decimal(1))
            for form, attribute, offset in zip(
                release.forms, attributes_of(release).each, release.offsets, strict=False
            )
        ]

    def box(self, box: Box) -> dict[str, Any]:
        return {side.name: _written(side, low, high) for side, (low, high) in zip(self._sides, box, strict=True)}

    def counts(self, values: Iterable[int]) -> list[dict[str, Any]]:
        """How often each sensitive value is there, in the order in which they are declared; not those that are not."""
        return [{"value": self._labels[value], "count": count} for value, count in sorted(Counter(values).items())]

    def bytes_max(self, events: int) -> int:
        """The longest text of a box and of the counts of so many events."""
        labels = sorted((len(orjson.dumps(label)) for label in self._labels), reverse=True)[:events]
        return sum(map(_side_bytes, self._sides)) + sum(_COUNT_BYTES + length for length in labels)


def attributes_of(release: Release) -> Attributes:
    """What people are grouped by, for whoever knows that records are released."""
    if release.attributes is None:
        raise ValueError("only records have boxes")
    return release.attributes


def _written(side: Side, low: int, high: int) -> Any:
    if isinstance(side.attribute, Numeric):
        return [exact(side.first + low, side.grid), exact(side.first + high, side.grid)]
    return side.attribute.name_of(low, high)


def _side_bytes(side: Side) -> int:
    nodes = side.attribute.nodes if isinstance(side.attribute, Tree) else ()
    longest = max((len(orjson.dumps(node.name)) for node in nodes), default=0)
    return _NUMBERS_BYTES + len(orjson.dumps(side.name)) + longest
