"""The ports of the release protocol as a simulated process reaches them: each call can be delayed, cut off or refused.

Every call of a port is two steps, before and after its effect. At each step the process may be delayed, crash (nothing
of it ever runs a port again, and an effect without an answer stays) or freeze (it goes on later, not knowing).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from random import Random
from typing import TypeVar

from sim_brokers import Brokers, End, Part

from stream.errors import PublishFailed
from stream.protocol.ports import NOTHING_HELD, ChangelogChunk, Codes, Heads, Outgoing, RowCodec
from stream.protocol.publish import Topics
from stream.stores.memory import MemoryStore

Result = TypeVar("Result")
TOPICS = Topics("raw", "released", "dead", "changelog")
DELAYS = (0.0, 0.0, 0.001, 0.002, 0.01, 0.05)


class Process:
    """Life and death of one worker; every port call passes through here."""

    def __init__(self, number: int, chance: Random, on_step: Callable[["Process", str], None]) -> None:
        self.number = number
        self.alive = True
        self.over = False
        self.refused_next = False
        self.slow_next = 0.0
        self._chance = chance
        self._on_step = on_step
        self._thawed: asyncio.Future[None] | None = None
        self._hanging: list[asyncio.Future[None]] = []  # Python frees a task that waits for what nobody holds

    @property
    def frozen(self) -> bool:
        return self._thawed is not None

    async def call(self, point: str, effect: Callable[[], Result]) -> Result:
        await self._step(f"before {point}")
        if self.refused_next:
            self.refused_next = False
            raise PublishFailed("The brokers refused.")
        try:
            return effect()
        finally:
            await self._step(f"after {point}")

    async def _step(self, point: str) -> None:
        if self.over:
            raise asyncio.CancelledError
        if self.alive and not self.frozen:
            self._on_step(self, point)
        slow, self.slow_next = self.slow_next, 0.0
        await asyncio.sleep(slow or self._chance.choice(DELAYS))
        while self._thawed is not None:
            await self._thawed
        if not self.alive:
            self._hanging.append(asyncio.get_running_loop().create_future())
            await self._hanging[-1]

    def freeze(self) -> None:
        if self._thawed is None:
            self._thawed = asyncio.get_running_loop().create_future()

    def thaw(self) -> None:
        thawed, self._thawed = self._thawed, None
        if thawed is not None:
            thawed.set_result(None)


class SimProducer:
    def __init__(self, process: Process, brokers: Brokers, partition: int) -> None:
        self._process = process
        self._brokers = brokers
        self._partition = partition
        self._name = f"sottovoce-{partition}"
        self._epoch = 0
        self._ends: dict[str, int] = {}
        self._committing = False

    async def start(self) -> None:
        self._epoch = await self._process.call("start", self.fence)

    def fence(self) -> int:
        return self._brokers.start_producer(self._name)

    async def begin(self) -> None:
        self._ends, self._committing = {}, False
        await self._process.call("begin", lambda: self._brokers.begin(self._name, self._epoch))

    async def send(self, topic: str, records: Sequence[Outgoing]) -> None:
        part = (topic, self._partition)
        self._ends[topic] = await self._process.call(
            f"send to {topic}", lambda: self._brokers.append(self._name, self._epoch, part, records)
        )

    async def send_offset(self, next_offset: int) -> None:
        part = (TOPICS.raw, self._partition)
        await self._process.call(
            "send offset", lambda: self._brokers.set_offset(self._name, self._epoch, part, next_offset)
        )

    async def commit(self) -> Mapping[str, int]:
        self._committing = True
        await self._process.call("commit", lambda: self._brokers.finish(self._name, self._epoch, End.COMMITTED))
        return self._ends

    async def abort(self) -> None:
        if not self._committing:
            await self._process.call("abort", lambda: self._brokers.finish(self._name, self._epoch, End.ABORTED))

    async def stop(self) -> None:
        await self._process.call("stop", lambda: None)


class SimChangelog:
    def __init__(self, process: Process, brokers: Brokers, chance: Random) -> None:
        self._process = process
        self._brokers = brokers
        self._chance = chance

    def end(self, part: Part) -> int:
        return self._brokers.stable_end(part)

    async def read(self, partition: int, after: int) -> AsyncIterator[ChangelogChunk]:
        part = (TOPICS.changelog, partition)
        end = await self._process.call("ask for the changelog's end", lambda: self.end(part))
        position = after
        while position < end:
            until = min(end, position + self._chance.choice((1, 3, 50)))
            entries = await self._process.call(
                "read the changelog",
                lambda start=position: list(self._brokers.committed(part, start)),  # type: ignore[misc]
            )
            pairs = [(e.record.key or b"", e.record.value) for e in entries if e.record and e.offset < until]
            position = until
            yield ChangelogChunk(position, end, pairs)


class SimSource:
    def __init__(self, process: Process, brokers: Brokers) -> None:
        self._process = process
        self._brokers = brokers

    async def committed(self, partition: int) -> int | None:
        return await self._process.call(
            "ask for the group's offset", lambda: self._brokers.group.get((TOPICS.raw, partition))
        )

    async def beginning(self, partition: int) -> int:
        return await self._process.call("ask for the first offset", lambda: 0)

    async def end(self, partition: int) -> int:
        part = (TOPICS.raw, partition)
        return await self._process.call("ask for the last offset", lambda: len(self._brokers.log(part)))

    async def drained(self, partition: int, since: int) -> bool:
        part = (TOPICS.raw, partition)
        return await self._process.call("look for records", lambda: not any(self._brokers.committed(part, since)))


class WatchedStore(MemoryStore):
    """Refuses to know anything that is not committed."""

    def __init__(self, brokers: Brokers, partition: int, codec: RowCodec) -> None:
        super().__init__(codec)
        self._rows = codec
        self._brokers = brokers
        self._part = (TOPICS.changelog, partition)

    def apply(
        self,
        keys: Sequence[bytes],
        heads: Heads,
        codes: Codes,
        position: int,
        marks: Mapping[bytes, bytes],
        held: Mapping[bytes, bytes] = NOTHING_HELD,
    ) -> None:
        written = {
            entry.record.key: entry.record.value
            for entry in self._brokers.log(self._part)
            if entry.record and entry.transaction and entry.transaction.end is End.COMMITTED and entry.offset < position
        }
        for key, row in zip(keys, self._rows.to_rows(heads, codes), strict=True):
            if written.get(b"u" + key) != row:
                raise AheadOfCommit(f"the store took over a state of {key!r} that no commit holds")
        for key, record in held.items():
            if (written.get(b"h" + key, b"never") or b"") != record:
                raise AheadOfCommit(f"the store took over what is held about {key!r}, and no commit holds it")
        super().apply(keys, heads, codes, position, marks, held)


class KeptStore(WatchedStore):
    """As a store on disk: what a crashed process leaves behind is there when its successor opens the folder."""

    def close(self) -> None: ...


class AheadOfCommit(Exception):
    """The store was told something that is not, or no longer, the committed state."""
