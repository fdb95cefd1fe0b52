"""Windows of crowds by hand: promises of every kind, streams of events, and both stages of all partitions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from aggregate_lives import (
    MINUTE,
    RING,
    SECOND,
    START,
    TOPIC_ID,
    Life,
    Raw,
    block_of_partials,
    cut_at_random,
    random_events,
    random_value,
    told,
)

from beliefs.crowd.law_file import parse
from stream.crowds.gather import CrowdGather
from stream.crowds.opening import compile_crowds
from stream.crowds.promise import CrowdPromise
from stream.crowds.windows import CrowdWindows
from stream.gathering.second import RawTopic
from stream.keys import KeyRing
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing
from stream.settings.load import parse_settings

SETTINGS = """\
version: 1
pipeline: {name: walkers}
kafka: {brokers: ['127.0.0.1:9092'], raw_topic: walkers.raw, released_topic: walkers.out, dead_letter_topic: w.dead}
record: {user: key, event_time: {path: $.t, unit: ms}}
keys: {file: keys.json}
policy_version: 1
crowd:
"""
TIMES = "window: 1m\nfrom: 2026-01-01T00:00:00Z\nlateness: 10s\ngrace: 5s\nahead: 5m"
NOTHING = "believes: nothing_declared"
LAW = "believes: {law: law.json}\ntarget: {epsilon: 1.0, delta: 0.5}"
TOPPED = "believes: {law: law.json}\ntarget: {epsilon: 1.0, delta: 0.02, beyond: top_up}"
TYPED = "believes: {law: law.json, by: $.kind, known: 0.25}\ntarget: {epsilon: 1.0, delta: 0.35}"
HOUSED = "believes: {law: law.json, household: $.home}\ntarget: {epsilon: 1.0, delta: 0.5}"
FRESH = "believes: {law: law.json, windows: fresh}\ntarget: {epsilon: 1.0, delta: 0.3}"
COUNT = "count: $.job, of: [a, b]"
SUM = "sum: $.v, low: -2, high: 8, grid: 0.5"
MEAN = "mean: $.v, low: -2, high: 8, grid: 0.5"
RANGE = "range: $.v, low: -2, high: 8, grid: 0.5"
HISTOGRAM = "histogram: $.job, values: [a, b, c]"
RECORDS = (
    "records: mondrian, by: {v: {of: $.v, low: -2, high: 8, grid: 0.5}, "
    "job: {of: $.job, tree: {any: {letters: [a, b], other: [c]}}}}, "
    "sensitive: {of: $.ill, values: [flu, cold], diverse: 2}"
)
EVERY_KIND = (COUNT, SUM, MEAN, RANGE, HISTOGRAM, RECORDS)
FLAT = {"count": 2, "sum": 21, "mean": 21, "range": 21, "histogram": 3}


class Walk(NamedTuple):
    """One record of the raw topic; `record` is its Kafka timestamp."""

    user: bytes
    time: int
    record: int
    value: float = 1.0
    job: str = "a"
    ill: str = "flu"
    kind: str = "walker"
    home: str | int | None = None

    @property
    def text(self) -> bytes:
        said: dict[str, Any] = {"t": self.time, "v": self.value, "job": self.job, "ill": self.ill, "kind": self.kind}
        if self.home is not None:
            said["home"] = self.home
        return json.dumps(said).encode()


def at(seconds: float, user: bytes | str = b"ann", value: float = 1.0, **more: Any) -> Walk:
    """An event so long after the first window's start."""
    time = START + round(seconds * SECOND)
    record = START + round(more.pop("record", seconds) * SECOND)
    return Walk(user if isinstance(user, bytes) else user.encode(), time, record, value, **more)


def law_text(**said: Any) -> bytes:
    return json.dumps({"format": "sottovoce-crowd-law", "version": 1, **said}).encode()


TWO = law_text(types={"walker": [0.5, 0.5], "runner": [0.25, 0.75]})
HOMES = law_text(household=[[0.3, 0.2], [0.2, 0.3]])


def flat_law(release: str) -> bytes:
    """Everybody has every value with the same chance."""
    places = FLAT[release.partition(":")[0]]
    return law_text(types={"default": [1 / places] * places})


def crowd_promise(
    release: str = SUM,
    believes: str = NOTHING,
    *,
    k: int = 3,
    over: str = "all",
    law: bytes | None = None,
    ring: KeyRing = RING,
    times: str = TIMES,
) -> CrowdPromise:
    """`law` is there where something is believed; by default everybody has every value with the same chance."""
    lines = [f"k: {k}", f"over: {over}", *times.splitlines(), f"release: {{{release}}}", *believes.splitlines()]
    settings = parse_settings((SETTINGS + "".join(f"  {line}\n" for line in lines)).encode(), Path("c.yaml"))
    assert settings.crowd is not None
    read = law if law is not None or "law.json" not in believes else flat_law(release)
    return compile_crowds(settings, settings.crowd, ring, None if read is None else parse(read))


def gather_of(promise: CrowdPromise, partition: int = 0) -> CrowdGather:
    return CrowdGather(promise, "walkers.raw", TOPIC_ID, partition)


def windows_of(promise: CrowdPromise, partitions: int = 1, partition: int = 0) -> CrowdWindows:
    return CrowdWindows(promise, RawTopic(TOPIC_ID, partitions), "walkers-crowds", partition)


def block_of(sent: Sequence[Walk], first: int = 0) -> InputBlock:
    return InputBlock.of([Raw(first + i, each.record, each.user, each.text) for i, each in enumerate(sent)])


def parts_of(promise: CrowdPromise, sent: Sequence[Walk], until: int, partition: int = 0) -> list[Outgoing]:
    """What a partition sends, every window closed by the clock at the end."""
    life = Life(gather_of(promise, partition))
    if sent:
        life.carry_out(block_of(sent))
    life.close_by_clock(until)
    return life.released


def released_of(promise: CrowdPromise, *streams: Sequence[Walk], windows: int = 1) -> list[dict[str, Any]]:
    """What comes of so many windows over these partitions."""
    until = START + windows * MINUTE + 15 * SECOND
    order = [part for place, sent in enumerate(streams) for part in parts_of(promise, sent, until, place)]
    life = Life(windows_of(promise, len(streams)))
    life.carry_out(block_of_partials(order))
    return told(life.released)


def shuffled(chance: Random, sent: Sequence[Sequence[Any]]) -> list[Any]:
    """Of several lists one, in an order that keeps each list's."""
    turns = [place for place, each in enumerate(sent) for _ in each]
    chance.shuffle(turns)
    left = [iter(each) for each in sent]
    return [next(left[place]) for place in turns]


def carried_out_in_pieces(chance: Random, life: Life, make: Any, order: Sequence[Outgoing]) -> Life:
    """The same blocks cut anywhere, some of them aborted, and somebody new now and then."""
    for first, some in cut_at_random(chance, order):
        block = block_of_partials(some, first)
        if chance.random() < 0.4:
            life.pipeline.prepare(block, life.store)  # never commits
            life = Life(make(), life.store, life.effects)
        life.carry_out(block)
    return life


def random_walks(chance: Random, count: int, users: int = 8) -> list[Walk]:
    """Of a few users, some in households, one of two types."""

    def event(time: int, now: int) -> Walk:
        person = chance.randrange(users)
        home = None if person % 3 == 0 else person // 2
        kind = chance.choice(("walker", "runner")) if person % 4 == 0 else "walker"
        ill = chance.choice(("flu", "cold"))
        return Walk(b"u%d" % person, time, now, random_value(chance), chance.choice("abc"), ill, kind, home)

    return random_events(chance, count, event, (0, 0, 0, 1, 3, 7, 20, 45))
