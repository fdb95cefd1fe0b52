"""What reports of fields look like in a released record, told apart to the last sign.

A report has one JSON value: a document that a reader would understand in the same way, but that is written otherwise,
could carry more than was drawn, so it is none.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from beliefs.alphabet import Alphabet
from stream.audit.field_levels import BITS, CELLS, HASHES, LABELS, SETS, Numbers

VERSION: Final = 1
_SEED_DIGITS: Final = 32

Fits = Callable[[Any], bool]


def shape_of(numbers: Numbers, values: int, label: Fits) -> Fits:
    """Whether a document is a report; `label` says whether it is one that names a value itself."""
    if numbers.shape == LABELS:
        return label
    if numbers.shape == BITS:
        return lambda document: _are_bits(document, values)
    if numbers.shape == HASHES:
        return lambda document: _is_hash(document, numbers.size)
    if numbers.shape == SETS:
        return lambda document: _is_set(document, values, numbers.size)
    assert numbers.shape == CELLS
    return lambda document: _are_cells(document, values, numbers)


def label_of(alphabet: Alphabet, empty: bool) -> Fits:
    """A value as the alphabet writes it, or null, which is an empty slot of a list."""
    return lambda document: empty if document is None else alphabet.released_index(document) is not None


def named_of(alphabet: Alphabet, named: frozenset[int | None]) -> Fits:
    """One of these values, or null, which is any other."""
    return lambda document: document is None or _index(alphabet, document) in named


def group_of(names: frozenset[str]) -> Fits:
    return lambda document: type(document) is str and document in names


def _index(alphabet: Alphabet, document: Any) -> int:
    found = alphabet.released_index(document)
    return -1 if found is None else found


def _are_bits(document: Any, values: int) -> bool:
    if not _has(document, "length", "bits") or not _is_whole(document["length"], values, values):
        return False
    text = document["bits"]
    if not isinstance(text, str):
        return False
    try:
        packed = b64decode(text, validate=True)
    except ValueError:
        return False
    # Behind the last value all bits are 0, and base64 has one way to write the bytes.
    behind = 8 * len(packed) - values
    fits = 0 <= behind < 8 and b64encode(packed).decode() == text
    return fits and int.from_bytes(packed, "big") % (1 << behind) == 0


def _is_hash(document: Any, span: int) -> bool:
    if not _has(document, "seed", "range", "cell"):
        return False
    seed = document["seed"]
    digits = isinstance(seed, str) and len(seed) == _SEED_DIGITS and set(seed) <= set("0123456789abcdef")
    return digits and _is_whole(document["range"], span, span) and _is_whole(document["cell"], 0, span - 1)


def _is_set(document: Any, values: int, size: int) -> bool:
    if not _has(document, "of", "subset") or not _is_whole(document["of"], values, values):
        return False
    members = document["subset"]
    fits = isinstance(members, list) and len(members) == size
    return fits and all(_is_whole(each, 0, values - 1) for each in members) and _ascends(members)


def _ascends(numbers: list[int]) -> bool:
    return all(one < other for one, other in pairwise(numbers))


def _are_cells(document: Any, values: int, numbers: Numbers) -> bool:
    if not _has(document, "per_unit", "cells") or not _is_whole(document["per_unit"], numbers.size, numbers.size):
        return False
    cells = document["cells"]
    fits = isinstance(cells, list) and len(cells) == values
    return fits and all(_is_whole(each, numbers.first, numbers.last) for each in cells)


def _has(document: Any, *members: str) -> bool:
    """Exactly these members and the version of the format."""
    if not isinstance(document, dict) or document.keys() != {"version", *members}:
        return False
    return _is_whole(document["version"], VERSION, VERSION)


def _is_whole(number: Any, low: int, high: int) -> bool:
    return type(number) is int and low <= number <= high
