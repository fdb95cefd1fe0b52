"""The whole audit of a pipeline of aggregates: read, recompute, compare, and say what was found.

Everything that decides is public, so no key is needed: each window's record is there once and in order, its noise and
its intervals are those that the settings ask for, and what it is said to tell is what the windows before it make of it.
With the key ring it is also seen that each number is the sum of the sealed sums and the noise of the key's coins.

What the second stage keeps is read before the released topic's end, and the released topic before the sealed sums; so
what is found to be missing is not merely on its way.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat

from stream import names
from stream.audit.aggregate_account import Account
from stream.audit.aggregate_follow import Follow
from stream.audit.aggregate_opened import Opened
from stream.audit.aggregate_records import Reader
from stream.audit.aggregate_report import AggregateReport
from stream.audit.aggregate_rules import Windows
from stream.audit.findings import Findings
from stream.audit.said import Misread
from stream.audit.stage_marks import marks_of, topic_id_of
from stream.audit.world import Bounds, Topics
from stream.errors import CannotAudit

_MARK = struct.Struct(">BIq")
_SPAN = struct.Struct(">Iqq")
_RUN = struct.Struct(">Iq")


@dataclass(frozen=True)
class AggregateTask:
    """What is to be audited, with a fresh account each time; `ring_keys` are the keys of the ring by their epochs, if
    they may be used.
    """

    windows: Windows
    account: Callable[[], Account]
    raw_topic: str
    released_topic: str
    changelog_topic: str
    with_changelog: bool = True
    with_uncommitted: bool = True
    ring_keys: Mapping[int, bytes] | None = field(default=None, repr=False)

    @property
    def total(self) -> str:
        return self.windows.pipeline + names.TOTAL_SUFFIX

    @property
    def total_changelog(self) -> str:
        return self.total + names.CHANGELOG_SUFFIX

    @property
    def partials(self) -> str:
        return self.windows.pipeline + names.PARTIALS_SUFFIX


@dataclass(frozen=True)
class Kept:
    """What the second stage keeps: the number of the next window, and the losses of those before it."""

    next_number: int
    losses: list[int]


async def audit_aggregates(
    task: AggregateTask, topics: Topics, progress: Callable[[str, int], None]
) -> AggregateReport:
    began = time.monotonic()
    report = AggregateReport(task.windows.pipeline, with_keys=task.ring_keys is not None)
    where = f"{task.released_topic}, partition 0"
    await _require_one_partition(task, topics)
    topic_id = (
        await topic_id_of(topics, task.changelog_topic) if task.with_changelog or task.ring_keys is not None else None
    )
    kept = await _kept(task, topics, report.findings) if task.with_changelog else None
    end = (await topics.bounds(task.released_topic, 0)).end
    opened = None if task.ring_keys is None else await _opened(task, topics, topic_id, report.findings, progress)
    account = task.account()
    follow = Follow(task.windows, account, Reader(task.windows, topic_id), report.findings, where, opened)
    async for records in topics.read(task.released_topic, 0, end, committed=True):
        follow.take(records)
        progress("released windows", len(records))
    report.seen, report.largest_total = follow.seen, account.largest_total
    if kept is not None:
        _compare_kept(task, kept, account.all_losses, report)
    if task.with_uncommitted:
        await _uncommitted(task, topics, report, progress)
    report.seconds = time.monotonic() - began
    return report


async def _require_one_partition(task: AggregateTask, topics: Topics) -> None:
    partitions = list(await topics.partitions(task.released_topic))
    if partitions != [0]:
        raise CannotAudit(
            "The released topic cannot be that of windows of aggregates.",
            where=f"topic {task.released_topic}",
            why="it does not exist" if not partitions else f"it has {len(partitions)} partitions instead of one",
            fix="correct kafka.released_topic and kafka.brokers in the settings",
        )
    _require_beginning(await topics.bounds(task.released_topic, 0), task.released_topic)


def _require_beginning(bounds: Bounds, topic: str) -> None:
    if bounds.first > 0:
        raise CannotAudit(
            f"The beginning of the topic {topic} is gone.",
            where=f"topic {topic}, partition 0",
            why=f"its first record has offset {bounds.first}: what stood before can no longer be read",
            fix="keep the topic for as long as it is to be audited: retention.ms=-1, or audit a copy",
        )


async def _kept(task: AggregateTask, topics: Topics, findings: Findings) -> Kept | None:
    """None where nothing was released yet."""
    marks = await marks_of(topics, task.total_changelog)
    mark = marks.get(names.CHANGELOG_AGGREGATE_KEY)
    if mark is None:
        return None
    try:
        version, partitions, released_to = _MARK.unpack_from(mark)
        at = _MARK.size + 8 * partitions
        spans = int.from_bytes(mark[at : at + 4], "big")
        at += 4 + _SPAN.size * spans
        runs = _RUN.iter_unpack(mark[at + 4 :])
        losses = list(chain.from_iterable(repeat(loss, count) for count, loss in runs))
    except struct.error:
        findings.add("aggregate_state", places=[f"{task.total_changelog}, partition 0"], detail="unreadable")
        return None
    number, rest = divmod(released_to - task.windows.start, task.windows.length)
    if version != 1 or rest:
        findings.add("aggregate_state", places=[f"{task.total_changelog}, partition 0"], detail="of other windows")
        return None
    return Kept(number, losses)


def _compare_kept(task: AggregateTask, kept: Kept, losses: Sequence[int | None], report: AggregateReport) -> None:
    """The windows that the mark knows were released before it was read, so they are all here."""
    where = f"{task.total_changelog}, partition 0"
    if kept.next_number > len(losses):
        report.findings.add("window_missing", kept.next_number - len(losses), [where])
        return
    most = task.windows.horizon - 1
    wanted = list(losses[max(0, kept.next_number - most) : kept.next_number]) if most else []
    pairs = zip(kept.losses, wanted, strict=False)
    if len(kept.losses) != len(wanted) or any(theirs != ours for theirs, ours in pairs if ours is not None):
        report.findings.add("aggregate_state", places=[where], detail="losses")


async def _opened(
    task: AggregateTask,
    topics: Topics,
    topic_id: bytes | None,
    findings: Findings,
    progress: Callable[[str, int], None],
) -> Opened:
    partitions = len(list(await topics.partitions(task.raw_topic)))
    if not partitions:
        raise CannotAudit(
            "The sealed sums cannot be opened.",
            where=f"topic {task.raw_topic}",
            why="the brokers know no topic of this name, so it is not known how many partitions have sums",
            fix="correct kafka.raw_topic and kafka.brokers in the settings, or leave --keys out",
        )
    _require_beginning(await topics.bounds(task.partials, 0), task.partials)
    opened = Opened(task.windows, task.ring_keys or {}, topic_id or b"", partitions, findings)
    end = (await topics.bounds(task.partials, 0)).end
    async for records in topics.read(task.partials, 0, end, committed=True):
        opened.take(records, f"{task.partials}, partition 0")
        progress("sealed sums", len(records))
    return opened


async def _uncommitted(
    task: AggregateTask, topics: Topics, report: AggregateReport, progress: Callable[[str, int], None]
) -> None:
    """What a reader of uncommitted data saw: a window that was written again must be the same to the last byte."""
    reader, texts = Reader(task.windows), dict[int, int]()
    end = (await topics.bounds(task.released_topic, 0)).end
    report.uncommitted = 0
    async for records in topics.read(task.released_topic, 0, end, committed=False):
        report.uncommitted += len(records)
        progress("uncommitted windows", len(records))
        for record in records:
            try:
                number = reader.read(record).number
            except Misread:
                continue  # counted among the committed ones; what was aborted by somebody else is not the pipeline's
            text = hash((record.key, record.value, tuple(record.headers)))
            if texts.setdefault(number, text) != text:
                report.findings.add("window_two_texts", places=[f"{task.released_topic}, offset {record.offset}"])
