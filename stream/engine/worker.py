"""One worker's life: look at the topics, join the group, carry out blocks, stop when told or when something is wrong.

A worker never mends itself. Whatever goes wrong ends the process with a status that says what kind of thing it was,
and a fresh process starts from what is committed.
"""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiokafka import TopicPartition
from aiokafka.errors import KafkaError

from stream.engine.app import BlockApp
from stream.engine.changelog import KafkaChangelog, KafkaSource
from stream.engine.gate import Gate
from stream.engine.lag import LagWatch
from stream.engine.lookups import Lookups
from stream.engine.plan import Plan
from stream.engine.producer import KafkaProducer
from stream.engine.topic_ids import TopicFacts
from stream.engine.topics import prepare_topics
from stream.engine.way_in import require_way_in
from stream.errors import PublishFailed, SottovoceError
from stream.protocol.control import Control
from stream.protocol.observer import NullObserver, Observer
from stream.protocol.ports import Pipeline, RowCodec, UserStore
from stream.protocol.session import World
from stream.protocol.sessions import Sessions
from stream.stores.memory import MemoryStore

# What Faust's own stop may take after the lanes have finished; then the process ends without it, which loses nothing.
FAUST_STOP_SECONDS = 4.0

log = logging.getLogger("sottovoce.worker")


@dataclass(frozen=True, slots=True)
class Job:
    """What to do, apart from how to reach it; the topic's facts are known only after the brokers were asked."""

    plan: Plan
    codec: RowCodec
    control: Callable[[TopicFacts], Control]
    pipelines: Callable[[TopicFacts], Callable[[int], Pipeline]]
    observer: Observer = field(default_factory=NullObserver)
    stores: dict[int, UserStore] = field(default_factory=dict)
    """Filled as partitions are opened, for whoever shows how their users stand."""


async def work(job: Job, stop: asyncio.Event, then: Callable[[TopicFacts], Job] | None = None) -> None:
    """Carry out blocks until `stop` is set, then finish those at work. Raises what ended it otherwise.

    `then` makes a second job that goes on with what the first one writes, out of the facts of the raw topic; both are
    carried out side by side.
    """
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_tell_leftover)
    failure: asyncio.Future[None] = loop.create_future()

    def fail(error: BaseException) -> None:
        # Faust may give up in its consumer's thread.
        loop.call_soon_threadsafe(_settle, failure, error)

    await require_way_in(job.plan.connection)
    raw, batch_bytes = await prepare_topics(job.plan)
    hands = [_Hand(job, raw, batch_bytes, fail)]
    if then is not None:
        second = then(raw)
        hands.append(_Hand(second, *await prepare_topics(second.plan), fail))
    stopping = asyncio.create_task(_until(stop), name="waiting for the word to stop")
    try:
        for hand in hands:
            await hand.begin()
        await asyncio.wait([failure, stopping], return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        await asyncio.gather(*(hand.end() for hand in hands))
    if failure.done():
        raise _ours(failure.exception())


class _Hand:
    """One job at work: its sessions, its Faust app, and what watches over them."""

    def __init__(self, job: Job, raw: TopicFacts, batch_bytes: int, fail: Callable[[BaseException], None]) -> None:
        self._fail = fail
        self._lookups = Lookups(job.plan.connection)
        self._sessions = Sessions(_world(job, raw, batch_bytes, self._lookups), fail)
        gate = Gate(job.plan, self._sessions, fail)
        self._app = BlockApp(gate)
        self._group, self._first = job.plan.pipeline, TopicPartition(job.plan.topics.raw, 0)
        self._watch = LagWatch(job.plan.topics.raw, self._lookups, self._sessions, gate.nothing, job.observer)
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        await self._lookups.start()
        # Faust asks for ever for a group that the brokers keep from it, and says nothing.
        await self._lookups.group_offset(self._group, self._first)
        self._tasks = [
            asyncio.create_task(_guarded(self._app.start(), self._fail), name="starting Faust"),
            asyncio.create_task(_guarded(self._watch.run(), self._fail), name="watching the lag"),
        ]

    async def end(self) -> None:
        if not self._tasks:
            return
        starting, watching = self._tasks
        watching.cancel()
        await self._sessions.close()
        await _stop_faust(self._app, starting)
        await self._lookups.close()


def _world(job: Job, raw: TopicFacts, batch_bytes: int, lookups: Lookups) -> World:
    plan = job.plan
    topics = plan.topics

    def new_producer(partition: int) -> KafkaProducer:
        return KafkaProducer(
            plan.connection,
            pipeline=plan.pipeline,
            raw_topic=topics.raw,
            partition=partition,
            topics=(topics.released, topics.dead_letters, topics.changelog),
            batch_bytes=batch_bytes,
            single=plan.single,
        )

    def new_store(partition: int) -> UserStore:
        job.stores[partition] = _store(job, raw, partition)
        return job.stores[partition]

    return World(
        identity=job.control(raw),
        topics=topics,
        changelog=KafkaChangelog(plan.connection, lookups, topics.changelog),
        source=KafkaSource(plan.connection, lookups, topics.raw, plan.pipeline),
        codec=job.codec,
        new_producer=new_producer,
        new_store=new_store,
        new_pipeline=job.pipelines(raw),
        observer=job.observer,
        limits=plan.limits,
    )


def _store(job: Job, raw: TopicFacts, partition: int) -> UserStore:
    folder, plan = job.plan.store_folder, job.plan
    if folder is None:
        return MemoryStore(job.codec)
    from stream.stores.disk import DiskStore

    owner = f"{plan.pipeline} {raw.id} {plan.topics.changelog} {partition} {plan.row_bytes}"
    return DiskStore(folder / f"partition-{partition}", job.codec, owner.encode())


async def _guarded(doing: Awaitable[Any], fail: Callable[[BaseException], None]) -> None:
    try:
        await doing
    except Exception as error:  # noqa: BLE001 whatever it is, the worker must not go on without this
        fail(error)


async def _until(stop: asyncio.Event) -> None:
    await stop.wait()


async def _stop_faust(app: BlockApp, starting: asyncio.Task[None]) -> None:
    starting.cancel()
    try:
        async with asyncio.timeout(FAUST_STOP_SECONDS):
            await asyncio.wait({starting})
            await app.stop()
    except TimeoutError:
        log.warning("Faust did not stop within %g s; the process ends without it.", FAUST_STOP_SECONDS)


def _tell_leftover(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What a library left behind for nobody, by its kind alone: asyncio would print it with its text.

    A fenced producer fails every future of its transaction; the first was heard, and the others say nothing new.
    """
    error = context.get("exception")
    if not isinstance(error, KafkaError):
        log.warning("%s: %s", context.get("message"), type(error).__name__)


def _settle(failure: asyncio.Future[None], error: BaseException) -> None:
    if failure.done():
        log.warning("After the first failure came %s.", type(error).__name__)
    else:
        failure.set_exception(error)


def _ours(error: BaseException | None) -> SottovoceError:
    """An error of ours as it is; of any other its kind and where it happened, since its text may quote a record."""
    if isinstance(error, SottovoceError):
        return error
    frames = [] if error is None else traceback.extract_tb(error.__traceback__)
    return PublishFailed(
        "The worker stopped because of an error that it does not know.",
        where=" < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames[-6:])),
        why=type(error).__name__,
        fix="nothing at first: a fresh worker is started; if the error comes back, report it with the line above",
    )
