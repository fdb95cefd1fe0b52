"""What both jobs of a pipeline of two stages are told: the first one's topics are the second one's source."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from socket import gethostname
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from stream import names
from stream.commands.working import Task
from stream.crowds.opening import OpenedCrowds
from stream.engine.connection import Connection
from stream.engine.plan import Plan
from stream.engine.topic_ids import TopicFacts
from stream.engine.worker import Job
from stream.gathering.second import RawTopic
from stream.keys import Epoch, KeyRing
from stream.metrics.meter import Meter
from stream.metrics.observer import MeterObserver
from stream.metrics.total_observer import TotalObserver
from stream.protocol.control import Control
from stream.protocol.limits import LaneLimits
from stream.protocol.logbook import Logbook
from stream.protocol.observer import Observers
from stream.protocol.ports import Pipeline, UserStore
from stream.protocol.publish import Topics
from stream.settings.model import Settings
from stream.stores.rows import NoRows

ANY_TOPIC = UUID(int=0)
"""To warm up with."""

SENT_WINDOWS = LaneLimits(first_block_records=1, max_block_records=4)
"""What waits for other partitions takes no time, so its pace says nothing of a record that releases all of it: a block
is over in seconds even where each of its records releases as many windows as it may.
"""

ACCOUNTED: Final = replace(SENT_WINDOWS, aside=True)
"""The same of windows of which it is worked out what each tells: one of many people of several types takes long."""


class Sizes(NamedTuple):
    """The largest of what a stage holds beside its mark, of its mark, and of what it releases."""

    held: int
    released: int
    mark: int = 0


class BothStages(Protocol):
    """The jobs of a pipeline."""

    def first(self, meter: Meter) -> Job: ...

    def second(self, meter: Meter) -> Callable[[TopicFacts], Job]:
        """The second job, once the brokers have told what the raw topic is."""

    def warm_up(self) -> None: ...


def task_of(settings: Settings, warnings: Sequence[str], meter: Meter, both: BothStages) -> Task:
    return Task(settings, meter, both.first(meter), both.warm_up, warnings, both.second(meter))


@dataclass(frozen=True)
class Stages:
    """`between` is the end of the name of the topic between both, in which all partitions meet in one where they are
    put together, and in which the brokers' time counts where it is stamped. `model` says under which settings state
    was made, of which none may change: windows are open under the old ones, and what was told counts towards their
    target.
    """

    settings: Settings
    ring: KeyRing
    policy_name: str
    model: str
    connection: Connection
    between: str
    meets: bool = True
    stamped: bool = False

    @property
    def first_name(self) -> str:
        return self.settings.pipeline.name

    @property
    def second_name(self) -> str:
        return self.first_name + names.TOTAL_SUFFIX

    @property
    def first_topics(self) -> Topics:
        kafka, name = self.settings.kafka, self.first_name
        return Topics(kafka.raw_topic, name + self.between, kafka.dead_letter_topic, name + names.CHANGELOG_SUFFIX)

    @property
    def second_topics(self) -> Topics:
        kafka, changelog = self.settings.kafka, self.second_name + names.CHANGELOG_SUFFIX
        return Topics(self.first_topics.released, kafka.released_topic, kafka.dead_letter_topic, changelog)

    def first(self, meter: Meter, sizes: Sizes, pipeline: Callable[[TopicFacts, int], Pipeline]) -> Job:
        """The job that reads the raw topic; `pipeline` is that of one of its partitions."""
        name, topics, stores = self.first_name, self.first_topics, dict[int, UserStore]()
        most = self.settings.limits.max_block_records
        between = frozenset({topics.released})
        plan = self._plan(
            name,
            topics,
            sizes,
            record_bytes=self.settings.record.max_bytes,
            single=between if self.meets else frozenset(),
            stamped=between if self.stamped else frozenset(),
            limits=LaneLimits(max_block_records=most, room_records=max(LaneLimits().room_records, 2 * most)),
        )
        observer = MeterObserver(meter, lambda partition: stores[partition].all_heads())
        return Job(
            plan=plan,
            codec=NoRows(),
            control=lambda raw: self._control(name, str(raw.id), raw.partitions, self.ring.current),
            pipelines=lambda raw: lambda number: pipeline(raw, number),
            observer=Observers([observer, Logbook()]),
            stores=stores,
        )

    def second(
        self,
        meter: Meter,
        sizes: Callable[[int], Sizes],
        pipeline: Callable[[RawTopic, str, int], Pipeline],
        limits: LaneLimits = SENT_WINDOWS,
    ) -> Callable[[TopicFacts], Job]:
        """The second job, once the brokers have told what the raw topic is; `sizes` are those for so many partitions of
        it, `pipeline` is that of a partition of the topic between, which has this name.
        """
        name, topics, observer = self.second_name, self.second_topics, TotalObserver(meter)

        def job(raw: TopicFacts) -> Job:
            source, largest = RawTopic(raw.id.bytes, raw.partitions), sizes(raw.partitions)
            plan = self._plan(
                name,
                topics,
                largest,
                record_bytes=largest.held,
                single=frozenset({topics.released} if self.meets else ()),
                elsewhere=frozenset({topics.dead_letters}),
                limits=limits,
            )
            return Job(
                plan=plan,
                codec=NoRows(),
                # Its coins come from the epochs of what was sent, so a new epoch need not wait for anything here.
                control=lambda sent: self._control(name, f"{raw.id} {sent.id}", raw.partitions, self.ring.first),
                pipelines=lambda sent: lambda number: pipeline(source, sent.name, number),
                observer=observer,
            )

        return job

    def _plan(
        self,
        name: str,
        topics: Topics,
        sizes: Sizes,
        *,
        record_bytes: int,
        limits: LaneLimits,
        single: frozenset[str] = frozenset(),
        elsewhere: frozenset[str] = frozenset(),
        stamped: frozenset[str] = frozenset(),
    ) -> Plan:
        settings = self.settings
        kafka, folder = settings.kafka, settings.store.folder
        on_disk = settings.store.kind != "memory" and folder is not None
        return Plan(
            pipeline=name,
            connection=self.connection,
            topics=topics,
            instance_id=kafka.group_instance or f"{self.first_name}-{gethostname()}",
            record_bytes=record_bytes,
            row_bytes=0,
            held_bytes=sizes.held,
            mark_bytes=sizes.mark,
            released_bytes=sizes.released,
            single=single,
            elsewhere=elsewhere,
            stamped=stamped,
            replication_factor=kafka.replication_factor,
            session_timeout_ms=kafka.session_timeout,
            drain_seconds=settings.limits.drain / 1000,
            store_folder=Path(folder or "") / name if on_disk else None,
            limits=limits,
        )

    def _control(self, name: str, topic_id: str, partitions: int, epoch: Epoch) -> Control:
        """Whose contributions or windows these are."""
        return Control(
            pipeline=name,
            topic_id=topic_id,
            partitions=partitions,
            policy=self.policy_name,
            model=self.model,
            key_epoch=epoch.number,
            key_fingerprint=epoch.fingerprint,
            first_key_fingerprint=self.ring.first.fingerprint,
        )


def crowd_stages(opened: OpenedCrowds, connection: Connection, *, stamped: bool = False) -> Stages:
    """Of crowds, whatever they are made of."""
    promise = opened.promise
    return Stages(
        opened.settings,
        promise.ring,
        promise.policy_name,
        f"{names.CROWDS}@{promise.policy_fingerprint.hex()[:8]}",
        connection,
        names.CROWDS_SUFFIX,
        meets=promise.over == "all",
        stamped=stamped,
    )
