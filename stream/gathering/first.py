"""The first stage, for one partition of the raw topic: events become contributions, and windows that are over are sent
to the second stage.

Everything goes by the order of the records. A partition has a latest time and a time up to which its windows are
closed, which are committed with each block; after each event that counts, every window is closed that ended more than
`lateness` before the latest time. An event's time moves it no further than its record's timestamp: one clock that runs
ahead would otherwise make everybody else late. So where blocks are cut, and how often they are repeated, changes
nothing. Where no event comes, windows are closed by the clock, as the release protocol does it: the time is committed
first.

A window that is closed takes no event any more; what it holds is written at once, unless very many windows close
together (after a long silence, or at the first event long after the first window): then each event that is carried out
writes what is written together, and the clock the rest, so that no transaction grows with the gap.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from beliefs.alphabet import Categories
from stream import names
from stream.errors import StateRefused
from stream.gathering.people import People
from stream.gathering.sealed import held_refused
from stream.protocol.columns import RecordBlock
from stream.protocol.control import AGGREGATE_KEY
from stream.protocol.effects import Effects, only_offset
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing, UserStore
from stream.protocol.texts import Texts
from stream.records.columns import ColumnReader, Columns
from stream.records.dead_letters import dead_letter
from stream.records.parse import TIMESTAMP, WHOLE
from stream.records.shapes import Rejected
from stream.settings.model import RecordSettings

PARTIALS_AT_ONCE: Final = 8
"""So many are written in one transaction where windows are closed by the clock: 2 MiB."""
ONE_EVENT: Final = Categories(["event"])

_UNREADABLE: Final = Rejected(names.STATE_UNREADABLE, WHOLE)
_TOO_MANY: Final = Rejected(names.TOO_LARGE, WHOLE)
_MARK: Final = struct.Struct(">Bqqq")
_MARK_VERSION: Final = 1


class GatherTold(NamedTuple):
    """Where a partition stands after a block, for whoever watches: up to when its windows are closed and written, and
    its latest time. Nothing of how many users it has: who is told nothing shows nothing.
    """

    closed_to: int
    latest: int


class Closing:
    """When the next window of a silent partition is closed."""

    def __init__(self, wait: int) -> None:
        self._wait = wait
        self.next_end: int | None = 0
        """Of the next window; None while closed ones are still to be written."""

    def set(self, user: bytes, record: bytes | None) -> None:
        """Windows wait for a time and for nobody."""

    def first(self) -> int:
        return 0 if self.next_end is None else self.next_end + self._wait


class Timing(Protocol):
    """When windows begin and end, in milliseconds."""

    @property
    def start(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def lateness(self) -> int: ...
    @property
    def grace(self) -> int: ...
    @property
    def ahead(self) -> int: ...


class WindowWriter(Protocol):
    """Makes records of windows that are closed."""

    def write(self, written: int, closed: int) -> tuple[int, list[bytes]]:
        """What is written together, from the first of these times on; answers up to when, which is after it."""


class FirstStage:
    """The first stage of one partition; `reader` reads the event's time as `record` says."""

    def __init__(
        self,
        timing: Timing,
        record: RecordSettings,
        reader: ColumnReader,
        people: People[Any],
        writer: WindowWriter,
        topic: str,
        partition: int,
    ) -> None:
        self._timing, self._topic, self._partition = timing, topic, partition
        self._where = f"topic {topic}, partition {partition}"
        self._reader, self._people, self._writer = reader, people, writer
        self._time_place = TIMESTAMP if record.event_time.path is None else str(record.event_time.path)
        self.deadlines = Closing(timing.lateness + timing.grace)
        self._stand(timing.start, timing.start, timing.start)

    def _stand(self, closed: int, latest: int, written: int) -> None:
        self._closed, self._latest, self._written = closed, latest, written
        self.deadlines.next_end = closed + self._timing.length if written == closed else None

    def adopt(self, store: UserStore) -> int:
        """Start from what was committed. Every key that a contribution was sealed with must be there."""
        start, mark = self._timing.start, store.marks().get(AGGREGATE_KEY)
        self._stand(*(start, start, start) if mark is None else self._read(mark))
        missing = self._people.adopt(store.held(), self._number(self._written))
        if missing:
            why = f"it was sealed with key epoch {min(missing)}, which the ring does not have"
            raise held_refused("What users have contributed to open windows", why, self._where)
        return 0

    def cut(self, store: UserStore, first: int) -> None:  # noqa: ARG002 - the shape that all share
        return None

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:  # noqa: ARG002 - people are its copy
        partials: list[Outgoing] = []
        counts, rejected = self._take(records, self._reader.read(records), partials)
        effects = self._effects(partials, max(0, int(records.timestamps[-1])))
        effects.next_offset = int(records.offsets[-1]) + 1
        effects.dead_letters = letters_of(records, rejected, self._topic, self._partition)
        effects.outcomes = {**counts, names.DEAD_LETTERED: len(rejected)}
        effects.reasons = Counter(reason.reason for _, reason in rejected)
        return effects

    def prepare_overdue(self, store: UserStore, clock: int) -> Effects | None:  # noqa: ARG002
        timing = self._timing
        target = self._boundary(clock - timing.lateness - timing.grace)
        if max(target, self._closed) == self._written:
            return None
        self._closed = max(target, self._closed)
        partials: list[Outgoing] = []
        self._write(PARTIALS_AT_ONCE, partials)
        return self._effects(partials, clock)

    def _take(
        self, records: InputBlock, columns: Columns, partials: list[Outgoing]
    ) -> tuple[dict[str, int], list[tuple[int, Rejected]]]:
        """Carry out every event, and close what it closes; answers the outcomes and what is refused."""
        people, start, length, ahead = self._people, self._timing.start, self._timing.length, self._timing.ahead
        values = zip(*(symbols.tolist() for symbols in columns.fields), strict=True) if columns.fields else repeat(())
        stamps = records.timestamps[columns.positions].tolist()
        taken = repeated = replayed = 0
        refused: list[tuple[int, Rejected]] = []
        closed, kept_from, closes_at = self._closed, self._number(self._written), self._closes_at()
        numbers = zip(columns.offsets.tolist(), columns.users, columns.times.tolist(), stamps, values, strict=False)
        for i, (offset, user, time, stamp, row) in enumerate(numbers):
            if time < closed or time > stamp + ahead:
                refused.append((int(columns.positions[i]), self._untimely(time, stamp)))
                continue
            person = people.find(user)
            if person is None:
                refused.append((int(columns.positions[i]), _UNREADABLE))
                continue
            if offset <= person.offset:
                replayed += 1
                continue
            new = people.take(person, offset, (time - start) // length, time, row, kept_from)
            if new is None:
                refused.append((int(columns.positions[i]), _TOO_MANY))
                continue
            if new:
                taken += 1
            else:
                repeated += 1
            reached = min(time, stamp)
            if reached > self._latest:
                self._latest = reached
            if reached >= closes_at or self._written < closed:
                closed = self._closed = max(closed, self._boundary(reached - self._timing.lateness))
                self._write(1, partials)
                kept_from, closes_at = self._number(self._written), self._closes_at()
        counts = {names.TAKEN: taken, names.REPEATED: repeated, names.REPLAYED: replayed}
        return counts, sorted([*columns.rejected, *refused]) if refused else columns.rejected

    def _write(self, most: int, partials: list[Outgoing]) -> None:
        """Write what is closed, until there are so many records."""
        enough = len(partials) + most
        while self._written < self._closed and len(partials) < enough:
            until, records = self._writer.write(self._written, self._closed)
            partials += [Outgoing(None, record, until) for record in records]
            self._written = until
        self._stand(self._closed, self._latest, self._written)

    def _effects(self, partials: list[Outgoing], timestamp: int) -> Effects:
        """What has changed since this was asked before."""
        effects, held = only_offset(0), self._people.written()
        effects.releases = RecordBlock.of(partials)
        effects.changelog = changelog_of(held, timestamp)
        effects.held = held
        effects.marks = {AGGREGATE_KEY: _MARK.pack(_MARK_VERSION, self._closed, self._latest, self._written)}
        effects.aggregates = GatherTold(self._written, self._latest)
        return effects

    def _untimely(self, time: int, stamp: int) -> Rejected:
        """Why an event counts for no window."""
        if time < self._timing.start:
            reason = names.BEFORE_START
        else:
            reason = names.TIME_AHEAD if time > stamp + self._timing.ahead else names.LATE
        return Rejected(reason, self._time_place)

    def _closes_at(self) -> int:
        """The time that closes the next window."""
        return self._closed + self._timing.length + self._timing.lateness

    def _boundary(self, time: int) -> int:
        """The largest end of a window that is not after this time."""
        start, length = self._timing.start, self._timing.length
        return start + (time - start) // length * length

    def _number(self, boundary: int) -> int:
        """Of the window that begins here."""
        return (boundary - self._timing.start) // self._timing.length

    def _read(self, mark: bytes) -> tuple[int, int, int]:
        """Closed, latest and written."""
        if len(mark) == _MARK.size and mark[0] == _MARK_VERSION:
            _, closed, latest, written = _MARK.unpack(mark)
            start, edges = self._timing.start, [self._boundary(closed), self._boundary(written)]
            if edges == [closed, written] and start <= written <= closed and start <= latest:
                return closed, latest, written
        raise mark_refused(self._where)


def mark_refused(where: str) -> StateRefused:
    """How far windows are closed must be known: a window that is closed twice is told twice."""
    return StateRefused(
        "The mark that says how far windows are closed cannot be read.",
        where=where,
        why="it is of another version, or not of these windows",
        fix="restore the belief changelog from a copy, or give the pipeline a new name, so that it starts anew",
    )


def letters_of(
    records: InputBlock, rejected: Iterable[tuple[int, Rejected]], topic: str, partition: int
) -> list[Outgoing]:
    """A dead letter for each of these positions of a block."""
    return [
        Outgoing(
            None,
            dead_letter(reason, topic, partition, int(records.offsets[position])),
            max(0, int(records.timestamps[position])),
        )
        for position, reason in rejected
    ]


def changelog_of(held: Mapping[bytes, bytes], timestamp: int) -> RecordBlock:
    """What is held now; where that is nothing, the key is over."""
    records = list(held.values())
    gone = np.fromiter((not record for record in records), np.int8, len(records))
    return RecordBlock(
        keys=Texts.of([names.CHANGELOG_HELD_PREFIX + key for key in held]),
        values=Texts.of(records),
        timestamps=np.full(len(records), timestamp, dtype=np.int64),
        gone=gone if gone.any() else None,
    )
