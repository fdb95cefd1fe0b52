"""One pipeline on a real broker for the fault tests: its folder, its topics, its workers, its load and the verdict."""

from __future__ import annotations

import asyncio
import faulthandler
import json
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import live_kafka
import pytest
from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from broker import free_port
from fault_feeder import EVENTS_A_SECOND, Commits, Feeder, decided
from fault_kinds import EVERYDAY, SETTINGS, Kind, sticky_model
from fault_recount import Origin, Recount, Views, recount
from fault_workers import FaultWorker, command

from beliefs.model_file import parse
from stream.distances import choose_distance
from stream.engine.connection import Connection
from stream.engine.topics import facts_of
from stream.keys import new_ring
from stream.settings.load import load_settings, policy_fingerprint

SESSION_SECONDS = 6
STALL_SECONDS_MAX = 120.0
TELL_SECONDS = 5.0
Say = Callable[[str], None]


def teller(capsys: pytest.CaptureFixture[str]) -> Say:
    """Tells whoever waits for a long test how far it is."""

    def tell(text: str) -> None:
        with capsys.disabled():
            print(f"\n  {text}", end="", flush=True)

    return tell


@dataclass
class Stage:
    """Made by `a_stage`, which ends every process and removes the topics."""

    broker: str
    folder: Path
    say: Say
    partitions: int = 4
    session_seconds: int = SESSION_SECONDS
    seed: int = 1
    kind: Kind = EVERYDAY
    events_a_second: int = EVENTS_A_SECOND
    name: str = field(default_factory=lambda: f"faults-{uuid.uuid4().hex[:10]}")
    workers: list[FaultWorker] = field(default_factory=list)
    told: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.raw = f"{self.name}-raw"
        self.feeder = Feeder(self.broker, self.raw, self.partitions, self.seed, self.kind, self.events_a_second)
        self.commits = Commits(self.broker, self.raw, self.partitions, self.name)

    @property
    def topics(self) -> list[str]:
        return [self.raw, *(f"{self.name}-{end}" for end in ("released", "dead-letters", "beliefs-changelog"))]

    async def make(self) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "model.json").write_bytes(self.kind.model)
        new_ring(self.folder / "keys.json")
        await live_kafka.create_topic(self.broker, self.raw, partitions=self.partitions)

    async def remove_topics(self) -> None:
        """What a failed test leaves behind may be looked at in its folder; the broker serves the next one."""
        admin = AIOKafkaAdminClient(bootstrap_servers=self.broker)
        await admin.start()
        try:
            await admin.delete_topics([topic for topic in await admin.list_topics() if topic.startswith(self.name)])
        finally:
            await admin.close()

    def settings(self, label: str, port: int, **changed: Any) -> Path:
        """`changed` replaces what the settings usually say: name, instance, model, keys, store, policy_version."""
        file = self.folder / f"{label}.yaml"
        usual: dict[str, Any] = {
            "name": self.name,
            "broker": self.broker,
            "raw": self.raw,
            "instance": label,
            "session": self.session_seconds,
            "model": self.folder / "model.json",
            "keys": self.folder / "keys.json",
            "store": f"{{kind: disk, folder: {self.folder / 'beliefs'}}}" if self.kind.on_disk else "{kind: memory}",
            "port": port,
            "policy_version": 1,
            **self.kind.settings,
        }
        file.write_text(SETTINGS.format(**{**usual, **changed}), encoding="utf-8")
        return file

    def start(self, label: str, **changed: Any) -> FaultWorker:
        """A supervisor and its worker, with a name in the group and a port of its own."""
        port = free_port()
        settings = self.settings(label, port, **changed)
        worker = FaultWorker(label, settings, self.folder / f"{label}.log", port)
        worker.start()
        self.workers.append(worker)
        return worker

    async def refused(self, label: str, **changed: Any) -> str:
        """Starts a worker under the name of the usual one and answers what it said, if it refused to start."""
        worker = self.start(label, instance="w1", **changed)
        async with asyncio.timeout(STALL_SECONDS_MAX):
            while worker.running:
                await asyncio.sleep(0.05)
        status = worker.ended_with()
        self.say(f"{label}: exit {status}")
        assert status == 2, worker.said()
        return worker.said()

    async def ready(self, *workers: FaultWorker) -> None:
        never = asyncio.Event()
        await asyncio.gather(*(worker.ready(self.say, never) for worker in workers))

    async def moving(self, workers: Sequence[FaultWorker], *, partitions: bool = False) -> None:
        """Returns when something more has been committed; in each partition, if so wished."""
        await self.commits.look()
        before = dict(self.commits.at)
        wanted = all if partitions else any
        await self._until(lambda: wanted(self.commits.at[part] > before[part] for part in before), workers)

    async def drained(self, workers: Sequence[FaultWorker]) -> None:
        await self._until(lambda: self.commits.total >= self.feeder.fed, workers)

    async def _until(self, done: Callable[[], bool], workers: Sequence[FaultWorker]) -> None:
        moved, last = time.monotonic(), self.commits.total
        while True:
            await self.commits.look()
            if done():
                return
            now = time.monotonic()
            if self.commits.total != last:
                moved, last = now, self.commits.total
            ended = [worker for worker in workers if not worker.running]
            if ended or now - moved > STALL_SECONDS_MAX:
                what = f"fed {self.feeder.fed}, committed {self.commits.at}"
                logs = "\n".join(f"--- {worker.name}\n{worker.log_tail()}" for worker in ended or self.workers)
                raise AssertionError(f"{'a worker ended' if ended else 'nothing moves'}; {what}\n{logs}")
            self.tell_progress()
            await asyncio.sleep(0.1)

    def tell_progress(self) -> None:
        """Now and then."""
        if time.monotonic() - self.told > TELL_SECONDS:
            self.told = time.monotonic()
            self.say(self.progress())

    def progress(self) -> str:
        return f"{self.feeder.fed:,} events fed, {self.commits.total:,} committed"

    async def origin(self) -> Origin:
        facts = await facts_of(Connection((self.broker,)), [self.raw])
        settings = load_settings(self.settings("recount", free_port()))
        model = parse((self.folder / "model.json").read_bytes())
        distance = choose_distance(settings.record.protect.distance, model.alphabet)
        policy = policy_fingerprint(settings, model.digest, distance.digest)
        return Origin(self.raw, facts[self.raw].id.bytes, policy)

    async def views(self) -> Views:
        raw, released, letters, _ = self.topics
        await decided(
            self.broker, [TopicPartition(topic, part) for topic in (released, letters) for part in self.commits.at]
        )
        wanted = ((raw, False), (released, True), (released, False), (letters, True), (letters, False))
        return Views(*[await live_kafka.consume_all(self.broker, topic, committed=kind) for topic, kind in wanted])

    async def recount(self) -> Recount:
        return recount(await self.origin(), await self.views())

    async def audit(self, settings: Path) -> dict[str, Any]:
        answer = await command("audit", str(settings), "--json")
        assert answer.out, answer.said
        report: dict[str, Any] = json.loads(answer.out)
        return {**report, "status": answer.status}


async def assert_whole(stage: Stage, workers: Sequence[FaultWorker]) -> Recount:
    """Drain, count anew with independent readers, and let the auditor recompute every belief and charge."""
    await stage.drained(workers)
    counted = await stage.recount()
    stage.say(str(counted))
    assert counted.faults.found == {}, counted
    assert (counted.inputs, counted.suppressed) == (stage.feeder.fed, 0)
    await assert_audited(stage, workers[0], counted)
    return counted


async def assert_audited(stage: Stage, worker: FaultWorker, counted: Recount) -> None:
    """The auditor finds nothing, and counts what was counted anew. No values may wait in windows any more."""
    report = await stage.audit(worker.settings)
    stage.say(f"audit: {report.get('verdict')}, exit {report['status']}, {report.get('compared')}")
    assert report["status"] == 0, report
    assert report["compared"]["in = sum of outcomes"] == "agrees"
    audited = [report["events"][name] for name in ("inputs", "released", "forecast", "suppressed", "dead_lettered")]
    assert audited == [
        counted.inputs,
        counted.released,
        counted.forecast,
        counted.suppressed,
        counted.dead_lettered,
    ]
    assert report["uncommitted"]["records"] >= report["events"]["records"]
    assert report["events"]["waiting"] == 0


async def assert_stops(stage: Stage, *workers: FaultWorker) -> None:
    """SIGTERM finishes the blocks at work and commits within ten seconds, which is promised."""
    for worker, (status, seconds) in zip(
        workers, await asyncio.gather(*(worker.terminate() for worker in workers)), strict=True
    ):
        stage.say(f"{worker.name} ended with {status} after {seconds:.1f} s; restarts before: {worker.restarts}")
        assert status == 0, worker.log_tail()
        assert seconds <= 10.0, worker.log_tail()


@asynccontextmanager
async def a_stage(broker: str, folder: Path, say: Say, **changed: Any) -> AsyncIterator[Stage]:
    # These tests last longer than the time after which pytest has all threads' stacks written while they run on, which
    # can crash the interpreter; each has a time limit of its own instead.
    faulthandler.cancel_dump_traceback_later()
    stage = Stage(broker, folder, say, **changed)
    await stage.make()
    try:
        async with stage.commits:
            yield stage
    finally:
        await asyncio.gather(*(asyncio.to_thread(worker.kill) for worker in stage.workers))
        await stage.remove_topics()


@asynccontextmanager
async def under_load(stage: Stage, *, most: int) -> AsyncIterator[None]:
    """Events keep coming, and what is committed is looked at, until the block ends; at most `most` events in all."""
    stop = asyncio.Event()

    async def watch() -> None:
        while not stop.is_set():
            await stage.commits.look()
            stage.tell_progress()
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 0.1)

    async with asyncio.TaskGroup() as together:
        together.create_task(watch())
        together.create_task(stage.feeder.run(stop, lambda: stage.commits.total, most))
        try:
            yield
        finally:
            stop.set()


def write_model(file: Path, *, stay: float) -> None:
    file.write_bytes(sticky_model(stay=stay))
