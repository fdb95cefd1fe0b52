"""Pipelines in which several models serve, for tests: settings, models, records, and runs that may be audited."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from audit_memory import START_MS, Kept, Memory
from audit_world import RING, TOPIC_ID, AnyPipeline, Run, carry_out, settings_text
from pipeline_help import Partition, Record

from beliefs.alphabet import Categories
from beliefs.chain import Chain
from beliefs.model_file import Model, parse, serialise, serialise_contexts
from stream.audit.audit import Task
from stream.audit.task import task_of
from stream.clock_rows import rows_of_promise
from stream.pipeline import PartitionPipeline
from stream.promise import Promise, bench_of, compile_segments
from stream.protocol.ports import RowCodec, UserStore
from stream.serving import Serving, servings_of
from stream.settings.load import parse_settings
from stream.settings.model import Settings
from stream.stores.memory import MemoryStore
from stream.windows.pipeline import WindowPipeline

VALUES = ("act0", "act1", "act2", "act3")
BY_DEVICE = "by: $.device, files: {sensor: a.json, phone: b.json}"
WITH_OTHERS = BY_DEVICE + ", otherwise: c.json"


def text_of(models: str = WITH_OTHERS, public: str = "[$.battery, $.device]", **changes: Any) -> str:
    text = settings_text(**changes).replace("file: model.json", models)
    return text.replace("[$.battery]", public)


def settings_of(models: str = WITH_OTHERS, public: str = "[$.battery, $.device]", **changes: Any) -> Settings:
    return parse_settings(text_of(models, public, **changes).encode(), Path("segments.yaml"))


@cache
def sticky(stay: float) -> Model:
    """Users keep their value with this probability."""
    others = (1.0 - stay) / (len(VALUES) - 1)
    rows = [[stay if x == y else others for y in range(len(VALUES))] for x in range(len(VALUES))]
    return parse(serialise(Categories(VALUES), Chain.from_dense([0.25] * 4, rows), {}))


@cache
def remembering() -> Model:
    """Of order 2: it has more states than values."""
    everything = np.arange(4)
    laws = {
        (): (everything, np.array([0.25, 0.25, 0.25, 0.25])),
        (0,): (everything, np.array([0.5, 0.25, 0.125, 0.125])),
        (0, 1): (everything, np.array([0.125, 0.125, 0.25, 0.5])),
        (2, 1): (everything, np.array([0.5, 0.25, 0.125, 0.125])),
    }
    return parse(serialise_contexts(Categories(VALUES), 2, np.full(4, 0.25), laws, {}))


SIMPLE = (sticky(0.5), sticky(0.8), sticky(0.625))
"""In the order of the settings: the values of the field ascending (phone, sensor), then all others."""
UNLIKE = (remembering(), sticky(0.8), sticky(0.625))


@dataclass
class House:
    """Settings, models and what is made of them."""

    settings: Settings
    models: Sequence[Model]

    @property
    def servings(self) -> tuple[Serving, ...]:
        return servings_of(zip(self.settings.model.named, self.models, strict=True))

    def promise(self) -> Promise:
        return compile_segments(self.settings, self.servings, RING)


def house_of(given: Sequence[Model] = SIMPLE, **changes: Any) -> House:
    return House(settings_of(**changes), given)


class Line(Partition):
    """A partition of a house."""

    def __init__(
        self, house: House, promise: Promise | None = None, store: Callable[[RowCodec], UserStore] | None = None
    ) -> None:
        promise = promise or house.promise()
        self.codec = rows_of_promise(house.settings, promise)
        super().__init__(MemoryStore(self.codec) if store is None else store(self.codec), pipeline_of(promise, 0))

    def rows(self, keys: Sequence[bytes]) -> list[bytes]:
        """The users' rows as the changelog would have them."""
        loaded = self.store.load(keys)
        assert loaded.known.all()
        return self.codec.to_rows(loaded.heads, loaded.codes)


def pipeline_of(promise: Promise, partition: int, topic: str = "raw") -> AnyPipeline:
    kind: type[AnyPipeline] = PartitionPipeline if promise.windows is None else WindowPipeline
    return kind(promise, topic, TOPIC_ID.bytes, partition, *[bench_of(each) for each in promise.served])


def record(offset: int, user: bytes, device: Any = "sensor", value: Any = "act1", **more: Any) -> Record:
    """Without a device where that is None."""
    document = {"activity": value, "battery": offset % 100, **more}
    if device is not None:
        document["device"] = device
    return Record(offset, orjson.dumps(document), user, START_MS + 100 * offset, [("trace", b"t")])


@dataclass
class SegmentRun(Run):
    """A finished run of several models."""

    others: Sequence[Model] = field(default_factory=tuple)

    def task(self, **changes: Any) -> Task:
        return replace(task_of(self.settings, self.model, others=self.others), **changes)


def run(
    given: Sequence[Model] = SIMPLE,
    events: int = 1_500,
    users: int = 12,
    partitions: int = 2,
    *,
    falsify: Callable[[AnyPipeline], None] | None = None,
    nested: bool = False,
    beside: str = "",
    **settings: Any,
) -> SegmentRun:
    """Carry out random events of users of all segments; some of them broken, some of another segment than their user's,
    some of none. `beside` are more lines of settings.
    """
    house = House(parse_settings((text_of(**settings) + beside).encode(), Path("segments.yaml")), given)
    kafka, promise = house.settings.kafka, house.promise()
    topics = (kafka.released_topic, house.settings.changelog_topic, kafka.dead_letter_topic, kafka.raw_topic)
    logs: dict[str, list[list[Kept]]] = {topic: [] for topic in topics}
    finished = SegmentRun(house.settings, given[0], Memory(logs), others=given[1:])
    for partition in range(partitions):
        for log in logs.values():
            log.append([])
        pipeline = pipeline_of(promise, partition, kafka.raw_topic)
        if falsify is not None:
            falsify(pipeline)
        inputs = [kept_of(one) for one in mixed(events, users, partition, nested=nested)]
        logs[kafka.raw_topic][partition] += inputs
        store = MemoryStore(rows_of_promise(house.settings, promise))
        carry_out(finished, pipeline, store, partition, inputs)
    return finished


def kept_of(one: Record) -> Kept:
    headers = tuple((name, value or b"") for name, value in one.headers)
    return Kept(one.offset, one.key, one.value, one.timestamp, headers)


DEVICES: Mapping[int, Any] = {0: "sensor", 1: "phone", 2: "watch", 3: 7}
"""Of the fourth user in four, the device is a number, which no model is listed for."""


BY_ROOM = "by: $.where.room, files: {sensor: a.json, phone: b.json}, otherwise: c.json"


def mixed(
    events: int, users: int, seed: int = 0, changed: int = 17, none: int = 23, *, nested: bool = False
) -> list[Record]:
    """With `nested`, what says the segment stands inside another field, too."""
    source = np.random.default_rng(seed)
    records = []
    for offset in range(events):
        user = int(source.integers(users))
        device = DEVICES[user % 4]
        if offset % changed == changed - 1:
            device = DEVICES[int(source.integers(4))]
        if offset % none == none - 1:
            device = (None, [1], {"a": 1})[offset % 3]
        value = VALUES[int(source.integers(4))] if offset % 29 else "elsewhere"
        more = {"where": {"room": device} if device is not None else []} if nested else {}
        records.append(record(offset, b"user-%d-%d" % (seed, user), device, value, secret="canary", **more))
    return records
