"""One worker process of the simulation: the real sessions, lanes, loader and control, on ports of simulated brokers."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from sim_brokers import Brokers
from sim_check import anything_held, violations
from sim_pipeline import SimPipeline, SimRows, number_alone
from sim_ports import DELAYS, TOPICS, KeptStore, Process, SimChangelog, SimProducer, SimSource, WatchedStore

from stream.protocol.control import Control
from stream.protocol.inputs import InputBlock
from stream.protocol.limits import LaneLimits
from stream.protocol.observer import NullObserver
from stream.protocol.ports import Block, Pipeline, RowCodec, UserStore
from stream.protocol.session import World
from stream.protocol.sessions import Sessions


@dataclass(slots=True)
class SimRecord:
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


@dataclass
class Parts:
    """What a planted fault may replace."""

    producer: type[SimProducer] = SimProducer
    changelog: type[SimChangelog] = SimChangelog
    pipeline: Callable[[int], Pipeline] = SimPipeline
    sessions: type[Sessions] = Sessions
    blocks_lost: float = 0.0
    """How likely a block vanishes between the consumer and its lane."""
    codec: RowCodec = field(default_factory=SimRows)
    raw: Callable[[int], bytes] = number_alone
    """A raw record's value, made of a number."""
    violations: Callable[[Brokers, int, Mapping[int, UserStore]], Iterator[str]] = violations
    waits: Callable[[Brokers, int], bool] = anything_held
    """Whether a partition still has something to do when all its records are carried out."""


class Worker:
    """A process, its sessions, and the consumer that feeds them."""

    def __init__(
        self,
        process: Process,
        brokers: Brokers,
        chance: Random,
        parts: Parts,
        partitions: int,
        on_exit: Callable[["Worker", BaseException], None],
        disk: dict[int, WatchedStore] | None,
    ) -> None:
        self.process = process
        self._brokers = brokers
        self._chance = chance
        self._on_exit = on_exit
        self._blocks_lost = parts.blocks_lost
        self._consuming: dict[int, asyncio.Task[None]] = {}
        self.stores: dict[int, WatchedStore] = {} if disk is None else disk
        self._store_kind = WatchedStore if disk is None else KeptStore
        self.sessions = parts.sessions(self._world(parts, partitions), self._failed)

    def _world(self, parts: Parts, partitions: int) -> World:
        process, brokers = self.process, self._brokers

        def new_store(partition: int) -> WatchedStore:
            if self._store_kind is WatchedStore or partition not in self.stores:
                self.stores[partition] = self._store_kind(brokers, partition, parts.codec)
            return self.stores[partition]

        return World(
            identity=Control("sim", "id", partitions, "1:p", "1:m", 1, "k", "k"),
            topics=TOPICS,
            changelog=parts.changelog(process, brokers, self._chance),
            source=SimSource(process, brokers),
            codec=parts.codec,
            new_producer=lambda partition: parts.producer(process, brokers, partition),
            new_store=new_store,
            new_pipeline=parts.pipeline,
            observer=NullObserver(),
            limits=LaneLimits(max_block_records=3, room_records=6),
            clock=asyncio.get_running_loop().time,
            wall_clock_ms=lambda: round(asyncio.get_running_loop().time() * 1000),
        )

    def _failed(self, error: BaseException) -> None:
        if self.process.alive:
            self._on_exit(self, error)

    async def assign(self, partitions: Sequence[int]) -> None:
        if await self.sessions.assign(partitions):
            for partition in partitions:
                self._consuming[partition] = asyncio.ensure_future(self._consume(partition))

    async def revoke(self) -> None:
        self.stop_consuming()
        await self.sessions.revoke()

    def stop_consuming(self) -> None:
        for task in self._consuming.values():
            task.cancel()
        self._consuming.clear()

    async def _consume(self, partition: int) -> None:
        part = (TOPICS.raw, partition)
        start = position = self._brokers.group.get(part, 0)
        while True:
            await asyncio.sleep(self._chance.choice(DELAYS))
            if self._chance.random() < 0.03:
                start = position = self._brokers.group.get(part, 0)  # Faust seeks back when its flow was interrupted
            end = min(self._brokers.stable_end(part), position + self._chance.choice((1, 2, 5)))
            if (
                self.process.frozen
                or not self.process.alive
                or end == position
                or not self.sessions.has_room(partition)
            ):
                continue
            records = [
                SimRecord(e.offset, e.record.timestamp, e.record.key, e.record.value)
                for e in self._brokers.committed(part, position)
                if e.record and e.offset < end
            ]
            if records:
                if self._chance.random() >= self._blocks_lost:
                    block = InputBlock.of(records)
                    self.deliver(Block(partition, start, end, block, self._brokers.stable_end(part)))
                start = end
            position = end

    def deliver(self, block: Block) -> None:
        try:
            self.sessions.accept(block)
        except Exception as error:  # noqa: BLE001 as the engine does
            self._failed(error)
