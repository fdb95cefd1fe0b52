"""Reading a topic for estimates: all of its partitions side by side, to their ends, or on and on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from stream.audit.audit import Progress
from stream.audit.records import Record
from stream.audit.world import ReadsOn
from stream.errors import CannotAudit, CannotEstimate, TopicUnreadable
from stream.estimation.exporter import exposition
from stream.estimation.gathering import Gathering
from stream.estimation.results import WindowResult
from stream.estimation.told import finished, result_of

EVERY_SECONDS: Final = 5.0


@dataclass
class TopicReader:
    """Each look reads what has come since the last one. The partition that is furthest behind in event time is read on
    first, so that windows end early and few are open at a time.
    """

    gathering: Gathering
    topics: ReadsOn
    progress: Progress
    is_cut: bool = False
    """Whether the first records of some partition are gone."""
    _next: dict[int, int] = field(default_factory=dict)
    _next_epoch: dict[int, int] = field(default_factory=dict)

    async def look(self, going: Callable[[], bool] = lambda: True) -> AsyncGenerator[WindowResult, None]:
        """The windows that have become complete, as they do; it ends early where `going` says so."""
        topic, time = self.gathering.task.released_topic, self.gathering.time
        with _asking(topic):
            async with AsyncExitStack() as stack:
                streams = await self._streams(topic, stack)
                while streams and going():
                    partition = min(streams, key=time.progress)
                    records = await anext(streams[partition], None)
                    if records is None:
                        del streams[partition]
                        time.ended(partition)
                    elif records:
                        self._take(partition, records)
                    for window in self.gathering.over():
                        yield result_of(window, complete=True)

    async def _streams(self, topic: str, stack: AsyncExitStack) -> dict[int, AsyncIterator[Sequence[Record]]]:
        streams = {}
        for partition in await self.topics.partitions(topic):
            bounds = await self.topics.bounds(topic, partition)
            self.is_cut |= partition not in self._next and bounds.first > 0
            first = self._next.get(partition, 0)
            self.gathering.time.begins(partition)
            await self._read_epochs(partition)
            reading = self.topics.read(topic, partition, bounds.stable, committed=True, first=first)
            streams[partition] = await stack.enter_async_context(aclosing(reading))  # type: ignore[type-var]
        return streams

    async def _read_epochs(self, partition: int) -> None:
        """All records of epochs up to now; a release never comes before that of its own."""
        epochs, task = self.gathering.epochs, self.gathering.task
        if epochs is None:
            return
        topic = task.publics[0].changelog_topic
        until, first = (await self.topics.bounds(topic, partition)).stable, self._next_epoch.get(partition, 0)
        async with aclosing(self.topics.read(topic, partition, until, committed=True, first=first)) as reading:  # type: ignore[type-var]
            async for records in reading:
                for record in records:
                    epochs.add_record(partition, record)
        self._next_epoch[partition] = until

    def _take(self, partition: int, records: Sequence[Record]) -> None:
        self.gathering.take(partition, records)
        self._next[partition] = records[-1].offset + 1
        self.progress("released records", len(records))


Take = Callable[[WindowResult], Awaitable[None]]


async def read(reader: TopicReader, take: Take, going: Callable[[], bool] = lambda: True) -> WindowResult | None:
    """To the end that the topic has now, or as long as it may; answers what was told last."""
    last = None
    async with aclosing(reader.look(going)) as looking:
        async for last in looking:
            await take(last)
    return last


async def follow(
    reader: TopicReader,
    take: Take,
    show: Callable[[str], None] | None,
    stop: asyncio.Event,
    every: float = EVERY_SECONDS,
) -> None:
    """Look, tell, show, wait, until told to stop. A first look that fails is an error; brokers that go away later are
    waited for: what was read before a look broke off is not read again.
    """
    last, looked = None, False
    while not stop.is_set():
        up = True
        try:
            last = await read(reader, take, lambda: not stop.is_set()) or last
        except TopicUnreadable:
            if not looked:
                raise
            up = False
        looked = True
        if show is not None:
            whole = next(finished(reader.gathering), None) if not reader.gathering.task.asked.window else last
            show(exposition(whole, reader.gathering.reader.counts, up=up))
        with suppress(TimeoutError):
            async with asyncio.timeout(every):
                await stop.wait()


async def require_topic(topics: ReadsOn, topic: str, where: str, fix: str) -> None:
    with _asking(topic):
        if not await topics.partitions(topic):
            raise CannotEstimate("A topic does not exist.", where, "the brokers know no topic of this name", fix)


@contextmanager
def _asking(topic: str) -> Iterator[None]:
    """What reads the released topic for an audit reads it for this, too; only its refusals speak of an audit."""
    try:
        yield
    except CannotAudit as error:
        fix = "see whether the brokers are up, whether this login may read the topic, and whether a transaction is open"
        raise TopicUnreadable("The topic cannot be read.", error.where or f"topic {topic}", error.why, fix) from None
