"""What is read, in which order, and when an audit says neither yes nor no."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from audit_world import (
    CHANGELOG,
    RELEASED,
    Memory,
    Run,
    codes,
    run,
)

from stream.errors import CannotAudit


@pytest.fixture
def finished() -> Run:
    return run(4, events=1200, users=12)


def test_a_lost_dead_letter_breaks_the_identity(finished: Run) -> None:
    finished.topics.logs["phones.dead"][0].pop()
    assert codes(finished) == {"identity"}


def test_holes_between_offsets_are_no_lost_inputs(finished: Run) -> None:
    mark = finished.states()[-1]
    finished.states()[-1] = replace(mark, value=(1300).to_bytes(8, "big"))
    report = finished.report()
    assert report.agrees
    assert report.inputs == 1200


def test_a_topic_without_its_beginning_cannot_be_audited(finished: Run) -> None:
    finished.topics.first = 10
    with pytest.raises(CannotAudit, match="beginning"):
        finished.report()


def test_a_topic_that_is_not_there_cannot_be_audited(finished: Run) -> None:
    finished.topics = Memory({})
    with pytest.raises(CannotAudit, match="does not exist"):
        finished.report()


def test_releases_can_be_audited_without_the_changelog(finished: Run) -> None:
    finished.topics.logs[CHANGELOG] = []
    assert codes(finished, with_changelog=False) == set()
    with pytest.raises(CannotAudit):
        finished.report()


def test_events_that_arrive_during_the_audit_are_left_for_the_next(finished: Run) -> None:
    """The changelog is read before the released topic, which has grown meanwhile."""
    whole = list(finished.released())
    later = run(4, events=1400, users=12)
    finished.topics.logs[RELEASED][0] = later.released()
    settled = whole[-1].offset + 1

    class Growing(Memory):
        async def bounds(self, topic: str, partition: int) -> Any:
            found = await super().bounds(topic, partition)
            return found._replace(stable=settled) if topic == RELEASED else found

    finished.topics = Growing(finished.topics.logs)
    report = finished.report()
    assert report.agrees
    assert report.tally.later == len(later.released()) - len(whole)
