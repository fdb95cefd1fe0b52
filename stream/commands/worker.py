"""One worker of `sottovoce run`: from a settings file to a job of the engine, with its admin server beside it."""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from socket import gethostname
from uuid import UUID

from stream.clock_rows import rows_of_promise, words_beside, words_of
from stream.commands.aggregate_worker import aggregate_task
from stream.commands.crowd_worker import crowd_task
from stream.commands.meter_settings import meter_settings_of
from stream.commands.witnessing import following_of, witness_of
from stream.commands.working import Task, carry_out, no_records
from stream.engine.connection import Connection, connection_of
from stream.engine.plan import Plan
from stream.engine.topic_ids import TopicFacts
from stream.engine.worker import Job
from stream.learning.learners import LEARNING_LOG, Learners, LearningObserver
from stream.learning.pipeline import OnlinePipeline
from stream.learning.record import mark_bytes_max
from stream.metrics.fields import FieldCounts
from stream.metrics.meter import Meter
from stream.metrics.observer import MeterObserver
from stream.opening import Opened, open_pipeline
from stream.pipeline import PartitionPipeline
from stream.promise import bench_of
from stream.protocol.control import Control
from stream.protocol.limits import LaneLimits
from stream.protocol.logbook import Logbook
from stream.protocol.observer import Observers
from stream.protocol.ports import Pipeline, UserStore
from stream.protocol.publish import Topics
from stream.settings.load import released_in
from stream.state import row_bytes
from stream.stores.memory import MemoryStore
from stream.watch import Following, Watch
from stream.windows.held import held_bytes_max
from stream.windows.pipeline import WindowPipeline


def run_worker(file: Path) -> None:
    """Run one worker until it is told to stop; raises what ended it otherwise."""
    tasks = {"aggregates": aggregate_task, "crowds": crowd_task, "events": _task}
    asyncio.run(carry_out(tasks[released_in(file)](file, os.environ)))


def _task(file: Path, environment: Mapping[str, str]) -> Task:
    opened = open_pipeline(file, environment)
    following = following_of(opened)
    learners = Learners(logging.getLogger(LEARNING_LOG))
    meter = Meter(meter_settings_of(opened, bytes_of_a_row(opened)), witness=witness_of(opened, following))
    meter.learners = learners
    if opened.promise.fields is not None:
        meter.fields = FieldCounts(opened.promise.fields, opened.settings.metrics.small_count_floor)
    job = _job(opened, connection_of(opened.settings.kafka, environment), meter, following, learners)
    return Task(opened.settings, meter, job, lambda: warm_up(job), opened.warnings)


def _job(opened: Opened, connection: Connection, meter: Meter, following: Following, learners: Learners) -> Job:
    stores: dict[int, UserStore] = {}
    return Job(
        plan=plan_of(opened, connection),
        codec=rows_of_promise(opened.settings, opened.promise),
        control=lambda raw: control_of(opened, raw),
        pipelines=lambda raw: pipelines_of(opened, raw, following, learners),
        observer=Observers(
            [
                MeterObserver(meter, lambda partition: stores[partition].all_heads()),
                Logbook(),
                LearningObserver(learners),
            ]
        ),
        stores=stores,
    )


def warm_up(job: Job) -> None:
    facts = TopicFacts(job.plan.topics.raw, UUID(int=0), 1, led=True)
    pipeline, store, block = job.pipelines(facts)(0), MemoryStore(job.codec), no_records()
    pipeline.prepare(block, store)
    if isinstance(pipeline, OnlinePipeline):
        pipeline.warm_up(block, store)


def plan_of(opened: Opened, connection: Connection) -> Plan:
    settings = opened.settings
    kafka = settings.kafka
    folder, windows, learning = settings.store.folder, opened.promise.windows, opened.promise.learning
    first = LaneLimits().first_block_records
    return Plan(
        pipeline=settings.pipeline.name,
        connection=connection,
        topics=Topics(kafka.raw_topic, kafka.released_topic, kafka.dead_letter_topic, settings.changelog_topic),
        instance_id=kafka.group_instance or f"{settings.pipeline.name}-{gethostname()}",
        record_bytes=settings.record.max_bytes,
        row_bytes=bytes_of_a_row(opened),
        held_bytes=0 if windows is None else held_bytes_max(opened.promise.most_states),
        mark_bytes=0 if learning is None else mark_bytes_max(opened.promise.alphabet),
        replication_factor=kafka.replication_factor,
        session_timeout_ms=kafka.session_timeout,
        drain_seconds=settings.limits.drain / 1000,
        store_folder=None if settings.store.kind == "memory" or folder is None else Path(folder),
        limits=LaneLimits(
            max_block_records=settings.limits.max_block_records,
            room_records=max(LaneLimits().room_records, 2 * settings.limits.max_block_records),
            first_block_records=first if windows is None else min(first, windows.closed_together),
        ),
    )


def bytes_of_a_row(opened: Opened) -> int:
    """Of the widest, where several models serve."""
    words = words_of(opened.settings) + words_beside(opened.settings)
    return row_bytes(max(each.width for each in opened.promise.served), words)


def control_of(opened: Opened, raw: TopicFacts) -> Control:
    """Whose beliefs this worker reads and writes."""
    return Control(
        pipeline=opened.settings.pipeline.name,
        topic_id=str(raw.id),
        partitions=raw.partitions,
        policy=opened.promise.policy_name,
        model=opened.promise.beliefs_name,
        key_epoch=opened.ring.current.number,
        key_fingerprint=opened.ring.current.fingerprint,
        first_key_fingerprint=opened.ring.first.fingerprint,
    )


def pipelines_of(
    opened: Opened, raw: TopicFacts, following: Following | None = None, learners: Learners | None = None
) -> Callable[[int], Pipeline]:
    """The pipeline of each partition; `following` and `learners` are there where somebody watches over them.

    They share their benches: a block is prepared without a pause, so never two at once.
    """
    benches, promise = [bench_of(each) for each in opened.promise.served], opened.promise

    def of_partition(partition: int) -> Pipeline:
        if promise.learning is not None:
            return OnlinePipeline(promise, raw.name, raw.id.bytes, partition, benches[0], learners)
        if promise.windows is not None:
            return WindowPipeline(promise, raw.name, raw.id.bytes, partition, *benches)
        pipeline = PartitionPipeline(promise, raw.name, raw.id.bytes, partition, *benches)
        if following is not None and promise.segments is None:
            pipeline.watch = Watch(following, partition, promise.policy, opened.model.alphabet.size)
        return pipeline

    return of_partition
