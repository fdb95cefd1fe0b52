"""A worker that releases windows of aggregates: the job of each stage, and the meter that hears both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from socket import gethostname
from uuid import UUID

from stream import names
from stream.aggregates.gather import GatherPipeline
from stream.aggregates.opening import OpenedAggregates, open_aggregates
from stream.aggregates.partials import partial_bytes_max
from stream.aggregates.release import record_bytes_max
from stream.aggregates.standing import mark_bytes_max
from stream.aggregates.total import TotalPipeline
from stream.commands.meter_settings import aggregate_meter_settings_of
from stream.commands.working import Task, no_records
from stream.engine.connection import Connection, connection_of
from stream.engine.plan import Plan
from stream.engine.topic_ids import TopicFacts
from stream.engine.worker import Job
from stream.gathering.people import held_bytes_max
from stream.gathering.second import RawTopic
from stream.keys import Epoch
from stream.metrics.aggregates import AggregateCounts
from stream.metrics.meter import Meter
from stream.metrics.observer import MeterObserver
from stream.metrics.total_observer import TotalObserver
from stream.protocol.control import Control
from stream.protocol.limits import LaneLimits
from stream.protocol.logbook import Logbook
from stream.protocol.observer import Observers
from stream.protocol.ports import UserStore
from stream.protocol.publish import Topics
from stream.stores.memory import MemoryStore
from stream.stores.rows import NoRows

_ANY_TOPIC = UUID(int=0)
_PARTIALS_A_BLOCK = 4
"""Partials that wait for others take no time, so their pace says nothing of one that releases all of them: a block is
over in seconds even where each of them releases as many windows as it may.
"""


def aggregate_task(file: Path, environment: Mapping[str, str]) -> Task:
    opened = open_aggregates(file, environment)
    connection = connection_of(opened.settings.kafka, environment)
    meter, stages = Meter(aggregate_meter_settings_of(opened)), Stages(opened, connection)
    meter.aggregates = AggregateCounts(opened.promise)
    return Task(
        settings=opened.settings,
        meter=meter,
        job=stages.gather(meter),
        warm_up=stages.warm_up,
        warnings=opened.warnings,
        then=stages.total(meter),
    )


@dataclass(frozen=True)
class Stages:
    """Both stages of one pipeline."""

    opened: OpenedAggregates
    connection: Connection

    @property
    def gather_topics(self) -> Topics:
        kafka, name = self.opened.settings.kafka, self.opened.promise.pipeline
        partials = name + names.PARTIALS_SUFFIX
        return Topics(kafka.raw_topic, partials, kafka.dead_letter_topic, name + names.CHANGELOG_SUFFIX)

    @property
    def total_topics(self) -> Topics:
        kafka, name = self.opened.settings.kafka, self.opened.promise.pipeline + names.TOTAL_SUFFIX
        partials = self.gather_topics.released
        return Topics(partials, kafka.released_topic, kafka.dead_letter_topic, name + names.CHANGELOG_SUFFIX)

    def gather(self, meter: Meter) -> Job:
        promise, settings, topics = self.opened.promise, self.opened.settings, self.gather_topics
        stores: dict[int, UserStore] = {}
        plan = self._plan(
            promise.pipeline,
            topics,
            record_bytes=settings.record.max_bytes,
            held_bytes=held_bytes_max(),
            released_bytes=partial_bytes_max(promise.cells),
            single=frozenset({topics.released}),
            limits=LaneLimits(
                max_block_records=settings.limits.max_block_records,
                room_records=max(LaneLimits().room_records, 2 * settings.limits.max_block_records),
            ),
        )
        observer = MeterObserver(meter, lambda partition: stores[partition].all_heads())
        return Job(
            plan=plan,
            codec=NoRows(),
            control=lambda raw: control_of(
                self.opened, promise.pipeline, str(raw.id), raw.partitions, promise.ring.current
            ),
            pipelines=lambda raw: lambda number: GatherPipeline(promise, raw.name, raw.id.bytes, number),
            observer=Observers([observer, Logbook()]),
            stores=stores,
        )

    def total(self, meter: Meter) -> Callable[[TopicFacts], Job]:
        """The second job, once the brokers have told what the raw topic is."""
        promise, topics, observer = self.opened.promise, self.total_topics, TotalObserver(meter)
        name = promise.pipeline + names.TOTAL_SUFFIX

        def job(raw: TopicFacts) -> Job:
            source = RawTopic(raw.id.bytes, raw.partitions)
            plan = self._plan(
                name,
                topics,
                record_bytes=partial_bytes_max(promise.cells),
                held_bytes=partial_bytes_max(promise.cells),
                mark_bytes=mark_bytes_max(raw.partitions, promise.horizon),
                released_bytes=record_bytes_max(promise),
                single=frozenset({topics.released}),
                elsewhere=frozenset({topics.dead_letters}),
                limits=LaneLimits(first_block_records=1, max_block_records=_PARTIALS_A_BLOCK),
            )
            return Job(
                plan=plan,
                codec=NoRows(),
                # Its coins come from the epochs of the sums, so a new epoch need not wait for anything here.
                control=lambda partials: control_of(
                    self.opened, name, f"{raw.id} {partials.id}", raw.partitions, promise.ring.first
                ),
                pipelines=lambda partials: lambda _: TotalPipeline(promise, source, partials.name),
                observer=observer,
            )

        return job

    def warm_up(self) -> None:
        promise = self.opened.promise
        first = GatherPipeline(promise, "", _ANY_TOPIC.bytes, 0)
        first.prepare(no_records(), MemoryStore(NoRows()))
        TotalPipeline(promise, RawTopic(_ANY_TOPIC.bytes, 1), "").warm_up()

    def _plan(
        self,
        name: str,
        topics: Topics,
        *,
        record_bytes: int,
        held_bytes: int,
        released_bytes: int,
        limits: LaneLimits,
        mark_bytes: int = 0,
        single: frozenset[str] = frozenset(),
        elsewhere: frozenset[str] = frozenset(),
    ) -> Plan:
        settings = self.opened.settings
        kafka, folder = settings.kafka, settings.store.folder
        on_disk = settings.store.kind != "memory" and folder is not None
        return Plan(
            pipeline=name,
            connection=self.connection,
            topics=topics,
            instance_id=kafka.group_instance or f"{settings.pipeline.name}-{gethostname()}",
            record_bytes=record_bytes,
            row_bytes=0,
            held_bytes=held_bytes,
            mark_bytes=mark_bytes,
            released_bytes=released_bytes,
            single=single,
            elsewhere=elsewhere,
            replication_factor=kafka.replication_factor,
            session_timeout_ms=kafka.session_timeout,
            drain_seconds=settings.limits.drain / 1000,
            store_folder=Path(folder or "") / name if on_disk else None,
            limits=limits,
        )


def control_of(opened: OpenedAggregates, name: str, topic_id: str, partitions: int, epoch: Epoch) -> Control:
    """Whose contributions or windows these are. Of all settings of aggregates none may change: windows are open under
    the old ones, and what was told counts towards their target.
    """
    return Control(
        pipeline=name,
        topic_id=topic_id,
        partitions=partitions,
        policy=opened.promise.policy_name,
        model=f"{names.AGGREGATES}@{opened.promise.policy_fingerprint.hex()[:8]}",
        key_epoch=epoch.number,
        key_fingerprint=epoch.fingerprint,
        first_key_fingerprint=opened.ring.first.fingerprint,
    )
