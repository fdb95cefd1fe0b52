"""One simulated run: a seed decides the records, the delays, and when processes crash, freeze, wake or lose partitions.

`run(seed)` gives every violation of what the release protocol promises. One run again, and told:

    PYTHONPATH=. python tests/simulation/sim_schedule.py SEED
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from random import Random
from typing import Any

from sim_brokers import Brokers
from sim_check import progress_mark
from sim_loop import VirtualLoop
from sim_ports import TOPICS, Process, WatchedStore
from sim_worker import Parts, Worker

from stream.protocol.ports import Outgoing

STEPS_MAX = 60_000
USERS = (b"ann", b"bob", b"cy", b"dee")
LATE_SECONDS = 2.0  # within which some records come after the others, while windows wait for them
SESSION_SECONDS = 0.2
SLOW_SECONDS = 12.0  # longer than a lane waits for a transaction, so that it is aborted
FAULTS = ("crash", "crash", "crash", "freeze", "rebalance", "expire", "reset group", "stop", "refuse", "slow")


@dataclass
class Fault:
    kind: str
    at_step: int


@dataclass
class Outcome:
    seed: int
    violations: list[str] = field(default_factory=list)
    hits: Counter[tuple[str, str]] = field(default_factory=Counter)
    story: list[str] = field(default_factory=list)

    def replay(self) -> str:
        return f"PYTHONPATH=. python tests/simulation/sim_schedule.py {self.seed}"


class Schedule:
    """The brokers, the workers, and the hand that makes things go wrong."""

    def __init__(self, seed: int, parts: Parts) -> None:
        self.outcome = Outcome(seed)
        self._chance = Random(seed)
        self._parts = parts
        self._loop: Any = VirtualLoop()  # asyncio asks for a full event loop; this one is enough for it
        self._brokers = Brokers()
        self._partitions = self._chance.choice((1, 1, 2))
        self._steps = 0
        self._all_processes: list[Process] = []
        self._tasks: list[asyncio.Future[None]] = []
        self._moves = 0  # takeovers under way
        self._given_up = False
        self._on_disk = self._chance.random() < 0.4
        self._left_behind: dict[int, WatchedStore] = {}
        self._owner: Worker | None = None
        self._frozen: list[Worker] = []
        self._faults = self._plan()
        for part in self._raw_parts():
            self._write_inputs(part)

    def _plan(self) -> list[Fault]:
        count = self._chance.choice((1, 1, 2, 3, 4))
        steps = sorted(self._chance.randrange(1, 90) for _ in range(count))
        return [Fault(self._chance.choice(FAULTS), step) for step in steps]

    def _write_inputs(self, part: tuple[str, int]) -> None:
        for _ in range(self._chance.randrange(3, 14)):
            what = self._chance.random()
            if what < 0.08:
                self._brokers.mark(part)
            elif what < 0.16:
                self._write(part, None)
            else:
                self._write(part, self._parts.raw(self._chance.randrange(100)))
        self._write(part, self._parts.raw(7))

    def _write(self, part: tuple[str, int], raw: bytes | None) -> None:
        now = round(self._loop.time() * 1000)
        self._brokers.write(part, Outgoing(self._chance.choice(USERS), raw, now))

    def _write_later(self) -> None:
        """Records that come while windows wait, are being closed, or have just been."""
        for part in self._raw_parts():
            for _ in range(self._chance.randrange(5)):
                seconds = self._chance.random() * LATE_SECONDS
                self._later(seconds, lambda part=part: self._write(part, self._parts.raw(8)))  # type: ignore[misc]

    def run(self) -> Outcome:
        asyncio.events._set_running_loop(self._loop)
        try:
            self._write_later()
            self._move(self._new_worker, "start")
            finished = self._loop.run(self._is_done, steps_max=STEPS_MAX)
        finally:
            asyncio.events._set_running_loop(None)
        if not finished:
            self._violate("the run did not come to an end")
        stores = self._owner.stores if self._owner else {}
        self.outcome.violations += self._parts.violations(self._brokers, self._partitions, stores)
        self._tear_down()
        return self.outcome

    def _is_done(self) -> bool:
        if self._given_up:
            return True
        if self._moves or self._frozen or self._owner is None or not self._owner.process.alive:
            return False
        return all(self._is_caught_up(partition) for partition in range(self._partitions))

    def _is_caught_up(self, partition: int) -> bool:
        """Cheap question first: this is asked at every step."""
        part = (TOPICS.raw, partition)
        last = max(e.offset for e in reversed(self._brokers.log(part)) if e.record)
        if self._brokers.group.get(part, 0) < last + 1:
            return False
        if progress_mark(self._brokers, partition) != self._brokers.group[part]:
            return False
        return not self._parts.waits(self._brokers, partition)

    def _raw_parts(self) -> list[tuple[str, int]]:
        return [(TOPICS.raw, partition) for partition in range(self._partitions)]

    # What happens

    def _new_worker(self) -> Worker:
        process = Process(len(self._all_processes) + 1, self._chance, self._on_step)
        self._all_processes.append(process)
        disk = dict(self._left_behind) if self._on_disk else None
        self._left_behind = {}
        return Worker(process, self._brokers, self._chance, self._parts, self._partitions, self._on_exit, disk)

    def _on_step(self, process: Process, point: str) -> None:
        self._steps += 1
        while self._faults and self._steps >= self._faults[0].at_step:
            fault = self._faults.pop(0)
            self._tell(f"{fault.kind} of process {process.number} {point}")
            self.outcome.hits[fault.kind, point] += 1
            self._strike(fault.kind, process)

    def _strike(self, kind: str, process: Process) -> None:
        owner = self._owner
        if kind == "expire":
            for partition in range(self._partitions):
                self._brokers.expire(f"sottovoce-{partition}")
        elif owner is None or owner.process is not process:
            process.alive = False  # a zombie, or one that is leaving: whatever befalls it is its end
        elif kind == "refuse":
            process.refused_next = True
        elif kind == "slow":
            process.slow_next = SLOW_SECONDS
        elif kind == "freeze":
            process.freeze()
            self._frozen.append(owner)
            self._owner = None
            self._later(SESSION_SECONDS, lambda: self._move(self._new_worker, "take over from the frozen one"))
            self._later(SESSION_SECONDS * self._chance.choice((0.5, 1, 1.2, 2, 4)), lambda: self._wake(owner))
        elif kind in ("rebalance", "stop"):
            self._owner = None
            self._moves += 1
            self._spawn(self._hand_over(owner, back=kind == "rebalance" and self._chance.random() < 0.5))
        else:
            process.alive = False
            self._owner = None
            self._left_behind = owner.stores
            if kind == "reset group":
                for part in self._raw_parts():
                    if part in self._brokers.group:
                        self._brokers.group[part] = self._chance.randrange(len(self._brokers.log(part)) + 1)
            self._later(0.0, lambda: self._move(self._new_worker, "start anew"))

    async def _hand_over(self, owner: Worker, *, back: bool) -> None:
        """Partitions are taken away in good order, and go to a new process or come back."""
        revoking = asyncio.ensure_future(owner.revoke())
        await asyncio.wait([revoking], timeout=10)
        self._moves -= 1
        if back and revoking.done() and owner.process.alive and not owner.process.frozen:
            self._move(lambda: owner, "give back")
            return
        self._move(self._new_worker, "give to another")
        self._spawn(owner.sessions.close())

    def _on_exit(self, worker: Worker, error: BaseException) -> None:
        """A worker found that it must stop: the process ends, and if it was the owner a fresh one follows."""
        self._tell(f"process {worker.process.number} stops: {type(error).__name__}")
        self.outcome.hits["failure", type(error).__name__] += 1
        if type(error).__name__ not in ("Fenced", "PublishFailed"):
            self._violate(f"a worker stopped with {type(error).__name__}: {error}")
            self._given_up = True
        worker.process.alive = False
        if self._owner is worker:
            self._owner = None
            self._later(0.01, lambda: self._move(self._new_worker, "start anew"))

    def _move(self, worker_of: Callable[[], Worker], why: str) -> None:
        if self._owner is not None and self._owner.process.alive:
            return
        worker = worker_of()
        self._owner = worker
        self._tell(f"process {worker.process.number}: {why}")
        self._spawn(worker.assign(range(self._partitions)))

    def _wake(self, worker: Worker) -> None:
        self._tell(f"process {worker.process.number} wakes")
        self._frozen.remove(worker)
        worker.process.thaw()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.ensure_future(work))

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        self._moves += 1

        def act() -> None:
            self._moves -= 1
            action()

        self._loop.call_later(seconds, act)

    def _violate(self, what: str) -> None:
        self.outcome.violations.append(what)

    def _tell(self, what: str) -> None:
        self.outcome.story.append(f"{self._loop.time():8.3f} step {self._steps:4d}  {what}")

    def _tear_down(self) -> None:
        """Tasks of crashed processes hang for ever, which is what a crash is; now they may end."""
        for process in self._all_processes:
            process.over = True
        for _ in range(20):
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            if not self._loop.run(lambda: not asyncio.all_tasks(self._loop), steps_max=500):
                continue
            return
        self._violate("some tasks cannot be ended")


def run(seed: int, parts: Parts | None = None) -> Outcome:
    return Schedule(seed, parts or Parts()).run()


if __name__ == "__main__":
    told = run(int(sys.argv[1]))
    print("\n".join(told.story))
    print("\n".join(told.violations) or "no violation")
