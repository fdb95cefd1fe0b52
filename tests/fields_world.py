"""Pipelines with several local fields, without Kafka: settings, joint table, promise, records and store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from pipeline_help import RING, TOPIC_ID, Partition, Record
from step_help import sticky_chain

from beliefs.alphabet import Categories
from beliefs.correlation.tables import JointTable
from beliefs.model_file import Model, parse, serialise
from stream.clock_rows import rows_of_promise
from stream.fields.joint import Joint, fitting
from stream.pipeline import PartitionPipeline
from stream.promise import Promise, bench_of, compile_promise
from stream.protocol.columns import RecordBlock
from stream.settings.declared import declared_model
from stream.settings.load import parse_settings
from stream.settings.model import Settings
from stream.stores.memory import MemoryStore

JOBS = ("clerk", "nurse", "pilot")
SEXES = ("f", "m")
ACTIVITIES = ("still", "walking", "running", "cycling")
HEAD = """\
version: 1
policy_version: 1
pipeline: {name: phones}
kafka: {brokers: [127.0.0.1:9092], raw_topic: raw, released_topic: out, dead_letter_topic: dead}
keys: {file: keys.json}
"""
LOCAL = "record: {public: [$.battery]}\n"
BESIDE = """\
record: {public: [$.battery], protect: {path: $.activity}}
model: model.json
mechanism: {name: optimal, epsilon: 0.5}
budget: {nats: 1.5, window: forever}
"""
SEX = "sex: {path: $.sex, values: [f, m], mechanism: grr, epsilon: 0.5, lasting: true, cap: 3}"
JOB = "job: {path: $.job, values: [clerk, nurse, pilot], mechanism: grr, epsilon: 0.25, lasting: true, cap: 4}"


def settings_of(*fields: str, before: str = LOCAL, more: str = "") -> Settings:
    each = "".join(f"    {field}\n" for field in fields)
    return parse_settings(f"{HEAD}{before}fields:\n  each:\n{each}{more}".encode(), Path("c.yaml"))


def table(weights: Mapping[tuple[str, str], float] | None = None) -> JointTable:
    """Of sex and job."""
    known = weights or {("f", "nurse"): 6.0, ("m", "pilot"): 5.0, ("f", "clerk"): 3.0, ("m", "clerk"): 3.0}
    cells = np.ones((len(SEXES), len(JOBS)))
    for (sex, job), weight in known.items():
        cells[SEXES.index(sex), JOBS.index(job)] = weight
    return JointTable(("sex", "job"), (SEXES, JOBS), cells)


def model_of(settings: Settings) -> Model:
    return declared_model(settings) or parse(serialise(Categories(ACTIVITIES), sticky_chain(len(ACTIVITIES)), {}))


def promise_of(settings: Settings, joint: JointTable | None = None) -> Promise:
    fields = settings.fields
    assert fields is not None
    found = None if joint is None else Joint(fitting(fields, joint), "digest")
    return compile_promise(settings, model_of(settings), RING, None, found)


class World(Partition):
    """One partition of such a pipeline."""

    def __init__(self, settings: Settings, joint: JointTable | None = None, partition: int = 0) -> None:
        self.settings, self.promise = settings, promise_of(settings, joint)
        codec = rows_of_promise(settings, self.promise)
        self.codec = codec
        pipeline = PartitionPipeline(self.promise, "raw", TOPIC_ID, partition, bench_of(self.promise))
        super().__init__(MemoryStore(codec), pipeline)


def events(count: int, users: int = 4, seed: int = 0, first: int = 0, step_ms: int = 1000) -> list[Record]:
    """Of users whose sex and job last, and whose activity does not."""
    source = np.random.default_rng(seed)
    found = []
    for i in range(count):
        user = int(source.integers(users))
        document = {
            "sex": SEXES[user % 2],
            "job": JOBS[user % 3],
            "activity": ACTIVITIES[int(source.integers(4))],
            "apps": sorted({str(app) for app in source.choice(["a", "b", "c", "d"], 2)}),
            "age": float(20 + user),
            "battery": i % 100,
            "secret": "canary",
        }
        time = 1_700_000_000_000 + step_ms * i
        found.append(Record(first + i, orjson.dumps(document), b"user-%d" % user, time, [("cookie", b"canary")]))
    return found


def released(block: Sequence[Any] | RecordBlock) -> list[tuple[bytes, dict[str, Any], dict[str, bytes]]]:
    """Key, document and headers of each record."""
    return [(each.key, orjson.loads(each.value), dict(each.headers)) for each in block]
