"""What the stages of a pipeline of crowds keep in the clear: how far each has come."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from stream import names
from stream.audit.crowd_task import CrowdTask
from stream.audit.stage_marks import marks_of
from stream.audit.world import Topics
from stream.errors import CannotAudit

_CLOSED = struct.Struct(">Bqqq")
_STANDING = struct.Struct(">BIq")


@dataclass(frozen=True)
class Come:
    """Up to which raw record a partition has come, and up to when its windows are closed, where that is known."""

    progress: int
    closed_to: int | None


async def come_to(task: CrowdTask, topics: Topics, partitions: Sequence[int]) -> list[Come]:
    """Of each partition of the raw topic."""
    if not task.with_changelog:
        offsets = await topics.group_offsets(task.crowds.pipeline, task.raw_topic)
        if offsets is None:
            raise CannotAudit(
                "It is not known how far the pipeline has come.",
                where=f"consumer group {task.crowds.pipeline}",
                why="this login may not see its offsets, and the changelogs are left out",
                fix="audit with the changelogs, or with a login that may describe the group",
            )
        return [Come(offsets.get(partition, 0), None) for partition in partitions]
    found = []
    for partition in partitions:
        marks = await marks_of(topics, task.changelog_topic, partition)
        progress, closed = marks.get(names.CHANGELOG_PROGRESS_KEY), marks.get(names.CHANGELOG_AGGREGATE_KEY)
        closed_to = _CLOSED.unpack(closed)[1] if closed is not None and len(closed) == _CLOSED.size else None
        found.append(Come(int.from_bytes(progress or b"", "big"), closed_to))
    return found


async def released_to(task: CrowdTask, topics: Topics, partition: int) -> int | None:
    """Up to when all windows have their record; None where nothing was released yet."""
    mark = (await marks_of(topics, task.total_changelog, partition)).get(names.CHANGELOG_AGGREGATE_KEY)
    return None if mark is None or len(mark) < _STANDING.size else int(_STANDING.unpack_from(mark)[2])
