"""The world of the release protocol reduced to lists: what was asked is written down, and any step can wait or fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from stream import names
from stream.errors import PublishFailed
from stream.protocol.columns import RecordBlock
from stream.protocol.control import Control
from stream.protocol.effects import BlockReport, Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.limits import LaneLimits
from stream.protocol.observer import NullObserver, Recovery
from stream.protocol.ports import Block, ChangelogChunk, Outgoing, UserStore
from stream.protocol.publish import Topics
from stream.protocol.session import World
from stream.state import Word, seal, to_rows
from stream.stores.memory import MemoryStore
from stream.stores.rows import StateRows

TOPICS = Topics("raw", "released", "dead", "changelog")
SYMBOLS, TAG = 2, 5
CODEC = StateRows(SYMBOLS, TAG)
OURS = Control("pipe", "topic-id", 4, "1:aaaa", "1:bbbb", 1, "key-one", "key-one")


def limits_of(**changed: Any) -> LaneLimits:
    """No pause between transactions, unless it is what is tested."""
    return LaneLimits(**{"pause_seconds": 0.0, **changed})


class Record(NamedTuple):
    offset: int
    key: bytes | None = b"ann"
    value: bytes | None = b"v"
    timestamp: int = 1_000
    headers: tuple[tuple[str, bytes | None], ...] = ()


def block(start: int, end: int, *offsets: int, high_watermark: int = 0, partition: int = 0) -> Block:
    """Records at these offsets, or at every offset from start to end."""
    chosen = offsets or tuple(range(start, end))
    return Block(partition, start, end, InputBlock.of([Record(offset) for offset in chosen]), high_watermark)


@dataclass
class FakeProducer:
    """`fail_at` names a call that fails; `gate_at` one that waits until `gate` is set."""

    calls: list[Any] = field(default_factory=list)
    fail_at: str = ""
    error: BaseException = field(default_factory=lambda: PublishFailed("The brokers refused."))
    gate_at: str = ""
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    changelog_end: int = 0

    async def _call(self, name: str, *what: Any) -> None:
        self.calls.append((name, *what) if what else name)
        await asyncio.sleep(0)
        if name == self.gate_at:
            await self.gate.wait()
        if name == self.fail_at:
            raise self.error

    async def start(self) -> None:
        await self._call("start")

    async def begin(self) -> None:
        await self._call("begin")

    async def send(self, topic: str, records: Sequence[Outgoing]) -> None:
        if topic == TOPICS.changelog:
            self.changelog_end += len(records) + 1
        await self._call(f"send {topic}", list(records))

    async def send_offset(self, next_offset: int) -> None:
        await self._call("offset", next_offset)

    async def commit(self) -> Mapping[str, int]:
        await self._call("commit")
        return {TOPICS.changelog: self.changelog_end}

    async def abort(self) -> None:
        await self._call("abort")

    async def stop(self) -> None:
        await self._call("stop")

    @property
    def names(self) -> list[str]:
        return [call if isinstance(call, str) else call[0] for call in self.calls]

    @property
    def offsets(self) -> list[int]:
        return [call[1] for call in self.calls if isinstance(call, tuple) and call[0] == "offset"]


@dataclass
class FakeChangelog:
    """`chunks` of (key, value) pairs; each pair takes one offset."""

    chunks: list[list[tuple[bytes, bytes | None]]] = field(default_factory=list)
    asked: list[tuple[int, int]] = field(default_factory=list)

    async def read(self, partition: int, after: int) -> AsyncIterator[ChangelogChunk]:
        self.asked.append((partition, after))
        end = sum(map(len, self.chunks)) + 1
        position = 0
        for number, pairs in enumerate(self.chunks):
            await asyncio.sleep(0)
            position += len(pairs)
            last = number == len(self.chunks) - 1
            yield ChangelogChunk(end if last else position, end, pairs)


@dataclass
class FakeSource:
    group: int | None = None
    first: int = 0
    waiting: bool = False

    async def committed(self, partition: int) -> int | None:
        await asyncio.sleep(0)
        return self.group

    async def beginning(self, partition: int) -> int:
        await asyncio.sleep(0)
        return self.first

    async def end(self, partition: int) -> int:
        await asyncio.sleep(0)
        return self.first

    async def drained(self, partition: int, since: int) -> bool:
        await asyncio.sleep(0)
        return not self.waiting


class CountPipeline:
    """Counts each user's events; the values of what it releases are the offsets."""

    deadlines = None

    def __init__(self) -> None:
        self.blocks: list[list[int]] = []

    def adopt(self, store: UserStore) -> int:
        return 0

    def cut(self, store: UserStore, first: int) -> int | None:
        return None

    def prepare_overdue(self, store: UserStore, clock: int) -> None: ...

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        self.blocks.append([record.offset for record in records])
        keys = list(dict.fromkeys(record.key or b"" for record in records))
        heads, codes, _ = store.load(keys)
        for record in records:
            row = heads[keys.index(record.key or b"")]
            row[Word.STEPS] += 1
            row[Word.WATERMARK] = record.offset
        for head, code in zip(heads, codes, strict=True):
            seal(head, code, 0, TAG)
        rows = [Outgoing(b"u" + key, row, 0) for key, row in zip(keys, to_rows(heads, codes), strict=True)]
        return Effects(
            next_offset=records[-1].offset + 1,
            releases=[Outgoing(record.key, b"%d" % record.offset, record.timestamp) for record in records],
            dead_letters=[],
            changelog=RecordBlock.of(rows),
            keys=keys,
            heads=heads,
            codes=codes,
            outcomes={names.RELEASED: len(records)},
        )


@dataclass
class Told(NullObserver):
    """Everything that was observed."""

    committed: list[BlockReport] = field(default_factory=list)
    again: list[tuple[int, int]] = field(default_factory=list)
    gaps: list[tuple[int, int, int]] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    recoveries: list[Recovery] = field(default_factory=list)
    served: list[Recovery] = field(default_factory=list)

    def block_committed(self, report: BlockReport) -> None:
        self.committed.append(report)

    def repeated(self, partition: int, records: int) -> None:
        self.again.append((partition, records))

    def gap(self, partition: int, expected: int, found: int) -> None:
        self.gaps.append((partition, expected, found))

    def failed(self, partition: int, error: BaseException) -> None:
        self.failures.append(error)

    def recovering(self, recovery: Recovery) -> None:
        self.recoveries.append(recovery)

    def ready(self, recovery: Recovery, seconds: float) -> None:
        self.served.append(recovery)


@dataclass
class Stage:
    """One world and what belongs to its partitions."""

    identity: Control = OURS
    changelog: FakeChangelog = field(default_factory=FakeChangelog)
    source: FakeSource = field(default_factory=FakeSource)
    told: Told = field(default_factory=Told)
    limits: LaneLimits = field(default_factory=limits_of)
    producers: dict[int, FakeProducer] = field(default_factory=dict)
    stores: dict[int, MemoryStore] = field(default_factory=dict)
    pipelines: dict[int, CountPipeline] = field(default_factory=dict)
    made: list[int] = field(default_factory=list)

    def world(self) -> World:
        return World(
            identity=self.identity,
            topics=TOPICS,
            changelog=self.changelog,
            source=self.source,
            codec=CODEC,
            new_producer=self._producer,
            new_store=lambda partition: self.stores.setdefault(partition, MemoryStore(CODEC)),
            new_pipeline=lambda partition: self.pipelines.setdefault(partition, CountPipeline()),
            observer=self.told,
            limits=self.limits,
        )

    def _producer(self, partition: int) -> FakeProducer:
        self.made.append(partition)
        return self.producers.setdefault(partition, FakeProducer())


async def until(condition: Any, turns: int = 2_000) -> None:
    """Let everybody else run until the condition holds."""
    for _ in range(turns):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("what was waited for did not come")


def row_of(steps: int) -> bytes:
    heads, codes = CODEC.new_users(1)
    heads[0, Word.STEPS] = steps
    seal(heads[0], codes[0], 0, TAG)
    return to_rows(heads, codes)[0]


def steps_of(store: UserStore, key: bytes) -> int:
    return int(np.asarray(store.load([key]).heads)[0, Word.STEPS])
