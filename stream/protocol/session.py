"""One partition in our hands: from the fencing of whoever had it before until it is let go."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from stream.errors import PublishFailed, StateRefused
from stream.protocol.control import (
    CONTROL_KEY,
    PROGRESS_KEY,
    Control,
    Difference,
    closing_begun,
    decode_control,
    decode_progress,
    differences,
    encode_control,
    may_change,
    refuse,
    worst,
)
from stream.protocol.effects import only_offset
from stream.protocol.lane import Lane
from stream.protocol.limits import LaneLimits, wall_clock_ms
from stream.protocol.loader import load
from stream.protocol.observer import NullObserver, Observer, Recovery
from stream.protocol.ports import Changelog, Pipeline, Producer, RowCodec, Source, UserStore
from stream.protocol.publish import Topics, publish

# A transaction takes some milliseconds; one that takes longer than this when its partition is taken away is aborted,
# so that the other workers do not wait for it.
FINISH_SECONDS = 5.0
STOP_SECONDS = 2.0

log = logging.getLogger("sottovoce.session")


@dataclass(frozen=True, slots=True)
class World:
    """Everything that a session needs, and how to make what belongs to one partition."""

    identity: Control
    topics: Topics
    changelog: Changelog
    source: Source
    codec: RowCodec
    new_producer: Callable[[int], Producer]
    new_store: Callable[[int], UserStore]
    new_pipeline: Callable[[int], Pipeline]
    observer: Observer = field(default_factory=NullObserver)
    limits: LaneLimits = field(default_factory=LaneLimits)
    clock: Callable[[], float] = perf_counter
    wall_clock_ms: Callable[[], int] = wall_clock_ms


class Session:
    """Producer, store and lane of one partition.

    The lane comes and goes with assignments, the other two stay while we own it.
    """

    def __init__(self, world: World, partition: int, on_failure: Callable[[BaseException], None]) -> None:
        self._world = world
        self._partition = partition
        self._on_failure = on_failure
        self._where = f"topic {world.topics.changelog}, partition {partition}"
        self._producer = world.new_producer(partition)
        self._store = world.new_store(partition)
        self._pipeline = world.new_pipeline(partition)
        self._control: bytes | None = None
        self._lane: Lane | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def lane(self) -> Lane | None:
        return self._lane

    async def open(self) -> None:
        """Fence, ask for the group's offset, load, check.

        Only a fenced changelog has an end that stays. The offset is asked for before the changelog is read, so that the
        beliefs are never older than it: should this worker freeze in between and wake after another has committed,
        it must find itself fenced, and not conclude that beliefs are missing.
        """
        started, start = self._world.clock(), self._store.position()
        await self._producer.start()
        committed = await self._world.source.committed(self._partition)
        await load(self._world.changelog, self._partition, self._store, self._world.codec, self._world.observer)
        found = self._check_owner(committed)
        waiting = self._pipeline.adopt(self._store)
        if found and not await self._is_drained():
            raise self._refused(found)
        await self._align_group(committed)
        await self._serve(waiting, self._world.clock() - started, start)

    async def resume(self) -> None:
        """Take records again, starting where the last commit ended."""
        if self._lane is None:
            await self._serve(self._pipeline.adopt(self._store))

    async def _serve(self, waiting: int, seconds: float = 0.0, start: int | None = None) -> None:
        """Take records, while so many wait in windows; beliefs from `start` on were read in `seconds`."""
        lane = Lane(
            self._partition,
            producer=self._producer,
            pipeline=self._pipeline,
            store=self._store,
            topics=self._world.topics,
            observer=self._world.observer,
            expected=await self._next_offset(),
            limits=self._world.limits,
            drained=lambda offset: self._world.source.drained(self._partition, offset),
            end_before_us=0 if self._pipeline.deadlines is None else await self._world.source.end(self._partition),
            clock=self._world.clock,
            wall_clock_ms=self._world.wall_clock_ms,
        )
        if self._control is not None and self._store.marks().get(CONTROL_KEY) != self._control:
            lane.write_control(self._control)
        self._lane = lane
        self._task = asyncio.create_task(lane.run(), name=f"lane of partition {self._partition}")
        self._task.add_done_callback(self._lane_ended)
        here, users, unreadable = self._store.position(), len(self._store), len(self._store.unreadable)
        began = here if start is None else start
        recovery = Recovery(self._partition, here, here, users, unreadable, began, waiting)
        self._world.observer.ready(recovery, seconds)

    async def pause(self) -> bool:
        """Finish the block at work and take no more.

        False when it had to be aborted: then the session must be closed.
        """
        lane, task = self._lane, self._task
        self._lane = self._task = None
        if lane is None or task is None:
            return True
        lane.close()
        await asyncio.wait([task], timeout=FINISH_SECONDS)
        if task.done():
            return not task.cancelled() and task.exception() is None
        task.cancel()
        await asyncio.wait([task], timeout=STOP_SECONDS + 1)
        return False

    async def close(self) -> None:
        await self.pause()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await self._producer.stop()
        except (TimeoutError, PublishFailed):
            # Its brokers are away. Whoever starts this partition's producer next ends what it left open.
            log.warning("%s: the producer did not stop in order.", self._where)
        finally:
            self._store.close()

    def _check_owner(self, committed: int | None) -> list[Difference]:
        """What differs from the last owner, and may once no record waits. Whatever never may is refused before the
        pipeline is asked to open what others have sealed.
        """
        stored = self._store.marks().get(CONTROL_KEY)
        self._control = encode_control(self._world.identity)
        if stored is None:
            self._check_new(committed)
            return []
        found = differences(decode_control(stored, self._where), self._world.identity)
        if found and not may_change(found):
            raise self._refused(found)
        return found

    def _refused(self, found: list[Difference]) -> StateRefused:
        return refuse(worst(found), self._where, aggregates=self._world.identity.is_of_windows)

    def _check_new(self, committed: int | None) -> None:
        if committed is not None or len(self._store) or PROGRESS_KEY in self._store.marks():
            raise StateRefused(
                "The beliefs of a partition are gone, though its events were released before.",
                where=self._where,
                why=f"the consumer group stands at offset {committed}, and the changelog has no control record: "
                "what was already told about each user is no longer known",
                fix="restore the belief changelog from a copy, or give the pipeline a new name, so that it starts anew",
            )

    async def _align_group(self, committed: int | None) -> None:
        """Put the consumer group where the beliefs are, should an operator have moved it or a broker forgotten it.

        The beliefs and the progress mark were committed together. Records before it were released and must not be
        again; records after it were not, and would be lost if the group went on behind them.
        """
        mark = self._store.marks().get(PROGRESS_KEY)
        if mark is None:
            return
        ours = decode_progress(mark, self._where)
        if committed != ours:
            log.warning("%s: the consumer group stood at %s and is put to %d.", self._where, committed, ours)
            await publish(self._producer, self._world.topics, only_offset(ours), self._world.limits.transaction_seconds)

    async def _is_drained(self) -> bool:
        """No record waits, and no window is half-way through being closed."""
        begun = closing_begun(self._store.marks(), self._where)
        due = None if self._pipeline.deadlines is None else self._pipeline.deadlines.first()
        if begun is not None and due is not None and due <= begun:
            return False
        return await self._world.source.drained(self._partition, await self._next_offset())

    async def _next_offset(self) -> int:
        """Where the last commit ended, or where the raw topic now begins if it no longer holds that."""
        beginning = await self._world.source.beginning(self._partition)
        mark = self._store.marks().get(PROGRESS_KEY)
        if mark is None:
            return beginning
        ours = decode_progress(mark, self._where)
        if beginning > ours:
            log.warning("%s: the raw topic has lost offsets %d to %d.", self._where, ours, beginning - 1)
            self._world.observer.gap(self._partition, ours, beginning)
        return max(ours, beginning)

    def _lane_ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._world.observer.failed(self._partition, error)
            self._on_failure(error)
