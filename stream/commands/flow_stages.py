"""Both stages of a pipeline whose crowds have no windows: events are passed on, and go out in crowds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from stream.commands.stages import ANY_TOPIC, Sizes, Stages, crowd_stages
from stream.commands.working import no_records
from stream.crowds.boxes import attributes_of
from stream.crowds.flow import FlowPipeline
from stream.crowds.flow_release import record_bytes_max
from stream.crowds.flow_standing import held_bytes, mark_bytes_max
from stream.crowds.forward import ForwardPipeline
from stream.crowds.opening import OpenedCrowds
from stream.crowds.tuples import tuple_bytes
from stream.engine.connection import Connection
from stream.engine.topic_ids import TopicFacts
from stream.engine.worker import Job
from stream.gathering.second import RawTopic
from stream.metrics.meter import Meter
from stream.protocol.limits import LaneLimits
from stream.stores.memory import MemoryStore
from stream.stores.rows import NoRows

GROUPED: Final = LaneLimits(pause_seconds=0.1)
"""Each transaction says what the grouper knows, up to hundreds of KiB, and no delay is shorter than a second."""


@dataclass(frozen=True)
class FlowStages:
    """Both stages of one pipeline of single events."""

    opened: OpenedCrowds
    connection: Connection

    @property
    def stages(self) -> Stages:
        return crowd_stages(self.opened, self.connection, stamped=True)

    def first(self, meter: Meter) -> Job:
        promise = self.opened.promise
        sizes = Sizes(held=0, released=self._tuple_bytes)
        return self.stages.first(
            meter, sizes, lambda raw, number: ForwardPipeline(promise, raw.name, raw.id.bytes, number)
        )

    def second(self, meter: Meter) -> Callable[[TopicFacts], Job]:
        """The second job, once the brokers have told what the raw topic is."""
        return self.stages.second(meter, self._sizes, self._flow, GROUPED)

    def warm_up(self) -> None:
        first = ForwardPipeline(self.opened.promise, "", ANY_TOPIC.bytes, 0)
        first.prepare(no_records(), MemoryStore(NoRows()))
        self._flow(RawTopic(ANY_TOPIC.bytes, 1), "", 0).warm_up()

    def _flow(self, raw: RawTopic, topic: str, number: int) -> FlowPipeline:
        """All partitions of the raw topic come to the only one there is; or each to that of its number."""
        promise = self.opened.promise
        sources = range(raw.partitions) if promise.over == "all" else range(number, number + 1)
        return FlowPipeline(promise, raw.id, topic, number, sources)

    def _sizes(self, partitions: int) -> Sizes:
        return Sizes(held_bytes(self._tuple_bytes), record_bytes_max(self.opened.promise), mark_bytes_max(partitions))

    @property
    def _tuple_bytes(self) -> int:
        return tuple_bytes(len(attributes_of(self.opened.promise.release)))
