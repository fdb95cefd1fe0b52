"""Memory per user, and how long it takes to be back: 100,000 users against 1,000, the same number of events.

Start-up is from the start of the process to its first committed output with nothing to load; recovery is the same with
100,000 users to load from the changelog topic: after an ordinary stop, and after a kill. New events wait meanwhile.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench_broker import Broker, drop_topics, make_topic
from bench_contestants import Contestant, Heat
from bench_machine import await_quiet
from bench_meter import Observer
from bench_processes import BenchFailure, Child
from bench_traffic import Alphabet, draw_traffic, fill

FEW_USERS, MANY_USERS = 1_000, 100_000
EVENTS = 500_000
EVENTS_AFTERWARDS = 1_000
WITHIN_SECONDS = 180.0


@dataclass(frozen=True)
class Scale:
    contestant: str
    memory_few_users_bytes: int
    memory_many_users_bytes: int
    memory_bytes_per_user: float
    startup_seconds: float
    stop_seconds: float
    recovery_after_stop_seconds: float
    recovery_after_kill_seconds: float


async def measure_scale(contestant: Contestant, broker: Broker, folder: Path, patience: float) -> Scale:
    await await_quiet(patience)
    few = Stage(contestant, broker, folder, FEW_USERS)
    await few.prepare()
    child, startup = await few.start()
    memory_few = child.memory_bytes()
    child.stop()
    await few.clear()

    many = Stage(contestant, broker, folder, MANY_USERS)
    await many.prepare()
    child, _ = await many.start()
    memory_many = child.memory_bytes()
    stop_seconds = child.stop()
    child, after_stop = await many.start_again()
    child.kill()
    child, after_kill = await many.start_again()
    child.stop()
    await many.clear()
    per_user = (memory_many - memory_few) / (MANY_USERS - FEW_USERS)
    return Scale(contestant.name, memory_few, memory_many, per_user, startup, stop_seconds, after_stop, after_kill)


class Stage:
    """One contestant with one number of users, started as often as needed on the same topics."""

    def __init__(self, contestant: Contestant, broker: Broker, folder: Path, users: int) -> None:
        self._contestant = contestant
        self._broker = broker
        self._users = users
        group = f"scale-{contestant.name}-{users}"
        self._heat = Heat(broker.bootstrap, f"{group}-raw", f"{group}-out", group, folder / group)
        self._fed = 0

    async def prepare(self) -> None:
        await make_topic(self._broker.bootstrap, self._heat.source)
        await make_topic(self._broker.bootstrap, self._heat.sink)
        await self._feed(EVENTS)

    async def start(self) -> tuple[Child, float]:
        """Start it, let it catch up; the seconds until its first committed output."""
        self._heat.folder.mkdir(exist_ok=True)
        child = Child(
            self._contestant.name, self._contestant.command(self._heat), self._heat.folder, self._heat.environment()
        )
        observer = Observer(child, self._broker, self._heat.sink)
        await observer.start()
        try:
            before = await observer.committed()
            await self._await(child, observer, lambda committed: committed > before)
            first = time.monotonic() - child.started_at
            await self._await(child, observer, lambda committed: committed >= self._fed)
        finally:
            await observer.stop()
        return child, first

    async def start_again(self) -> tuple[Child, float]:
        """Start it on another machine, so to speak: nothing of its own folder is left, events wait."""
        shutil.rmtree(self._heat.folder)
        await self._feed(EVENTS_AFTERWARDS)
        return await self.start()

    async def clear(self) -> None:
        await drop_topics(self._broker.bootstrap, self._heat.group)

    async def _feed(self, events: int) -> None:
        traffic = draw_traffic(Alphabet(self._contestant.alphabet_size), events, self._users)
        await fill(self._broker.bootstrap, self._heat.source, traffic, self._users, lambda n: None)
        self._fed += events

    async def _await(self, child: Child, observer: Observer, reached: Callable[[int], bool]) -> None:
        until = time.monotonic() + WITHIN_SECONDS
        while not reached(await observer.committed()):
            child.require_alive()
            if time.monotonic() > until:
                raise BenchFailure(f"{child.name} did not get on within {WITHIN_SECONDS:.0f} s\n{child.log_tail()}")
            await asyncio.sleep(0.02)
