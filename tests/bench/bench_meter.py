"""One measured run: start a contestant, follow from outside what it has committed, stop it, read back what it wrote.

Measured: the committed records of the output topic over time, seen as its read_committed end offsets, asked of the
broker every 50 ms. The clock runs from the first committed output to the last; what was there at the first look is not
counted, so start-up is left out (`startup_seconds` is from the start of the process to the first committed output).
`warm` is the same over the second half of the events: compilers that work while they run have then done their work.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from bench_broker import PARTITIONS, Broker, drop_topics, make_topic
from bench_contestants import Contestant, Heat
from bench_machine import busy_seconds
from bench_processes import BenchFailure, Child, cpu_seconds_of

LOOK_EVERY_SECONDS = 0.05
SETTLED_AFTER_SECONDS = 1.5
STALLED_AFTER_SECONDS = 180.0
READ_BACK_RECORDS = 20_000

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Look:
    """The end of the output topic at one moment, and processor seconds so far: the contestant's, the broker's, all."""

    at: float
    committed: int
    contestant_cpu: float
    broker_cpu: float
    others_cpu: float


@dataclass(frozen=True)
class Result:
    contestant: str
    events: int
    events_per_second: float
    warm_events_per_second: float
    startup_seconds: float
    cpu_microseconds_per_event: float
    broker_cpu_microseconds_per_event: float
    memory_bytes: int
    others_share_of_machine: float


class Observer:
    """Looks at one contestant's output topic from outside."""

    def __init__(self, child: Child, broker: Broker, sink: str) -> None:
        self._child = child
        self._broker_pid = broker.pid or 0
        self._partitions = [TopicPartition(sink, partition) for partition in range(PARTITIONS)]
        self._reader = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap, isolation_level="read_committed")

    async def start(self) -> None:
        await self._reader.start()

    async def stop(self) -> None:
        await self._reader.stop()

    async def committed(self) -> int:
        return sum((await self._reader.end_offsets(self._partitions)).values())

    def look(self, committed: int) -> Look:
        now = time.monotonic()
        contestant, broker = self._child.cpu_seconds(), cpu_seconds_of(self._broker_pid)
        others = busy_seconds() - contestant - broker - time.process_time()
        return Look(now, committed, contestant, broker, others)


async def run_heat(
    contestant: Contestant, heat: Heat, events: int, broker: Broker, read_back: bool, progress: Progress
) -> Result:
    await make_topic(heat.bootstrap, heat.sink)
    wanted = min(events, contestant.prefix or events)
    child = Child(contestant.name, contestant.command(heat), heat.folder, heat.environment())
    observer = Observer(child, broker, heat.sink)
    await observer.start()
    try:
        first, middle, last = await follow(child, observer, wanted, whole=wanted == events, progress=progress)
        memory = child.memory_bytes()
    finally:
        await observer.stop()
        child.stop()
    if read_back and wanted == events:
        await require_everything(contestant, heat, events)
    await drop_topics(heat.bootstrap, heat.group)
    measured = wanted * (1 - first.committed / last.committed)
    return Result(
        contestant=contestant.name,
        events=wanted,
        events_per_second=rate(first, last, wanted),
        warm_events_per_second=rate(middle, last, wanted),
        startup_seconds=first.at - child.started_at,
        cpu_microseconds_per_event=1e6 * (last.contestant_cpu - first.contestant_cpu) / measured,
        broker_cpu_microseconds_per_event=1e6 * (last.broker_cpu - first.broker_cpu) / measured,
        memory_bytes=memory,
        others_share_of_machine=(last.others_cpu - first.others_cpu) / ((last.at - first.at) * (os.cpu_count() or 1)),
    )


def rate(begin: Look, end: Look, events: int) -> float:
    """Events a second between two looks. Offsets count commit markers too, so they are used as shares of the whole."""
    if end.at == begin.at:
        raise BenchFailure("everything came with one look: too few events to measure a rate")
    return events * (1 - begin.committed / end.committed) / (end.at - begin.at)


async def follow(
    child: Child, observer: Observer, wanted: int, whole: bool, progress: Progress
) -> tuple[Look, Look, Look]:
    """Three looks: at the first committed output, at half of it, and when all that is wanted is there."""
    looks: list[Look] = []
    committed, progressed_at = 0, time.monotonic()
    while True:
        child.require_alive()
        before, committed = committed, await observer.committed()
        now = time.monotonic()
        if committed > before:
            progressed_at = now
            progress(min(committed, wanted))
            # Looking at every process costs milliseconds, so only the looks that are used are taken.
            passed = sum(committed >= threshold for threshold in (1, wanted / 2, wanted))
            if passed == 3 or passed > len(looks):
                kept = looks[:2]
                looks = kept + [observer.look(committed)] * (passed - len(kept))
        if len(looks) == 3 and (not whole or now - progressed_at > SETTLED_AFTER_SECONDS):
            return looks[0], looks[1], looks[2]
        if now - progressed_at > STALLED_AFTER_SECONDS:
            raise BenchFailure(f"{child.name} stood still at {committed:,} of {wanted:,}\n{child.log_tail()}")
        await asyncio.sleep(LOOK_EVERY_SECONDS)


async def require_everything(contestant: Contestant, heat: Heat, events: int) -> None:
    """Read the output back: as many records as events, and where users are counted, each count once and in order."""
    reader = AIOKafkaConsumer(bootstrap_servers=heat.bootstrap, isolation_level="read_committed")
    partitions = [TopicPartition(heat.sink, partition) for partition in range(PARTITIONS)]
    counts: dict[bytes, int] = {}
    seen = 0
    await reader.start()
    try:
        reader.assign(partitions)
        await reader.seek_to_beginning(*partitions)
        ends = await reader.end_offsets(partitions)
        while any([await reader.position(each) < ends[each] for each in partitions]):
            for records in (await reader.getmany(timeout_ms=500, max_records=READ_BACK_RECORDS)).values():
                seen += len(records)
                if contestant.count_of is not None:
                    require_counts(records, contestant.count_of, counts, contestant.name)
    finally:
        await reader.stop()
    if seen != events:
        raise BenchFailure(f"{contestant.name} wrote {seen:,} records for {events:,} events")


def require_counts(
    records: Sequence[Any], count_of: Callable[[Any], int], counts: dict[bytes, int], contestant: str
) -> None:
    for record in records:
        count = count_of(record)
        if count != counts.get(record.key, 0) + 1:
            raise BenchFailure(f"{contestant}: a user's count does not follow at offset {record.offset}")
        counts[record.key] = count
