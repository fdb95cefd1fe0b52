"""Raw records, read a second time: who, when, and with which values. What cannot be read here is None."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import orjson

from stream.audit.crowd_rules import Asked, Crowds
from stream.audit.records import Record
from stream.records.paths import MISSING, Getter, Path, getter
from stream.settings.model import RecordSettings

END_OF_TIME: Final = 4_102_444_800_000
LONGEST_USER: Final = 1024
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Event(NamedTuple):
    """`values` is the step or the place of what is released, or the cells of all attributes; `secret` the place of the
    sensitive value. `kind` is the type of the law that the user is of, `home` what all of one household have alike,
    None of somebody who belongs to nobody.
    """

    user: bytes
    time: int
    stamp: int
    values: tuple[int, ...]
    secret: int
    kind: str
    home: object


class EventReader:
    def __init__(self, record: RecordSettings, crowds: Crowds) -> None:
        self._record, self._crowds = record, crowds
        self._user = _getter(record.user.path)
        self._time = _getter(record.event_time.path)
        asked = crowds.asked
        self._value = _getter(asked.path)
        self._attributes = [(getter(each.path), each) for each in asked.attributes]
        self._secret = None if asked.mixed is None else getter(asked.mixed.path)
        believed = crowds.believed
        self._kind = None if believed is None else _getter(believed.by)
        self._home = None if believed is None else _getter(believed.belongs)

    def read(self, record: Record) -> Event | None:
        try:
            document = orjson.loads(record.value or b"")
        except orjson.JSONDecodeError:
            return None
        if not isinstance(document, dict):
            return None
        user, time = self._user_of(record.key, document), self._time_of(record.timestamp, document)
        values, secret = self._values(document), self._secret_of(document)
        kind, home = self._kind_of(document), MISSING if self._home is None else self._home(document)
        if user is None or time is None or values is None or secret is None or kind is None:
            return None
        if home is not MISSING and (isinstance(home, bool) or not isinstance(home, str | int | float)):
            return None
        return Event(user, time, record.timestamp, values, secret, kind, None if home is MISSING else home)

    def _user_of(self, key: bytes | None, document: dict[str, Any]) -> bytes | None:
        user = key
        if self._user is not None:
            told = self._user(document)
            if isinstance(told, bool) or not isinstance(told, str | int):
                return None
            user = str(told).encode()
            if self._record.user.from_key and user != key:
                return None
        return user if user and len(user) <= LONGEST_USER else None

    def _time_of(self, stamp: int, document: dict[str, Any]) -> int | None:
        time: int | None = stamp
        if self._time is not None:
            time = moment_of(self._time(document), self._record.event_time.unit)
        return time if time is not None and 0 <= time < END_OF_TIME else None

    def _values(self, document: dict[str, Any]) -> tuple[int, ...] | None:
        if self._value is not None:
            place = _place(self._crowds.asked, self._value(document))
            return None if place is None else (place,)
        cells = [each.cell_of(get(document)) for get, each in self._attributes]
        return None if None in cells else tuple(cell for cell in cells if cell is not None)

    def _secret_of(self, document: dict[str, Any]) -> int | None:
        mixed = self._crowds.asked.mixed
        if mixed is None or self._secret is None:
            return 0
        value = self._secret(document)
        return None if value is MISSING else mixed.index_of(value)

    def _kind_of(self, document: dict[str, Any]) -> str | None:
        believed = self._crowds.believed
        if believed is None or believed.household is not None:
            return ""
        if self._kind is None:
            return next(iter(believed.types))
        kind = self._kind(document)
        return kind if isinstance(kind, str) and kind in believed.types else None


def _getter(path: Path | None) -> Getter | None:
    return None if path is None else getter(path)


def _place(asked: Asked, value: Any) -> int | None:
    """The step of a number, 1 of what is counted and 0 of what is not, or the place of a value."""
    if value is MISSING or asked.index_of is None:
        return None if value is MISSING or asked.steps is None else asked.steps.step_of(value)
    return asked.index_of(value)


def moment_of(value: Any, unit: str | None) -> int | None:
    """In milliseconds; seconds are rounded to the nearest, texts need a zone and are cut off."""
    if unit == "iso8601":
        try:
            moment = datetime.fromisoformat(value)
            return None if moment.tzinfo is None else (moment - _EPOCH) // timedelta(milliseconds=1)
        except (TypeError, ValueError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if unit == "ms":
        return value if isinstance(value, int) else None
    return value * 1000 if isinstance(value, int) else round(value * 1000) if abs(value) < 1e12 else None


class Present(NamedTuple):
    """One user of one window: which values count; and what is known of the user, by the event of that time."""

    time: int
    values: tuple[int, ...]
    secret: int
    kind: str
    home: object


def counted(take: str, before: Present | None, event: Event) -> Present:
    """With one more of a user's events; of equal ones the one that stands first in the topic counts."""
    found = Present(event.time, event.values, event.secret, event.kind, event.home)
    return found if before is None else together(take, before, found)


def together(take: str, old: Present, new: Present) -> Present:
    """Of two, of which the first one counts where they are equal. What is known of a user is by the first event where
    the first one counts, and by the last one otherwise, whatever values the events have.
    """
    later = new if (new.time < old.time if take == "first" else new.time > old.time) else old
    if take in ("first", "last"):
        return later
    larger = new.values > old.values if take == "largest" else new.values < old.values
    return later._replace(values=(new if larger else old).values)
