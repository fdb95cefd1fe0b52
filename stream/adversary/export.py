"""A file of released records, one a line, as an export of the topic gives them:

    {"key": "u17", "value": {"activity": "walking"}, "headers": {"step": "3", ...}, "timestamp": 1700000000000,
     "partition": 0}

Headers may be a list of pairs as well, and the value the record's text. `timestamp`, in milliseconds, may be left out
where neither the model nor the budget goes by time; without `partition` it is 0. Other names are passed over. The
lines of a partition must be in its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import orjson

from beliefs.checks import Invalid
from stream.adversary.facts import json_lines
from stream.audit.public import Public
from stream.audit.records import Record
from stream.errors import CannotAudit

_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class Exported:
    """One line as a record."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    timestamp_type: int = 0


def read_export(file: Path, option: str, public: Public) -> dict[int, list[Record]]:
    """The records by partition."""
    needs_time = public.rules.interval > 0 or public.rules.window > 0
    found: dict[int, list[Record]] = {}
    for partition, record in exported_records(file, option, needs_time=needs_time):
        found.setdefault(partition, []).append(record)
    if not found:
        _refuse(f"{option} {file}", "it holds no record")
    return found


def exported_records(file: Path, option: str, *, needs_time: bool) -> Iterator[tuple[int, Record]]:
    """Each record with its partition; a line that is none is refused with its number."""
    for number, line in json_lines(file, option):
        try:
            yield record_in(line, number, needs_time=needs_time)
        except Invalid as problem:
            _refuse(f"{option} {file}, line {number}", f"its {problem.field} {problem.reason}")


def record_in(line: Mapping[str, Any], number: int, *, needs_time: bool) -> tuple[int, Exported]:
    """One line as a record, whose number stands for its offset, with its partition; `Invalid` where it is none."""
    partition, time = line.get("partition", 0), line.get("timestamp", -1 if needs_time else 0)
    for name, whole in (("partition", partition), ("timestamp", time)):
        if type(whole) is not int or not 0 <= whole < _LARGEST:
            raise Invalid(name, "must be a whole number from 0")
    return partition, Exported(number, time, _key(line.get("key")), _value(line.get("value")), _headers(line))


def _key(key: object) -> bytes:
    if not isinstance(key, str) or not key:
        raise Invalid("key", "must be a text that is not empty: the user or the pseudonym")
    return key.encode("utf-8", "surrogateescape")


def _value(value: object) -> bytes:
    return value.encode() if isinstance(value, str) else orjson.dumps(value)


def _headers(line: Mapping[str, Any]) -> tuple[tuple[str, bytes], ...]:
    headers = line.get("headers")
    pairs = list(headers.items()) if isinstance(headers, dict) else headers
    if not isinstance(pairs, list):
        raise Invalid("headers", "must be an object, or a list of pairs")
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
            raise Invalid("headers", "must each have a name and a text")
    return tuple((str(name), str(text).encode()) for name, text in pairs)


def _refuse(where: str, why: str) -> NoReturn:
    fix = "export the released topic once more, one JSON object a line: key, value, headers, timestamp, partition"
    raise CannotAudit("A file of released records cannot be read.", where, why, fix)
