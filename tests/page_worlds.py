"""Workers as the status page shows them: settings as they are opened, a meter fed by the real pipeline in memory."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import fields_world
import numpy as np
import orjson
import segment_world
from audit_memory import START_MS
from audit_world import EPOCH, model_of, settings_text
from metering import a_block, heads_of, meter_settings
from pipeline_help import Record
from step_help import sticky_chain

from beliefs.alphabet import Categories
from beliefs.correlation.joint_file import JointModel
from beliefs.correlation.joint_file import serialise as serialise_joint
from beliefs.model_file import serialise
from beliefs.rounding import UNITS_PER_NAT
from stream.clock_rows import rows_of_promise
from stream.commands.meter_settings import meter_settings_of
from stream.commands.witnessing import following_of, witness_of
from stream.commands.worker import bytes_of_a_row, pipelines_of
from stream.engine.topic_ids import TopicFacts
from stream.keys import _document_of
from stream.learning.learners import LEARNING_LOG, Learners, LearningObserver
from stream.metrics import Meter
from stream.metrics.fields import FieldCounts
from stream.metrics.observer import MeterObserver
from stream.opening import Opened, open_pipeline
from stream.protocol.effects import BlockReport
from stream.protocol.inputs import InputBlock
from stream.protocol.observer import Observers, Recovery
from stream.protocol.ports import Pipeline
from stream.stores.memory import MemoryStore

FACTS = TopicFacts("phones.raw", UUID(int=1), 1, led=True)
SYMBOLS = 4
NAT = UNITS_PER_NAT


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def house(folder: Path, text: str, models: Sequence[tuple[str, bytes]] = ()) -> Path:
    """Settings with their models and a key ring that is always the same, so that every run releases the same."""
    model = model_of(SYMBOLS)
    for name, content in models or [("model.json", serialise(model.alphabet, model.chain, {}))]:
        (folder / name).write_bytes(content)
    keys = folder / "keys.json"
    keys.touch(mode=0o600)
    keys.write_bytes(_document_of((EPOCH,), 1))
    (folder / "c.yaml").write_text(text, encoding="utf-8")
    return folder / "c.yaml"


def single(folder: Path, accounts: int = 0, **changes: Any) -> Opened:
    text = settings_text(**changes) + f"metrics: {{accounts: {accounts}}}\n"
    return open_pipeline(house(folder, text), {})


def learning(folder: Path, **changes: Any) -> Opened:
    """Nothing is known of the values but what they are."""
    values = ", ".join(f"act{number}" for number in range(SYMBOLS))
    learnt = f"model: {{learn: {{values: [{values}]}}}}"
    lines = [learnt if line.startswith("model:") else line for line in settings_text(**changes).splitlines()]
    return open_pipeline(house(folder, "\n".join(lines)), {})


def segmented(folder: Path, **changes: Any) -> Opened:
    given = zip(("a.json", "b.json", "c.json"), segment_world.SIMPLE, strict=True)
    models = [(name, serialise(model.alphabet, model.chain, {})) for name, model in given]
    return open_pipeline(house(folder, segment_world.text_of(**changes), models), {})


def fields(folder: Path, text: str) -> Opened:
    """Two lasting fields with a joint table, beside the field that is followed or alone."""
    (folder / "joint.json").write_bytes(serialise_joint(JointModel(fields_world.table())))
    followed = serialise(Categories(fields_world.ACTIVITIES), sticky_chain(SYMBOLS), {})
    return open_pipeline(house(folder, text, [("model.json", followed)]), {})


def idle(opened: Opened) -> Meter:
    """A worker that has just started."""
    return Meter(meter_settings_of(opened, bytes_of_a_row(opened)), Clock(), witness_of(opened, following_of(opened)))


def busy(opened: Opened, records: Iterable[Sequence[Record]]) -> Meter:
    """A worker that has carried out these blocks, one every four seconds, and has seven records to go."""
    clock, following = Clock(), following_of(opened)
    meter = Meter(meter_settings_of(opened, bytes_of_a_row(opened)), clock, witness_of(opened, following))
    if opened.promise.fields is not None:
        meter.fields = FieldCounts(opened.promise.fields, opened.settings.metrics.small_count_floor)
    written = 0
    observer = MeterObserver(meter, lambda _: [], lambda: written + 25)
    observer.assigned([0])
    observer.ready(Recovery(0, 0, 0, users=0, unreadable=0), 0.0)
    meter.learners = learners = Learners(logging.getLogger(LEARNING_LOG))
    pipeline = pipelines_of(opened, FACTS, following, learners)(0)
    store = MemoryStore(rows_of_promise(opened.settings, opened.promise))
    told = Observers([observer, LearningObserver(learners)])
    for block in cut_as_the_pipeline_asks(pipeline, store, records):
        inputs, written = InputBlock.of(block), block[-1].timestamp
        effects = pipeline.prepare(inputs, store)
        store.apply(effects.keys, effects.heads, effects.codes, effects.next_offset, effects.marks, effects.held)
        told.block_committed(BlockReport(0, inputs, effects, len(block), 0, 7, 0.01, 0.02, 0.03))
        clock.now += 4.0
    if meter.witness is not None:
        meter.witness.renew_all()
    return meter


def cut_as_the_pipeline_asks(
    pipeline: Pipeline, store: MemoryStore, blocks: Iterable[Sequence[Record]]
) -> Iterator[Sequence[Record]]:
    for each in blocks:
        block = list(each)
        while block:
            end = pipeline.cut(store, block[0].offset)
            size = len(block) if end is None else sum(record.offset < end for record in block)
            yield block[:size]
            block = block[size:]


def followers(count: int, users: int = 60, seed: int = 3) -> Iterator[list[Record]]:
    """Blocks of events of users who follow the model; one in fifty is nobody's."""
    rng, chain = np.random.default_rng(seed), model_of(SYMBOLS).chain
    at = rng.integers(SYMBOLS, size=users)
    records = []
    for offset in range(count):
        user = int(rng.integers(users) * rng.random())  # some have many more events than others
        following, chances = chain.row(int(at[user]))
        at[user] = rng.choice(following, p=np.asarray(chances) / np.sum(chances))
        value = b"broken" if offset % 50 == 49 else orjson.dumps({"activity": f"act{at[user]}", "battery": 1})
        records.append(Record(offset, value, b"user-%d" % user, START_MS + offset))
    yield from in_blocks(records)


def wanderers(count: int, users: int = 60) -> Iterator[list[Record]]:
    """Users who do something else each time, which the model takes for unlikely."""
    values = [orjson.dumps({"activity": f"act{offset // users % SYMBOLS}"}) for offset in range(count)]
    yield from in_blocks(
        [Record(offset, value, b"user-%d" % (offset % users), START_MS + offset) for offset, value in enumerate(values)]
    )


def in_blocks(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Of uneven size."""
    start = 0
    for size in range(40, 1_000_000, 37):
        if start >= len(records):
            return
        yield list(records[start : start + size % 240 + 20])
        start += size % 240 + 20


def huge() -> Meter:
    """Years of work on many partitions, all of which stand still; users who were told up to 2^20 nats."""
    clock = Clock()
    name = "a-pipeline-with-a-name-as-long-as-names-may-be-and-not-a-bit-mor"
    meter = Meter(meter_settings(pipeline=name, upper_budget=2**21 * NAT, lower_budget=2**21 * NAT), clock)
    meter.progress.joined = True
    rng = np.random.default_rng(4)
    told = np.exp2(rng.normal(8, 5, 60_000)).clip(0, 2**20) * NAT
    for partition in range(48):
        meter.assigned(partition)
        meter.progress.recovered(partition)
        meter.loaded(partition, heads_of([(int(amount), int(amount) // 3) for amount in told[partition::48]]))
        meter.progress.lag(partition, 10**12 + partition)
    many = {"released": 10**15, "forecast": 10**14, "suppressed": 10**13, "dead_lettered": 10**12, "replayed": 10**12}
    clock.now = 3_600.0
    meter.block(0, a_block(many, {"not_json": 10**12}, [NAT, 2 * NAT], [NAT], [90_000_000]))
    clock.now += 1e6
    return meter
