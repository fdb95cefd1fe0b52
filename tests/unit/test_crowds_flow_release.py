"""The records of flows: what stands in them, and that nothing is written that is no crowd."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aggregate_lives import START, TOPIC_ID
from flow_lives import flow_promise

from beliefs.checks import InvariantBroken
from mechanisms.crowds.flow import Emitted
from stream.crowds.flow_release import FlowReleases, record_bytes_max
from stream.crowds.tuples import Event

BOX = ((4, 9), (0, 1))
CROWD = Emitted((3, 4, 7, 8), 3, BOX, 0.1 + 0.2, reused=False, reason=None)
EVENTS = [Event(user, START, (4 + i, i % 2), i % 2) for i, user in enumerate((b"a", b"b", b"c", b"a"))]


def said(emitted: Emitted, events: list[Event], **changes: Any) -> dict[str, Any]:
    record = FlowReleases(flow_promise(**changes), TOPIC_ID, 2).record(5, emitted, events, START)
    assert (record.key, record.timestamp) == (b"2-5", START)
    assert [name for name, _ in record.headers] == ["release-id", "policy", "outcome"]
    value = json.loads(record.value or b"")
    assert isinstance(value, dict)
    assert record.headers[2][1] == value["outcome"].encode()
    return value


def test_a_crowd_is_written_in_its_box() -> None:
    assert said(CROWD, EVENTS) == {
        "crowd": 5,
        "partition": None,
        "outcome": "released",
        "reason": None,
        "grouper": "castle",
        "events": 4,
        "reused": False,
        "users": 3,
        "box": {"age": [2.0, 4.5], "job": "medical"},
        "loss": 0.300000001,
        "sensitive": [{"value": "flu", "count": 2}, {"value": "cold", "count": 2}],
        "guarantee": {"epsilon": None, "delta": 1, "method": "none", "k": 3},
    }
    assert said(CROWD, EVENTS, over="partition", more="") | {"box": None} == {
        **said(CROWD, EVENTS),
        "partition": 2,
        "sensitive": None,
        "box": None,
    }


def test_events_that_are_withheld_are_a_number() -> None:
    few = Emitted((3, 4), 2, None, 1.0, reused=False, reason="too_few")
    value = said(few, EVENTS[:2])
    assert (value["outcome"], value["reason"], value["events"]) == ("withheld", "too_few", 2)
    assert {value[name] for name in ("users", "box", "loss", "sensitive")} == {None}


def test_an_event_alone_in_an_earlier_box_has_no_count() -> None:
    """It would be a person's value."""
    value = said(Emitted((9,), 3, BOX, 0.25, reused=True, reason=None), EVENTS[:1])
    assert (value["events"], value["users"], value["reused"], value["sensitive"]) == (1, 3, True, None)


@pytest.mark.parametrize(
    ("emitted", "events"),
    [
        (CROWD._replace(users=2), EVENTS),
        (CROWD._replace(seqs=(3, 4, 7)), EVENTS[:2] + EVENTS[3:]),  # two people, of whom one has two events
        (CROWD._replace(seqs=(3,), reused=True, users=2), EVENTS[:1]),
        (CROWD._replace(box=((4, 9), (0, 0))), EVENTS),
        (CROWD._replace(box=((5, 9), (0, 1))), EVENTS),
        (CROWD._replace(box=((4, 9),)), EVENTS),
        (CROWD._replace(box=None), EVENTS),
        (CROWD._replace(reason="loss"), EVENTS),
        (CROWD._replace(seqs=()), []),
        (CROWD, EVENTS[:3]),
    ],
)
def test_what_is_no_crowd_is_never_written(emitted: Emitted, events: list[Event]) -> None:
    releases = FlowReleases(flow_promise(), TOPIC_ID, 0)
    with pytest.raises((InvariantBroken, ValueError)):
        releases.record(0, emitted, events, START)


def test_no_record_is_larger_than_is_said() -> None:
    events = [Event(b"%d" % i, START, (40, 4), i % 3) for i in range(12)]
    whole = Emitted(tuple(range(12)), 12, ((0, 40), (0, 4)), 1 / 3, reused=False, reason=None)
    promise = flow_promise(events=12, over="partition")
    record = FlowReleases(promise, TOPIC_ID, 2**31).record(2**62, whole, events, START)
    assert len(record.value or b"") < record_bytes_max(promise) < 2 * len(record.value or b"") + 1024
