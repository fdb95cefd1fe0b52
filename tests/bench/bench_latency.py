"""How long an event waits: from its append to the raw topic until a read_committed consumer holds its release.

The raw topic stamps each record with the broker's clock when it appends it, and both contestants hand that time on as
the time of what they write; so the delay is the reader's clock (same machine) minus the record's timestamp. Timestamps
are whole milliseconds, rounded down: the figures are up to 1 ms too long. Above 20,000 events a second only one of the
four partitions is read, lest the reader take the processor from what it measures.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from aiokafka import AIOKafkaConsumer, TopicPartition
from bench_broker import PARTITIONS, Broker, drop_topics, make_topic
from bench_contestants import Contestant, Heat
from bench_machine import await_quiet, busy_seconds
from bench_meter import Observer
from bench_processes import BenchFailure, Child, cpu_seconds_of
from bench_traffic import Alphabet, draw_traffic, fill

from stream.engine.seams import as_blocks

USERS = 1_000
WARM_UP_EVENTS = 500_000
WARM_UP_WITHIN_SECONDS = 120.0
# The first seconds of each pace still hold what the change of pace stirred up.
SETTLE_SECONDS = 5.0
MEASURE_SECONDS = 20.0
READ_ALL_UP_TO = 20_000


@dataclass(frozen=True)
class Delay:
    contestant: str
    wanted_events_per_second: float
    kept_events_per_second: float
    samples: int
    p50_ms: float
    p99_ms: float
    max_ms: float
    others_share_of_machine: float


async def measure_delays(
    contestant: Contestant, broker: Broker, folder: Path, paces: Sequence[float], patience: float
) -> list[Delay]:
    group = f"delay-{contestant.name}"
    place = folder / group
    place.mkdir()
    heat = Heat(broker.bootstrap, f"{group}-raw", f"{group}-out", group, place)
    await make_topic(broker.bootstrap, heat.source, {"message.timestamp.type": "LogAppendTime"})
    await make_topic(broker.bootstrap, heat.sink)
    warm_up = draw_traffic(Alphabet(contestant.alphabet_size), WARM_UP_EVENTS, USERS)
    await fill(broker.bootstrap, heat.source, warm_up, USERS, lambda n: None)
    await await_quiet(patience)
    child = Child(contestant.name, contestant.command(heat), place, heat.environment())
    try:
        await _await_warm(child, broker, heat)
        delays = [await _measure_pace(child, contestant, broker, heat, pace) for pace in paces]
        child.require_alive()
    finally:
        child.stop()
    await drop_topics(broker.bootstrap, group)
    return delays


async def _await_warm(child: Child, broker: Broker, heat: Heat) -> None:
    observer = Observer(child, broker, heat.sink)
    await observer.start()
    until = time.monotonic() + WARM_UP_WITHIN_SECONDS
    try:
        while await observer.committed() < WARM_UP_EVENTS:
            child.require_alive()
            if time.monotonic() > until:
                raise BenchFailure(f"{child.name} did not finish its warm-up\n{child.log_tail()}")
            await asyncio.sleep(0.2)
    finally:
        await observer.stop()


async def _measure_pace(child: Child, contestant: Contestant, broker: Broker, heat: Heat, pace: float) -> Delay:
    pacer = await asyncio.create_subprocess_exec(
        *(sys.executable, str(Path(__file__).with_name("bench_pacer.py")), broker.bootstrap, heat.source),
        *(str(contestant.alphabet_size), str(USERS), str(pace), str(SETTLE_SECONDS + MEASURE_SECONDS)),
        stdout=asyncio.subprocess.PIPE,
    )
    partitions = range(PARTITIONS if pace <= READ_ALL_UP_TO else 1)
    reader = AIOKafkaConsumer(
        bootstrap_servers=broker.bootstrap, isolation_level="read_committed", key_deserializer=as_blocks
    )
    await reader.start()
    try:
        reader.assign([TopicPartition(heat.sink, partition) for partition in partitions])
        await reader.seek_to_end()
        began = await _first_arrival(child, reader)
        began += SETTLE_SECONDS
        await _drain(reader, began)
        busy_before = _others_cpu(child, broker, pacer.pid)
        # The pacer goes on for a moment after this: its own start took longer than the first arrival's way.
        delays = np.concatenate(await _drain(reader, began + MEASURE_SECONDS - 1.0))
        others = _others_cpu(child, broker, pacer.pid) - busy_before
    finally:
        await reader.stop()
        answer, _ = await pacer.communicate()
    p50, p99, worst = (float(each) for each in np.percentile(delays, (50, 99, 100)))
    share = others / ((MEASURE_SECONDS - 1.0) * (os.cpu_count() or 1))
    return Delay(contestant.name, pace, float(answer), delays.size, p50, p99, worst, share)


def _others_cpu(child: Child, broker: Broker, pacer_pid: int) -> float:
    ours = child.cpu_seconds() + cpu_seconds_of(broker.pid or 0) + cpu_seconds_of(pacer_pid) + time.process_time()
    return busy_seconds() - ours


async def _first_arrival(child: Child, reader: Any) -> float:
    until = time.monotonic() + WARM_UP_WITHIN_SECONDS
    while time.monotonic() < until:
        child.require_alive()
        if await reader.getmany(timeout_ms=100):
            return time.monotonic()
    raise BenchFailure(f"{child.name} released nothing while it was fed\n{child.log_tail()}")


async def _drain(reader: Any, until: float) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    """The delay, in ms, of every record that arrives until then."""
    delays = [np.empty(0, dtype=np.float64)]
    while time.monotonic() < until:
        arrived = await reader.getmany(timeout_ms=100)
        now_ms = time.time() * 1000
        delays += [now_ms - records.timestamps for records in arrived.values()]
    return delays
