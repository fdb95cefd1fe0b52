"""A pipeline of aggregates carried out in memory, with its topics as an auditor finds them, who may falsify them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from aggregate_lives import MINUTE, RING, SECOND, START, TOPIC_ID, Life, Sent, block_of, block_of_partials
from aggregate_world import INDEPENDENT, aggregate_settings
from audit_memory import Kept, Memory

from stream.aggregates.gather import GatherPipeline
from stream.aggregates.laws import load_laws
from stream.aggregates.opening import compile_aggregates
from stream.aggregates.total import TotalPipeline
from stream.audit.aggregate_audit import AggregateTask, audit_aggregates
from stream.audit.aggregate_report import AggregateReport
from stream.audit.aggregate_task import task_of_aggregates
from stream.errors import Problem
from stream.gathering.second import RawTopic
from stream.protocol.ports import Outgoing
from stream.settings.model import Settings

PARTITIONS = 3
PLENTY = "target: {nats: 100, windows: 30}"
RING_KEYS = {epoch.number: epoch.secret for epoch in RING.epochs}
KINDS = (
    "people: {count: users, epsilon: 0.5}",
    "speed: {sum: $.v, low: -2, high: 8, grid: 0.5, epsilon: 0.25}",
    "pace: {mean: $.v, low: -2, high: 8, grid: 0.1, epsilon: 0.5}",
    "job: {histogram: $.job, values: [a, b, c], epsilon: 0.5}",
    "top: {top: 2, of: $.job, values: [a, b, c, d], epsilon: 0.3}",
)


class House:
    """Settings, what was made of them, and the topics."""

    def __init__(self, *queries: str, minutes: int = 12, more: str = INDEPENDENT, target: str = PLENTY) -> None:
        self.settings = with_times(aggregate_settings(*(queries or KINDS), more=more, target=target))
        declared = self.settings.aggregate
        assert declared is not None
        problems: list[Problem] = []
        laws = load_laws(declared.dependence, _problem, problems)
        assert not problems
        self.promise = compile_aggregates(self.settings, declared, RING, laws)
        self.minutes = minutes
        self.memory = self._memory()

    @property
    def released(self) -> list[Kept]:
        return self.memory.logs[self.settings.kafka.released_topic][0]

    def task(self, **changes: Any) -> AggregateTask:
        return replace(task_of_aggregates(self.settings), **changes)

    async def audit(self, **changes: Any) -> AggregateReport:
        return await audit_aggregates(self.task(**changes), self.memory, lambda _doing, _records: None)

    def change(self, place: int, change: Callable[[dict[str, Any]], None]) -> None:
        """One released window says something else."""
        record = self.released[place]
        said = json.loads(record.value or b"")
        change(said)
        self.released[place] = replace(record, value=json.dumps(said).encode())

    def _memory(self) -> Memory:
        chance, until = Random(5), START + self.minutes * MINUTE
        total = Life(TotalPipeline(self.promise, RawTopic(TOPIC_ID, PARTITIONS), "partials"))
        partials: list[Outgoing] = []
        for partition in range(PARTITIONS):
            life = Life(GatherPipeline(self.promise, "raw", TOPIC_ID, partition))
            life.carry_out(block_of(sorted(some_events(chance, partition, until), key=lambda each: each.record)))
            life.close_by_clock(until + MINUTE)
            partials += life.released
        total.carry_out(block_of_partials(partials))
        name, kafka = self.settings.pipeline.name, self.settings.kafka
        return Memory(
            {
                kafka.raw_topic: [[] for _ in range(PARTITIONS)],
                kafka.released_topic: [_kept(total.released)],
                f"{name}-partials": [_kept(partials)],
                f"{name}-beliefs-changelog": [[Kept(0, b"c", _control())]],
                f"{name}-total-beliefs-changelog": [[Kept(0, b"a", total.store.marks()[b"a"])]],
            }
        )


def some_events(chance: Random, partition: int, until: int) -> list[Sent]:
    events = []
    for number in range(150):
        time = chance.randrange(START, until)
        user = b"user-%d-%d" % (partition, number % 17)
        events.append(Sent(user, time, chance.uniform(-4, 10), chance.choice("abc"), time + SECOND))
    return events


def with_times(settings: Settings) -> Settings:
    record = settings.record.model_copy(
        update={"event_time": settings.record.event_time.model_validate({"path": "$.t", "unit": "ms"})}
    )
    return settings.model_copy(update={"record": record})


def _kept(records: Sequence[Outgoing]) -> list[Kept]:
    return [
        Kept(offset, record.key, record.value, record.timestamp, tuple(record.headers))
        for offset, record in enumerate(records)
    ]


def _control() -> bytes:
    digits = TOPIC_ID.hex()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return json.dumps({"topic_id": "-".join(parts)}).encode()


def _problem(place: tuple[str, ...], found: str, allowed: str, fix: str) -> Problem:
    return Problem("c.yaml", 1, ".".join(place), found, allowed, fix)
