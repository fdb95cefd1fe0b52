"""The whole audit of a pipeline of crowds: read, recount, recompute, compare, and say what was found.

Everything that decides is in the raw topic and the dead letters: who was there, and with which values. So each record
is worked out anew, but for noise, whose coins are keyed, and for how a grouper divides people, of which it is looked at
that what came out are crowds of theirs.

What the second stage keeps is read before the released topic's end, and that before how far the first stage has come:
whoever is in a released window was there by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from stream.audit.crowd_events import Event, EventReader
from stream.audit.crowd_flow_audit import RawEvents, audit_flow_releases, audit_tuples, kept_of
from stream.audit.crowd_marks import Come, come_to, released_to
from stream.audit.crowd_present import Letters, Partition, Windows, letters_of
from stream.audit.crowd_records import Reader
from stream.audit.crowd_report import CrowdReport
from stream.audit.crowd_sent import Sent
from stream.audit.crowd_task import CrowdTask
from stream.audit.crowd_windows import WindowFollow
from stream.audit.said import Misread
from stream.audit.stage_marks import topic_id_of
from stream.audit.world import Bounds, Topics
from stream.errors import CannotAudit

Progress = Callable[[str, int], None]


async def audit_crowds(task: CrowdTask, topics: Topics, progress: Progress) -> CrowdReport:
    began = time.monotonic()
    crowds = task.crowds
    report = CrowdReport(
        crowds.pipeline,
        with_keys=task.ring_keys is not None,
        divided=crowds.asked.kind == "records",
        bounded=crowds.goal is not None,
    )
    raw = await _partitions(task, topics)
    released = [0] if crowds.over_all else raw
    await _require_released(task, topics, released)
    if crowds.timing is None:
        await _audit_flows(task, topics, raw, released, report, progress)
    else:
        await _audit_windows(task, topics, raw, released, report, progress)
    if task.with_uncommitted:
        await _uncommitted(task, topics, released, report, progress)
    report.seconds = time.monotonic() - began
    return report


async def _audit_windows(
    task: CrowdTask,
    topics: Topics,
    raw: Sequence[int],
    released: Sequence[int],
    report: CrowdReport,
    progress: Progress,
) -> None:
    crowds, topic_id = task.crowds, await _topic_id(task, topics)
    kept = [await released_to(task, topics, each) for each in released] if task.with_changelog else []
    ends = [(await topics.bounds(task.released_topic, each)).end for each in released]
    come, windows = await come_to(task, topics, raw), Windows(crowds)
    await _read_raw(task, topics, come, windows.taker, report, progress)
    sent = None if task.ring_keys is None else Sent(crowds, task.ring_keys, topic_id or b"", len(raw), report.findings)
    if sent is not None:
        await _read_sent(task, topics, sent, progress)
    for place, partition in enumerate(released):
        closed = [each.closed_to for each in (come if crowds.over_all else [come[place]])]
        follow = WindowFollow(
            crowds,
            windows,
            Reader(crowds, partition, topic_id),
            report.findings,
            f"{task.released_topic}, partition {partition}",
            partition,
            report.seen,
            min((each for each in closed if each is not None), default=None),
            sent,
        )
        async for records in topics.read(task.released_topic, partition, ends[place], committed=True):
            follow.take(records)
            progress("released windows", len(records))
        follow.finish()
        _compare_kept(task, kept[place] if kept else None, follow, report)


async def _audit_flows(
    task: CrowdTask,
    topics: Topics,
    raw: Sequence[int],
    released: Sequence[int],
    report: CrowdReport,
    progress: Progress,
) -> None:
    topic_id = await _topic_id(task, topics)
    kept = [await kept_of(task, topics, each, report.findings) for each in released] if task.with_changelog else []
    ends = [(await topics.bounds(task.released_topic, each)).end for each in released]
    come, events = await come_to(task, topics, raw), RawEvents()
    await _read_raw(task, topics, come, events.taker, report, progress)
    if task.ring_keys is not None:
        await audit_tuples(task, topics, topic_id or b"", len(raw), events, report, progress)
    await audit_flow_releases(task, topics, topic_id, kept, ends, events, report, progress)
    if not kept:
        report.notes.append(
            "without the changelogs nobody can say which events wait: that none is lost was not looked at"
        )


async def _topic_id(task: CrowdTask, topics: Topics) -> bytes | None:
    if not task.with_changelog and task.ring_keys is None:
        return None
    return await topic_id_of(topics, task.changelog_topic)


async def _read_raw(
    task: CrowdTask,
    topics: Topics,
    come: Sequence[Come],
    taker: Callable[[int], Callable[[int, Event], None]],
    report: CrowdReport,
    progress: Progress,
) -> None:
    """Every raw record that was carried out; the dead letters of all of them are there by now."""
    letters, reader = await _read_letters(task, topics, report, progress), EventReader(task.record, task.crowds)
    for partition, its in enumerate(come):
        if its.progress <= 0:
            continue
        where = f"{task.raw_topic}, partition {partition}"
        _require_beginning(await topics.bounds(task.raw_topic, partition), task.raw_topic, partition)
        take, told = taker(partition), report.told
        follow = Partition(task.crowds, reader, letters, report.findings, where, partition, take, told, its.closed_to)
        async for records in topics.read(task.raw_topic, partition, its.progress, committed=True):
            follow.read(records)
            progress("raw records", len(records))


async def _read_sent(task: CrowdTask, topics: Topics, sent: Sent, progress: Progress) -> None:
    for partition in await topics.partitions(task.sent_topic):
        end = (await topics.bounds(task.sent_topic, partition)).end
        async for records in topics.read(task.sent_topic, partition, end, committed=True):
            sent.take(records, f"{task.sent_topic}, partition {partition}")
            progress("what partitions have sent", len(records))


def _compare_kept(task: CrowdTask, kept: int | None, follow: WindowFollow, report: CrowdReport) -> None:
    """The windows that the mark knows were released before it was read, so they are all here."""
    timing = task.crowds.timing
    if kept is not None and timing is not None:
        lacking = timing.number(kept) - follow.next_number
        report.findings.add("crowd_missing", max(0, lacking), [task.total_changelog], "that the changelog knows")


async def _read_letters(task: CrowdTask, topics: Topics, report: CrowdReport, progress: Progress) -> Letters:
    found: dict[tuple[int, int], str] = {}
    topic = task.dead_letter_topic
    for partition in await topics.partitions(topic):
        bounds = await topics.bounds(topic, partition)
        _require_beginning(bounds, topic, partition)
        async for records in topics.read(topic, partition, bounds.end, committed=True):
            again = letters_of(records, task.raw_topic, found)
            report.findings.add("crowd_letter_twice", again, [f"{topic}, partition {partition}"])
            progress("dead letters", len(records))
    return found


async def _partitions(task: CrowdTask, topics: Topics) -> list[int]:
    partitions = list(await topics.partitions(task.raw_topic))
    if not partitions:
        raise CannotAudit(
            "Nobody can say who was there.",
            where=f"topic {task.raw_topic}",
            why="the brokers know no topic of this name",
            fix="correct kafka.raw_topic and kafka.brokers in the settings",
        )
    return partitions


async def _require_released(task: CrowdTask, topics: Topics, wanted: Sequence[int]) -> None:
    found = list(await topics.partitions(task.released_topic))
    if found != list(wanted):
        raise CannotAudit(
            "The released topic cannot be that of these crowds.",
            where=f"topic {task.released_topic}",
            why=f"it has {len(found)} partitions instead of {len(wanted)}" if found else "it does not exist",
            fix="correct kafka.released_topic, kafka.brokers and crowd.over in the settings",
        )
    for partition in found:
        _require_beginning(await topics.bounds(task.released_topic, partition), task.released_topic, partition)


def _require_beginning(bounds: Bounds, topic: str, partition: int) -> None:
    if bounds.first > 0:
        raise CannotAudit(
            f"The beginning of the topic {topic} is gone.",
            where=f"topic {topic}, partition {partition}",
            why=f"its first record has offset {bounds.first}: who was there before can no longer be said",
            fix="keep the topic for as long as it is to be audited: retention.ms=-1, or audit a copy",
        )


async def _uncommitted(
    task: CrowdTask, topics: Topics, released: Sequence[int], report: CrowdReport, progress: Progress
) -> None:
    """What a reader of uncommitted data saw: what was written again must be the same to the last byte."""
    report.uncommitted = 0
    for partition in released:
        reader, texts = Reader(task.crowds, partition), dict[bytes | None, int]()
        end = (await topics.bounds(task.released_topic, partition)).end
        async for records in topics.read(task.released_topic, partition, end, committed=False):
            report.uncommitted += len(records)
            progress("uncommitted records", len(records))
            for record in records:
                try:
                    reader.read(record)
                except Misread:
                    continue  # counted among the committed ones; what somebody else aborted is not the pipeline's
                text = hash((record.value, tuple(record.headers)))
                if texts.setdefault(record.key, text) != text:
                    where = f"{task.released_topic}, partition {partition}, offset {record.offset}"
                    report.findings.add("crowd_two_texts", places=[where])
