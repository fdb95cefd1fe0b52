"""Windows of aggregates by hand: a pipeline's promise, streams of events, and a recount that shares no code with the
stages. The claim here is the plain sum of what windows lose.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple

import numpy as np
from aggregate_world import aggregate_settings

from mechanisms.aggregate.coin_stream import CoinStream
from stream.aggregates.compiled import queries_of
from stream.aggregates.gather import GatherPipeline
from stream.aggregates.promise import AggregatePromise
from stream.aggregates.total import TotalPipeline
from stream.gathering.people import readable_head
from stream.gathering.second import RawTopic
from stream.keys import Epoch, KeyRing
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing
from stream.stores.memory import MemoryStore
from stream.stores.rows import NoRows

TOPIC_ID = bytes(range(16))
SECOND = 1_000
MINUTE = 60 * SECOND
START = 1_767_225_600_000  # 2026-01-01
RING = KeyRing((Epoch(1, "", bytes(range(1, 33))),), Epoch(1, "", bytes(range(1, 33))))
FIRST = "first: {sum: $.v, low: -2, high: 8, grid: 0.5, take: first, epsilon: 0.5}"
LAST = "last: {mean: $.v, low: -2, high: 8, grid: 0.5, epsilon: 0.5}"
LARGEST = "largest: {sum: $.v, low: -2, high: 8, grid: 0.5, take: largest, epsilon: 0.5}"
SMALLEST = "smallest: {sum: $.v, low: 1, high: 8, grid: 0.5, take: smallest, epsilon: 0.5}"
SUMMED = "summed: {sum: $.v, low: -2, high: 8, grid: 0.5, take: sum, at_most: 3, epsilon: 0.5}"
JOB = "job: {histogram: $.job, values: [a, b, c], take: first, epsilon: 0.5}"
TOP = "top: {top: 1, of: $.job, values: [a, b, c], epsilon: 0.5}"
PEOPLE = "people: {count: users, epsilon: 0.5}"
EVERY_KIND = (PEOPLE, FIRST, LAST, LARGEST, SMALLEST, SUMMED, JOB, TOP)
SIZES = {"people": 1, "first": 1, "last": 2, "largest": 1, "smallest": 1, "summed": 1, "job": 3, "top": 3}
CENTRE = 6
"""Half the way from -2 to 8 in steps of 0.5."""


@dataclass(frozen=True)
class AddedUp:
    """A claim: everything that windows lose adds up."""

    method: str = "exact"
    adversary: str = "any"

    def leak(self, losses: Sequence[int]) -> int:
        return sum(losses)

    def next_loss(self, spent: Sequence[int], target: int) -> int:
        return max(0, target - sum(spent))


class Sent(NamedTuple):
    """One record of the raw topic; `record` is its Kafka timestamp."""

    user: bytes
    time: int
    value: float
    job: str
    record: int

    @property
    def text(self) -> bytes:
        return json.dumps({"t": self.time, "v": self.value, "job": self.job}).encode()


class Raw(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def at(seconds: float, user: bytes = b"ann", value: float = 1.0, job: str = "a", record: float | None = None) -> Sent:
    """An event so long after the first window's start."""
    time = START + round(seconds * SECOND)
    return Sent(user, time, value, job, time if record is None else START + round(record * SECOND))


def promise_of(*queries: str, horizon: int = 4, target: int | None = None, **changes: Any) -> AggregatePromise:
    settings = aggregate_settings(*(queries or EVERY_KIND))
    assert settings.aggregate is not None
    record = settings.record.model_copy(
        update={"event_time": settings.record.event_time.model_validate({"path": "$.t", "unit": "ms"})}
    )
    given: dict[str, Any] = {
        "pipeline": "walkers",
        "record": record,
        "ring": RING,
        "policy_version": 1,
        "policy_fingerprint": bytes(range(8)),
        "length": MINUTE,
        "start": START,
        "lateness": 10 * SECOND,
        "grace": 5 * SECOND,
        "ahead": 5 * MINUTE,
        "queries": queries_of(settings.aggregate),
        "claim": AddedUp(),
        "protects": "everything",
        "horizon": horizon,
        "target": target,
        "beyond": "withhold",
    }
    return AggregatePromise(**(given | changes))


def gather_of(promise: AggregatePromise, partition: int = 0) -> GatherPipeline:
    return GatherPipeline(promise, "walkers.raw", TOPIC_ID, partition)


def total_of(promise: AggregatePromise, partitions: int = 1) -> TotalPipeline:
    return TotalPipeline(promise, RawTopic(TOPIC_ID, partitions), "walkers-partials")


def block_of(sent: Sequence[Sent], first: int = 0) -> InputBlock:
    return InputBlock.of([Raw(first + i, each.record, each.user, each.text) for i, each in enumerate(sent)])


def block_of_partials(partials: Iterable[Outgoing], first: int = 0) -> InputBlock:
    records = enumerate(partials, first)
    return InputBlock.of([Raw(offset, each.timestamp, each.key, each.value) for offset, each in records])


@dataclass
class Life:
    """One stage of one partition, with its store; every block commits."""

    pipeline: Any
    store: MemoryStore = field(default_factory=lambda: MemoryStore(NoRows()))
    effects: list[Effects] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pipeline.adopt(self.store)

    def carry_out(self, block: InputBlock) -> Effects:
        return self.commit(self.pipeline.prepare(block, self.store))

    def close_by_clock(self, clock: int) -> list[Effects]:
        found = []
        while (effects := self.pipeline.prepare_overdue(self.store, clock)) is not None:
            found.append(self.commit(effects))
        return found

    def commit(self, effects: Effects) -> Effects:
        self.store.apply([], effects.heads, effects.codes, self.store.position() + 1, effects.marks, effects.held)
        self.effects.append(effects)
        return effects

    @property
    def released(self) -> list[Outgoing]:
        return [record for effects in self.effects for record in effects.releases]

    @property
    def dead_letters(self) -> list[dict[str, Any]]:
        return [json.loads(letter.value or b"") for effects in self.effects for letter in effects.dead_letters]

    def outcomes(self) -> dict[str, int]:
        counts: dict[str, int] = defaultdict(int)
        for effects in self.effects:
            for name, count in effects.outcomes.items():
                counts[name] += count
        return dict(counts)

    def offsets_held(self) -> dict[bytes, int]:
        """Of every user about whom something is held, the offset of his last event that counted."""
        heads = {key: readable_head(record) for key, record in self.store.held()}
        return {key: head.offset for key, head in heads.items() if head is not None}


def empty(promise: AggregatePromise, windows: int, partitions: int = 1) -> dict[int, list[Outgoing]]:
    """Partials of so many empty windows, each in a record of its own."""
    found: dict[int, list[Outgoing]] = {}
    for partition in range(partitions):
        life = Life(gather_of(promise, partition))
        for number in range(1, windows + 1):
            life.close_by_clock(START + number * MINUTE + 15 * SECOND)
        found[partition] = life.released
    return found


def sums_of(promise: AggregatePromise, partials: Iterable[Outgoing], partitions: int = 1) -> dict[int, list[int]]:
    """The cells of every window that these partials close, over all partitions."""
    opener = total_of(promise, partitions)._opener
    found: dict[int, Any] = {}
    for record in partials:
        partial = opener.open(record.value)
        for i, row in enumerate(partial.sums):
            number = (partial.head.closed_from - promise.start) // promise.length + i
            found[number] = found.get(number, np.zeros(promise.cells, np.int64)) + row
    return {number: row.tolist() for number, row in sorted(found.items())}


def told(records: list[Outgoing]) -> list[dict[str, Any]]:
    return [json.loads(record.value or b"", parse_float=Decimal) for record in records]


def without_noise(promise: AggregatePromise, said: dict[str, Any], noise_key: bytes) -> list[int]:
    """The cells of a window again, by whoever has the key."""
    cells: list[int] = []
    for place, query in enumerate(promise.queries):
        stream, told_ = CoinStream(noise_key, said["window"]["number"], place), said["aggregates"][query.name]
        if query.kind == "mean":
            cells.append(round(told_["sum"]["value"] / query.grid) - query.noise[0].draw(stream))
            cells.append(told_["count"]["value"] - query.noise[1].draw(stream))
        elif query.kind in ("histogram", "top"):
            drawn = [query.noise[0].draw(stream) for _ in range(query.cells)]
            shown = {each["value"]: each["count"] for each in told_["cells"]}
            cells += [shown[label] - drawn[i] if label in shown else -1 for i, label in enumerate(query.labels)]
        else:
            cells.append(round(told_["value"] / query.grid) - query.noise[0].draw(stream))
    return cells


def random_stream(chance: Random, count: int, users: int = 5) -> list[Sent]:
    """Of a few users."""

    def event(time: int, now: int) -> Sent:
        return Sent(b"u%d" % chance.randrange(users), time, random_value(chance), chance.choice("abc"), now)

    return random_events(chance, count, event, (0, 0, 1, 7, 20, 45, 130))


def random_value(chance: Random) -> float:
    return chance.choice((-9.0, -1.0, 0.0, 0.25, 0.75, 2.0, 3.5, 7.5, 99.0))


def random_events(chance: Random, count: int, event: Callable[[int, int], Any], paces: Sequence[int]) -> list[Any]:
    """Events that mostly move on by one of these paces, with some that are late, far ahead, before the start, or
    repeated; each of a time and of a record's timestamp.
    """
    sent: list[Any] = []
    now = START
    for _ in range(count):
        now += chance.choice(paces) * SECOND
        what = chance.random()
        if sent and what < 0.15:
            again = chance.choice(sent[-8:])
            sent.append(again._replace(value=chance.choice((again.value, 3.0)), record=now))
            continue
        behind = chance.choice((0, 0, 2, 8, 30, 200)) * SECOND
        sent.append(event(now - behind if what < 0.9 else now + chance.choice((1, 4, 6)) * MINUTE, now))
    return sent


def cut_at_random(chance: Random, sent: Sequence[Any]) -> Iterator[tuple[int, Sequence[Any]]]:
    at = 0
    while at < len(sent):
        size = chance.choice((1, 1, 2, 5, 40))
        yield at, sent[at : at + size]
        at += size
