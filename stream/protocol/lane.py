"""One partition from records to commits: while a transaction is on its way, all that arrives becomes the next block.

Without coalescing a small fetch makes a small transaction, every transaction waits for the one before it, and the
queue only grows; with it a transaction carries all that waits, so the slower the brokers, the larger the blocks.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from stream.errors import PublishFailed
from stream.protocol.control import CONTROL_KEY, PROGRESS_KEY, encode_progress
from stream.protocol.effects import BlockReport, Effects
from stream.protocol.inputs import InputBlock, joined
from stream.protocol.observer import Observer
from stream.protocol.ports import Block, Outgoing, Pipeline, Producer, UserStore
from stream.protocol.publish import Topics, publish


@dataclass(frozen=True, slots=True)
class LaneLimits:
    """What waits in memory is bounded by records and by bytes; one fetch of the consumer may come on top.

    A block of 4,000 records of 250 bytes is 1 MB, one batch of the producer. Larger records make shorter blocks, so
    that no block is larger than 8 MiB or one record.

    A lane begins a transaction at most every `pause_seconds` unless `hurry_records` wait. A transaction costs the
    brokers and us some milliseconds of work whatever is in it, so without a pause a thousand events a second would
    keep both as busy as a hundred thousand.
    """

    max_block_records: int = 4_000
    max_block_bytes: int = 8 << 20
    room_records: int = 20_000
    room_bytes: int = 32 << 20
    transaction_seconds: float = 10.0
    pause_seconds: float = 0.01
    hurry_records: int = 1_000


class Lane:
    """Takes blocks in, carries them out one transaction at a time, and keeps the store at the last commit."""

    def __init__(
        self,
        partition: int,
        *,
        producer: Producer,
        pipeline: Pipeline,
        store: UserStore,
        topics: Topics,
        observer: Observer,
        expected: int,
        limits: LaneLimits,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.partition = partition
        self._producer = producer
        self._pipeline = pipeline
        self._store = store
        self._topics = topics
        self._observer = observer
        self._limits = limits
        self._clock = clock
        self._control: bytes | None = None
        self._waiting: deque[InputBlock] = deque()
        self._waiting_records = 0
        self._waiting_bytes = 0
        self._first = expected
        self._expected = expected
        self._next_offset = expected
        self._high_watermark = expected
        self._closing = False
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self._began = -limits.pause_seconds

    def write_control(self, control: bytes) -> None:
        """Put this control record into the next transaction."""
        self._control = control

    def has_room(self) -> bool:
        return self._waiting_records < self._limits.room_records and self._waiting_bytes < self._limits.room_bytes

    def lag(self, end: int, nothing: tuple[int, int]) -> int:
        """How many offsets before `end` are not carried out.

        Between the two offsets of `nothing` the consumer found no record: markers of transactions and aborted records,
        which no block ever holds. Where all before them is committed, they wait for nobody.
        """
        start, found = nothing
        done = max(self._next_offset, found) if start <= self._next_offset else self._next_offset
        return max(0, end - done)

    def accept(self, block: Block) -> None:
        """Take a block in.

        It must follow the one before; what was taken already is dropped, a hole stops the worker.
        """
        if self._closing:
            return
        if block.start > self._expected:
            raise self._hole(block.start)
        records = block.records
        if block.start < self._expected:
            records = self._new_only(records)
        self._expected = max(self._expected, block.end)
        self._high_watermark = max(self._high_watermark, block.high_watermark)
        if records:
            self._waiting.append(records)
            self._waiting_records += len(records)
            self._waiting_bytes += records.value_bytes
            self._wake.set()
        if self._waiting_records >= self._limits.hurry_records:
            self._hurry.set()

    async def run(self) -> None:
        """Carry out blocks until `close`; the block at work is finished, the rest is left to the next owner."""
        while True:
            while not self._waiting and not self._closing:
                self._wake.clear()
                await self._wake.wait()
            await self._pause()
            if self._closing:
                return
            await self._carry_out(*self._take())

    def close(self) -> None:
        """Finish the block at work and take no other; nothing that waits was released, so nothing is lost."""
        self._closing = True
        self._waiting.clear()
        self._waiting_records = self._waiting_bytes = 0
        self._wake.set()
        self._hurry.set()

    async def _pause(self) -> None:
        """Let more records come if the last transaction began a moment ago; after a quiet time nothing is held back."""
        rest = self._began + self._limits.pause_seconds - self._clock()
        if rest > 0 and self._waiting_records < self._limits.hurry_records and not self._closing:
            self._hurry.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(rest):
                    await self._hurry.wait()
        self._began = self._clock()

    def _hole(self, start: int) -> PublishFailed:
        return PublishFailed(
            "Records were lost between the consumer and the lane.",
            where=f"topic {self._topics.raw}, partition {self.partition}",
            why=f"offset {self._expected} was expected and offset {start} came",
            fix="nothing to do: the worker is started anew and reads from the last committed offset",
        )

    def _new_only(self, records: InputBlock) -> InputBlock:
        repeated = int(np.searchsorted(records.offsets, min(self._first, self._expected)))
        if repeated:
            self._observer.repeated(self.partition, repeated)
        return records[int(np.searchsorted(records.offsets, self._expected)) :]

    def _take(self) -> tuple[InputBlock, int]:
        """The next block, and the offset after it:

        behind the last record a whole block ends where the consumer stands.
        """
        count = self._waiting_records
        limit = min(count, self._limits.max_block_records)
        if self._waiting_bytes > self._limits.max_block_bytes:
            limit = min(limit, max(1, count * self._limits.max_block_bytes // self._waiting_bytes))
        taken: list[InputBlock] = []
        missing = limit
        while missing:
            records = self._waiting.popleft()
            if len(records) > missing:
                self._waiting.appendleft(records[missing:])
                records = records[:missing]
            taken.append(records)
            missing -= len(records)
            self._waiting_bytes -= records.value_bytes
        self._waiting_records -= limit
        block = joined(taken)
        return block, self._expected if limit == count else int(block.offsets[-1]) + 1

    async def _carry_out(self, records: InputBlock, next_offset: int) -> None:
        started = self._clock()
        self._observer.block_started(self.partition, len(records))
        effects = self._pipeline.prepare(records, self._store)
        marks = self._add_marks(effects, next_offset, max(0, int(records.timestamps[-1])))
        prepared = self._clock()
        positions = await publish(self._producer, self._topics, effects, self._limits.transaction_seconds)
        published = self._clock()
        self._store.apply(effects.keys, effects.heads, effects.codes, positions[self._topics.changelog], marks)
        self._control = None
        self._next_offset = next_offset
        self._observer.block_committed(
            BlockReport(
                partition=self.partition,
                records=records,
                effects=effects,
                users=len(self._store),
                waiting=self._waiting_records,
                lag=max(0, self._high_watermark - next_offset),
                prepare_seconds=prepared - started,
                publish_seconds=published - prepared,
                apply_seconds=self._clock() - published,
            )
        )

    def _add_marks(self, effects: Effects, next_offset: int, timestamp: int) -> dict[bytes, bytes]:
        effects.next_offset = next_offset
        marks = {PROGRESS_KEY: encode_progress(next_offset)}
        if self._control is not None:
            marks[CONTROL_KEY] = self._control
        records = [Outgoing(key, value, timestamp) for key, value in marks.items()]
        effects.changelog = effects.changelog.with_records(records)
        return marks
