"""One worker at work, whatever its pipeline releases: the admin server beside it, everything compiled before it joins,
and the word to stop.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stream.admin import AdminServer, AdminSettings
from stream.commands.compiling import compiling_told
from stream.engine import batches, fetched
from stream.engine.memory import settle
from stream.engine.topic_ids import TopicFacts
from stream.engine.worker import Job, work
from stream.metrics.meter import Meter
from stream.names import DISTRIBUTION, EXIT_DONE
from stream.protocol.inputs import InputBlock
from stream.settings.model import Settings
from stream.supervisor import watch_lifeline


@dataclass(frozen=True)
class Task:
    """`then` makes the job that goes on with what the first one writes; `warm_up` compiles or loads every kernel."""

    settings: Settings
    meter: Meter
    job: Job
    warm_up: Callable[[], None]
    warnings: Sequence[str] = ()
    then: Callable[[TopicFacts], Job] | None = None


class NoRecord(NamedTuple):
    """A record that no pipeline can read."""

    offset: int = 0
    timestamp: int = 0
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def no_records() -> InputBlock:
    """A block to warm up with."""
    return InputBlock.of([NoRecord()])


async def carry_out(task: Task) -> None:
    """Until it is told to stop; raises what ended it otherwise."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    watch_lifeline(stop.set)
    for warning in task.warnings:
        logging.getLogger(DISTRIBUTION).warning("%s", warning)
    admin = task.settings.admin
    server = AdminServer(task.meter, AdminSettings(host=admin.host, port=admin.port))
    await server.start()
    try:
        await _warm_up_unless(stop, task)
        settle()
        await work(task.job, stop, task.then)
    finally:
        await server.stop()


async def _warm_up_unless(stop: asyncio.Event, task: Task) -> None:
    """In a thread, so that whoever asks for /readyz meanwhile is told that this worker is not ready; and first of all,
    because compiling takes seconds without any heartbeat.
    """
    with compiling_told(logging.getLogger(DISTRIBUTION).info):
        warming = asyncio.create_task(asyncio.to_thread(_warm_up, task), name="warming up")
        stopping = asyncio.create_task(stop.wait(), name="waiting for the word to stop")
        await asyncio.wait({warming, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not warming.done():
            # Nothing was begun, and a compiler in another thread cannot be interrupted: it would outlast the drain.
            os._exit(EXIT_DONE)
        await warming


def _warm_up(task: Task) -> None:
    task.warm_up()
    batches.warm_up()
    fetched.warm_up()
    if task.meter.witness is not None:
        task.meter.witness.warm_up()
