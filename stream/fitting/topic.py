"""A Kafka topic as a source: committed records up to the end that it had when the fit began, partition by partition.

No group is joined and nothing is committed, so a pipeline that reads the same topic does not notice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from stream.audit.kafka_world import KafkaTopics
from stream.audit.records import Record
from stream.audit.world import Bounds, Topics
from stream.engine.connection import connection_of
from stream.errors import CannotAudit, CannotFit
from stream.fitting.sources import Chunk, Line
from stream.settings.model import Settings


@dataclass
class Topic:
    """Reads as often as it is asked, to the same offsets each time."""

    topic: str
    topics: Topics
    kind: str = "record"
    _bounds: dict[int, Bounds] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.topic

    def chunks(self) -> Iterator[Chunk]:
        for partition, records, share in self.fetched():
            places = [f"partition {partition} offset {record.offset}" for record in records]
            lines = [Line(record.key, record.value, record.timestamp) for record in records]
            yield Chunk(lines, places, share)

    @property
    def is_cut(self) -> bool:
        """Whether the first records of some partition are gone; known once it has been read."""
        return any(bounds.first > 0 for bounds in self._bounds.values())

    def fetched(self) -> Iterator[tuple[int, Sequence[Record], float]]:
        """Each fetch: its partition, its records, and the share of all that has been read with it."""
        with _read(self.topic), asyncio.Runner() as runner:
            if not self._bounds:
                self._bounds = runner.run(_bounds(self.topics, self.topic))
            whole = max(sum(bounds.stable - bounds.first for bounds in self._bounds.values()), 1)
            before = 0
            for partition, bounds in sorted(self._bounds.items()):
                reading = self.topics.read(self.topic, partition, bounds.stable, committed=True)
                while (records := runner.run(_next(reading))) is not None:
                    reached = records[-1].offset + 1 - bounds.first if records else 0
                    yield partition, records, min(1.0, (before + reached) / whole)
                before += bounds.stable - bounds.first


async def _next(reading: object) -> Sequence[Record] | None:
    found: Sequence[Record] | None = await anext(reading, None)  # type: ignore[call-overload]
    return found


async def _bounds(topics: Topics, topic: str) -> dict[int, Bounds]:
    partitions = await topics.partitions(topic)
    if not partitions:
        raise CannotFit("There is nothing to learn from.", f"topic {topic}", "it does not exist", "name another topic")
    return {partition: await topics.bounds(topic, partition) for partition in partitions}


@contextmanager
def _read(topic: str) -> Iterator[None]:
    """What reads the released topic for an audit reads any topic; only its refusals speak of an audit."""
    try:
        yield
    except CannotAudit as error:
        fix = "see whether the brokers are up, whether this login may read the topic, and whether a transaction is open"
        raise CannotFit("The topic cannot be read.", error.where or f"topic {topic}", error.why, fix) from None


def topic_source(settings: Settings, topic: str, environment: Mapping[str, str]) -> Topic:
    return Topic(topic, KafkaTopics(connection_of(settings.kafka, environment)))
