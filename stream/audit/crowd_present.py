"""Who was there, from the raw topic: every record that the pipeline has carried out and did not refuse is in its
window, once a user.

What was refused has a dead letter. The order of the records decides which of them are too late, but for what the clock
closes where no event comes; when that was no raw record says. So a letter that says `late` is believed where its window
may have been closed by then, and after it the window is closed to all that follow.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from stream import names
from stream.audit.crowd_events import Event, EventReader, Present, counted, together
from stream.audit.crowd_rules import Crowds, Timing
from stream.audit.findings import Findings
from stream.audit.records import Record

Letters = Mapping[tuple[int, int], str]
"""Of each raw record that was refused, by partition and offset, the reason."""
People = dict[bytes, Present]

_TIMED: Final = (names.BEFORE_START, names.TIME_AHEAD, names.LATE)
_OF_FORM: Final = frozenset(
    [
        names.TOMBSTONE,
        names.NOT_UTF8,
        names.NOT_JSON,
        names.NOT_AN_OBJECT,
        names.FIELD_MISSING,
        names.FIELD_TYPE,
        names.OUTSIDE_ALPHABET,
        names.USER_MISSING,
        names.USER_EMPTY,
        names.USER_TYPE,
        names.USER_TOO_LONG,
        names.USER_DISAGREES,
        names.TIME_MISSING,
        names.TIME_TYPE,
        names.TIME_OUT_OF_RANGE,
        names.UNKNOWN_TYPE,
    ]
)
"""What an event in order cannot be refused for."""


def letters_of(records: Iterable[Record], raw_topic: str, found: dict[tuple[int, int], str]) -> int:
    """Adds what these dead letters say of the raw topic; answers how many say it of a record a second time."""
    again = 0
    for record in records:
        try:
            letter = json.loads(record.value or b"")
            place, reason = (letter["partition"], letter["offset"]), str(letter["reason"])
            if letter["topic"] != raw_topic:
                continue
        except (ValueError, KeyError, TypeError):
            continue  # of another pipeline that shares the topic
        again += place in found
        found[place] = reason
    return again


@dataclass
class Told:
    """What became of the raw records."""

    accepted: int = 0
    refused: dict[str, int] = field(default_factory=lambda: defaultdict(int))


class Partition:
    """One partition of the raw topic, record by record. `closed_to` is up to when the pipeline says that its windows
    are closed, where it is known; `take` is handed each event that counts.
    """

    def __init__(
        self,
        crowds: Crowds,
        reader: EventReader,
        letters: Letters,
        findings: Findings,
        where: str,
        partition: int,
        take: Callable[[int, Event], None],
        told: Told,
        closed_to: int | None = None,
    ) -> None:
        self._reader, self._letters, self._findings = reader, letters, findings
        self._where, self._partition, self._take = where, partition, take
        self._timing, self._closed_to = crowds.timing, closed_to
        self._closed = 0 if crowds.timing is None else crowds.timing.start
        self.told = told

    def read(self, records: Iterable[Record]) -> None:
        for record in records:
            reason, event = self._letters.get((self._partition, record.offset)), self._reader.read(record)
            wrong = self._accept(record.offset, event) if reason is None else self._refuse(reason, event)
            if wrong:
                self._findings.add(wrong, places=[f"{self._where}, offset {record.offset}"], detail=reason or "")

    def _accept(self, offset: int, event: Event | None) -> str | None:
        self.told.accepted += 1
        if event is None:
            return "crowd_unread"
        self._take(offset, event)
        if self._timing is None:
            return None
        wrong = self._untimely(self._timing, event)
        reached = min(event.time, event.stamp) - self._timing.lateness
        self._closed = max(self._closed, self._timing.end(reached) - self._timing.length)
        return "crowd_untimely" if wrong else None

    def _untimely(self, timing: Timing, event: Event) -> str | None:
        if event.time < timing.start:
            return names.BEFORE_START
        if event.time > event.stamp + timing.ahead:
            return names.TIME_AHEAD
        return names.LATE if timing.end(event.time) <= self._closed else None

    def _refuse(self, reason: str, event: Event | None) -> str | None:
        self.told.refused[reason] += 1
        if event is None:
            return "crowd_refused" if reason in _TIMED else None
        if reason not in _TIMED:
            return "crowd_refused" if reason in _OF_FORM else None
        if self._timing is None:
            return "crowd_refused"
        wanted = self._untimely(self._timing, event)
        if reason == names.LATE and wanted is None:
            end = self._timing.end(event.time)
            if self._closed_to is not None and end > self._closed_to:
                return "crowd_refused"
            self._closed = max(self._closed, end)
            return None
        return None if reason == wanted else "crowd_refused"


class Windows:
    """The people of each window, of all partitions together or of each by itself."""

    def __init__(self, crowds: Crowds) -> None:
        self._crowds = crowds
        self._found: dict[tuple[int, int], dict[int, People]] = defaultdict(dict)

    def taker(self, partition: int) -> Callable[[int, Event], None]:
        timing, take = self._crowds.timing, self._crowds.asked.take
        if timing is None:
            raise ValueError("without windows nobody is in one")
        group, found = (0 if self._crowds.over_all else partition), self._found

        def put(_offset: int, event: Event) -> None:
            people = found[group, timing.number(event.time)].setdefault(partition, {})
            people[event.user] = counted(take, people.get(event.user), event)

        return put

    def parts(self, group: int, number: int) -> dict[int, People]:
        """Those of a window by partition, which are asked for once."""
        return self._found.pop((group, number), {})


def everybody(take: str, parts: Mapping[int, People]) -> People:
    """Of all partitions, each user once."""
    found: People = {}
    for partition in sorted(parts):
        if not found:
            found = dict(parts[partition])
            continue
        for user, present in parts[partition].items():
            before = found.get(user)
            found[user] = present if before is None else together(take, before, present)
    return found
