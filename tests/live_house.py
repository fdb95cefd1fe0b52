"""A pipeline of two stages on the real broker: its topics, its workers, and that nobody stands in clear in what it
writes for itself.
"""

from __future__ import annotations

import asyncio
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from aiokafka.admin import AIOKafkaAdminClient
from broker import free_port
from fault_workers import FaultWorker, command
from live_kafka import consume_all, delete_topics
from live_worker import until
from live_writing import create_raw

from stream.keys import new_ring

HEAD = """\
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
"""


class TwoStageHouse(ABC):
    """One pipeline; `between` is the end of the name of the topic between its stages."""

    between_suffix: str

    def __init__(self, broker: str, folder: Path) -> None:
        self.broker, self.folder = broker, folder
        self.name = f"g{uuid.uuid4().hex[:10]}"
        ends = ("raw", "out", "dead", self.between_suffix)
        self.raw, self.out, self.dead, self.between = (f"{self.name}-{end}" for end in ends)
        self.changelogs = [f"{self.name}{stage}-beliefs-changelog" for stage in ("", "-total")]
        self.workers: dict[str, FaultWorker] = {}
        self.files: list[Path] = []

    @property
    @abstractmethod
    def section(self) -> str:
        """What the settings declare beside their head."""

    def settings_of(self, worker: str, store: str = "{kind: memory}") -> tuple[Path, int]:
        file, port = self.folder / f"{worker}.yaml", free_port()
        head = HEAD.format(name=self.name, broker=self.broker, worker=worker, port=port, store=store)
        file.write_text(head + self.section)
        self.files.append(file)
        return file, port

    async def start(self, worker: str, store: str = "{kind: memory}") -> FaultWorker:
        file, port = self.settings_of(worker, store)
        found = self.workers[worker] = FaultWorker(worker, file, self.folder / f"{worker}.log", port)
        found.start()
        await found.ready(lambda _: None, asyncio.Event())
        return found

    async def until_released(self, enough: Any, seconds: float = 120.0) -> list[Any]:
        """Returns the released records when they are enough; none of the workers has ended until then."""
        records: list[Any] = []

        async def is_enough() -> bool:
            for worker in self.workers.values():
                assert worker.running, f"the worker ended:\n{worker.log_tail()}"
            records[:] = await consume_all(self.broker, self.out)
            return bool(enough(records))

        await until(is_enough, seconds)
        return records

    async def check_same_bytes(self) -> None:
        """Whoever reads uncommitted records, too, sees one value under each key of a partition."""
        everything: dict[tuple[int, bytes], bytes] = {}
        for record in await consume_all(self.broker, self.out, committed=False):
            assert everything.setdefault((record.partition, record.key), record.value) == record.value

    async def check_audit(self) -> None:
        """The auditor, who shares no arithmetic with the stages, agrees: with what is public, and with the keys."""
        for options in ((), ("--keys",)):
            answer = await command("audit", str(self.files[0]), *options)
            assert answer.status == 0, answer.out + answer.said
            assert "verdict: AGREE" in answer.out

    async def check_nobody_is_named(self, *texts: bytes) -> None:
        """No user and no value stands in clear in what the pipeline writes for itself, aborted records included. Three
        given bytes stand by chance in one of 2^24 places of what is sealed, which is some MB; five in one of 2^40.
        """
        assert min(map(len, texts)) >= 5
        looked_at = 0
        for topic in (self.between, self.dead, *self.changelogs):
            for record in await consume_all(self.broker, topic, committed=False):
                for part in filter(None, (record.key, record.value)):
                    looked_at += 1
                    assert not any(text in part for text in texts), topic
        assert looked_at > 100


House = TypeVar("House", bound=TwoStageHouse)


@asynccontextmanager
async def lived_in(house: House) -> AsyncIterator[House]:
    """A pipeline whose workers have not been started. Whatever happens, they and the topics are gone afterwards."""
    new_ring(house.folder / "keys.json")
    await create_raw(house.broker, house.raw)
    try:
        yield house
    finally:
        for worker in house.workers.values():
            worker.kill()
        admin = AIOKafkaAdminClient(bootstrap_servers=house.broker)
        await admin.start()
        try:
            there = set(await admin.list_topics())
        finally:
            await admin.close()
        mine = {house.raw, house.out, house.dead, house.between, *house.changelogs}
        await delete_topics(house.broker, sorted(mine & there))
