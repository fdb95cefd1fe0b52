"""The whole audit: read, recompute, compare, and say what was found.

The order of reading makes the audit exact while workers go on. What is decided in the released topic when the audit
begins must be known to the changelog, which is read next, up to its end; then the released topic is read, up to
whatever its end is by then. A user's events beyond the steps in the changelog came later. Dead letters and inputs count
up to the progress mark in the same changelog.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stream.audit.accounts import Account, check_counters, check_group, check_identity
from stream.audit.changelog import Owner, PartitionLog, check_owner, read_log
from stream.audit.counters import counters_of, read_pages
from stream.audit.epoch_records import Learning
from stream.audit.epochs import EpochAudit
from stream.audit.field_exported import check_exported
from stream.audit.field_tally import shown
from stream.audit.findings import Findings
from stream.audit.partition import PartitionAudit
from stream.audit.public import Public
from stream.audit.records import UNUSABLE, Reader
from stream.audit.repeats import IdIndex, Repeats
from stream.audit.report import Report
from stream.audit.sample import Sample
from stream.audit.segments import SegmentedAudit, Segments
from stream.audit.world import Bounds, Topics
from stream.errors import CannotAudit

PLACES = 5


class Progress(Protocol):
    def __call__(self, doing: str, records: int) -> None:
        """So many more records have been read."""


@dataclass(frozen=True)
class Task:
    """What is to be audited. `metrics` are addresses of pages; without `required` an address may stay silent. Of as
    many users as `accounts` says it is worked out exactly what all their releases tell.
    """

    pipeline: str
    public: Public
    owner: Owner
    raw_topic: str
    dead_letter_topic: str
    with_changelog: bool = True
    with_uncommitted: bool = True
    metrics: Sequence[str] = ()
    metrics_required: bool = False
    accounts: int = 0
    segments: Segments | None = None
    learning: Learning | None = None

    @property
    def publics(self) -> tuple[Public, ...]:
        """What is public about each model that serves; usually it is one."""
        return (self.public,) if self.segments is None else self.segments.publics


async def audit(task: Task, topics: Topics, progress: Progress) -> Report:
    began = time.monotonic()
    report = Report(task.pipeline)
    sample = Sample(task.publics[0], task.accounts, *task.publics[1:]) if task.accounts else None
    pages = await _pages(task, report)
    partitions = await _partitions(task, topics)
    group = await topics.group_offsets(task.pipeline, task.raw_topic) if task.with_changelog else None
    account = Account(inputs=0, dead_letters=0, complete=task.with_changelog)
    with IdIndex() as ids:
        users = [
            await _one_partition(task, topics, partition, report, account, ids, group, sample, progress)
            for partition in partitions
        ]
        _report_repeats(task, ids.repeats(PLACES), report)
    _report_wanderers(users, report)
    await check_identity(task.raw_topic, topics, account, report)
    if task.with_uncommitted:
        await _uncommitted(task, topics, partitions, report, progress)
    if task.public.fields is not None:
        report.fields = shown(task.public.fields, report.tally.fields, report.findings)
        _note_fields(report)
    if pages is not None:
        later = await read_pages(task.metrics)
        check_counters(counters_of(pages), counters_of(later), account, report)
        if task.public.fields is not None:
            check_exported(pages, later, report)
    if sample is not None:
        report.accounts = sample.summary()
    _note_unsure(report)
    if task.learning is not None:
        report.notes.append(
            "whether a partition should have gone over to its learnt model, or have given it up, when it did or did "
            "not is not worked out: it decides how much is kept, and nothing that is promised"
        )
    report.seconds = time.monotonic() - began
    return report


async def _pages(task: Task, report: Report) -> list[str] | None:
    if not task.metrics:
        report.compared["exported counters"] = "not compared: no address of a worker's metrics was given"
        return None
    try:
        return await read_pages(task.metrics)
    except CannotAudit:
        if task.metrics_required:
            raise
        report.compared["exported counters"] = f"not compared: nothing answers at {', '.join(task.metrics)}"
        return None


async def _partitions(task: Task, topics: Topics) -> Sequence[int]:
    released = task.public.released_topic
    partitions = await topics.partitions(released)
    if not partitions:
        raise CannotAudit(
            "The released topic does not exist.",
            where=f"topic {released}",
            why="the brokers know no topic of this name",
            fix="correct kafka.released_topic and kafka.brokers in the settings",
        )
    changelog = task.public.changelog_topic
    if task.with_changelog and list(await topics.partitions(changelog)) != list(partitions):
        raise CannotAudit(
            "The belief changelog does not go with the released topic.",
            where=f"topic {changelog}",
            why=f"it does not have the {len(partitions)} partitions that {released} has",
            fix="see whether the settings are those of this pipeline, or audit the releases alone: --no-changelog",
        )
    return partitions


async def _one_partition(
    task: Task,
    topics: Topics,
    partition: int,
    report: Report,
    account: Account,
    ids: IdIndex,
    group: Mapping[int, int] | None,
    sample: Sample | None,
    progress: Progress,
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Answers fingerprints of the users that were seen, for looking whether any is in two partitions."""
    released = task.public.released_topic
    before = await topics.bounds(released, partition)
    _refuse_if_cut(released, partition, before)
    log = None
    if task.with_changelog:
        log = await read_log(task.publics, topics, partition, progress)
        check_owner(task.owner, log, report.findings)
        await account.add(task.dead_letter_topic, task.raw_topic, topics, log, report.findings)
        check_group(group, log, report.findings)
    audited = _audit_of(task, partition, log, before.stable, report.findings, ids, sample)
    end = (await topics.bounds(released, partition)).end
    async for records in topics.read(released, partition, end, committed=True):
        audited.take(records)
        progress("released records", len(records))
    audited.close(None if log is None else log.topic_id)
    report.tally.plus(audited.tally)
    return np.array([hash(user) for user in audited.users], dtype=np.int64)


def _audit_of(
    task: Task,
    partition: int,
    log: PartitionLog | None,
    settled: int,
    findings: Findings,
    ids: IdIndex,
    sample: Sample | None,
) -> PartitionAudit | SegmentedAudit:
    if task.learning is not None and log is not None:
        return EpochAudit(task.learning, task.public, log, settled, findings, ids)
    if task.segments is not None:
        return SegmentedAudit(task.segments, partition, log, settled, findings, ids, sample)
    audited = PartitionAudit(task.public, partition, None if log is None else log.stored[0], settled, findings, ids)
    audited.sample = sample
    if log is not None:
        audited.held = log.held
    return audited


def _refuse_if_cut(topic: str, partition: int, bounds: Bounds) -> None:
    if bounds.first > 0:
        raise CannotAudit(
            "The beginning of the released topic is gone.",
            where=f"topic {topic}, partition {partition}",
            why=f"its first record has offset {bounds.first}: what users were told before can no longer be read",
            fix="keep the released topic for as long as it is to be audited: retention.ms=-1, or audit a copy",
        )


async def _uncommitted(
    task: Task, topics: Topics, partitions: Sequence[int], report: Report, progress: Progress
) -> None:
    """What a reader of uncommitted data saw: repeats of aborted blocks must be the same to the last byte."""
    report.uncommitted = 0
    with IdIndex() as ids:
        for partition in partitions:
            reader = Reader(task.public.form)
            end = (await topics.bounds(task.public.released_topic, partition)).end
            async for records in topics.read(task.public.released_topic, partition, end, committed=False):
                parsed = reader.read(records)
                ids.add(partition, parsed, parsed.form & UNUSABLE == 0)
                report.uncommitted += len(records)
                progress("uncommitted records", len(records))
        found = ids.repeats(PLACES)
    report.repeats_uncommitted = found.again - found.two_values - found.other_bytes
    # Pairs that readers of committed data see, too, have been reported already.
    for code, count, places in (
        ("two_values", found.two_values, found.places_two_values),
        ("two_texts", found.other_bytes, found.places_other_bytes),
    ):
        if code not in report.findings.codes():
            report.findings.add(code, count, _places(task, places))


def _report_repeats(task: Task, found: Repeats, report: Report) -> None:
    report.findings.add("released_twice", found.again, _places(task, found.places_again))
    report.findings.add("two_values", found.two_values, _places(task, found.places_two_values))
    report.findings.add("two_texts", found.other_bytes, _places(task, found.places_other_bytes))


def _places(task: Task, places: Sequence[tuple[int, int]]) -> list[str]:
    return [f"{task.public.released_topic}, partition {partition}, offset {offset}" for partition, offset in places]


def _report_wanderers(users: Sequence[np.ndarray[tuple[int], np.dtype[np.int64]]], report: Report) -> None:
    everywhere = np.concatenate(users)
    _, counts = np.unique(everywhere, return_counts=True)
    report.findings.add("two_partitions", int((counts > 1).sum()))


def _note_unsure(report: Report) -> None:
    unsure = report.tally.users_unsure
    if unsure:
        report.notes.append(
            f"the window of {unsure:,} users depends on the times of suppressed events, which are not public; "
            "the changelog's was accepted where it is possible"
        )


def _note_fields(report: Report) -> None:
    tally = report.tally.fields
    if tally.near:
        report.notes.append(
            f"{tally.near:,} decisions about fields lay within 2^-30 nat of a cap, where either one is accepted"
        )
    if tally.users_left:
        report.notes.append(
            f"the fields of {tally.users_left:,} users could not be followed to the end: an event is missing, or its "
            "header says nothing that can be counted"
        )
