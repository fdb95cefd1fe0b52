"""What must come of a partition's events, record by record from the rules as they are written down, without any code of
the stages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aggregate_lives import CENTRE, START, Sent

from stream.aggregates.query import Query
from stream.protocol.control import AGGREGATE_KEY, PROGRESS_KEY


@dataclass
class Recount:
    """What becomes of one partition's records, told record by record from the rules as they are written down. `promise`
    has the times of its windows, and where they are added up its queries.
    """

    promise: Any
    closed: int = START
    latest: int = START
    outcomes: list[str] = field(default_factory=list)
    counted: dict[tuple[int, bytes], list[Sent]] = field(default_factory=lambda: defaultdict(list))

    def see(self, sent: Sent) -> None:
        promise = self.promise
        if sent.time < promise.start:
            self.outcomes.append("before_start")
        elif sent.time > sent.record + promise.ahead:
            self.outcomes.append("time_ahead")
        elif window_end(promise, sent.time) <= self.closed:
            self.outcomes.append("late")
        else:
            self.outcomes.append("counted")
            self.counted[(sent.time - promise.start) // promise.length, sent.user].append(sent)
            self.latest = max(self.latest, min(sent.time, sent.record))
            while self.closed + promise.length <= self.latest - promise.lateness:
                self.closed += promise.length

    def close_by_clock(self, clock: int) -> None:
        while self.closed + self.promise.length <= clock - self.promise.lateness - self.promise.grace:
            self.closed += self.promise.length

    def sums(self) -> dict[int, list[int]]:
        """Of every window that is closed."""
        promise = self.promise
        windows = range((self.closed - promise.start) // promise.length)
        found = {number: [0] * promise.cells for number in windows}
        for (number, _), events in self.counted.items():
            if number in found:
                row = [cell for query in promise.queries for cell in contribution(query, events)]
                found[number] = [a + b for a, b in zip(found[number], row, strict=True)]
        return found


def closings_by_clock(changelog: Iterable[tuple[bytes, bytes | None]]) -> list[tuple[int, int]]:
    """From a partition's committed changelog: before which offset of the raw topic, and up to when, windows were closed
    by the clock. Only such a closing moves the mark of windows and leaves that of progress where it was.
    """
    found: list[tuple[int, int]] = []
    progress = before = closed = 0
    for key, value in changelog:
        if key == PROGRESS_KEY:
            before, progress = progress, int.from_bytes(value or b"", "big")
        elif key == AGGREGATE_KEY:
            until = int.from_bytes((value or b"")[1:9], "big")
            if until > closed and before == progress:
                found.append((progress, until))
            closed = until
    return found


def window_end(promise: Any, time: int) -> int:
    return promise.start + ((time - promise.start) // promise.length + 1) * promise.length


def contribution(query: Query, events: Sequence[Sent]) -> list[int]:
    """What these events of one user in one window, in the order of the topic, add to the query's cells."""
    if query.kind == "count":
        return [1]
    if query.kind in ("histogram", "top"):
        job = "abc".index(chosen(query.take, events).job)
        return [int(cell == job) for cell in range(3)]
    if query.take == "sum":
        once: dict[int, int] = {}
        for event in events:
            once.setdefault(event.time, clipped(query, steps(event.value)))
        amount = clipped(query, sum(list(once.values())[: query.at_most]))
    elif query.take in ("largest", "smallest"):
        amounts = [clipped(query, steps(event.value)) for event in events]
        amount = max(amounts) if query.take == "largest" else min(amounts)
    else:
        amount = clipped(query, steps(chosen(query.take, events).value))
    return [amount - CENTRE, 1] if query.kind == "mean" else [amount]


def chosen(take: str, events: Sequence[Sent]) -> Sent:
    """The first of those with the earliest, or with the latest, time."""
    time = (min if take == "first" else max)(event.time for event in events)
    return next(event for event in events if event.time == time)


def steps(value: float) -> int:
    return round(value / 0.5)


def clipped(query: Query, amount: int) -> int:
    return max(query.least, min(query.most, amount))
