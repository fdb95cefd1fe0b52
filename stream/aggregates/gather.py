"""The first stage of windows of aggregates: events become contributions, and windows that are over become partials."""

from __future__ import annotations

from stream.aggregates.contributions import Contributions
from stream.aggregates.partials import Writer
from stream.aggregates.promise import AggregatePromise
from stream.gathering.envelopes import Sender
from stream.gathering.first import ONE_EVENT, FirstStage
from stream.gathering.people import People
from stream.records.columns import ColumnReader


class GatherPipeline(FirstStage):
    """The first stage of one partition."""

    def __init__(self, promise: AggregatePromise, topic: str, topic_id: bytes, partition: int) -> None:
        rules = Contributions(promise.queries)
        people = People(rules, promise.ring, promise.pipeline, topic_id, partition)
        sender = Sender(promise.ring, promise.pipeline, topic_id, partition)
        super().__init__(
            promise,
            promise.record,
            ColumnReader(promise.record, ONE_EVENT, promise.forms),
            people,
            Writer(people, sender, rules.cells, start=promise.start, length=promise.length),
            topic,
            partition,
        )
