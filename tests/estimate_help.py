"""Released records of a pipeline with several fields: header and reports as the engine writes them, any choices."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from audit_memory import START_MS, Kept

from mechanisms.contract import Integers
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.wire import write
from stream.audit.records import Record
from stream.audit.world import Bounds
from stream.errors import CannotAudit
from stream.estimation.asked import Asked, Task
from stream.estimation.estimate import asked_for
from stream.estimation.task import task_of
from stream.fields.gate import SIGNS, WITHHELD
from stream.named_models import pipeline_models
from stream.settings.load import parse_settings
from stream.settings.model import Settings

FIELDS = """\
    work: {path: $.work, values: [clerk, nurse, pilot, cook], mechanism: grr, epsilon: 2.0, cap: 5.0, beyond: lower}
    age: {path: $.about.age, values: {kind: integers, low: 0, high: 7}, mechanism: olh, epsilon: 2.0}
    place: {path: $.place, values: [a, b, c], mechanism: oue, epsilon: 2.0, cap: 6, beyond: coarsen,
            coarser: {one: [a, c], two: [b]}}
    tags: {path: $.tags, values: [x, y, z], mechanism: grr, epsilon: 3.0, at_most: 2}
"""
SETTINGS = """\
version: 1
pipeline: {{name: {name}}}
kafka:
  brokers: [{broker}]
  raw_topic: {name}.raw
  released_topic: {name}.released
  dead_letter_topic: {name}.dead
record: {{user: key, public: [$.battery]}}
fields:
  each:
{fields}
keys: {{file: keys.json}}
metrics: {{small_count_floor: {floor}}}
policy_version: 1
"""
VALUES = {"work": 4, "age": 8, "place": 3, "tags": 4}
"""How many each field has; of tags the last is that of an empty slot."""


def settings_text(name: str = "phones", broker: str = "127.0.0.1:9092", fields: str = FIELDS, floor: int = 10) -> str:
    return SETTINGS.format(name=name, broker=broker, fields=fields, floor=floor)


def settings_of(**changes: Any) -> Settings:
    return parse_settings(settings_text(**changes).encode(), Path("estimate.yaml"))


def task_with(settings: Settings, asked: Asked | None = None) -> Task:
    return task_of(settings, pipeline_models(settings), Asked() if asked is None else asked)


def asked_with(window: str | None = None, late: str = "0s", **others: Any) -> Asked:
    usual = {"joint": (), "confidence": 0.95, "pooling": "precision", "transitions": False}
    return asked_for(window, late, **{**usual, **others})


def documents_of(task: Task, values: Mapping[str, Integers], choices: Mapping[str, Integers], seed: int) -> list[Any]:
    """The documents of events with these values, each field reported as it was chosen to be."""
    count = next(iter(values.values())).shape[0]
    documents: list[Any] = [{"battery": place % 100} for place in range(count)]
    for form in task.forms:
        key = field_key(seed.to_bytes(32, "big"), form.name)
        for choice in np.unique(choices[form.name]).tolist():
            if choice == WITHHELD:
                continue
            reporter, at = form.reporters[choice], np.flatnonzero(choices[form.name] == choice)
            chosen = values[form.name][at]
            if reporter.groups is not None:
                chosen = reporter.groups[chosen]
            coins = report_coins(field_key(key, str(choice)), 0, at.shape[0], reporter.drawn.words)
            for place, report in zip(
                at.tolist(), write(reporter.shape, reporter.drawn.draw(chosen, coins)), strict=True
            ):
                _put(documents[place], form.path.steps, report)
    return documents


def _put(document: dict[str, Any], steps: Sequence[Any], report: object) -> None:
    for step in steps[:-1]:
        document = document.setdefault(step, {})
    document[steps[-1]] = report


def records_of(
    task: Task,
    values: Mapping[str, Integers],
    choices: Mapping[str, Integers] | None = None,
    *,
    users: int = 50,
    times: Integers | None = None,
    seed: int = 1,
    first: int = 0,
) -> list[Kept]:
    """One partition's records, a second apart unless other times are given."""
    count = next(iter(values.values())).shape[0]
    chosen = {name: np.zeros(count, dtype=np.int64) for name in values} if choices is None else choices
    signs = ["".join(SIGNS[chosen[form.name][place]] for form in task.forms) for place in range(count)]
    return [
        Kept(
            first + place,
            b"user-%d" % (place % users),
            orjson.dumps(document),
            START_MS + 1000 * place if times is None else int(times[place]),
            headers_of(task, first + place, 1 + place // users, signs[place]),
        )
        for place, document in enumerate(documents_of(task, values, chosen, seed))
    ]


def headers_of(task: Task, number: int, step: int, signs: str) -> tuple[tuple[str, bytes], ...]:
    return (
        ("release-id", hashlib.sha256(number.to_bytes(8, "big")).hexdigest()[:32].encode()),
        ("policy", task.policy),
        ("model", next(iter(task.models))),
        ("step", str(step).encode()),
        ("fields", signs.encode()),
    )


def values_of(count: int, seed: int = 0) -> dict[str, Integers]:
    """Of every field; lists as the slot that was drawn."""
    source = np.random.default_rng(seed)
    work = source.choice(4, count, p=[0.4, 0.3, 0.2, 0.1])
    return {
        "work": work,
        "age": np.minimum(2 * work + source.integers(2, size=count), 7),
        "place": source.choice(3, count, p=[0.5, 0.3, 0.2]),
        "tags": source.choice(4, count, p=[0.4, 0.2, 0.1, 0.3]),
    }


def lines_of(records: Sequence[Kept], partition: int = 0) -> Iterator[dict[str, Any]]:
    for one in records:
        yield {
            "key": (one.key or b"").decode(),
            "value": orjson.loads(one.value or b"null"),
            "headers": [[name, text.decode()] for name, text in one.headers],
            "timestamp": one.timestamp,
            "partition": partition,
        }


@dataclass
class Topics:
    """Topics that grow: of each partition so many records can be seen; some looks break off."""

    logs: Mapping[str, Sequence[Sequence[Record]]]
    seen: int = 1 << 30
    breaks: list[int] = field(default_factory=list)
    chunk: int = 70

    async def partitions(self, topic: str) -> Sequence[int]:
        return range(len(self.logs.get(topic, ())))

    async def bounds(self, topic: str, partition: int) -> Bounds:
        log = self.logs[topic][partition][: self.seen]
        return Bounds(log[0].offset if log else 0, log[-1].offset + 1 if log else 0, log[-1].offset + 1 if log else 0)

    async def read(
        self, topic: str, partition: int, until: int, *, committed: bool, first: int = 0
    ) -> AsyncIterator[Sequence[Record]]:
        assert committed
        ours = [one for one in self.logs[topic][partition] if first <= one.offset < until]
        for start in range(0, len(ours), self.chunk):
            if self.breaks:
                self.breaks[0] -= 1
                if self.breaks[0] < 0:
                    self.breaks.pop(0)
                    raise CannotAudit("The brokers did not answer.", f"topic {topic}", "NodeNotReadyError")
            yield ours[start : start + self.chunk]
