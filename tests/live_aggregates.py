"""A pipeline of aggregates on the real broker: its topics, its workers, and what must have come of its raw records."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from aggregate_lives import Sent, told, without_noise
from aggregate_recount import Recount, closings_by_clock
from aiokafka.admin import AIOKafkaAdminClient
from broker import free_port
from fault_workers import FaultWorker, command
from live_kafka import consume_all, delete_topics
from live_worker import until
from live_writing import PARTITIONS, create_raw

from stream.aggregates.opening import open_aggregates
from stream.aggregates.promise import AggregatePromise
from stream.engine.connection import Connection
from stream.engine.topics import facts_of
from stream.keys import derived_key, new_ring
from stream.names import PURPOSE_NOISE

QUERIES = (
    "people: {count: users, epsilon: 0.5}",
    "paid: {sum: $.v, low: -2, high: 8, grid: 0.5, take: sum, at_most: 3, epsilon: 0.5}",
    "pace: {mean: $.v, low: -2, high: 8, grid: 0.5, epsilon: 0.5}",
    "job: {histogram: $.job, values: [a, b, c], take: first, epsilon: 0.5}",
)
SETTINGS = """\
version: 1
policy_version: 1
pipeline: {{name: {name}}}
kafka:
  brokers: ["{broker}"]
  allow_plaintext: true
  raw_topic: {name}-raw
  released_topic: {name}-out
  dead_letter_topic: {name}-dead
  group_instance: {name}-{worker}
  session_timeout: 6s
  replication_factor: 1
record: {{user: key, event_time: {{path: $.t, unit: ms}}}}
keys: {{file: keys.json}}
admin: {{port: {port}}}
store: {store}
aggregate:
  window: 1s
  from: {start}
  lateness: 2s
  grace: 1s
  ahead: 5s
  each:
{queries}
  dependence: {{users: independent}}
  target: {target}
"""


class AggregateHouse:
    def __init__(self, broker: str, folder: Path, start: str, target: str) -> None:
        self.broker, self.folder, self._start, self._target = broker, folder, start, target
        self.name = f"g{uuid.uuid4().hex[:10]}"
        self.raw, self.out, self.dead, self.partials = (
            f"{self.name}-{end}" for end in ("raw", "out", "dead", "partials")
        )
        self.changelogs = [f"{self.name}{stage}-beliefs-changelog" for stage in ("", "-total")]
        self.workers: dict[str, FaultWorker] = {}
        self.files: list[Path] = []

    def settings_of(self, worker: str, store: str = "{kind: memory}") -> tuple[Path, int]:
        file, port = self.folder / f"{worker}.yaml", free_port()
        queries = "".join(f"    {query}\n" for query in QUERIES).rstrip()
        file.write_text(
            SETTINGS.format(
                name=self.name,
                broker=self.broker,
                worker=worker,
                port=port,
                store=store,
                start=self._start,
                queries=queries,
                target=self._target,
            )
        )
        self.files.append(file)
        return file, port

    async def start(self, worker: str, store: str = "{kind: memory}") -> FaultWorker:
        file, port = self.settings_of(worker, store)
        found = self.workers[worker] = FaultWorker(worker, file, self.folder / f"{worker}.log", port)
        found.start()
        await found.ready(lambda _: None, asyncio.Event())
        return found

    @property
    def promise(self) -> AggregatePromise:
        return open_aggregates(self.files[0], {}).promise

    async def released(self) -> list[dict[str, Any]]:
        return told(await consume_all(self.broker, self.out))

    async def released_past(self, time: int) -> None:
        """Returns when every window that ends by then has its record."""

        async def is_past() -> bool:
            for worker in self.workers.values():
                assert worker.running, f"the worker ended:\n{worker.log_tail()}"
            records = await consume_all(self.broker, self.out)
            return bool(records) and records[-1].timestamp >= time

        await until(is_past, 120.0)

    async def check(self, time: int) -> Counter[str]:
        """Everything that was released up to this time, against a recount; answers what became of the raw records."""
        promise = self.promise
        facts = await facts_of(Connection((self.broker,)), [self.raw])
        topic: UUID = facts[self.raw].id
        key = derived_key(promise.ring.current.secret, PURPOSE_NOISE, f"{promise.pipeline} {topic.hex}")
        said = await self.released()  # before the recount: windows go on closing
        sums, outcomes = await self.recount(promise)
        numbers = [each["window"]["number"] for each in said]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= (time - promise.start) // promise.length
        for each in said:
            number = each["window"]["number"]
            if each["outcome"] == "released":
                assert without_noise(promise, each, key) == sums[number], number
        everything: dict[bytes, bytes] = {}
        for record in await consume_all(self.broker, self.out, committed=False):
            assert everything.setdefault(record.key, record.value) == record.value
        return outcomes

    async def recount(self, promise: AggregatePromise) -> tuple[dict[int, list[int]], Counter[str]]:
        """The cells of every closed window, from the raw topic and from when the clock closed windows."""
        changelog = await consume_all(self.broker, self.changelogs[0])
        raw, total, outcomes = await consume_all(self.broker, self.raw), {}, Counter[str]()
        refused = []
        for partition in range(PARTITIONS):
            by_clock = closings_by_clock((each.key, each.value) for each in changelog if each.partition == partition)
            recount = Recount(promise, promise.start, promise.start)
            for record in (record for record in raw if record.partition == partition):
                recount.closed = max([recount.closed, *(to for offset, to in by_clock if offset <= record.offset)])
                event = json.loads(record.value)
                recount.see(Sent(record.key, event["t"], event["v"], event["job"], record.timestamp))
                if recount.outcomes[-1] != "counted":
                    refused.append((partition, record.offset, recount.outcomes[-1]))
            recount.closed = max([recount.closed, *(to for _, to in by_clock)])
            outcomes.update(recount.outcomes)
            for number, row in recount.sums().items():
                total[number] = total.get(number, np.zeros(promise.cells, np.int64)) + row
        letters = [json.loads(record.value) for record in await consume_all(self.broker, self.dead)]
        assert sorted((each["partition"], each["offset"], each["reason"]) for each in letters) == refused
        return {number: row.tolist() for number, row in total.items()}, outcomes

    async def check_audit(self) -> None:
        """The auditor, who shares no arithmetic with the stages, agrees: with what is public, and with the keys."""
        for options in ((), ("--keys",)):
            answer = await command("audit", str(self.files[0]), *options)
            assert answer.status == 0, answer.out + answer.said
            assert "verdict: AGREE" in answer.out

    async def check_nobody_is_named(self, *texts: bytes) -> None:
        """No user and no value stands in clear in what the pipeline writes for itself, aborted records included."""
        looked_at = 0
        for topic in (self.partials, self.dead, *self.changelogs):
            for record in await consume_all(self.broker, topic, committed=False):
                for part in filter(None, (record.key, record.value)):
                    looked_at += 1
                    assert not any(text in part for text in texts), topic
        assert looked_at > 100


@asynccontextmanager
async def housed(
    broker: str, folder: Path, start: str, target: str = "{nats: unlimited, windows: 60}"
) -> AsyncIterator[AggregateHouse]:
    """A pipeline whose workers have not been started. Whatever happens, they and the topics are gone afterwards."""
    house = AggregateHouse(broker, folder, start, target)
    new_ring(folder / "keys.json")
    await create_raw(broker, house.raw)
    try:
        yield house
    finally:
        for worker in house.workers.values():
            worker.kill()
        admin = AIOKafkaAdminClient(bootstrap_servers=broker)
        await admin.start()
        try:
            there = set(await admin.list_topics())
        finally:
            await admin.close()
        mine = {house.raw, house.out, house.dead, house.partials, *house.changelogs}
        await delete_topics(broker, sorted(mine & there))
