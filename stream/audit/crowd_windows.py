"""Follows the released windows of one partition, one after the other: none missing, none twice, each of the people who
were there, with the value that is theirs, and with the guarantee that it must have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stream import names
from stream.audit.crowd_divided import Boxes
from stream.audit.crowd_judge import Judge, scale_of
from stream.audit.crowd_numbers import counted, same
from stream.audit.crowd_present import People, Windows, everybody
from stream.audit.crowd_records import Reader, Said
from stream.audit.crowd_rules import Crowds
from stream.audit.crowd_seen import Seen
from stream.audit.crowd_sent import Sent
from stream.audit.crowd_values import Values
from stream.audit.findings import Findings
from stream.audit.records import Record
from stream.audit.said import each_said


class WindowFollow:
    """One partition of the released topic; `group` is 0 where windows are over all partitions. `closed_to` is up to
    when all partitions have closed their windows, where that is known.
    """

    def __init__(
        self,
        crowds: Crowds,
        windows: Windows,
        reader: Reader,
        findings: Findings,
        where: str,
        group: int,
        seen: Seen,
        closed_to: int | None = None,
        sent: Sent | None = None,
    ) -> None:
        self._crowds, self._windows, self._reader, self._findings = crowds, windows, reader, findings
        self._where, self._group, self._sent, self._closed_to = where, group, sent, closed_to
        self._judge, self._next, self._boxes = Judge(crowds), 0, list[Said]()
        self.seen = seen

    @property
    def next_number(self) -> int:
        return self._next

    def take(self, records: Sequence[Record]) -> None:
        self.seen.records += len(records)
        said_in = each_said(records, self._reader.read, self._findings, self._where, "crowd_unreadable")
        for _, said, place in said_in:
            if said.place is not None:
                self._box(said, place)
            else:
                self._window(said, place)

    def finish(self) -> None:
        """Crowds of a window that has no record."""
        if self._boxes:
            self._found("crowd_missing", f"{self._where}, window {self._boxes[0].number}", detail="behind its crowds")

    def _found(self, code: str, place: str, detail: str = "") -> None:
        self._findings.add(code, places=[place], detail=detail)

    def _box(self, said: Said, place: str) -> None:
        if said.number != self._next or said.place != len(self._boxes):
            is_again = said.number < self._next or (said.place or 0) < len(self._boxes)
            self._found("crowd_twice" if is_again else "crowd_missing", place)
        if said.number >= self._next:
            self._boxes.append(said)

    def _window(self, said: Said, place: str) -> None:
        if said.number < self._next:
            self._found("crowd_twice", place)
            return
        if said.number > self._next:
            self._findings.add("crowd_missing", said.number - self._next, [place])
            for number in range(self._next, said.number):
                self._windows.parts(self._group, number)
        self._next = said.number + 1
        parts = self._windows.parts(self._group, said.number)
        people = everybody(self._crowds.asked.take, parts)
        boxes, self._boxes = [each for each in self._boxes if each.number == said.number], []
        self._closed(said, place, parts)
        if said.released:
            self.seen.released += 1
            self._released(said, people, boxes, place)
        else:
            self.seen.withheld[str(said.reason)] += 1
            self._withheld(said, people, boxes, place)

    def _closed(self, said: Said, place: str, parts: Mapping[int, People]) -> None:
        """Whether all partitions had closed the window, and had sent who was there."""
        timing = self._crowds.timing
        if timing is None:
            return
        is_closed = self._closed_to is None or self._closed_to >= timing.start + (said.number + 1) * timing.length
        if self._sent is not None:
            is_closed &= self._sent.is_closed(self._group, said.number)
            if said.reason != names.WITHHELD_PARTIAL and self._sent.is_missing(self._group, said.number):
                self._found("crowd_early", place, "somebody's people are missing")
            for partition in self._sent.differs(self._group, said.number, parts):
                self._found("crowd_sent", place, f"partition {partition}")
        if not is_closed:
            self._found("crowd_early", place)

    def _withheld(self, said: Said, people: People, boxes: list[Said], place: str) -> None:
        if boxes or said.parts.get("crowds") is not None or not same(said.parts.get("suppressed"), 0):
            self._found("crowd_strange", place)
        judged = self._judge.judge(people)
        untold = said.reason in (names.WITHHELD_PARTIAL, names.WITHHELD_MANY) and said.parts.get("users") is None
        if not untold and not same(said.parts.get("users"), len(people)):
            self._found("crowd_users", place)
        if said.reason == names.WITHHELD_PARTIAL:
            needless = self._sent is not None and not self._sent.is_missing(self._group, said.number)
            judged = judged._replace(reason=None if needless else said.reason)
        for code, detail in self._judge.withheld(judged, said):
            self._found(code, place, detail)

    def _released(self, said: Said, people: People, boxes: list[Said], place: str) -> None:
        if not same(said.parts.get("users"), len(people)):
            self._found("crowd_users", place)
        for code, detail in self._judge.released(self._judge.judge(people), said, people):
            self._found(code, place, detail)
        self.seen.largest_delta = max(self.seen.largest_delta, self._judge.largest_delta)
        if self._crowds.asked.kind == "records":
            Boxes(self._crowds, self._findings, place).check(said, boxes, people)
            self.seen.crowds += len(boxes)
            self.seen.suppressed += counted(said.parts.get("suppressed"))
            return
        if boxes or said.parts.get("crowds") is not None or not same(said.parts.get("suppressed"), 0):
            self._found("crowd_strange", place)
        sent, number, group = self._sent, said.number, self._group
        draws = None if sent is None else lambda: sent.draws(group, number)
        scale = scale_of(self._crowds, said)
        wrong = Values(self._crowds.asked, scale, draws).wrong(said.parts.get("release"), people)
        if wrong is not None:
            self._found(wrong, place)
