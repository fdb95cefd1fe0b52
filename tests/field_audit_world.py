"""A whole pipeline with local fields, written from the reference: topics that a test may falsify before the audit.

What happens to the field of `record.protect` is carried out by the engine, as if there were no other fields; then every
record gets its reports and its header, and every row its words.
"""

from __future__ import annotations

import hashlib
import struct
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from audit_memory import START_MS, Kept, Memory
from audit_world import RING, TOPIC_ID, Run, carry_out, model_of, run, settings_text
from field_reference import Account, Reference

from beliefs.correlation.joint_file import JointModel, serialise
from beliefs.correlation.tables import JointTable
from beliefs.rounding import budget_units
from stream.audit.audit import Task
from stream.audit.field_joint import joint_in
from stream.audit.field_rules import Joint
from stream.audit.task import task_of
from stream.clock_rows import rows_of_promise
from stream.fields.joint import Joint as EngineJoint
from stream.fields.joint import fitting, joint_of
from stream.pipeline import PartitionPipeline
from stream.promise import bench_of, compile_promise
from stream.records.paths import getter, setter
from stream.settings.declared import NOTHING, declared_model
from stream.settings.load import parse_settings
from stream.settings.model import Settings
from stream.stores.memory import MemoryStore

DIGEST = "0123456789abcdef" * 4
ALONE = """\
version: 1
pipeline: {name: phones}
kafka:
  brokers: [127.0.0.1:9092]
  raw_topic: phones.raw
  released_topic: phones.released
  dead_letter_topic: phones.dead
record: {public: [$.battery], headers: [trace]}
keys: {file: keys.json}
admin: {port: 0}
policy_version: 1
"""
UNPROTECTED: dict[str, Any] = {"nats": "unlimited", "window": "forever"}
HEAD = 64
"""Bytes of a row before the words."""

Change = Callable[[int, str], str]
"""What becomes of the fields of an event, from the number of its record and from what should."""


def settings_with(
    fields: Sequence[str], more: Sequence[str] = (), protect: Mapping[str, Any] | None = None
) -> Settings:
    """Beside a protected field with these settings, or alone; `more` are lines beside the list of fields."""
    before = ALONE if protect is None else settings_text(**protect)
    each = "".join(f"    {one}\n" for one in fields)
    rest = "".join(f"  {line}\n" for line in more)
    return parse_settings(f"{before}fields:\n{rest}  each:\n{each}".encode(), Path("audit.yaml"))


@dataclass
class FieldRun(Run):
    """A finished run with fields."""

    joint: Joint | None = None

    def task(self, **changes: Any) -> Task:
        return replace(task_of(self.settings, self.model, joint=self.joint), **changes)

    def words(self, user: bytes) -> tuple[int, list[int]]:
        """Where a user's latest row stands in the changelog, and its words about the fields."""
        at = max(at for at, one in enumerate(self.states()) if one.key == b"u" + user)
        assert self.settings.fields is not None
        count = 2 + 2 * len(self.settings.fields.each)
        return at, list(struct.unpack_from(f"<{count}q", self.states()[at].value or b"", HEAD))

    def change_words(self, user: bytes, place: int, amount: int) -> None:
        """Falsify one word of a user's latest row, and put the check right again."""
        at, words = self.words(user)
        words[place] += amount
        row = self.states()[at].value or b""
        sealed = sealed_words(words[0] >> 32 & 0xFFFFFFFF, words[1:])
        self.states()[at] = replace(self.states()[at], value=row[:HEAD] + sealed + row[HEAD + len(sealed) :])

    def change(self, place: int, change: Callable[[dict[str, Any]], object], header: str | None = None) -> None:
        """Falsify the document of a record, and what it says of its fields."""
        one = self.released()[place]
        document = orjson.loads(one.value or b"")
        change(document)
        headers = tuple((name, header.encode() if name == "fields" and header else text) for name, text in one.headers)
        self.released()[place] = replace(one, value=orjson.dumps(document), headers=headers)

    def signs(self, place: int) -> str:
        return dict(self.released()[place].headers)["fields"].decode()


def sealed_words(tag: int, words: Sequence[int]) -> bytes:
    """Version 1, the tag, and a check over all 32-bit halves; then the words."""
    text = struct.pack(f"<HHI{len(words)}q", 1, 0, tag, *words)
    value = 2166136261
    for (half,) in struct.iter_unpack("<I", text):
        value = (value ^ half) * 16777619 % 2**32
    return struct.pack(f"<HHI{len(words)}q", 1, value >> 16 ^ value & 0xFFFF, tag, *words)


def events_of(documents: Sequence[Mapping[str, Any]], users: int, step_ms: int = 1000) -> list[Kept]:
    """One event of each document, of users in turn; one in nine is late."""
    return [
        Kept(
            offset=i,
            key=b"user-%d" % (i % users),
            value=orjson.dumps({"battery": i % 100, **document}),
            timestamp=START_MS + step_ms * (i - 5 * (i % 9 == 8)),
            headers=(("trace", b"t"), ("cookie", b"c")),
        )
        for i, document in enumerate(documents)
    ]


def written(
    settings: Settings,
    inputs: Sequence[Kept],
    table: JointTable | None = None,
    *,
    protect: Mapping[str, Any] | None = None,
    change: Change = lambda number, signs: signs,
    decided_by: Settings | None = None,
) -> FieldRun:
    """These settings; those that the reference decides by may be others."""
    declared = None if settings.follows else declared_model(settings)
    followed = inputs if settings.follows else [_with_nothing(one) for one in inputs]
    sip = run(4, inputs=followed, model=declared, **(UNPROTECTED if protect is None else protect))
    joint = None if table is None else Joint(table, DIGEST)
    finished = FieldRun(settings, sip.model, sip.topics, sip.outcomes, sip.waiting, joint)
    rule = (decided_by or settings).fields
    assert rule is not None
    budget = budget_units(settings.budget.nats) if settings.follows else None
    reference = Reference(rule, table, budget)
    histories = _report(finished, reference, inputs, change)
    _keep(finished, histories)
    return finished


def carried_out(settings: Settings, inputs: Sequence[Kept], table: JointTable | JointModel | None = None) -> FieldRun:
    """The same by the engine; of a joint model both read the file."""
    assert settings.fields is not None
    model = declared_model(settings) or model_of(4)
    if isinstance(table, JointModel):
        data = serialise(table)
        read, joint = joint_of(settings.fields, data), joint_in(data)
    elif table is not None:
        read, joint = EngineJoint(fitting(settings.fields, table), DIGEST), Joint(table, DIGEST)
    else:
        read, joint = None, None
    promise = compile_promise(settings, model, RING, None, read)
    kafka = settings.kafka
    topics = (kafka.released_topic, settings.changelog_topic, kafka.dead_letter_topic, kafka.raw_topic)
    finished = FieldRun(settings, model, Memory({topic: [[]] for topic in topics}), joint=joint)
    finished.topics.logs[kafka.raw_topic][0] += inputs
    pipeline = PartitionPipeline(promise, kafka.raw_topic, TOPIC_ID.bytes, 0, bench_of(promise))
    carry_out(finished, pipeline, MemoryStore(rows_of_promise(settings, promise)), 0, inputs)
    return finished


def _with_nothing(one: Kept) -> Kept:
    """A value of the model that stands in where no field is protected whose values follow one another."""
    return replace(one, value=orjson.dumps({**orjson.loads(one.value or b""), "activity": NOTHING}))


def _report(
    finished: FieldRun, reference: Reference, inputs: Sequence[Kept], change: Change
) -> dict[bytes, list[list[int]]]:
    """For each user the words after each of his events."""
    source, task = np.random.default_rng(1), finished.task()
    length, names = reference.fields.length, list(reference.fields.each)
    nothing: Account = (0,) * (2 * len(names))
    histories: dict[bytes, list[list[int]]] = defaultdict(lambda: [[0, *nothing]])
    decided: dict[Account, str] = {}
    for number, (one, given) in enumerate(zip(finished.released(), inputs, strict=True)):
        window, *told = histories[given.key or b""][-1]
        if length and given.timestamp // length > window:
            window, told = given.timestamp // length, list(nothing)
        account = tuple(told)
        if account not in decided:
            decided[account] = reference.signs(account)
        signs = change(number, decided[account])
        raw, document = orjson.loads(given.value or b""), orjson.loads(one.value or b"")
        if not finished.settings.follows:
            del document["activity"]
        for place, (name, sign) in enumerate(zip(names, signs, strict=True)):
            account = reference.after(account, place, sign)
            if sign != "-":
                path = reference.fields.each[name].path
                setter(path)(document, reference.report(name, sign, getter(path)(raw), source))
        histories[given.key or b""].append([window, *account])
        text = TOPIC_ID.bytes + struct.pack(">IQ", 0, given.offset) + task.public.fingerprint
        own = {
            "release-id": hashlib.sha256(text).digest()[:16].hex().encode(),
            "policy": task.public.form.policy,
            "model": task.public.form.model,
        }
        headers = [(name, own.get(name, value)) for name, value in one.headers]
        finished.released()[number] = replace(
            one, value=orjson.dumps(document), headers=(*headers, ("fields", signs.encode()))
        )
    return histories


def _keep(finished: FieldRun, histories: Mapping[bytes, list[list[int]]]) -> None:
    task = finished.task()
    assert task.public.words is not None
    for at, one in enumerate(finished.states()):
        row = one.value or b""
        if one.key == b"c":
            said = orjson.loads(row) | {"policy": task.owner.policy, "model": task.owner.model}
            finished.states()[at] = replace(one, value=orjson.dumps(said))
        elif one.key is not None and one.key[:1] == b"u":
            (steps,) = struct.unpack_from("<q", row, 48)
            words = sealed_words(task.public.words.tag, histories[one.key[1:]][steps])
            finished.states()[at] = replace(one, value=row[:HEAD] + words + row[HEAD:])
