"""The audit of crowds of single events: what came in, what was passed on, what has come out, and what waits."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from stream import names
from stream.audit.aggregate_opened import derived
from stream.audit.crowd_events import Event
from stream.audit.crowd_flows import FlowFollow, Kept, Passed, compare
from stream.audit.crowd_records import Reader
from stream.audit.crowd_report import CrowdReport
from stream.audit.crowd_sent import tag_of, tags_of
from stream.audit.crowd_task import CrowdTask
from stream.audit.findings import Findings
from stream.audit.records import Record
from stream.audit.stage_marks import marks_of
from stream.audit.world import Topics

_MARK = struct.Struct(">BIqIqqqII")
_HEAD = struct.Struct("<BBIIq")
_SEAL = 16

Progress = Callable[[str, int], None]


@dataclass
class RawEvents:
    """All events that count, by the partition and the offset of their record."""

    found: dict[tuple[int, int], Passed] = field(default_factory=dict)

    def taker(self, partition: int) -> Callable[[int, Event], None]:
        def put(offset: int, event: Event) -> None:
            self.found[partition, offset] = Passed(event.user, event.time, event.values, event.secret)

        return put

    def up_to(self, seen: Mapping[int, int]) -> list[Passed]:
        return [event for (partition, offset), event in self.found.items() if offset <= seen.get(partition, -1)]


class Tuples:
    """With the key ring: what was passed on, each raw event once and as it stands there.

    A record of the internal topic is version 1, a byte 0, then partition, key epoch (4 bytes each) and offset of the
    raw record (8), little-endian; then under ChaCha20-Poly1305, bound to that head, the user's tag (16), the time (8),
    the cell of each attribute and the place of the sensitive value (4 each). The nonce is the offset, big-endian, and
    zeros.
    """

    def __init__(self, task: CrowdTask, ring_keys: Mapping[int, bytes], topic_id: bytes, partitions: int) -> None:
        crowds, name = task.crowds, f"{task.crowds.pipeline} {topic_id.hex()}"
        self._tags = tags_of(ring_keys, crowds.pipeline)
        self._ciphers = {
            (epoch, partition): ChaCha20Poly1305(derived(secret, names.PURPOSE_FORWARDED, f"{name} {partition}"))
            for epoch, secret in ring_keys.items()
            for partition in range(partitions)
        }
        self._body = struct.Struct(f"<16sq{len(crowds.asked.attributes)}II")
        self._done: set[tuple[int, int]] = set()

    def take(self, records: Iterable[Record], events: RawEvents, findings: Findings, where: str) -> None:
        for record in records:
            wrong = self._take(record.value or b"", events)
            if wrong is not None:
                findings.add(wrong, places=[f"{where}, offset {record.offset}"])

    def _take(self, value: bytes, events: RawEvents) -> str | None:
        if len(value) != _HEAD.size + self._body.size + _SEAL:
            return "crowd_sent_unreadable"
        version, flags, partition, epoch, offset = _HEAD.unpack_from(value)
        cipher = self._ciphers.get((epoch, partition))
        if (version, flags) != (1, 0) or cipher is None:
            return "crowd_sent_unreadable"
        try:
            plain = cipher.decrypt(struct.pack(">qI", offset, 0), value[_HEAD.size :], value[: _HEAD.size])
        except InvalidTag:
            return "crowd_sent_unreadable"
        if (partition, offset) in self._done:
            return "flow_twice"
        self._done.add((partition, offset))
        event = events.found.get((partition, offset))
        if event is None:
            return None  # of a record that came after the raw topic was read
        wanted = (tag_of(self._tags, event.user), event.time, *event.cells, event.secret)
        return None if self._body.unpack(plain) == wanted else "crowd_sent"

    def missing(self, events: RawEvents) -> int:
        return len(events.found.keys() - self._done)


async def audit_flow_releases(
    task: CrowdTask,
    topics: Topics,
    topic_id: bytes | None,
    kept: Sequence[Kept | None],
    ends: Sequence[int],
    events: RawEvents,
    report: CrowdReport,
    progress: Progress,
) -> None:
    for partition, end in enumerate(ends):
        where = f"{task.released_topic}, partition {partition}"
        follow = FlowFollow(task.crowds, Reader(task.crowds, partition, topic_id), report.findings, where, report.seen)
        async for records in topics.read(task.released_topic, partition, end, committed=True):
            follow.take(records)
            progress("released crowds", len(records))
        mark = kept[partition] if kept else None
        if mark is None:
            continue
        sources = range(len(mark.seen)) if task.crowds.over_all else [partition]
        came = events.up_to(dict(zip(sources, mark.seen, strict=True)))
        note = compare(follow, mark, came, report.findings, where)
        if note is not None and note not in report.notes:
            report.notes.append(note)


async def audit_tuples(
    task: CrowdTask,
    topics: Topics,
    topic_id: bytes,
    partitions: int,
    events: RawEvents,
    report: CrowdReport,
    progress: Progress,
) -> None:
    tuples = Tuples(task, task.ring_keys or {}, topic_id, partitions)
    for partition in await topics.partitions(task.sent_topic):
        end = (await topics.bounds(task.sent_topic, partition)).end
        async for records in topics.read(task.sent_topic, partition, end, committed=True):
            tuples.take(records, events, report.findings, f"{task.sent_topic}, partition {partition}")
            progress("events that were passed on", len(records))
    report.findings.add("flow_lost", tuples.missing(events), [task.sent_topic], "not passed on")


async def kept_of(task: CrowdTask, topics: Topics, partition: int, findings: Findings) -> Kept | None:
    """None where nothing was taken yet, or nobody can say."""
    mark = (await marks_of(topics, task.total_changelog, partition)).get(names.CHANGELOG_AGGREGATE_KEY)
    if mark is None:
        return None
    try:
        version, _, _, _, _, taken, released, waiting, count = _MARK.unpack_from(mark)
        seen = struct.unpack_from(f">{count}q", mark, _MARK.size)
        if version == 1:
            return Kept(taken, released, waiting, seen)
    except struct.error:
        pass
    findings.add("flow_state", places=[f"{task.total_changelog}, partition {partition}"], detail="unreadable")
    return None
