"""The first stage of windows of a crowd: events become what each user gives to each of his windows, and of windows that
are over everybody's is sent on.
"""

from __future__ import annotations

from stream.crowds.entries import CrowdRules
from stream.crowds.forms import forms_of
from stream.crowds.parts import PartWriter
from stream.crowds.promise import CrowdPromise
from stream.gathering.first import ONE_EVENT, FirstStage
from stream.gathering.people import People
from stream.records.columns import ColumnReader


class CrowdGather(FirstStage):
    """The first stage of one partition."""

    def __init__(self, promise: CrowdPromise, topic: str, topic_id: bytes, partition: int) -> None:
        people = People(CrowdRules(promise), promise.ring, promise.pipeline, topic_id, partition)
        super().__init__(
            promise.windowed,
            promise.record,
            ColumnReader(promise.record, ONE_EVENT, forms_of(promise)),
            people,
            PartWriter(promise, people, topic_id, partition),
            topic,
            partition,
        )
