"""The audit of a pipeline in which several models serve, each the users of one segment of a public field.

A user's segment is what the field of his first released record says, and every later record of his must say the same.
The records of each segment are audited with that segment's model as if they were a pipeline of their own: users of
different segments have nothing in common. So each model's audit finds what is wrong under that model, and what is
found here is only what lies between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from stream.audit.changelog import PartitionLog
from stream.audit.findings import PLACES_SHOWN, Findings
from stream.audit.held import Held
from stream.audit.partition import PartitionAudit
from stream.audit.public import Public
from stream.audit.records import Record
from stream.audit.repeats import IdIndex
from stream.audit.sample import Sample
from stream.audit.tally import Tally
from stream.records.paths import Path

NONE: Final = -1


@dataclass(frozen=True)
class Segments:
    """Which model serves whom: the field, the number of the model for each listed name, that for all other names (NONE:
    no model), and what is public about the pipeline of each model.
    """

    by: Path
    numbers: Mapping[str, int]
    otherwise: int
    publics: tuple[Public, ...]

    def number_in(self, text: bytes | None) -> int:
        """The segment that a released document says."""
        try:
            value: Any = orjson.loads(text or b"")
        except orjson.JSONDecodeError:
            return NONE
        for step in self.by.steps:
            if not _has(value, step):
                return NONE
            value = value[step]
        name = value if isinstance(value, str) else _written(value)
        return NONE if name is None else self.numbers.get(name, self.otherwise)


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(value, list) and step < len(value)


def _written(value: Any) -> str | None:
    """A number or a truth value as it stands in the released text, which is how this library writes it, too."""
    return orjson.dumps(value).decode() if isinstance(value, bool | int | float) else None


class SegmentedAudit:
    """Takes released records in the order of the partition; `close` makes the comparison."""

    def __init__(
        self,
        segments: Segments,
        partition: int,
        log: PartitionLog | None,
        settled: int,
        findings: Findings,
        ids: IdIndex,
        sample: Sample | None,
    ) -> None:
        self._segments, self._partition, self._findings, self._log = segments, partition, findings, log
        self._audits = [
            PartitionAudit(public, partition, None if log is None else log.stored[number], settled, findings, ids)
            for number, public in enumerate(segments.publics)
        ]
        self._state_of = _owners(log)
        # What is held about a user without any row belongs to no segment; the first one's audit reports it.
        held_by: list[dict[bytes, Held]] = [{} for _ in self._audits]
        for user, record in ({} if log is None else log.held).items():
            held_by[self._state_of.get(user, 0)][user] = record
        for number, audit in enumerate(self._audits):
            audit.sample, audit.segment, audit.held = sample, number, held_by[number]
        self._owners: dict[bytes, int] = {}
        self.tally = Tally()

    def take(self, records: Sequence[Record]) -> None:
        parts: list[list[Record]] = [[] for _ in self._audits]
        wrong = []
        for record in records:
            said = self._segments.number_in(record.value)
            owner = self._owners.setdefault(record.key, self._first(record.key, said)) if record.key else max(said, 0)
            if said != owner:
                wrong.append(record.offset)
            parts[owner].append(record)
        released = self._segments.publics[0].released_topic
        places = [f"{released}, partition {self._partition}, offset {offset}" for offset in wrong[:PLACES_SHOWN]]
        self._findings.add("wrong_segment", len(wrong), places)
        for audit, part in zip(self._audits, parts, strict=True):
            if part:
                audit.take(part)

    def _first(self, user: bytes, said: int) -> int:
        """The segment of a user whose first record says this."""
        return said if said != NONE else self._state_of.get(user, 0)

    def close(self, topic_id: bytes | None) -> None:
        for audit in self._audits:
            audit.close(topic_id)
            self.tally.plus(audit.tally)
        if self._log is None:
            return
        topic = self._segments.publics[0].changelog_topic
        wrong = [
            int(stored.offsets[stored.users[user]])
            for number, stored in enumerate(self._log.stored)
            for user in stored.users
            if self._owners.get(user, number) != number
        ]
        places = [f"{topic}, partition {self._partition}, offset {offset}" for offset in sorted(wrong)[:PLACES_SHOWN]]
        self._findings.add("state_segment", len(wrong), places)

    @property
    def users(self) -> Iterable[bytes]:
        return {user for audit in self._audits for user in audit.users}


def _owners(log: PartitionLog | None) -> dict[bytes, int]:
    """The segment under whose model each user's row stands in the changelog."""
    parts = () if log is None else log.stored
    return {user: number for number, stored in enumerate(parts) for user in (*stored.users, *stored.quarantined)}
