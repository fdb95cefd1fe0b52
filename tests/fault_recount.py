"""A second count of what became of every input, from the topics alone and with no code of the rooms that release.

    inputs = released + forecasts + suppressed + dead letters

An input's release id is worked out here from the topic's id, the partition, the offset and the policy. What an input
should look like when it is released is known from the raw topic, except for the one value that is drawn: so a record
that bears the right id and another event's fields is found, too. An input that no one can release was marked by
whoever wrote it, in a header that does not pass.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

MARK = "cannot-be-released"
FORECAST = ("outcome", b"forecast")


class Record(NamedTuple):
    """What the recount looks at; the records of a Kafka client have the same fields."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Sequence[tuple[str, bytes]] = ()


Records = Iterable[Any]


@dataclass(frozen=True)
class Origin:
    """What every release id is made of, beside partition and offset; and the raw topic's name."""

    topic: str
    topic_id: bytes
    policy: bytes

    def release_id(self, partition: int, offset: int) -> bytes:
        text = self.topic_id + partition.to_bytes(4, "big") + offset.to_bytes(8, "big") + self.policy
        return hashlib.sha256(text).hexdigest()[:32].encode()


@dataclass(frozen=True)
class Views:
    """The raw topic, and what readers of committed records and readers of everything found in the other two."""

    raw: Sequence[Any]
    released: Sequence[Any]
    released_seen: Sequence[Any]
    letters: Sequence[Any]
    letters_seen: Sequence[Any]


@dataclass
class Faults:
    """How often each thing happened that must never happen."""

    lost: int = 0
    twice: int = 0
    two_values: int = 0
    of_no_input: int = 0
    not_its_event: int = 0
    steps_broken: int = 0
    letters_lost: int = 0
    letters_twice: int = 0
    letters_two_values: int = 0
    letters_of_no_input: int = 0
    letters_wrong: int = 0
    does_not_add_up: int = 0

    @property
    def found(self) -> dict[str, int]:
        return {name: count for name, count in asdict(self).items() if count}


@dataclass
class Recount:
    faults: Faults
    inputs: int = 0
    released: int = 0
    forecast: int = 0
    suppressed: int = 0
    dead_lettered: int = 0
    identical_repeats: int = 0

    def __str__(self) -> str:
        return (
            f"{self.inputs:,} inputs = {self.released:,} released + {self.forecast:,} forecast + {self.suppressed:,} "
            f"suppressed + {self.dead_lettered:,} dead letters; {self.identical_repeats:,} identical repeats in "
            f"uncommitted data; faults: {self.faults.found or 'none'}"
        )


class Event(NamedTuple):
    """What a released record must show of its input."""

    partition: int
    key: bytes
    timestamp: int
    number: int
    step: int


def recount(origin: Origin, views: Views) -> Recount:
    events, marked = _inputs(origin, views.raw)
    counted = Recount(Faults(), inputs=len(views.raw))
    _count_releases(events, views, counted)
    _count_letters(origin, marked, views, counted)
    outcomes = counted.released + counted.forecast + counted.suppressed + counted.dead_lettered
    counted.faults.does_not_add_up = abs(counted.inputs - outcomes)
    counted.identical_repeats = _repeats(views.released_seen, views.released) + _repeats(
        views.letters_seen, views.letters
    )
    return counted


def _inputs(origin: Origin, raw: Records) -> tuple[dict[bytes, Event], dict[tuple[int, int], bytes]]:
    """The event of each release id, in the order of the raw topic; and the reason of each input with a mark."""
    events: dict[bytes, Event] = {}
    marked: dict[tuple[int, int], bytes] = {}
    steps: Counter[bytes] = Counter()
    for record in raw:
        mark = header(record, MARK)
        if mark:
            marked[record.partition, record.offset] = mark
            continue
        steps[record.key] += 1
        number = json.loads(record.value)["n"]
        event = Event(record.partition, record.key, record.timestamp, number, steps[record.key])
        events[origin.release_id(record.partition, record.offset)] = event
    return events, marked


def _count_releases(events: dict[bytes, Event], views: Views, counted: Recount) -> None:
    faults = counted.faults
    times = Counter(header(record, "release-id") for record in views.released)
    faults.lost = sum(times[known] == 0 for known in events)
    faults.twice = sum(count > 1 for count in times.values())
    faults.two_values = _different(views.released_seen, lambda record: header(record, "release-id"))
    faults.of_no_input = len({header(record, "release-id") for record in views.released_seen} - set(events))
    shown = (*views.released, *views.released_seen)
    faults.not_its_event = sum(not _shows(record, events.get(header(record, "release-id"))) for record in shown)
    counted.forecast = sum(FORECAST in record.headers for record in views.released)
    counted.released = len(views.released) - counted.forecast
    steps: dict[bytes, list[int]] = defaultdict(list)
    for record in views.released:
        steps[record.key].append(int(header(record, "step") or b"0"))
    faults.steps_broken = sum(found != list(range(1, len(found) + 1)) for found in steps.values())
    # Nothing is suppressed where a spent budget brings forecasts, so a step that nobody sees is a lost event as well.
    counted.suppressed = sum(max(found) - len(set(found)) for found in steps.values())


def _shows(record: Any, event: Event | None) -> bool:
    """Whether the record is the release of this event; one of no event is counted elsewhere."""
    if event is None:
        return True
    shown = json.loads(record.value)
    return event == Event(
        record.partition, record.key, record.timestamp, shown.get("n", -1), int(header(record, "step") or b"0")
    ) and set(shown) == {"n", "activity"}


def _count_letters(origin: Origin, marked: dict[tuple[int, int], bytes], views: Views, counted: Recount) -> None:
    faults = counted.faults
    times = Counter(_place(record) for record in views.letters)
    counted.dead_lettered = len(views.letters)
    faults.letters_lost = sum(times[place] == 0 for place in marked)
    faults.letters_twice = sum(count > 1 for count in times.values())
    faults.letters_two_values = _different(views.letters_seen, _place)
    faults.letters_of_no_input = len({_place(record) for record in views.letters_seen} - set(marked))
    for record in (*views.letters, *views.letters_seen):
        letter = json.loads(record.value)
        reason = marked.get(_place(record), letter["reason"].encode())
        at_home = record.partition == letter["partition"] and letter["topic"] == origin.topic
        faults.letters_wrong += not (at_home and record.key is None and letter["reason"].encode() == reason)


def _place(record: Any) -> tuple[int, int]:
    letter = json.loads(record.value)
    return letter["partition"], letter["offset"]


def _different(records: Records, identity: Any) -> int:
    """How many inputs were shown with two different contents, be it in one byte."""
    shown: dict[Any, set[Any]] = defaultdict(set)
    for record in records:
        shown[identity(record)].add((record.key, record.value, record.timestamp, tuple(record.headers)))
    return sum(len(contents) > 1 for contents in shown.values())


def _repeats(everything: Sequence[Any], committed: Sequence[Any]) -> int:
    return len(everything) - len(committed)


def header(record: Any, name: str) -> bytes:
    """Its first value, or nothing."""
    return next((bytes(value) for key, value in record.headers if key == name), b"")
