"""A flow of crowds on the real broker: its raw records, and what must have come of each of them."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from flow_lives import AGE, ILL, JOB, JOBS, Expected, FlowLife, Sent, Turn, expected_of, random_events
from live_house import TwoStageHouse
from live_kafka import consume_all
from live_stream import now_ms
from live_worker import until
from live_writing import PARTITIONS, Raw, producing, write_with

from stream.crowds.flow import FlowPipeline
from stream.crowds.opening import open_crowds
from stream.crowds.promise import CrowdPromise
from stream.crowds.tuples import Opener
from stream.engine.connection import Connection
from stream.engine.topics import facts_of
from stream.protocol.control import AGGREGATE_KEY, CLOCK_KEY

K = 4
DELAY_MS = 3_000
BROKEN = b'{"t": 1'
SECTION = """\
crowd:
  k: {k}
  over: {over}
  delay: {{events: 60, time: 3s}}
  release: {{records: {grouper}, by: {{{age}, {job}}}, {ill}}}
  believes: nothing_declared
"""
_MARK = struct.Struct(">BIqIqqqII")


class Checked(NamedTuple):
    """What became of the events of a run: counts of records and events, and of every event how long it waited."""

    outcomes: Counter[str]
    events: Counter[str]
    waits: list[int]


class FlowHouse(TwoStageHouse):
    between_suffix = "crowds"

    def __init__(self, broker: str, folder: Path, grouper: str, over: str = "all") -> None:
        super().__init__(broker, folder)
        self._grouper, self._over = grouper, over

    @property
    def section(self) -> str:
        return SECTION.format(k=K, over=self._over, grouper=self._grouper, age=AGE, job=JOB, ill=ILL)

    @property
    def promise(self) -> CrowdPromise:
        return open_crowds(self.files[0], {}).promise

    @property
    def sources(self) -> list[range]:
        """The partitions of the raw topic that come together, flow by flow."""
        return [range(PARTITIONS)] if self._over == "all" else [range(each, each + 1) for each in range(PARTITIONS)]

    async def write_for(self, seconds: float) -> None:
        """Events of some users, some repeated, some broken."""
        chance, ends = Random(5), time.monotonic() + seconds
        async with producing(self.broker) as producer:
            while time.monotonic() < ends:
                await write_with(producer, self.raw, raw_records(chance, 30))
                await asyncio.sleep(0.1)

    async def everything_is_out(self, seconds: float = 90.0) -> None:
        """Returns when every event that was written has gone out."""
        raw = await consume_all(self.broker, self.raw)
        last = [
            max(each.offset for each in raw if each.partition == partition and each.value != BROKEN)
            for partition in range(PARTITIONS)
        ]

        async def is_out() -> bool:
            for worker in self.workers.values():
                assert worker.running, f"the worker ended:\n{worker.log_tail()}"
            changelog = await consume_all(self.broker, self.changelogs[1])
            marks = {each.partition: each.value for each in changelog if each.key == AGGREGATE_KEY}
            return all(_is_over(marks.get(flow), last, sources) for flow, sources in enumerate(self.sources))

        await until(is_out, seconds)

    async def check(self) -> Checked:
        """Every raw record, event by event: passed on once or refused, and out once, in a crowd, or withheld."""
        facts = await facts_of(Connection((self.broker,)), [self.raw])
        topic_id, promise = facts[self.raw].id.bytes, self.promise
        raw = {(each.partition, each.offset): each for each in await consume_all(self.broker, self.raw)}
        between = await consume_all(self.broker, self.between)
        opener = Opener(promise.ring, self.name, topic_id, range(PARTITIONS), promise.release.sizes[:-1], 3)
        passed = [opener.open(each.value).head for each in between]
        good = [place for place, each in raw.items() if each.value != BROKEN]
        assert sorted((head.partition, head.offset) for head in passed) == sorted(good)
        letters = [json.loads(each.value) for each in await consume_all(self.broker, self.dead)]
        assert sorted((each["partition"], each["offset"]) for each in letters) == sorted(raw.keys() - set(good))
        assert {each["reason"] for each in letters} <= {"not_json"}
        released = await consume_all(self.broker, self.out)
        changelog = await consume_all(self.broker, self.changelogs[1])
        checked = Checked(Counter(), Counter(), [])
        for flow, sources in enumerate(self.sources):
            turns = turns_of(
                [
                    (each.offset, Turn(each.timestamp, each.value, sent_of(raw[head.partition, head.offset])))
                    for each, head in zip(between, passed, strict=True)
                    if each.partition == flow
                ],
                [each.value for each in changelog if each.partition == flow and each.key == CLOCK_KEY],
            )
            life = FlowLife(FlowPipeline(promise, topic_id, self.between, flow, sources))
            life.turns(turns)
            mine = [each for each in released if each.partition == flow]
            found = [(each.key, each.value, each.timestamp) for each in mine]
            assert found == [(each.key, each.value, each.timestamp) for each in life.released]
            self._check_flow([json.loads(each.value) for each in mine], expected_of(promise, turns), checked)
            checked.events.update(life.outcomes())
        await self.check_same_bytes()
        return checked

    def _check_flow(self, said: list[dict[str, Any]], expected: list[Expected], checked: Checked) -> None:
        assert [each["crowd"] for each in said] == list(range(len(expected)))
        for each, wanted in zip(said, expected, strict=True):
            assert (each["events"], each["reason"]) == (len(wanted.events), wanted.emitted.reason)
            checked.outcomes[each["reason"] or ("reused" if each["reused"] else "crowd")] += 1
            checked.waits.extend(wanted.waits)
            if each["reason"] is None:
                assert each["users"] >= K
                assert each["reused"] or len({event.user for event in wanted.events}) == each["users"]
                low, high = each["box"]["age"]
                assert all(low - 0.25 <= min(max(event.age, 0), 20) <= high + 0.25 for event in wanted.events)
                assert all(each["box"]["job"] in ("any", event.job, JOBS[event.job]) for event in wanted.events)


def raw_records(chance: Random, count: int) -> list[Raw]:
    now = now_ms()
    found = []
    for i, sent in enumerate(random_events(chance, count, users=40)):
        user = int(sent.user[1:])
        named = sent._replace(user=b"person-%03d" % user, time=now + i)
        raw = Raw(user % PARTITIONS, named.user, named.text, timestamp=now)
        found.append(raw)
        if chance.random() < 0.1:
            found.append(raw if chance.random() < 0.8 else raw._replace(value=BROKEN))
    return found


def sent_of(record: Any) -> Sent:
    event = json.loads(record.value)
    return Sent(record.key, event["t"], event["age"], event["job"], event["ill"])


def turns_of(records: Sequence[tuple[int, Turn]], marks: Sequence[bytes]) -> list[Turn]:
    """The tuples in their order, and between them the times at which events went out by the clock."""
    clocks = [struct.unpack(">qq", mark) for mark in marks]
    turns: list[Turn] = []
    for offset, turn in records:
        while clocks and clocks[0][1] <= offset:
            turns.append(Turn(clocks.pop(0)[0], None, None))
        turns.append(turn)
    return turns + [Turn(clock, None, None) for clock, _ in clocks]


def _is_over(mark: bytes | None, last: Sequence[int], sources: range) -> bool:
    if mark is None:
        return False
    *_, waiting, count = _MARK.unpack_from(mark)
    seen = struct.unpack_from(f">{count}q", mark, _MARK.size)
    return waiting == 0 and list(seen) == [last[source] for source in sources]
