"""Paths into a JSON document: `$.a.b[0]['c d']`, compiled once into quick getters and setters.

A path starts with `$` and takes one step after another: `.name`, `['any name']` or `["any name"]` into an object, `[0]`
into an array. There are no wildcards, no slices and no negative positions: a path names one place, so that what is
protected and what is public can be compared before the first record arrives.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

Step = str | int
Getter = Callable[[Any], Any]
Setter = Callable[[dict[str, Any], Any], None]

# An array position is bounded because a released array is filled with null up to the positions that were declared.
LARGEST_POSITION: Final = 1023
LARGEST_DEPTH: Final = 32

_PLAIN_NAME = re.compile(r"[^\s.\[\]'\"*?@$\\]+")
_POSITION = re.compile(r"\[(0|[1-9][0-9]{0,9})\]")
_QUOTED = re.compile(r"""\[(?:'((?:[^'\\]|\\['\\])*)'|"((?:[^"\\]|\\["\\])*)")\]""")


class _Missing:
    """The type of MISSING, which is what a getter answers when the document has nothing at its path."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()


class PathError(ValueError):
    """The text is no path; the message says why."""


@dataclass(frozen=True, slots=True)
class Path:
    """One place in a document. `str()` gives the shortest way to write it."""

    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return "$" + "".join(_write_step(step) for step in self.steps)

    def covers(self, other: "Path") -> bool:
        """Whether the other place is this one, or lies inside it."""
        return other.steps[: len(self.steps)] == self.steps

    def overlaps(self, other: "Path") -> bool:
        return self.covers(other) or other.covers(self)

    def shape_conflict(self, other: "Path") -> bool:
        """Whether one path needs an object where the other needs an array."""
        for mine, theirs in zip(self.steps, other.steps, strict=False):
            if type(mine) is not type(theirs):
                return True
            if mine != theirs:
                return False
        return False


def _write_step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _PLAIN_NAME.fullmatch(step):
        return f".{step}"
    escaped = step.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"


def parse_path(text: str) -> Path:
    """Read a path, or raise PathError with the reason."""
    if not text.startswith("$"):
        raise PathError("a path starts with $")
    steps: list[Step] = []
    at = 1
    while at < len(text):
        step, at = _read_step(text, at)
        steps.append(step)
    if not steps:
        raise PathError("$ alone is the whole record; a path names one field of it")
    if len(steps) > LARGEST_DEPTH:
        raise PathError(f"it has {len(steps)} steps, and {LARGEST_DEPTH} are the most")
    if isinstance(steps[0], int):
        raise PathError("a record is an object, so the first step is a name")
    return Path(tuple(steps))


def _read_step(text: str, at: int) -> tuple[Step, int]:
    if text[at] == ".":
        name = _PLAIN_NAME.match(text, at + 1)
        if name is None:
            raise PathError(f"a name is expected at character {at + 2}; unusual names are written ['like this']")
        return name.group(), name.end()
    position = _POSITION.match(text, at)
    if position is not None:
        number = int(position.group(1))
        if number > LARGEST_POSITION:
            raise PathError(f"position {number} is beyond {LARGEST_POSITION}")
        return number, position.end()
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        inner = quoted.group(1) if quoted.group(1) is not None else quoted.group(2)
        return re.sub(r"\\(.)", r"\1", inner), quoted.end()
    raise PathError(f".name, [0] or ['name'] is expected at character {at + 1}")


def getter(path: Path) -> Getter:
    """A function from a parsed document to the value at the path, or MISSING. It never raises.

    Python would index text by a number and call `"walking"[0]` a value, so a path with a number in it checks the type
    at every step. With names alone that cannot happen: only an object can be indexed by a name, anything else raises.
    """
    steps = path.steps
    if any(isinstance(step, int) for step in steps):
        return _walking_getter(steps)
    if len(steps) == 1:
        return _getter_of_one(steps[0])
    if len(steps) == 2:
        return _getter_of_two(*steps)
    if len(steps) == 3:
        return _getter_of_three(*steps)
    return _walking_getter(steps)


def _getter_of_one(first: Step) -> Getter:
    def get(document: Any) -> Any:
        try:
            return document[first]
        except (KeyError, TypeError):
            return MISSING

    return get


def _getter_of_two(first: Step, second: Step) -> Getter:
    def get(document: Any) -> Any:
        try:
            return document[first][second]
        except (KeyError, TypeError):
            return MISSING

    return get


def _getter_of_three(first: Step, second: Step, third: Step) -> Getter:
    def get(document: Any) -> Any:
        try:
            return document[first][second][third]
        except (KeyError, TypeError):
            return MISSING

    return get


def _walking_getter(steps: tuple[Step, ...]) -> Getter:
    kinds: tuple[tuple[Any, Any], ...] = tuple((step, list if isinstance(step, int) else dict) for step in steps)

    def get(document: Any) -> Any:
        inner: Any = document
        for step, kind in kinds:
            if type(inner) is not kind:
                return MISSING
            try:
                inner = inner[step]
            except (KeyError, IndexError):
                return MISSING
        return inner

    return get


def setter(path: Path) -> Setter:
    """A function that puts a value at the path of a document under construction, making what lies on the way.

    Array places that nobody declared become null. Paths that are set in one document must not overlap or disagree about
    shape; the settings refuse such a set.
    """
    steps = path.steps
    if len(steps) == 1:
        return _setter_of_one(steps[0])
    if len(steps) == 2 and isinstance(steps[1], str):
        return _setter_of_two(*steps)

    def put(document: Any, value: Any) -> None:
        for step, following in pairwise(steps):
            document = _enter(document, step, [] if isinstance(following, int) else {})
        last = steps[-1]
        if isinstance(last, int):
            _lengthen(document, last)
        document[last] = value

    return put


def _setter_of_one(first: Step) -> Setter:
    def put(document: Any, value: Any) -> None:
        document[first] = value

    return put


def _setter_of_two(first: Step, second: Step) -> Setter:
    def put(document: Any, value: Any) -> None:
        inner = document.get(first)
        if inner is None:
            document[first] = {second: value}
        else:
            inner[second] = value

    return put


def _enter(document: Any, step: Step, empty: Any) -> Any:
    if isinstance(step, int):
        _lengthen(document, step)
        if document[step] is None:
            document[step] = empty
        return document[step]
    return document.setdefault(step, empty)


def _lengthen(array: list[Any], position: int) -> None:
    array.extend([None] * (position + 1 - len(array)))
