"""What somebody asks of a law of dependent people, in words, made into a task; whatever cannot be meant is refused."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from pydantic_core import PydanticCustomError

from stream.fitting.asked import Asked, cannot, field_path, sample_of
from stream.fitting.sources import FORMATS, TOPIC, Fields, Source, file_source, format_of
from stream.fitting.task import Sample
from stream.records.paths import Path as FieldPath
from stream.settings.kinds import read_duration

_MOST_BYTES: Final = 16 << 20
BLOCKS, WINDOWS, GAUSSIAN, FRIENDS, TREE = "blocks", "windows", "gaussian", "friends", "tree"
FRIEND_FIELDS: Final = (FieldPath(("user",)), FieldPath(("friend",)))
MOST_MAX: Final = 255

_NEEDS: Final = {
    BLOCKS: ("user", "component", "time", "window", "most"),
    WINDOWS: ("user", "time", "window", "most", "length"),
    GAUSSIAN: ("value", "range"),
    FRIENDS: ("user", "value", "friends"),
    TREE: ("user", "value", "friends", "most"),
}
_MAY: Final = ("source", "file_format", "failure", "sample", "time_unit")
_WORDS: Final = {
    "user": "the field that names the user",
    "component": "the field that names the household, or whatever hangs together",
    "time": "the field with the time of the event",
    "window": "how long a window is, such as 1h",
    "most": "the largest contribution; larger ones count as that",
    "length": "how many windows of a user count together",
    "value": "the fields with the numbers",
    "range": "numbers that near each other are to be hidden from each other",
    "friends": "a file with the columns user and friend",
}


@dataclass(frozen=True)
class LawAsked:
    """The options of `--law` as they were given."""

    law: str | None = None
    component: str | None = None
    window: str | None = None
    most: int | None = None
    length: int | None = None
    friends: Path | None = None
    range: float | None = None


@dataclass(frozen=True)
class LawTask:
    """What the kind does not need is None or empty. Without `values` each record counts as 1."""

    kind: str
    source: Source
    user: FieldPath | None
    component: FieldPath | None
    values: tuple[FieldPath, ...]
    time: FieldPath | None
    unit: str
    window: int
    most: int
    length: int
    span: float
    friends: Source | None
    failure: float
    sample: Sample


def law_task_of(wanted: LawAsked, asked: Asked) -> LawTask:
    kind = wanted.law or ""
    if kind not in _NEEDS:
        raise cannot("--law", "it is not known", f"write one of {', '.join(_NEEDS)}")
    given = _given(wanted, asked)
    may = (*_NEEDS[kind], *_MAY, *(("value",) if kind in (BLOCKS, WINDOWS) else ()))
    for option in given:
        if option not in may and option != "law":
            raise cannot(_named(option), f"--law {kind} has no such thing", "leave it away")
    for option in _NEEDS[kind]:
        if option not in given:
            raise cannot(_named(option), f"--law {kind} needs it: {_WORDS[option]}", f"add {_named(option)}")
    if not 0.0 < asked.failure < 1.0:
        raise cannot("--failure", "it is no probability between 0 and 1", "write for example 0.05")
    if asked.time_unit not in ("ms", "s", "iso8601"):
        raise cannot("--time-unit", "it is none of ms, s and iso8601", "write how the field is written")
    values = (
        () if asked.value is None else tuple(field_path(each.strip(), "--value") for each in asked.value.split(","))
    )
    if kind in (BLOCKS, WINDOWS, TREE) and len(values) > 1:
        raise cannot("--value", f"--law {kind} adds up one field", "name one field, or none to count events")
    if kind == GAUSSIAN and len(values) < 2:
        raise cannot("--value", "a covariance is of two fields or more", "name them with commas: --value a,b")
    user, component, time = (_path(asked.user, "user"), _path(wanted.component, "component"), _path(asked.time, "time"))
    _refuse_overlaps([path for path in (user, component, time, *values) if path is not None])
    return LawTask(
        kind=kind,
        source=_source(asked, [path for path in (user, component, *values, time) if path is not None], values, time),
        user=user,
        component=component,
        values=values,
        time=time,
        unit=asked.time_unit,
        window=0 if wanted.window is None else _duration(wanted.window),
        most=_between(wanted.most, "most", 1, MOST_MAX),
        length=_between(wanted.length, "length", 1, 1_000_000),
        span=_span(wanted.range),
        friends=None if wanted.friends is None else _friends(wanted.friends),
        failure=asked.failure,
        sample=sample_of(asked, protected=False),
    )


def refuse_without_law(wanted: LawAsked) -> None:
    """Options that would be passed over in silence."""
    for option in fields(LawAsked):
        if getattr(wanted, option.name) is not None:
            raise cannot(_named(option.name), "it belongs to --law, which says what is learnt", "add --law")


def _given(wanted: LawAsked, asked: Asked) -> list[str]:
    found = [each.name for each in fields(LawAsked) if getattr(wanted, each.name) is not None]
    return found + [each.name for each in fields(Asked) if getattr(asked, each.name) != each.default]


def _named(option: str) -> str:
    return {"source": "--from", "file_format": "--format"}.get(option, f"--{option.replace('_', '-')}")


def _path(text: str | None, option: str) -> FieldPath | None:
    return None if text is None else field_path(text, f"--{option}")


def _source(asked: Asked, paths: list[FieldPath], values: tuple[FieldPath, ...], time: FieldPath | None) -> Source:
    if asked.source is None:
        raise cannot("--from", "nothing says what to learn from", "name a file")
    if asked.source == TOPIC or asked.source.startswith(f"{TOPIC}:"):
        why = "a law says how noise is made for people, and a topic holds the very events that it is to protect"
        raise cannot("--from", why, "name a file of public or past events")
    if asked.file_format not in (None, *FORMATS):
        raise cannot("--format", "it is not known", f"write one of {', '.join(FORMATS)}")
    file, numeric = Path(asked.source), set(values)
    if time is not None and asked.time_unit != "iso8601":
        numeric.add(time)
    words = "the columns of --user, --component, --value and --time"
    read = Fields(tuple(paths), frozenset(numeric), _MOST_BYTES, options=words)
    return file_source(file, asked.file_format or format_of(file), read)


def _friends(file: Path) -> Source:
    read = Fields(FRIEND_FIELDS, frozenset(), _MOST_BYTES, options="columns of --friends: user and friend")
    return file_source(file, format_of(file), read)


def _refuse_overlaps(paths: list[FieldPath]) -> None:
    for one, other in itertools.combinations(paths, 2):
        if one.overlaps(other) or one.shape_conflict(other):
            raise cannot("--law", "two of its fields are one field, or a field inside another", "name each field once")


def _duration(text: str) -> int:
    try:
        found = read_duration(text)
    except PydanticCustomError as problem:
        raise cannot("--window", f"allowed is {(problem.context or {})['allowed']}", "write for example 1h") from None
    if found < 1:
        raise cannot("--window", "it has no length", "write for example 1h")
    return found


def _between(value: Any, option: str, least: int, most: int) -> int:
    if value is None:
        return 0
    if not least <= value <= most:
        raise cannot(f"--{option}", f"it is not from {least} to {most:,}", "write a number in that range")
    return int(value)


def _span(value: float | None) -> float:
    if value is None:
        return 0.0
    if not 0.0 < value < 1e300:
        raise cannot("--range", "it must be a number above 0", "write for example 1")
    return value
