"""Flows of crowds by hand: a pipeline's promise, streams of events, and what must come of them, by a grouper that is
run outside of the stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from aggregate_lives import RING, SECOND, START, TOPIC_ID, Life, Raw

from mechanisms.crowds.flow import Emitted
from mechanisms.crowds.registry import REGISTRY
from mechanisms.crowds.waiting import Arrival
from stream.crowds.flow import FlowPipeline, form_of
from stream.crowds.forward import ForwardPipeline
from stream.crowds.opening import compile_crowds
from stream.crowds.promise import CrowdPromise
from stream.keys import KeyRing
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing
from stream.settings.load import parse_settings
from stream.settings.model import Settings

HEAD = """\
version: 1
pipeline: {name: walkers}
kafka: {brokers: ['127.0.0.1:9092'], raw_topic: walkers.raw, released_topic: walkers.out, dead_letter_topic: w.dead}
record: {user: key, event_time: {path: $.t, unit: ms}}
keys: {file: keys.json}
policy_version: 1
"""
AGES = 20
JOBS = {"doctor": "medical", "nurse": "medical", "clerk": "office", "boss": "office", "pilot": "pilot"}
ILLS = ("flu", "cold", "none")
AGE = "age: {of: $.age, low: 0, high: 20, grid: 0.5}"
JOB = "job: {of: $.job, tree: {any: {medical: [doctor, nurse], office: [clerk, boss], air: [pilot]}}}"
ILL = "sensitive: {of: $.ill, values: [flu, cold, none], diverse: 2}"
GROUPERS = sorted(REGISTRY)


class Sent(NamedTuple):
    """One event of the raw topic."""

    user: bytes
    time: int
    age: float
    job: str
    ill: str

    @property
    def text(self) -> bytes:
        return json.dumps({"t": self.time, "age": self.age, "job": self.job, "ill": self.ill}).encode()


class Turn(NamedTuple):
    """A tuple at the brokers' time; or, without one, events that go out by the clock."""

    time: int
    value: bytes | None
    sent: Sent | None


def flow_text(grouper: str = "castle", *, k: int = 3, events: int = 12, more: str = ILL, over: str = "all") -> str:
    release = f"records: {grouper}, by: {{{AGE}, {JOB}}}" + (f", {more}" if more else "")
    lines = (
        f"k: {k}",
        f"over: {over}",
        f"delay: {{events: {events}, time: 1m}}",
        f"release: {{{release}}}",
        "believes: nothing_declared",
    )
    return HEAD + "crowd:\n" + "".join(f"  {line}\n" for line in lines)


def flow_settings(text: str) -> Settings:
    return parse_settings(text.encode(), Path("c.yaml"))


def flow_promise(
    grouper: str = "castle", *, k: int = 3, events: int = 12, more: str = ILL, over: str = "all", ring: KeyRing = RING
) -> CrowdPromise:
    settings = flow_settings(flow_text(grouper, k=k, events=events, more=more, over=over))
    assert settings.crowd is not None
    return compile_crowds(settings, settings.crowd, ring)


def forward_of(promise: CrowdPromise, partition: int = 0) -> ForwardPipeline:
    return ForwardPipeline(promise, "walkers.raw", TOPIC_ID, partition)


def flow_of(promise: CrowdPromise, partitions: int = 1) -> FlowPipeline:
    return FlowPipeline(promise, TOPIC_ID, "walkers-crowds", 0, range(partitions))


def raw_block(sent: Sequence[Sent], first: int = 0) -> InputBlock:
    return InputBlock.of([Raw(first + i, each.time, each.user, each.text) for i, each in enumerate(sent)])


def forwarded(promise: CrowdPromise, sent: Sequence[Sent], partition: int = 0) -> list[bytes]:
    """The tuples of these events."""
    life = Life(forward_of(promise, partition))
    if sent:
        life.carry_out(raw_block(sent))
    return [record.value or b"" for record in life.released]


def random_events(chance: Random, count: int, users: int = 7) -> list[Sent]:
    """Some of them are repeated."""
    sent: list[Sent] = []
    for number in range(count):
        if sent and chance.random() < 0.15:
            sent.append(chance.choice(sent[-6:]))
            continue
        age = chance.choice((chance.randrange(-4, 50) / 2, chance.gauss(10, 2)))
        user, job, ill = b"u%d" % chance.randrange(users), chance.choice([*JOBS]), chance.choice(ILLS)
        sent.append(Sent(user, START + number * SECOND, age, job, ill))
    return sent


def people(count: int) -> list[Sent]:
    return [Sent(b"u%d" % i, START + i, 10.0, "clerk", ("flu", "cold")[i % 2]) for i in range(count)]


def random_turns(chance: Random, promise: CrowdPromise, streams: Sequence[Sequence[Sent]]) -> list[Turn]:
    """The tuples of several partitions in one order, at brokers' times that may step back, and some closings between
    them.
    """
    tuples = [list(zip(forwarded(promise, sent, part), sent, strict=True)) for part, sent in enumerate(streams)]
    order = [part for part, sent in enumerate(streams) for _ in sent]
    chance.shuffle(order)
    turns, now = [], START
    for part in order:
        now += chance.choice((0, 1, 5, 5, 20)) * SECOND
        value, sent = tuples[part].pop(0)
        turns.append(Turn(now - chance.choice((0, 0, 0, 3)) * SECOND, value, sent))
        if chance.random() < 0.1:
            now += chance.choice((1, 40, 90)) * SECOND
            turns.append(Turn(now, None, None))
    turns.append(Turn(now + 120 * SECOND, None, None))
    return turns


@dataclass
class FlowLife(Life):
    """A flow whose offsets have holes, as where transactions end, and every block of which commits."""

    offset: int = 0
    hole: int = 1

    def turns(self, turns: Iterable[Turn]) -> None:
        """Carry out what comes between two closings as one block."""
        block: list[Turn] = []
        for turn in turns:
            if turn.value is None:
                self.block(block)
                block = []
                self.close_by_clock(turn.time)
            else:
                block.append(turn)
        self.block(block)

    def block(self, turns: Sequence[Turn], *, commits: bool = True) -> None:
        if turns:
            records = [Raw(self.offset + i, turn.time, None, turn.value) for i, turn in enumerate(turns)]
            if commits:
                self.offset += len(turns) + self.hole
                self.carry_out(InputBlock.of(records))
            else:
                self.pipeline.prepare(InputBlock.of(records), self.store)


def told(records: Iterable[Outgoing]) -> list[dict[str, Any]]:
    return [json.loads(record.value or b"") for record in records]


class Expected(NamedTuple):
    """What must go out: its events, what the grouper said, when, and how long each event has waited."""

    events: list[Sent]
    emitted: Emitted
    clock: int
    waits: list[int]


def expected_of(promise: CrowdPromise, turns: Iterable[Turn]) -> list[Expected]:
    """The same by the grouper alone, from the raw events."""
    form = form_of(promise)
    flow = REGISTRY[promise.release.grouper or ""](form)
    waiting: dict[int, Sent] = {}
    since: dict[int, int] = {}
    found: list[Expected] = []
    clock = taken = 0

    def let_go(crowds: Iterable[Emitted]) -> None:
        for each in crowds:
            waits = [clock - since[seq] for seq in each.seqs]
            found.append(Expected([waiting.pop(seq) for seq in each.seqs], each, clock, waits))

    for turn in turns:
        if turn.value is None and (flow.oldest is None or flow.oldest[1] + form.time > turn.time):
            continue  # nobody looks at the clock where nothing is due
        clock = max(clock, turn.time)
        let_go(flow.overdue(clock))
        if turn.sent is None or (turn.sent.user, turn.sent.time) in {
            (each.user, each.time) for each in waiting.values()
        }:
            continue
        waiting[taken], since[taken] = turn.sent, clock
        values = ILLS.index(turn.sent.ill) if form.rule.values else -1
        let_go(flow.take(*Arrival(taken, clock, turn.sent.user, cells_of(turn.sent), values)))
        taken += 1
    assert not waiting
    return found


def cells_of(sent: Sent) -> tuple[int, int]:
    return min(max(round(sent.age / 0.5), 0), 2 * AGES), [*JOBS].index(sent.job)
