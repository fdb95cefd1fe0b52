"""A pipeline run in memory for the auditor: topics as lists that a test may falsify before the audit reads them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import orjson
from audit_memory import START_MS, Kept, Memory
from numpy.typing import NDArray

from beliefs.alphabet import Alphabet, Categories
from beliefs.chain import Chain
from beliefs.model_file import Model, parse, serialise
from stream.audit.audit import Task, audit
from stream.audit.report import Report
from stream.audit.task import task_of
from stream.clock_rows import rows_of
from stream.keys import Epoch, KeyRing
from stream.pipeline import PartitionPipeline
from stream.policy import new_bench
from stream.promise import compile_promise
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import Outgoing
from stream.settings.load import parse_settings
from stream.settings.model import Settings
from stream.stores.memory import MemoryStore
from stream.windows.pipeline import WindowPipeline

TOPIC_ID = UUID(int=0x1234567890ABCDEF1234567890ABCDEF)
EPOCH = Epoch(1, "2024-01-01", b"audit-audit-audit-audit-audit-au")
RING = KeyRing((EPOCH,), EPOCH)
Row = NDArray[np.uint8]
AnyPipeline = PartitionPipeline | WindowPipeline
RELEASED, CHANGELOG = "phones.released", "phones-beliefs-changelog"

SETTINGS = """\
version: 1
pipeline: {{name: {name}}}
kafka:
  brokers: [{broker}]
  raw_topic: {name}.raw
  released_topic: {name}.released
  dead_letter_topic: {name}.dead
record:
  user: key
  protect: {{path: $.activity, distance: {distance}}}
  public: [$.battery]
  headers: [trace]
model: {{file: model.json, step: {step}, most: {most}{listed}}}
mechanism:
  {{name: {mechanism}{upper}, epsilon: {epsilon}, radius: {radius}, chain_error: {chain_error}, accept_unbounded: true}}
{windows}budget: {{nats: {nats}, window: {window}, when_spent: {when_spent}}}
keys: {{file: keys.json}}
admin: {{port: 0}}
policy_version: 1
"""


USUAL: dict[str, Any] = {
    "name": "phones",
    "broker": "127.0.0.1:9092",
    "mechanism": "optimal",
    "epsilon": 1.0,
    "radius": 0,
    "chain_error": 0,
    "nats": 4,
    "window": "1m",
    "when_spent": "forecast",
    "windows": "",
    "step": "event",
    "most": 1000,
    "listed": "",
    "distance": "hamming",
}


def settings_text(**changes: Any) -> str:
    wanted = {**USUAL, **changes}
    upper = wanted.get("upper", 2.5 * wanted["epsilon"]) if wanted["mechanism"] == "two_budget" else None
    wanted["upper"] = "" if upper is None else f", upper: {upper}"
    wanted["windows"] = f"window: {wanted['windows']}\n" if wanted["windows"] else ""
    return SETTINGS.format(**wanted)


def settings_of(**changes: Any) -> Settings:
    return parse_settings(settings_text(**changes).encode(), Path("audit.yaml"))


def model_of(symbols: int, *, sparse: bool = False, alphabet: Alphabet | None = None) -> Model:
    """A sticky chain; the sparse one starts at its first value and knows impossible steps."""
    if sparse and symbols > 1:
        rows = [_two_steps(x, symbols) for x in range(symbols)]
        chain = Chain.from_sparse([1.0] + [0.0] * (symbols - 1), rows)
    else:
        source = np.random.default_rng(symbols)
        matrix = 0.3 * source.dirichlet(np.ones(symbols), size=symbols) + 0.7 * np.eye(symbols)
        chain = Chain.from_dense([1.0 / symbols] * symbols, matrix.tolist())
    return parse(serialise(alphabet or Categories([f"act{x}" for x in range(symbols)]), chain, {}))


def _two_steps(x: int, symbols: int) -> tuple[object, object]:
    following = (x + 1) % symbols
    return ([x, following], [0.6, 0.4]) if x < following else ([following, x], [0.4, 0.6])


@dataclass
class Run:
    """A finished run. Falsify `topics`, then ask for the `report`."""

    settings: Settings
    model: Model
    topics: Memory
    outcomes: dict[str, int] = field(default_factory=dict)
    waiting: int = 0

    def task(self, **changes: Any) -> Task:
        return replace(task_of(self.settings, self.model), **changes)

    def report(self, **changes: Any) -> Report:
        return asyncio.run(audit(self.task(**changes), self.topics, lambda doing, records: None))

    def released(self, partition: int = 0) -> list[Kept]:
        return self.topics.logs[RELEASED][partition]

    def states(self, partition: int = 0) -> list[Kept]:
        return self.topics.logs[CHANGELOG][partition]

    def change_state(self, change: Callable[[NDArray[np.uint8]], None], place: int = -1) -> None:
        """Falsify the bytes of a user's latest row, and put its check right again."""
        rows = [at for at, one in enumerate(self.states()) if one.key is not None and one.key[:1] == b"u"]
        at = rows[place]
        row = np.frombuffer(self.states()[at].value or b"", dtype=np.uint8).copy()
        change(row)
        self.states()[at] = replace(self.states()[at], value=sealed(row, self.settings.budget.sliding or 0))


def sealed(row: NDArray[np.uint8], sliding: int = 0) -> bytes:
    from stream.state import check_of

    width = (72 if row[0] in (3, 5, 7, 9) else 64) + 16 * sliding
    head, codes = row[:width].copy().view(np.int64), row[width:].copy().view(np.uint32)
    row[2:4] = np.array([check_of(head, codes)], dtype="<u2").view(np.uint8)
    return row.tobytes()


def run(
    symbols: int = 4,
    events: int = 2_000,
    users: int = 20,
    *,
    sparse: bool = False,
    alphabet: Alphabet | None = None,
    partitions: int = 1,
    falsify: Callable[[AnyPipeline], None] | None = None,
    model: Model | None = None,
    inputs: Sequence[Kept] | None = None,
    **settings: Any,
) -> Run:
    """Carry out these events, or random ones (one in fifty broken, some of them late), in blocks of uneven size."""
    chosen = settings_of(**settings)
    model = model_of(symbols, sparse=sparse, alphabet=alphabet) if model is None else model
    promise = compile_promise(chosen, model, RING)
    kafka = chosen.kafka
    topics = (kafka.released_topic, chosen.changelog_topic, kafka.dead_letter_topic, kafka.raw_topic)
    logs: dict[str, list[list[Kept]]] = {topic: [] for topic in topics}
    finished = Run(chosen, model, Memory(logs))
    for partition in range(partitions):
        for log in logs.values():
            log.append([])
        kind: type[AnyPipeline] = PartitionPipeline if promise.windows is None else WindowPipeline
        bench = new_bench(model.chain.size, model.chain.symbols, promise.distance, listed=promise.policy.listed > 0)
        pipeline = kind(promise, kafka.raw_topic, TOPIC_ID.bytes, partition, bench)
        if falsify is not None:
            falsify(pipeline)
        store = MemoryStore(rows_of(chosen, model.chain.size, model.tag, promise.policy.listed))
        given = _inputs(model.alphabet, events, users, partition) if inputs is None else inputs
        logs[kafka.raw_topic][partition] += given
        carry_out(finished, pipeline, store, partition, given)
    return finished


def _inputs(alphabet: Alphabet, events: int, users: int, partition: int) -> list[Kept]:
    """The same first events for every number of events."""
    draws = np.random.default_rng(1000 + partition).integers(1 << 30, size=(events, 3)).tolist()
    return [
        Kept(
            offset=i,
            key=b"user-%d-%d" % (partition, user % users),
            value=b"broken"
            if i % 50 == 49
            else orjson.dumps({"activity": alphabet.value_at(value % alphabet.size), "battery": i % 100}),
            timestamp=START_MS + 100 * i - late % 20_000,
            headers=(("trace", b"t"), ("cookie", b"c")),
        )
        for i, (value, user, late) in enumerate(draws)
    ]


def carry_out(finished: Run, pipeline: AnyPipeline, store: MemoryStore, partition: int, inputs: Sequence[Kept]) -> None:
    changelog = finished.topics.logs[finished.settings.changelog_topic][partition]
    owner = finished.task().owner
    control = {"pipeline": owner.pipeline, "topic_id": str(TOPIC_ID), "policy": owner.policy, "model": owner.model}
    _append(changelog, [Outgoing(b"c", orjson.dumps(control), START_MS)])
    at, size = 0, 1
    while at < len(inputs):
        block = inputs[at : at + size]
        effects = pipeline.prepare(InputBlock.of(block), store)
        at, size = at + size, size % 97 + 13
        _commit(finished, pipeline, store, partition, effects, block[-1].offset + 1)
        closed = pipeline.prepare_overdue(store, block[-1].timestamp)
        if closed is not None:
            _commit(finished, pipeline, store, partition, closed, block[-1].offset + 1)


def _commit(
    finished: Run,
    pipeline: AnyPipeline,
    store: MemoryStore,
    partition: int,
    effects: Effects,
    next_offset: int,
) -> None:
    released, changelog, dead, _ = (log[partition] for log in finished.topics.logs.values())
    _append(released, effects.releases)
    _append(dead, effects.dead_letters)
    mark = Outgoing(b"o", next_offset.to_bytes(8, "big"), START_MS)
    _append(changelog, [*effects.changelog, mark])
    store.apply(effects.keys, effects.heads, effects.codes, next_offset, {}, effects.held)
    if pipeline.deadlines is not None:
        for user, record in effects.held.items():
            pipeline.deadlines.set(user, record or None)
    for outcome, count in effects.outcomes.items():
        finished.outcomes[outcome] = finished.outcomes.get(outcome, 0) + count
    finished.waiting += effects.held_change


def _append(log: list[Kept], records: Sequence[Outgoing]) -> None:
    """Behind each transaction stands its marker, which takes an offset and is no record."""
    first = log[-1].offset + 2 if log else 0
    log += [
        Kept(first + i, record.key, record.value, record.timestamp, tuple(record.headers))
        for i, record in enumerate(records)
    ]


def codes(finished: Run, **changes: Any) -> set[str]:
    report = finished.report(**changes)
    assert report.exit_status == (0 if report.agrees else 1)
    return report.findings.codes()


def differing(finished: Run) -> set[str]:
    """The fields of states that differ; nothing else may have been found."""
    findings = list(finished.report().findings)
    assert {finding.code for finding in findings} == {"state_differs"}
    return {finding.detail for finding in findings}


def add_to_word(place: int, kind: str, amount: int) -> Callable[[Row], None]:
    def change(row: Row) -> None:
        word = row[place : place + np.dtype(kind).itemsize].view(kind)
        word[0] = int(word[0]) + amount

    return change


def value_of(one: Kept) -> str:
    return str(orjson.loads(one.value or b"")["activity"])


def is_forecast(one: Kept) -> bool:
    return ("outcome", b"forecast") in one.headers


def with_value(one: Kept, value: str) -> Kept:
    return replace(one, value=orjson.dumps({**orjson.loads(one.value or b""), "activity": value}))
