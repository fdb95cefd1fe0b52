"""The partitions in this worker's hands, through assignments and revocations.

A rebalance takes every partition away and gives most of them back. What comes back keeps its producer and its store:
if anyone else had the partition in between, that owner has fenced our producer, and our next transaction fails before
anything of it is visible. So keeping is safe, and a rebalance does not read a million users anew.
"""

import asyncio
from collections.abc import Callable, Collection

from stream.protocol.lane import Lane
from stream.protocol.ports import Block
from stream.protocol.session import Session, World

# Each opening has a producer and a consumer connecting at the same time.
OPENINGS_AT_ONCE = 8


class Sessions:
    """Opens, pauses and closes sessions; calls `on_failure` once for everything that must end the worker."""

    def __init__(self, world: World, on_failure: Callable[[BaseException], None]) -> None:
        self._world = world
        self._on_failure = on_failure
        self._held: dict[int, Session] = {}
        self._opening: set[asyncio.Task[Session]] = set()
        self._withdrawn = False
        self._turn = asyncio.Lock()

    def has_room(self, partition: int) -> bool:
        lane = self._lane(partition)
        return lane is not None and lane.has_room()

    def lanes(self) -> dict[int, Lane]:
        """The partitions whose records are being taken."""
        lanes = {partition: session.lane for partition, session in self._held.items()}
        return {partition: lane for partition, lane in lanes.items() if lane is not None}

    def accept(self, block: Block) -> None:
        """Hand a block to its lane. Without one the partition is not ours now, and its next owner reads the block."""
        lane = self._lane(block.partition)
        if lane is not None:
            lane.accept(block)

    async def assign(self, partitions: Collection[int]) -> bool:
        """Hold exactly these.

        False when they were taken away again meanwhile, or when one of them could not be opened.
        """
        async with self._turn:
            self._withdrawn = False
            self._world.observer.assigned(partitions)
            await self._close(set(self._held) - set(partitions))
            resumed = await asyncio.gather(
                *(session.resume() for session in self._held.values()), return_exceptions=True
            )
            for error in resumed:
                if error is not None:
                    self._on_failure(error)
                    return False
            new = [partition for partition in partitions if partition not in self._held]
            return await self._open(new)

    async def revoke(self) -> None:
        """Pause everything within bounded time, including what is being opened.

        What comes back goes on where it stood.
        """
        self._withdraw()
        async with self._turn:
            self._world.observer.revoked(list(self._held))
            paused = await asyncio.gather(*(session.pause() for session in self._held.values()))
            broken = [partition for partition, whole in zip(self._held, paused, strict=True) if not whole]
            await self._close(broken)

    async def close(self) -> None:
        self._withdraw()
        async with self._turn:
            await self._close(list(self._held))

    def _lane(self, partition: int) -> Lane | None:
        session = self._held.get(partition)
        return None if session is None else session.lane

    async def _open(self, partitions: Collection[int]) -> bool:
        at_once = asyncio.Semaphore(OPENINGS_AT_ONCE)
        tasks = {partition: asyncio.create_task(self._opened(partition, at_once)) for partition in partitions}
        self._opening = set(tasks.values())
        try:
            if tasks:
                await asyncio.wait(self._opening)
        except asyncio.CancelledError:
            for task in tasks.values():
                task.cancel()
            raise
        finally:
            self._opening = set()
        taken = [self._take_over(partition, task) for partition, task in tasks.items()]
        return all(taken)

    def _withdraw(self) -> None:
        self._withdrawn = True
        for task in self._opening:
            task.cancel()

    def _take_over(self, partition: int, task: asyncio.Task[Session]) -> bool:
        if task.cancelled() and self._withdrawn:
            return False
        error = asyncio.CancelledError("while it was opened") if task.cancelled() else task.exception()
        if error is not None:
            self._world.observer.failed(partition, error)
            self._on_failure(error)
            return False
        self._held[partition] = task.result()
        return True

    async def _opened(self, partition: int, at_once: asyncio.Semaphore) -> Session:
        async with at_once:
            session = Session(self._world, partition, self._on_failure)
            try:
                await session.open()
            except BaseException:
                await session.close()
                raise
            return session

    async def _close(self, partitions: Collection[int]) -> None:
        await asyncio.gather(*(self._held.pop(partition).close() for partition in partitions))
