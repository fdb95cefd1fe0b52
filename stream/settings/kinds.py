"""The kinds of value that a settings file holds beside plain text and numbers, each read in one place.

A reader here gets what YAML made of the text and returns the value, or raises `wrong(allowed, fix)`, which becomes one
problem of the report.
"""

import math
import re
from typing import Annotated, Any, Final, NamedTuple

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from stream.records.paths import Path, PathError, parse_path

WRONG: Final = "wrong"
FORMAT_VERSION: Final = 1

_DURATION = re.compile(r"([0-9]{1,12})\s*(ms|s|m|h|d)")
_MILLISECONDS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def wrong(allowed: str, fix: str) -> PydanticCustomError:
    return PydanticCustomError(WRONG, "{allowed}", {"allowed": allowed, "fix": fix})


def read_duration(value: Any) -> int:
    """A duration in milliseconds. A bare number is refused: nobody can tell by looking whether it means seconds."""
    allowed = "a whole number with its unit: ms, s, m, h or d"
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise wrong(allowed, f"add the unit, for example {value}s")
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise wrong(allowed, "write it like 250ms, 10s, 5m, 1h or 1d")
    return int(match.group(1)) * _MILLISECONDS[match.group(2)]


def write_duration(milliseconds: int) -> str:
    for unit in ("d", "h", "m", "s"):
        if milliseconds % _MILLISECONDS[unit] == 0:
            return f"{milliseconds // _MILLISECONDS[unit]}{unit}"
    return f"{milliseconds}ms"


def duration_between(least: int, most: int) -> Any:
    """A reader of durations of at least and at most so many milliseconds."""

    def read(value: Any) -> int:
        milliseconds = read_duration(value)
        if not least <= milliseconds <= most:
            limits = f"from {write_duration(least)} to {write_duration(most)}"
            raise wrong(f"a duration {limits}", f"choose one {limits}")
        return milliseconds

    return read


class Sliding(NamedTuple):
    """A budget over any so many events of a user in a row."""

    events: int


LONGEST_SLIDING: Final = 256
"""16 bytes an event are kept for each user: 4 KiB."""


def read_window(value: Any) -> int | Sliding | None:
    """The length of a budget window in milliseconds; None is for ever; or how many events a sliding one holds.

    A second is the least, so that the number of any window before 2100 fits the 32 bits that a user's state has for it.
    """
    if value == "forever":
        return None
    if isinstance(value, dict | Sliding):
        return _read_sliding(value)
    try:
        milliseconds = read_duration(value)
    except PydanticCustomError as problem:
        context = problem.context or {}
        allowed = f"{context['allowed']}; or forever; or {{events: 20}} for any 20 events in a row"
        raise wrong(allowed, str(context["fix"])) from None
    if not 1000 <= milliseconds <= 3660 * _MILLISECONDS["d"]:
        raise wrong("from 1s to 3660d, or forever", "choose a window in that range, or forever")
    return milliseconds


def _read_sliding(value: dict[Any, Any] | Sliding) -> Sliding:
    given = value._asdict() if isinstance(value, Sliding) else value
    events = given.get("events")
    if set(given) != {"events"} or type(events) is not int or not 2 <= events <= LONGEST_SLIDING:
        allowed = f"events, a whole number from 2 to {LONGEST_SLIDING}, and nothing else"
        raise wrong(allowed, "write it like {events: 20}, for any 20 events of a user in a row")
    return Sliding(events)


def write_window(window: int | Sliding | None) -> int | dict[str, int] | None:
    return window._asdict() if isinstance(window, Sliding) else window


def read_step(value: Any) -> int | None:
    """The length of a model's step in milliseconds; None is one step for each event."""
    if value == "event":
        return None
    try:
        milliseconds = read_duration(value)
    except PydanticCustomError as problem:
        context = problem.context or {}
        raise wrong(f"{context['allowed']}; or event", str(context["fix"])) from None
    if not 1000 <= milliseconds <= 3660 * _MILLISECONDS["d"]:
        raise wrong("from 1s to 3660d, or event", "choose a step in that range, or event")
    return milliseconds


def read_budget(value: Any) -> float:
    """A number of nats above 0; infinity is written `unlimited`, so that nobody gets it by accident."""
    if value == "unlimited":
        return math.inf
    allowed = "a number of nats from 0.000001 to 1000000, or unlimited"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(allowed, "write a plain number, for example 10.0, or the word unlimited")
    if math.isnan(value) or math.isinf(value):
        raise wrong(allowed, "write unlimited if no budget is meant")
    if not 1e-6 <= value <= 1e6:
        raise wrong(allowed, "choose a budget in that range, or unlimited")
    return float(value)


def read_version(value: Any) -> int:
    """Exactly 1; Python would take true and 1.0 for it as well."""
    if type(value) is not int or value != FORMAT_VERSION:
        raise wrong(str(FORMAT_VERSION), f"write version: {FORMAT_VERSION}")
    return value


def read_path(value: Any) -> Path:
    allowed = "a path such as $.device.activity, $.readings[0] or $['any name']"
    if isinstance(value, Path):
        return value
    if not isinstance(value, str):
        raise wrong(allowed, "write the path as text that begins with $")
    try:
        return parse_path(value)
    except PathError as problem:
        raise wrong(allowed, f"correct the path: {problem}") from None


def read_broker(value: Any) -> str:
    allowed = "host:port, for example kafka-1.example:9092"
    if not isinstance(value, str):
        raise wrong(allowed, "write the broker as host:port")
    host, colon, port = value.rpartition(":")
    if not colon or not host or not re.fullmatch(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", host):
        raise wrong(allowed, "write the host, a colon and the port, without a scheme; an IPv6 address goes in brackets")
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65535:
        raise wrong(allowed, "give a port from 1 to 65535 after the colon")
    return value


def read_topic(value: Any) -> str:
    allowed = "a topic name: 1 to 249 of the characters a-z A-Z 0-9 . _ -"
    if not isinstance(value, str):
        raise wrong(allowed, "put the name in quotes, so that YAML takes it as text")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", value) or value in {".", ".."}:
        raise wrong(allowed, "use the name of a topic as Kafka allows it")
    return value


DURATION_SCHEMA: Final = {"type": "string", "pattern": "^[0-9]{1,12}\\s*(ms|s|m|h|d)$"}

SessionTimeout = Annotated[int, BeforeValidator(duration_between(1_000, 300_000)), WithJsonSchema(DURATION_SCHEMA)]
Drain = Annotated[int, BeforeValidator(duration_between(1_000, 600_000)), WithJsonSchema(DURATION_SCHEMA)]
Stretch = Annotated[int, BeforeValidator(duration_between(1_000, 604_800_000)), WithJsonSchema(DURATION_SCHEMA)]
Deadline = Annotated[int, BeforeValidator(duration_between(1_000, 604_800_000)), WithJsonSchema(DURATION_SCHEMA)]
_SLIDING_SCHEMA: Final = {
    "type": "object",
    "properties": {"events": {"type": "integer", "minimum": 2, "maximum": LONGEST_SLIDING}},
    "required": ["events"],
    "additionalProperties": False,
}
Window = Annotated[
    int | Sliding | None,
    PlainValidator(read_window),
    PlainSerializer(write_window),
    WithJsonSchema({"anyOf": [DURATION_SCHEMA, {"const": "forever"}, _SLIDING_SCHEMA]}),
]
Step = Annotated[
    int | None,
    BeforeValidator(read_step),
    WithJsonSchema({"anyOf": [DURATION_SCHEMA, {"const": "event"}]}),
]
Budget = Annotated[
    float,
    BeforeValidator(read_budget),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 1e-6, "maximum": 1e6}, {"const": "unlimited"}]}),
]
FieldPath = Annotated[
    Path,
    PlainValidator(read_path),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^\\$([.\\[].+)$"}),
]
Version = Annotated[int, BeforeValidator(read_version), WithJsonSchema({"const": FORMAT_VERSION})]
Broker = Annotated[str, BeforeValidator(read_broker)]
Topic = Annotated[
    str, BeforeValidator(read_topic), WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9._-]{1,249}$"})
]
FileName = Annotated[str, Field(min_length=1, max_length=4096)]
EnvironmentName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
