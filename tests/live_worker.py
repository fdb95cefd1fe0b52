"""One pipeline on the real broker: a folder with its settings, its topics, and a worker that comes and goes."""

from __future__ import annotations

import asyncio
import struct
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from broker import free_port
from fault_workers import Answer, FaultWorker, command
from live_kafka import consume_all, delete_topics
from live_writing import PARTITIONS, create_raw
from worker import Metrics

from beliefs.alphabet import Alphabet, Categories
from beliefs.chain import Chain
from beliefs.model_file import serialise
from stream.keys import new_ring

VALUES = ("still", "walking", "running", "cycling")
SETTLE_SECONDS_MAX = 200.0
PAGE_SECONDS = 10.0
STEPS_AT = 48
"""Where a state row says how many events its user has had."""

SETTINGS: Mapping[str, str] = {
    "model": "model.json",
    "record": "{protect: {path: $.activity}, public: [$.n]}",
    "mechanism": "{name: optimal, epsilon: 1.0}",
    "budget": "{nats: 1000, window: 1d, when_spent: forecast}",
    "store": "{kind: memory}",
    "metrics": "{small_count_floor: 1}",
}
KAFKA = """\
version: 1
policy_version: 1
pipeline: {{name: {name}}}
kafka:
  brokers: ["{broker}"]
  allow_plaintext: true
  raw_topic: {raw}
  released_topic: {name}-released
  dead_letter_topic: {name}-dead
  group_instance: {name}-1
  session_timeout: 6s
  replication_factor: 1
keys: {{file: keys.json}}
admin: {{port: {port}}}
"""


class Page(NamedTuple):
    status: int
    text: str


class Counts(NamedTuple):
    """What became of the inputs, counted from the topics alone. Replays leave no trace in any topic."""

    inputs: int
    released: int
    forecast: int
    suppressed: int
    dead_lettered: int

    @property
    def outcomes(self) -> dict[str, int]:
        return {**{name: count for name, count in self._asdict().items() if name != "inputs"}, "replayed": 0}


class House:
    """Its topics, its settings and its worker; `opened` makes one and takes everything away at the end."""

    def __init__(self, broker: str, folder: Path, **settings: str) -> None:
        self.broker = broker
        self.folder = folder
        self.name = f"h{uuid.uuid4().hex[:10]}"
        self.raw, self.released, self.dead = (f"{self.name}-{end}" for end in ("raw", "released", "dead"))
        self.changelog = f"{self.name}-beliefs-changelog"
        self.port = free_port()
        self.file = folder / "sottovoce.yaml"
        self.log = folder / "worker.log"
        self.worker = FaultWorker(self.name, self.file, self.log, self.port)
        self._restarts_before = 0
        self._settings = {**SETTINGS, **settings}

    def write_settings(self, **changes: str) -> None:
        self._settings.update(changes)
        kafka = KAFKA.format(name=self.name, broker=self.broker, raw=self.raw, port=self.port)
        given = {name: text for name, text in self._settings.items() if text}
        self.file.write_text(kafka + "".join(f"{name}: {text}\n" for name, text in given.items()))

    async def start(self) -> None:
        """Returns when the worker serves."""
        self._restarts_before = self.worker.restarts if self.log.exists() else 0
        self.worker.start()
        await self.worker.ready(lambda _: None, asyncio.Event())

    async def stop(self) -> None:
        """It must leave in order."""
        status = await asyncio.to_thread(self.worker.stop)
        assert status == 0, f"exit status {status}; the log ends:\n{self.worker.log_tail()}"

    @property
    def restarts(self) -> int:
        """How often the worker was replaced since it was started."""
        return self.worker.restarts - self._restarts_before

    async def page(self, path: str) -> Page:
        return await asyncio.to_thread(fetch, f"http://127.0.0.1:{self.port}{path}")

    async def metrics(self) -> Metrics:
        return await self.worker.metrics()

    async def settled(self, restarts: int = 0) -> dict[int, int]:
        """Returns when the group's committed offsets are the ends of the raw topic: nothing is stuck."""
        async with asyncio.timeout(SETTLE_SECONDS_MAX):
            while True:
                at, ends = await group_offsets(self.broker, self.name, self.raw), await self._ends()
                if at == ends:
                    return at
                assert self.worker.running, f"the worker ended:\n{self.worker.log_tail()}"
                assert self.restarts <= restarts, f"{at} of {ends}\n{self.worker.log_tail()}"
                await asyncio.sleep(0.2)

    async def _ends(self) -> dict[int, int]:
        consumer = AIOKafkaConsumer(bootstrap_servers=self.broker, group_id=None)
        try:
            await consumer.start()
            ends = await consumer.end_offsets([TopicPartition(self.raw, number) for number in range(PARTITIONS)])
            return {part.partition: int(end) for part, end in ends.items() if end}
        finally:
            await consumer.stop()

    async def read(self, topic: str, *, committed: bool = True) -> list[Any]:
        return await consume_all(self.broker, topic, committed=committed)

    async def rows(self) -> dict[bytes, bytes]:
        """The latest state row of each user, as the changelog holds it."""
        found = {record.key: record.value for record in await self.read(self.changelog)}
        return {key: row for key, row in found.items() if key[:1] == b"u" and row is not None}

    async def count(self) -> Counts:
        inputs, released, dead = [await self.read(topic) for topic in (self.raw, self.released, self.dead)]
        forecasts = sum(("outcome", b"forecast") in record.headers for record in released)
        steps = sum(struct.unpack_from("<q", row, STEPS_AT)[0] for row in (await self.rows()).values())
        return Counts(len(inputs), len(released) - forecasts, forecasts, steps - len(released), len(dead))

    async def check_identity(self, *, counters: bool = True) -> Counts:
        """In = sum of outcomes, in the topics and, for a worker that has seen everything, in what it exports."""
        counts = await self.count()
        assert sum(counts.outcomes.values()) == counts.inputs, counts
        if counters:
            metrics = await self.metrics()
            exported = {name: metrics.value("sottovoce_events_total", outcome=name) for name in counts.outcomes}
            assert exported == counts.outcomes
            assert metrics.total("sottovoce_dead_letters_total") == counts.dead_lettered
            assert metrics.total("sottovoce_lag_records") == 0
        return counts

    async def audit(self, *options: str) -> Answer:
        return await command("audit", str(self.file), *options)

    async def check_audit(self) -> None:
        """Everything that was released is recomputed and must agree, the exported counters included."""
        found = await self.audit("--json")
        assert (found.status, found.said.count("Traceback")) == (0, 0), found.out + found.said


@asynccontextmanager
async def opened(
    broker: str, folder: Path, *, alphabet: Alphabet | None = None, **settings: str
) -> AsyncIterator[House]:
    """A pipeline whose worker has not been started. Whatever happens, its worker and its topics are gone afterwards."""
    folder.mkdir(parents=True, exist_ok=True)
    house = House(broker, folder, **settings)
    house.write_settings()
    (folder / "model.json").write_bytes(model_of(Categories(VALUES) if alphabet is None else alphabet))
    new_ring(folder / "keys.json")
    await create_raw(broker, house.raw)
    try:
        yield house
    finally:
        await asyncio.to_thread(house.worker.stop)
        await delete_those_of(house)


def model_of(alphabet: Alphabet) -> bytes:
    """Users keep their value three times out of four."""
    others = 0.25 / (alphabet.size - 1)
    rows = [[0.75 if i == j else others for j in range(alphabet.size)] for i in range(alphabet.size)]
    return serialise(alphabet, Chain.from_dense([1 / alphabet.size] * alphabet.size, rows), {"source": "a test"})


async def delete_those_of(house: House) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=house.broker)
    await admin.start()
    try:
        there = set(await admin.list_topics())
    finally:
        await admin.close()
    mine = {house.raw, house.released, house.dead, house.changelog}
    await delete_topics(house.broker, sorted(mine & there))


async def group_offsets(broker: str, group: str, topic: str) -> dict[int, int]:
    admin = AIOKafkaAdminClient(bootstrap_servers=broker)
    await admin.start()
    try:
        found = await admin.list_consumer_group_offsets(group)
        return {part.partition: at.offset for part, at in found.items() if part.topic == topic and at.offset >= 0}
    finally:
        await admin.close()


def fetch(address: str) -> Page:
    try:
        with urllib.request.urlopen(address, timeout=PAGE_SECONDS) as answer:
            return Page(int(answer.status), answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return Page(error.code, error.read().decode())


async def until(true: Callable[[], Awaitable[bool]], seconds: float = 60.0) -> None:
    """Waits for something that may take a while; how long it takes is nobody's business."""
    deadline = time.monotonic() + seconds
    while not await true():
        assert time.monotonic() < deadline, f"did not come true within {seconds:g} s: {true}"
        await asyncio.sleep(0.1)
