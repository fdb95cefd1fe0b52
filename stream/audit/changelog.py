"""One partition of the belief changelog, read to its end: the users' rows, the control record and the progress mark."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from stream.audit.findings import Findings
from stream.audit.held import Held, read_held
from stream.audit.public import Public
from stream.audit.rows import StoredRows, by_tag, read_rows
from stream.audit.world import Topics

_USER: Final = b"u"
_CONTROL: Final = b"c"
_PROGRESS: Final = b"o"
_HELD: Final = b"h"
_PROGRESS_BYTES: Final = 8


@dataclass(frozen=True)
class Owner:
    """What the control record must say, as far as the public settings tell."""

    pipeline: str
    policy: str
    model: str


@dataclass(frozen=True)
class PartitionLog:
    """`stored` are the rows of each model that serves; usually it is one. `marks` are all records beside the rows."""

    partition: int
    where: str
    stored: tuple[StoredRows, ...]
    control: dict[str, Any] | None
    progress: int | None
    held: Mapping[bytes, Held] = field(default_factory=dict)
    marks: Mapping[bytes, bytes] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        """How many values wait in windows; their inputs are below the progress mark."""
        return sum([record.waiting for record in self.held.values()])

    @property
    def topic_id(self) -> bytes | None:
        """The raw topic's id, part of every release id."""
        try:
            return UUID(str((self.control or {}).get("topic_id"))).bytes
        except ValueError:
            return None

    @property
    def is_empty(self) -> bool:
        return not any(rows.users or rows.quarantined for rows in self.stored) and self.control is None


async def read_log(
    publics: Sequence[Public], topics: Topics, partition: int, progress: Callable[[str, int], None]
) -> PartitionLog:
    """The end is that of everything written, so that what has been committed but not yet marked is waited for."""
    topic = publics[0].changelog_topic
    end = (await topics.bounds(topic, partition)).end
    rows: dict[bytes, tuple[bytes, int]] = {}
    marks: dict[bytes, bytes] = {}
    held: dict[bytes, Held] = {}
    async for records in topics.read(topic, partition, end, committed=True):
        for record in records:
            key, value = record.key or b"", record.value
            if key[:1] == _USER:
                if value is None:
                    rows.pop(key[1:], None)
                else:
                    rows[key[1:]] = (value, record.offset)
            elif key[:1] == _HELD:
                if value:
                    held[key[1:]] = read_held(value, record.offset)
                else:
                    held.pop(key[1:], None)
            elif value is not None:
                marks[key] = value
        progress("state rows", len(records))
    where = f"{topic}, partition {partition}"
    stored = tuple(
        read_rows(
            its,
            each.states,
            each.tag,
            by_clock=each.rules.interval > 0,
            listed=each.listed,
            sliding=each.rules.sliding,
            words=each.words,
        )
        for each, its in zip(publics, by_tag(rows, [each.tag for each in publics]), strict=True)
    )
    control, mark = _control(marks.get(_CONTROL)), _progress(marks.get(_PROGRESS))
    return PartitionLog(partition, where, stored, control, mark, held, marks)


def _control(text: bytes | None) -> dict[str, Any] | None:
    try:
        found = json.loads(text or b"")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _progress(mark: bytes | None) -> int | None:
    return int.from_bytes(mark, "big", signed=True) if mark is not None and len(mark) == _PROGRESS_BYTES else None


def check_owner(owner: Owner, log: PartitionLog, findings: Findings) -> None:
    if log.is_empty:
        return
    if log.control is None:
        findings.add("wrong_owner", 1, [log.where], detail="no control record")
        return
    for name, ours in vars(owner).items():
        if log.control.get(name) != ours:
            findings.add("wrong_owner", 1, [log.where], detail=name)
