"""The small records that a stage keeps in the clear in its changelog, and which raw topic it is of."""

from __future__ import annotations

import json
from uuid import UUID

from stream import names
from stream.audit.world import Topics
from stream.errors import CannotAudit


async def marks_of(topics: Topics, topic: str, partition: int = 0) -> dict[bytes, bytes]:
    """The latest of each key of one byte."""
    if partition not in await topics.partitions(topic):
        raise CannotAudit(
            "A changelog of the pipeline does not exist.",
            where=f"topic {topic}, partition {partition}",
            why="the brokers know no topic of this name with such a partition",
            fix="see whether the settings are those of this pipeline, or leave the changelogs out: --no-changelog",
        )
    found: dict[bytes, bytes] = {}
    end = (await topics.bounds(topic, partition)).end
    async for records in topics.read(topic, partition, end, committed=True):
        for record in records:
            if record.key is not None and record.value is not None and len(record.key) == 1:
                found[record.key] = record.value
    return found


async def topic_id_of(topics: Topics, changelog: str) -> bytes:
    """The raw topic's id, from the control record of the first stage."""
    control = (await marks_of(topics, changelog)).get(names.CHANGELOG_CONTROL_KEY)
    try:
        return UUID(str(json.loads(control or b"{}").get("topic_id"))).bytes
    except ValueError:
        raise CannotAudit(
            "It is not known which raw topic this pipeline reads.",
            where=f"topic {changelog}, partition 0",
            why="its control record is missing, or says nothing of a topic",
            fix="see whether the settings are those of this pipeline, or leave the changelogs out: --no-changelog",
        ) from None
