"""One partition from records to commits: while a transaction is on its way, all that arrives becomes the next block.

Without coalescing a small fetch makes a small transaction, every transaction waits for the one before it, and the
queue only grows; with it a transaction carries all that waits, so the slower the brokers, the larger the blocks.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import perf_counter
from typing import Final

import numpy as np

from stream.errors import PublishFailed
from stream.protocol.control import (
    CLOCK_KEY,
    CONTROL_KEY,
    PROGRESS_KEY,
    closing_begun,
    encode_clock,
    encode_progress,
)
from stream.protocol.effects import BlockReport, Effects, only_offset
from stream.protocol.inputs import NOTHING, InputBlock, before, joined
from stream.protocol.limits import LaneLimits, wall_clock_ms
from stream.protocol.observer import Observer
from stream.protocol.pace import Pace
from stream.protocol.ports import Block, Outgoing, Pipeline, Producer, UserStore
from stream.protocol.publish import Topics, publish

_ASIDE: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aside")
"""One block of all lanes at a time: pipelines of one job share what is worked out once."""


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
        drained: Callable[[int], Awaitable[bool]],
        end_before_us: int = 0,
        clock: Callable[[], float] = perf_counter,
        wall_clock_ms: Callable[[], int] = wall_clock_ms,
    ) -> None:
        self.partition = partition
        self._producer = producer
        self._pipeline = pipeline
        self._store = store
        self._topics = topics
        self._observer = observer
        self._limits = limits
        self._drained = drained
        self._end_before_us = end_before_us
        self._settled = False
        self._closed = -limits.closing_pause_seconds
        self._clock = clock
        self._wall_clock_ms = wall_clock_ms
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
        self._pace = Pace(limits)

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
        begun = closing_begun(self._store.marks(), f"topic {self._topics.changelog}, partition {self.partition}")
        if begun is not None:
            await self._close_windows(begun)
        while True:
            while not self._waiting and not self._closing:
                await self._rest()
            await self._pause()
            if self._closing:
                return
            records, next_offset = self._take()
            await self._carry_out(records, next_offset)
            await self._close_overdue(int(records.timestamps[-1]))

    def close(self) -> None:
        """Finish the block at work and take no other; nothing that waits was released, so nothing is lost."""
        self._closing = True
        self._waiting.clear()
        self._waiting_records = self._waiting_bytes = 0
        self._wake.set()
        self._hurry.set()

    async def _rest(self) -> None:
        """Until records come; windows that become overdue meanwhile are closed."""
        self._wake.clear()
        deadlines = self._pipeline.deadlines
        due = None if deadlines is None else deadlines.first()
        if due is None:
            await self._wake.wait()
            return
        seconds = max((due - self._wall_clock_ms()) / 1000, self._limits.closing_pause_seconds)
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            self._settled = self._settled or await self._drained(self._next_offset)
            if not self._waiting:
                await self._close_overdue(self._wall_clock_ms())

    async def _close_overdue(self, clock: int) -> None:
        """Close the windows that are due. While records wait, the clock is the time of the last one that was carried
        out: a silent user's next event may be among those that wait.

        An earlier owner may have died while it released a window with records that this lane has not carried out yet,
        and the same values must come out with the same others. So nothing is closed before all is carried out that
        stood in the topic when the earlier owner was fenced, or before none is found there.
        """
        deadlines, now = self._pipeline.deadlines, self._wall_clock_ms()
        due = None if deadlines is None else deadlines.first()
        self._settled = self._settled or self._next_offset >= self._end_before_us
        clock, rest = min(clock, now), self._closed + self._limits.closing_pause_seconds - self._clock()
        if due is None or due > clock or rest > 0 or not self._settled or self._closing:
            return
        mark = {CLOCK_KEY: encode_clock(clock, self._next_offset)}
        await self._commit(NOTHING, only_offset(self._next_offset), now, mark)
        await self._close_windows(clock)
        self._closed = self._clock()

    async def _close_windows(self, clock: int) -> None:
        """Close every window that is due by then; its clock mark stands in the changelog."""
        while not self._closing:
            effects = self._pipeline.prepare_overdue(self._store, clock)
            if effects is None:
                return
            effects.next_offset = self._next_offset
            await self._commit(NOTHING, effects, clock, {})

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
        limit = min(count, self._pace.records)
        if self._waiting_bytes > self._limits.max_block_bytes:
            limit = min(limit, max(1, count * self._limits.max_block_bytes // self._waiting_bytes))
        limit = before(self._waiting, self._pipeline.cut(self._store, int(self._waiting[0].offsets[0])), limit)
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
        effects = await self._prepared(records)
        self._pace.took(len(records), self._clock() - started)
        effects.next_offset = next_offset
        await self._commit(records, effects, max(0, int(records.timestamps[-1])), {}, started)

    async def _prepared(self, records: InputBlock) -> Effects:
        if not self._limits.aside:
            return self._pipeline.prepare(records, self._store)
        return await asyncio.get_running_loop().run_in_executor(_ASIDE, self._pipeline.prepare, records, self._store)

    async def _commit(
        self,
        records: InputBlock,
        effects: Effects,
        timestamp: int,
        more: Mapping[bytes, bytes],
        started: float | None = None,
    ) -> None:
        """One transaction, and only then the store."""
        prepared = self._clock()
        marks = self._add_marks(effects, timestamp, more)
        positions = await publish(self._producer, self._topics, effects, self._limits.transaction_seconds)
        published = self._clock()
        position = positions[self._topics.changelog]
        self._store.apply(effects.keys, effects.heads, effects.codes, position, marks, effects.held)
        deadlines = self._pipeline.deadlines
        if deadlines is not None:
            for user, record in effects.held.items():
                deadlines.set(user, record or None)
        self._control = None
        self._next_offset = effects.next_offset
        self._observer.block_committed(
            BlockReport(
                partition=self.partition,
                records=records,
                effects=effects,
                users=len(self._store),
                waiting=self._waiting_records,
                lag=max(0, self._high_watermark - self._next_offset),
                prepare_seconds=prepared - (prepared if started is None else started),
                publish_seconds=published - prepared,
                apply_seconds=self._clock() - published,
            )
        )

    def _add_marks(self, effects: Effects, timestamp: int, more: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
        marks = {PROGRESS_KEY: encode_progress(effects.next_offset), **effects.marks, **more}
        if self._control is not None:
            marks[CONTROL_KEY] = self._control
        records = [Outgoing(key, value, timestamp) for key, value in marks.items()]
        effects.changelog = effects.changelog.with_records(records)
        return marks
