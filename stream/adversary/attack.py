"""The whole attack: read what was released, guess, and hold the guesses against the truth and against the bound."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from stream.adversary.facts import Facts, Known, Naming
from stream.adversary.hindsight import Hindsight, look_back
from stream.adversary.result import Result
from stream.adversary.streams import reidentify
from stream.adversary.truth import RawValues, require_topic_id
from stream.adversary.watcher import Adversary, SegmentsWatch
from stream.audit.amounts import UNBOUNDED
from stream.audit.public import Public
from stream.audit.records import Record
from stream.audit.world import Topics
from stream.errors import CannotAudit

CHUNK = 8_000


class Progress(Protocol):
    def __call__(self, doing: str, records: int) -> None:
        """So many more records have been read."""


@dataclass(frozen=True)
class Task:
    """What is to be attacked, and what the adversary is given: a reader for each model that serves, usually one. With
    `raw_truth` guesses are scored by the raw topic.
    """

    pipeline: str
    raw_topic: str
    readers: tuple[Adversary, ...]
    naming: Naming
    truth: Known = field(default_factory=Known)
    side: Known = field(default_factory=Known)
    raw_truth: bool = False
    smooth: bool = False
    reidentify: int = 0

    @property
    def public(self) -> Public:
        """What all segments have in common: topics, form, policy."""
        return self.readers[0].public

    @property
    def keeps_events(self) -> bool:
        return self.smooth or self.reidentify > 0


async def attack(task: Task, topics: Topics, progress: Progress) -> Result:
    """Read the released topic from its beginning to what is its end now."""
    public, began = task.public, time.monotonic()
    partitions = await topics.partitions(public.released_topic)
    if not partitions:
        raise CannotAudit(
            "The released topic does not exist.",
            where=f"topic {public.released_topic}",
            why="the brokers know no topic of this name",
            fix="correct kafka.released_topic and kafka.brokers in the settings",
        )
    watches = []
    for partition in partitions:
        end = (await topics.bounds(public.released_topic, partition)).stable
        truth = await raw_values(task, topics, partition, progress) if task.raw_truth else task.truth
        watched = SegmentsWatch(task.readers, Facts(truth, task.side), keeping=task.keeps_events)
        async for records in topics.read(public.released_topic, partition, end, committed=True):
            watched.take(records)
            progress("released records", len(records))
        if task.raw_truth:
            truth.by_id.clear()  # one partition's raw values at a time
        watches.append(watched)
    return replace(result_of(task, watches), seconds=time.monotonic() - began)


async def raw_values(task: Task, topics: Topics, partition: int, progress: Progress) -> Known:
    public = task.public
    require_topic_id(task.naming, public)
    raw = RawValues(public, task.naming, partition)
    end = (await topics.bounds(task.raw_topic, partition)).stable
    async for records in topics.read(task.raw_topic, partition, end, committed=True):
        raw.take(records)
        progress("raw records", len(records))
    return raw.known


def attack_export(task: Task, partitions: Mapping[int, Sequence[Record]], progress: Progress) -> Result:
    """The same over records from a file."""
    began, watches = time.monotonic(), []
    for _, records in sorted(partitions.items()):
        watched = SegmentsWatch(task.readers, Facts(task.truth, task.side), keeping=task.keeps_events)
        for start in range(0, len(records), CHUNK):
            watched.take(records[start : start + CHUNK])
            progress("released records", len(records[start : start + CHUNK]))
        watches.append(watched)
    return replace(result_of(task, watches), seconds=time.monotonic() - began)


def result_of(task: Task, partitions: Sequence[SegmentsWatch]) -> Result:
    watches = [part for partition in partitions for part in partition.parts]
    scores = watches[0].scores.cut_to(len(watches[0].keys))
    for watched in watches[1:]:
        scores = scores.plus(watched.scores.cut_to(len(watched.keys)))
    units = np.concatenate([watched.accounts() for watched in watches])
    hindsight = None
    if task.smooth:
        hindsight, users = Hindsight(), 0
        for watched in watches:
            hindsight.plus(look_back(watched.adversary, watched.kept), users)
            users += len(watched.keys)
    return Result(
        pipeline=task.pipeline,
        scores=scores,
        accounts=np.where(units >= UNBOUNDED, np.inf, units / 2**40),
        keys=[key for watched in watches for key in watched.keys],
        lost=sum(watched.lost for watched in watches),
        unusable=sum(watched.unusable for watched in watches),
        waiting=sum(watched.waiting for watched in watches),
        reads_by_the_model=task.readers[0].is_the_model_reader,
        facts=len(task.side),
        hindsight=hindsight,
        attempts=reidentify(watches, task.public.symbols, task.reidentify) if task.reidentify else {},
    )
