"""A worker that releases windows of aggregates: the job of each stage, and the meter that hears both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stream import names
from stream.aggregates.gather import GatherPipeline
from stream.aggregates.opening import OpenedAggregates, open_aggregates
from stream.aggregates.partials import partial_bytes_max
from stream.aggregates.release import record_bytes_max
from stream.aggregates.standing import mark_bytes_max
from stream.aggregates.total import TotalPipeline
from stream.commands.meter_settings import aggregate_meter_settings_of
from stream.commands.stages import ANY_TOPIC, Sizes, Stages, task_of
from stream.commands.working import Task, no_records
from stream.engine.connection import Connection, connection_of
from stream.engine.topic_ids import TopicFacts
from stream.engine.worker import Job
from stream.gathering.people import held_bytes_max
from stream.gathering.second import RawTopic
from stream.metrics.aggregates import AggregateCounts
from stream.metrics.meter import Meter
from stream.stores.memory import MemoryStore
from stream.stores.rows import NoRows


def aggregate_task(file: Path, environment: Mapping[str, str]) -> Task:
    opened = open_aggregates(file, environment)
    connection = connection_of(opened.settings.kafka, environment)
    meter, stages = Meter(aggregate_meter_settings_of(opened)), AggregateStages(opened, connection)
    meter.gathered = AggregateCounts(opened.promise)
    return task_of(opened.settings, opened.warnings, meter, stages)


@dataclass(frozen=True)
class AggregateStages:
    """Both stages of one pipeline."""

    opened: OpenedAggregates
    connection: Connection

    @property
    def stages(self) -> Stages:
        promise = self.opened.promise
        model = f"{names.AGGREGATES}@{promise.policy_fingerprint.hex()[:8]}"
        return Stages(
            self.opened.settings, promise.ring, promise.policy_name, model, self.connection, names.PARTIALS_SUFFIX
        )

    def first(self, meter: Meter) -> Job:
        promise = self.opened.promise
        sizes = Sizes(held_bytes_max(), partial_bytes_max(promise.cells))
        return self.stages.first(
            meter, sizes, lambda raw, number: GatherPipeline(promise, raw.name, raw.id.bytes, number)
        )

    def second(self, meter: Meter) -> Callable[[TopicFacts], Job]:
        """The second job, once the brokers have told what the raw topic is."""
        promise = self.opened.promise
        return self.stages.second(meter, self._sizes, lambda raw, topic, _: TotalPipeline(promise, raw, topic))

    def _sizes(self, partitions: int) -> Sizes:
        promise = self.opened.promise
        mark = mark_bytes_max(partitions, promise.horizon)
        return Sizes(partial_bytes_max(promise.cells), record_bytes_max(promise), mark)

    def warm_up(self) -> None:
        promise = self.opened.promise
        first = GatherPipeline(promise, "", ANY_TOPIC.bytes, 0)
        first.prepare(no_records(), MemoryStore(NoRows()))
        TotalPipeline(promise, RawTopic(ANY_TOPIC.bytes, 1), "").warm_up()
