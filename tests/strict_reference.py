"""What a raw record means, said a second time with nothing but the standard library, for the tests to compare with.

Slow and literal on purpose: the text is parsed with every object as its list of members, so that nothing is lost.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any, NamedTuple

DEEPEST = 64
END_OF_TIME = 4_102_444_800_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RefusedError(Exception):
    """The reference would not release this record."""


class Selected(NamedTuple):
    """The selected fields of an accepted record; `public` maps a written path to its value, `fields` has the numbers of
    the values of each further field, of a list in ascending order.
    """

    value: Any
    user: bytes
    time: int
    public: dict[str, Any]
    fields: list[list[int]]


class Field(NamedTuple):
    """One further field: its values, or how many cells of width 1 it has from 0 on; at most so many if it is a list."""

    steps: tuple[str | int, ...]
    values: tuple[str | int, ...] | int
    at_most: int | None = None


class Wanted(NamedTuple):
    """What to select, as plain steps."""

    protected: tuple[str | int, ...] | None
    alphabet: tuple[str | int, ...]
    user: tuple[str | int, ...] | None
    and_key: bool
    time: tuple[str | int, ...] | None
    unit: str
    public: dict[str, tuple[str | int, ...]]
    max_bytes: int
    fields: tuple[Field, ...] = ()


def select(wanted: Wanted, value: bytes | None, key: bytes | None, timestamp: int) -> Selected:
    """The selected fields, or RefusedError."""
    if value is None or len(value) > wanted.max_bytes:
        raise RefusedError
    document = parse(value)
    if not isinstance(document, dict):
        raise RefusedError
    protected = None
    if wanted.protected is not None:
        protected = find(document, wanted.protected)
        number_of(protected, wanted.alphabet)
    fields = [numbers_of(field, find(document, field.steps)) for field in wanted.fields]
    public = {name: find(document, steps) for name, steps in wanted.public.items() if has(document, steps)}
    for found in public.values():
        if any(isinstance(number, int) and not fits(number) for number in leaves(found)):
            raise RefusedError
    return Selected(protected, user_of(wanted, document, key), time_of(wanted, document, timestamp), public, fields)


def numbers_of(field: Field, found: Any) -> list[int]:
    if field.at_most is None:
        return [number_of(found, field.values)]
    if not isinstance(found, list) or len(found) > field.at_most:
        raise RefusedError
    numbers = [number_of(value, field.values) for value in found]
    if any(numbers.count(number) > 1 for number in numbers):
        raise RefusedError
    return sorted(numbers)


def number_of(found: Any, values: tuple[str | int, ...] | int) -> int:
    if isinstance(values, int):
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= values:
            raise RefusedError
        return min(math.floor(found), values - 1)
    for number, value in enumerate(values):
        if type(found) is type(value) and found == value:
            return number
    raise RefusedError


def parse(value: bytes) -> Any:
    try:
        text = value.decode("utf-8")
        document = json.loads(
            text, object_pairs_hook=members, parse_constant=constant, parse_float=real, parse_int=whole
        )
    except (ValueError, RecursionError):
        raise RefusedError from None
    if depth(document) > DEEPEST:
        raise RefusedError
    if any(
        isinstance(leaf, str) and any("\ud800" <= letter <= "\udfff" for letter in leaf) for leaf in leaves(document)
    ):
        raise RefusedError
    return document


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise RefusedError
    if any("\ud800" <= letter <= "\udfff" for name, _ in pairs for letter in name):
        raise RefusedError
    return dict(pairs)


def constant(_: str) -> Any:
    raise RefusedError


def real(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise RefusedError
    return number


def whole(text: str) -> int:
    if len(text) > 400 or math.isinf(float(text)):
        raise RefusedError
    return int(text)


def fits(number: int) -> bool:
    """Whether an integer survives a reader that keeps 64 bits, or the nearest double beyond them."""
    return -(2**63) <= number < 2**64 or int(float(number)) == number


def depth(document: Any) -> int:
    deepest, level = 0, [document]
    while any(isinstance(inner, list | dict) for inner in level):
        deepest += 1
        containers = [inner for inner in level if isinstance(inner, list | dict)]
        level = [x for inner in containers for x in (inner.values() if isinstance(inner, dict) else inner)]
    return deepest


def leaves(document: Any) -> list[Any]:
    found, waiting = [], [document]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            waiting.extend(inner.values())
        elif isinstance(inner, list):
            waiting.extend(inner)
        else:
            found.append(inner)
    return found


def has(document: Any, steps: tuple[str | int, ...]) -> bool:
    try:
        find(document, steps)
    except RefusedError:
        return False
    return True


def find(document: Any, steps: tuple[str | int, ...]) -> Any:
    for step in steps:
        in_object = isinstance(step, str) and isinstance(document, dict) and step in document
        in_array = isinstance(step, int) and isinstance(document, list) and step < len(document)
        if not in_object and not in_array:
            raise RefusedError
        document = document[step]
    return document


def user_of(wanted: Wanted, document: Any, key: bytes | None) -> bytes:
    if wanted.user is None:
        user = key
    else:
        found = find(document, wanted.user)
        if isinstance(found, bool) or not isinstance(found, str | int) or (isinstance(found, int) and not exact(found)):
            raise RefusedError
        user = str(found).encode()
        if wanted.and_key and user != key:
            raise RefusedError
    if not user or len(user) > 1024:
        raise RefusedError
    return user


def exact(number: int) -> bool:
    return -(2**63) <= number < 2**64


def time_of(wanted: Wanted, document: Any, timestamp: int) -> int:
    time: Any = timestamp
    if wanted.time is not None:
        time = find(document, wanted.time)
        if wanted.unit == "ms":
            if type(time) is not int or not exact(time):
                raise RefusedError
        else:
            time = from_text(time)
    if not 0 <= time < END_OF_TIME:
        raise RefusedError
    return int(time)


def from_text(value: Any) -> int:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise RefusedError from None
    if moment.tzinfo is None:
        raise RefusedError
    return math.floor((moment - EPOCH).total_seconds() * 1_000_000 + 0.5) // 1000
