"""Crowds of single events: every event that counts comes out once, in a box of at least k people that holds it.

Released records bear no ids. What can be held against the raw topic is how many came out, and whether they can have
been in these boxes: what the second stage has taken in is what has come out and what still waits; and that is all that
came from the raw topic, but for events that repeat the user and the time of one that waited. With the key ring it is
seen as well that what was passed on is each raw event once, as it stands in the raw topic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from stream.audit.crowd_attributes import Box, loss_of
from stream.audit.crowd_boxes import Boxed, cells_of, dealt_out, read_box, read_counts
from stream.audit.crowd_numbers import alike, is_up, up
from stream.audit.crowd_records import Reader, Said
from stream.audit.crowd_rules import Crowds
from stream.audit.crowd_seen import Seen
from stream.audit.findings import Findings
from stream.audit.records import Record
from stream.audit.said import each_said

MOST_DEALT: Final = 10_000_000
"""Events times boxes: with more only each box by itself is held against the events that lie in it."""


class Passed(NamedTuple):
    """An event that counts, from the raw topic."""

    user: bytes
    time: int
    cells: tuple[int, ...]
    secret: int


class FlowFollow:
    """One partition of the released topic, from its first record on."""

    def __init__(self, crowds: Crowds, reader: Reader, findings: Findings, where: str, seen: Seen) -> None:
        self._crowds, self._reader, self._findings, self._where = crowds, reader, findings, where
        self._next, self._clock, self.seen = 0, -1, seen
        self._let_out: set[tuple[Box, int]] = set()
        self.boxes: list[tuple[int, Boxed, int]] = []
        """The crowd's number, its box with the events, and how many users they are of at least."""
        self.events: list[int] = []
        """Of each record, released or withheld."""

    def take(self, records: Sequence[Record]) -> None:
        self.seen.records += len(records)
        said_in = each_said(records, self._reader.read, self._findings, self._where, "crowd_unreadable")
        for record, said, place in said_in:
            if record.timestamp < self._clock:
                self._found("crowd_span", place, "its time is before that of the record before")
            self._clock = max(self._clock, record.timestamp)
            self._follow(said, place)

    def _found(self, code: str, place: str, detail: str = "") -> None:
        self._findings.add(code, places=[place], detail=detail)

    def _follow(self, said: Said, place: str) -> None:
        if said.number < self._next:
            self._found("crowd_twice", place)
            return
        if said.number > self._next:
            self._findings.add("crowd_missing", said.number - self._next, [place])
            self.events += [0] * (said.number - self._next)
        self._next = said.number + 1
        held, told = said.parts.get("events"), said.parts
        if type(held) is not int or held < 1 or told.get("grouper") != self._crowds.asked.grouper:
            self._found("crowd_strange", place)
        self.events.append(held if type(held) is int else 0)
        if alike(said.guarantee) != alike({"epsilon": None, "delta": 1, "method": "none", "k": self._crowds.k}):
            self._found("crowd_guarantee", place)
        if not said.released:
            self.seen.withheld[str(said.reason)] += 1
            self.seen.suppressed += self.events[-1]
            if (
                any(told.get(name) is not None for name in ("users", "box", "loss", "sensitive"))
                or told.get("reused") is not False
            ):
                self._found("crowd_strange", place)
            return
        self.seen.released += 1
        self.seen.crowds += not told.get("reused")
        self._crowd(said, self.events[-1], place)

    def _crowd(self, said: Said, held: int, place: str) -> None:
        asked, told, k = self._crowds.asked, said.parts, self._crowds.k
        box, users, reused = read_box(asked, told.get("box")), told.get("users"), told.get("reused")
        if box is None or type(users) is not int or not isinstance(reused, bool):
            self._found("crowd_box", place, "attributes")
            return
        if users < k or (not reused and held < k):
            self._found("crowd_small", place)
        if not is_up(told.get("loss"), loss_of(asked.attributes, box)):
            self._found("crowd_box", place, "loss")
        elif told["loss"] > up(asked.loss_most):
            self._found("crowd_box", place, "more loss than is allowed")
        if reused and (box, users) not in self._let_out:
            self._found("flow_reused", place)
        self._let_out.add((box, users))
        values = read_counts(None if reused else asked.mixed, told.get("sensitive"), held)
        if isinstance(values, bool):
            self._found("crowd_mixed", place, "counts")
            return
        if asked.mixed is not None and not reused and len(values or {}) < asked.mixed.diverse:
            self._found("crowd_mixed", place)
        self.boxes.append((said.number, Boxed(box, held, values), 1 if reused else min(users, held)))


class Kept(NamedTuple):
    """What the second stage's mark says: how many events were taken, records released, events wait, and up to which
    raw record of each partition it has come.
    """

    taken: int
    released: int
    waiting: int
    seen: Sequence[int]


def compare(follow: FlowFollow, kept: Kept, events: Sequence[Passed], findings: Findings, where: str) -> str | None:
    """What has come out, and waits, against what came in by then; answers what could not be looked at."""
    if kept.released > len(follow.events):
        findings.add("crowd_missing", kept.released - len(follow.events), [where], "that the changelog knows")
        return None
    out = sum(follow.events[: kept.released])
    if out + kept.waiting != kept.taken:
        code = "flow_twice" if out + kept.waiting > kept.taken else "flow_lost"
        findings.add(code, abs(out + kept.waiting - kept.taken), [where], "out and waiting, against what was taken")
    repeats = len(events) - len({(event.user, event.time) for event in events})
    if kept.taken > len(events):
        findings.add("flow_twice", kept.taken - len(events), [where], "taken, against the raw topic")
    elif kept.taken < len(events) - repeats:
        findings.add("flow_lost", len(events) - repeats - kept.taken, [where], "taken, against the raw topic")
    boxes = [(boxed, users) for number, boxed, users in follow.boxes if number < kept.released]
    _each_box(boxes, events, findings, where)
    if len(events) * len(boxes) > MOST_DEALT:
        return "boxes and events were held against each other box by box: they are too many to be dealt out"
    if not dealt_out(Counter((event.cells, event.secret) for event in events), [boxed for boxed, _ in boxes]):
        findings.add("crowd_members", places=[where], detail="boxes and events")
    return None


def _each_box(boxes: Sequence[tuple[Boxed, int]], events: Sequence[Passed], findings: Findings, where: str) -> None:
    """A box holds at most the events that lie in it, of at least as many users as it says."""
    numbers: dict[bytes, int] = {}
    users = np.array([numbers.setdefault(event.user, len(numbers)) for event in events], dtype=np.int64)
    cells = cells_of([event.cells for event in events], len(boxes[0][0].box) if boxes else 1)
    known: dict[Box, tuple[int, int]] = {}
    for boxed, wanted in boxes:
        if boxed.box not in known:
            inside = np.ones(len(events), dtype=np.bool_)
            for column, (first, last) in enumerate(boxed.box):
                inside &= (cells[:, column] >= first) & (cells[:, column] <= last)
            known[boxed.box] = int(inside.sum()), int(np.unique(users[inside]).shape[0])
        held, people = known[boxed.box]
        if boxed.held > held:
            findings.add("flow_twice", boxed.held - held, [where], "in one box")
        if wanted > people:
            findings.add("crowd_members", wanted - people, [where], "users in one box")
