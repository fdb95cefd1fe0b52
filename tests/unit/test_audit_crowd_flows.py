"""The audit of flows of crowds: it agrees with what the stages make, and sees whatever is changed afterwards."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from audit_memory import Kept
from crowd_audited import DEAD, GATHERED, RAW, RING_KEYS, SENT, TOTAL
from flow_audited import FlowHouse
from flow_lives import GROUPERS, ILL

import stream.audit.crowd_flows as room

CHANGED: list[tuple[str, Callable[[dict[str, Any]], None]]] = [
    ("crowd_small", lambda said: said.update(users=2)),
    ("crowd_box", lambda said: said["box"].update(age=[0, 21])),
    ("crowd_box", lambda said: said["box"].update(job="pilots")),
    ("crowd_box", lambda said: said.update(loss=said["loss"] + 0.01)),
    ("crowd_box", lambda said: said.update(box=None)),
    ("crowd_mixed", lambda said: said["sensitive"].pop()),
    ("crowd_mixed", lambda said: said.update(sensitive=[{"value": "flu", "count": said["events"]}])),
    ("crowd_strange", lambda said: said.update(people=["ann"])),
    ("crowd_strange", lambda said: said.update(events=0)),
    ("crowd_strange", lambda said: said.update(grouper="best")),
    ("crowd_strange", lambda said: said.update(reason="loss")),
    ("crowd_guarantee", lambda said: said["guarantee"].update(delta=0.1)),
    ("crowd_span", lambda said: said.update(crowd=said["crowd"] + 1)),
    ("flow_twice", lambda said: more(said, 1)),
    ("flow_lost", lambda said: more(said, -1)),
    ("flow_reused", lambda said: said.update(reused=True)),
    ("crowd_members", lambda said: said["box"].update(age=[20, 20])),
]


def more(said: dict[str, Any], by: int) -> None:
    said["events"] += by
    said["sensitive"][0]["count"] += by


@pytest.mark.parametrize("grouper", GROUPERS)
@pytest.mark.parametrize(("over", "more"), [("all", ILL), ("partition", ILL), ("all", ""), ("all", "loss_most: 0.4")])
async def test_what_the_stages_make_agrees_with_and_without_keys(grouper: str, over: str, more: str) -> None:
    house = FlowHouse(grouper, over=over, more=more)
    for keys in (None, RING_KEYS):
        report = await house.audit(ring_keys=keys)
        assert [(finding.code, finding.detail) for finding in report.findings] == []
        assert report.seen.released > 3
        assert report.told.refused == {"time_out_of_range": 2}
    assert (await house.audit(with_uncommitted=False)).agrees


@pytest.mark.parametrize(("code", "change"), CHANGED)
async def test_whatever_is_changed_is_found(code: str, change: Callable[[dict[str, Any]], None]) -> None:
    house = FlowHouse()
    house.change(house.place(lambda said: said["outcome"] == "released" and not said["reused"]), change)
    report = await house.audit()
    assert code in report.findings.codes()
    assert report.exit_status == 1


async def test_records_that_are_gone_or_come_twice_are_found() -> None:
    house = FlowHouse()
    gone = house.released.pop(2)
    assert {"crowd_missing", "flow_lost"} <= (await house.audit()).findings.codes()
    house.released[2:2] = [gone, gone]
    assert (await house.audit()).findings.codes() == {"crowd_twice"}
    house.released[3:4] = []
    house.released[2] = replace(gone, timestamp=0)
    assert (await house.audit()).findings.codes() == {"crowd_span"}
    house.released[2] = replace(gone, value=b'{"crowd": "ann"}')
    assert "crowd_unreadable" in (await house.audit()).findings.codes()
    house.released[2:] = []
    assert "crowd_missing" in (await house.audit()).findings.codes()


async def test_events_that_vanish_on_their_way_are_found() -> None:
    """A raw event that nobody has passed on, one that was passed on twice, and one that became another."""
    house = FlowHouse()
    raw, sent = house.memory.logs[RAW][0], house.memory.logs[SENT][0]
    kept = list(sent)
    del sent[3]
    assert ("flow_lost", "not passed on") in await found(house)
    sent[:] = [*kept, replace(kept[0], offset=len(kept))]
    assert ("flow_twice", "") in await found(house)
    sent[:] = [*kept, Kept(len(kept), None, b"of somebody else")]
    assert ("crowd_sent_unreadable", "") in await found(house)
    sent[:] = kept
    raw[0] = replace(raw[0], key=b"somebody-else")
    assert ("crowd_sent", "") in await found(house)
    assert (await house.audit()).agrees


async def found(house: FlowHouse) -> set[tuple[str, str]]:
    return {(finding.code, finding.detail) for finding in (await house.audit(ring_keys=RING_KEYS)).findings}


async def test_more_raw_events_than_came_out_and_fewer_are_found() -> None:
    house = FlowHouse()
    raw, letters = house.memory.logs[RAW][0], house.memory.logs[DEAD][0]
    letters.append(Kept(9, None, b'{"reason":"late","path":"$","topic":"walkers.raw","partition":0,"offset":1}'))
    assert "crowd_refused" in (await house.audit()).findings.codes()
    letters[-1:] = [
        Kept(9 + at, None, b'{"reason":"too_deep","path":"$","topic":"walkers.raw","partition":1,"offset":%d}' % at)
        for at in range(40)
    ]
    assert "flow_twice" in (await house.audit()).findings.codes()
    letters[:] = letters[:2]
    for offset in range(40):
        raw[offset] = replace(raw[offset], value=(raw[offset].value or b"").replace(b'"age": ', b'"age": 0'))
    assert "crowd_unread" in (await house.audit()).findings.codes()


async def test_what_the_second_stage_keeps_is_compared() -> None:
    house = FlowHouse()
    log = house.memory.logs[TOTAL][0]
    mark = log[0].value or b""
    numbers = list(struct.unpack_from(">BIqIqqqII", mark))
    for place, by, code in ((5, 1, "flow_lost"), (5, -1, "flow_twice"), (7, 2, "flow_twice"), (6, 1, "crowd_missing")):
        changed = list(numbers)
        changed[place] += by
        log[0] = replace(log[0], value=struct.pack(">BIqIqqqII", *changed) + mark[49:])
        assert code in (await house.audit()).findings.codes(), (place, by)
    for value in (b"\x02" + mark[1:], b"\x01"):
        log[0] = replace(log[0], value=value)
        assert (await house.audit()).findings.codes() == {"flow_state"}
    del log[0]
    assert (await house.audit()).agrees


async def test_without_changelogs_it_is_said_what_was_not_looked_at() -> None:
    house = FlowHouse()
    house.memory.group = {place: len(sent) for place, sent in enumerate(house.sent)}
    report = await house.audit(with_changelog=False)
    assert report.agrees
    assert any("which events wait" in note for note in report.notes)
    assert GATHERED in house.memory.logs


async def test_boxes_that_are_too_many_to_be_dealt_out_are_looked_at_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(room, "MOST_DEALT", 10)
    house = FlowHouse()
    report = await house.audit()
    assert report.agrees
    assert any("box by box" in note for note in report.notes)
    place = house.place(lambda said: said["outcome"] == "released" and not said["reused"])
    house.change(place, lambda said: more(said, 500))
    assert "flow_twice" in (await house.audit()).findings.codes()
