"""A block that takes long is carried out in a thread, so that the brokers go on hearing that the worker lives."""

from __future__ import annotations

import asyncio
import threading

from protocol_fakes import CODEC, TOPICS, CountPipeline, FakeProducer, Told, block, limits_of, steps_of

from stream.commands.stages import ACCOUNTED
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.lane import Lane
from stream.protocol.ports import UserStore
from stream.stores.memory import MemoryStore


class WaitingPipeline(CountPipeline):
    """Is done when somebody else has done something."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.heard = threading.Event(), threading.Event()

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        self.begun.set()
        assert self.heard.wait(5.0), "nobody else could do anything"
        return super().prepare(records, store)


async def nothing_waits(_: int) -> bool:
    return True


async def test_a_block_that_is_carried_out_aside_keeps_nobody_from_anything() -> None:
    pipeline, store, told = WaitingPipeline(), MemoryStore(CODEC), Told()
    lane = Lane(
        0, producer=FakeProducer(), pipeline=pipeline, store=store, topics=TOPICS, observer=told,
        expected=0, limits=limits_of(aside=True), drained=nothing_waits,
    )  # fmt: skip
    task = asyncio.create_task(lane.run())
    lane.accept(block(0, 3))
    assert await asyncio.to_thread(pipeline.begun.wait, 5.0)
    lane.accept(block(3, 5))
    pipeline.heard.set()
    async with asyncio.timeout(5.0):
        while steps_of(store, b"ann") < 5:
            await asyncio.sleep(0.01)
    lane.close()
    await task
    assert [offset for each in pipeline.blocks for offset in each] == [0, 1, 2, 3, 4]
    assert ACCOUNTED.aside
