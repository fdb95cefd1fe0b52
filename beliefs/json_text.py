"""Reading JSON without losing what was wrong with it.

The standard reader keeps the last of two equal keys, so the first vanishes without a word; here every object remembers
which keys it was given more than once. `NaN`, `Infinity` and numbers beyond the doubles are read as floats that are
not finite, so that the check of the field they stand in can refuse them by name.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator

from beliefs.checks import Invalid

DEPTH_MAX = 100
"""Far below the interpreter's own limit, so that every walk over a value that was read is safe to recurse."""

_DIGITS_MAX = 400
"""No double reaches 10^309, and turning very long digits into an integer takes quadratic time."""


class JsonObject(dict[str, object]):
    """A dictionary as it stood in the text; `repeated` names the keys that were given more than once."""

    repeated: tuple[str, ...] = ()


def read(data: bytes) -> object:
    """The value that the UTF-8 text stands for, or `Invalid` on the field `text`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid("text", f"is not UTF-8 from byte {error.start} on") from None
    try:
        value: object = json.loads(text, object_pairs_hook=_object, parse_int=_integer, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise Invalid("text", f"is not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise Invalid("text", f"is nested more than {DEPTH_MAX} deep") from None
    if _depth(value) > DEPTH_MAX:
        raise Invalid("text", f"is nested more than {DEPTH_MAX} deep")
    return value


def canonical(value: object) -> bytes:
    """One text for one value: keys in code point order, no blanks, the shortest decimal of every double, UTF-8."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def repeated_keys(value: object, path: str = "") -> Iterator[str]:
    """The paths of all keys, at any depth, that were given more than once."""
    if isinstance(value, JsonObject):
        yield from (joined(path, key) for key in value.repeated)
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from repeated_keys(inside, joined(path, key))
    elif isinstance(value, list):
        for index, inside in enumerate(value):
            yield from repeated_keys(inside, f"{path}[{index}]")


def unfit_values(value: object, path: str = "") -> Iterator[str]:
    """The paths of everything that no strict JSON text in UTF-8 can carry: NaN, infinities, half surrogate pairs."""
    not_finite = isinstance(value, float) and not math.isfinite(value)
    if not_finite or (isinstance(value, str) and _halves(value)):
        yield path
    elif isinstance(value, dict):
        yield from (path for key in value if _halves(key))
        for key, inside in value.items():
            yield from unfit_values(inside, joined(path, key))
    elif isinstance(value, list):
        for index, inside in enumerate(value):
            yield from unfit_values(inside, f"{path}[{index}]")


def joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        lists = [inside for inside in level if isinstance(inside, list)]
        objects = [list(inside.values()) for inside in level if isinstance(inside, dict)]
        level = [inside for inner in (*lists, *objects) for inside in inner if isinstance(inside, dict | list)]
    return depth


def _halves(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    found = JsonObject(pairs)
    if len(found) != len(pairs):
        found.repeated = tuple(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
    return found


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS_MAX else float(digits)


def _constant(name: str) -> float:
    return float(name.replace("Infinity", "inf"))
