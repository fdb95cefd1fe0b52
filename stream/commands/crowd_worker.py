"""A worker that releases crowds: the job of each stage, and the meter that hears both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stream.commands.flow_stages import FlowStages
from stream.commands.meter_settings import crowd_meter_settings_of
from stream.commands.stages import ACCOUNTED, ANY_TOPIC, Sizes, Stages, crowd_stages, task_of
from stream.commands.working import Task, no_records
from stream.crowds.gather import CrowdGather
from stream.crowds.guarded import guard_bytes_max
from stream.crowds.opening import OpenedCrowds, open_crowds
from stream.crowds.parts import part_bytes_max
from stream.crowds.window_release import window_bytes_max
from stream.crowds.windows import CrowdWindows, crowd_mark_bytes_max
from stream.engine.connection import Connection, connection_of
from stream.engine.topic_ids import TopicFacts
from stream.engine.worker import Job
from stream.gathering.people import held_bytes_max
from stream.gathering.second import RawTopic
from stream.metrics.crowds import crowd_counts
from stream.metrics.meter import Meter
from stream.stores.memory import MemoryStore
from stream.stores.rows import NoRows


def crowd_task(file: Path, environment: Mapping[str, str]) -> Task:
    opened = open_crowds(file, environment)
    connection = connection_of(opened.settings.kafka, environment)
    meter = Meter(crowd_meter_settings_of(opened))
    meter.gathered = crowd_counts(opened.promise, opened.settings.metrics.small_count_floor)
    stages = (FlowStages if opened.promise.timing is None else CrowdStages)(opened, connection)
    return task_of(opened.settings, opened.warnings, meter, stages)


@dataclass(frozen=True)
class CrowdStages:
    """Both stages of one pipeline of windows."""

    opened: OpenedCrowds
    connection: Connection

    @property
    def stages(self) -> Stages:
        return crowd_stages(self.opened, self.connection)

    def first(self, meter: Meter) -> Job:
        promise = self.opened.promise
        sizes = Sizes(held_bytes_max(), part_bytes_max())
        return self.stages.first(meter, sizes, lambda raw, number: CrowdGather(promise, raw.name, raw.id.bytes, number))

    def second(self, meter: Meter) -> Callable[[TopicFacts], Job]:
        """The second job, once the brokers have told what the raw topic is."""
        promise = self.opened.promise
        return self.stages.second(
            meter, self._sizes, lambda raw, topic, number: CrowdWindows(promise, raw, topic, number), ACCOUNTED
        )

    def _sizes(self, partitions: int) -> Sizes:
        promise = self.opened.promise
        mark = crowd_mark_bytes_max(partitions, promise.horizon)
        return Sizes(max(part_bytes_max(), guard_bytes_max()), window_bytes_max(promise), mark)

    def warm_up(self) -> None:
        promise, store = self.opened.promise, MemoryStore(NoRows())
        CrowdGather(promise, "", ANY_TOPIC.bytes, 0).prepare(no_records(), store)
        CrowdWindows(promise, RawTopic(ANY_TOPIC.bytes, 1), "").warm_up()
