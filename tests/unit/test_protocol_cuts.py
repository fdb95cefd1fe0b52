"""A pipeline may say where a block must end: whatever waits, a lane takes no record from behind that offset."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from protocol_fakes import CODEC, TOPICS, CountPipeline, FakeChangelog, FakeProducer, Told, block, limits_of, until

from stream.protocol.control import LEARNING_KEY, is_mark
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock, before
from stream.protocol.lane import Lane
from stream.protocol.loader import load
from stream.protocol.ports import UserStore
from stream.stores.memory import MemoryStore


class Cutting(CountPipeline):
    """No block may cross a multiple of five; each leaves a mark of its own."""

    def cut(self, store: UserStore, first: int) -> int | None:
        return first - first % 5 + 5

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        effects = super().prepare(records, store)
        effects.marks = {LEARNING_KEY: b"%d" % records[0].offset}
        return effects


@dataclass
class Track:
    producer: FakeProducer = field(default_factory=FakeProducer)
    pipeline: Cutting = field(default_factory=Cutting)
    store: MemoryStore = field(default_factory=lambda: MemoryStore(CODEC))
    told: Told = field(default_factory=Told)


async def nothing_waits(_: int) -> bool:
    return True


@asynccontextmanager
async def running(track: Track) -> AsyncIterator[Lane]:
    lane = Lane(
        0, producer=track.producer, pipeline=track.pipeline, store=track.store, topics=TOPICS, observer=track.told,
        expected=0, limits=limits_of(), drained=nothing_waits,
    )  # fmt: skip
    task = asyncio.create_task(lane.run())
    yield lane
    lane.close()
    await task


async def test_no_block_crosses_an_end_that_the_pipeline_names() -> None:
    track = Track()
    async with running(track) as lane:
        lane.accept(block(0, 3))
        lane.accept(block(3, 13))
        await until(lambda: track.producer.offsets and track.producer.offsets[-1] == 13)
    ends = [taken[-1] + 1 for taken in track.pipeline.blocks]
    assert {5, 10, 13} <= set(ends)
    assert all(taken[0] // 5 == taken[-1] // 5 for taken in track.pipeline.blocks)
    assert [offset for taken in track.pipeline.blocks for offset in taken] == list(range(13))
    assert track.producer.offsets == ends


async def test_marks_are_written_with_the_block_and_kept_by_the_store() -> None:
    track = Track()
    async with running(track) as lane:
        lane.accept(block(0, 5))
        await until(lambda: track.producer.offsets == [5])
    assert track.store.marks()[LEARNING_KEY] == b"0"


async def test_marks_come_back_from_the_changelog() -> None:
    """Those of the learning, too; what is no mark and no user's is left alone."""
    store, told = MemoryStore(CODEC), Told()
    pairs = [(LEARNING_KEY, b"old"), (b"E\0", b"first"), (LEARNING_KEY, b"new"), (b"x", b"unknown")]
    await load(FakeChangelog([pairs]), 0, store, CODEC, told)
    assert dict(store.marks()) == {LEARNING_KEY: b"new", b"E\0": b"first"}
    assert [is_mark(key) for key in (b"c", b"o", b"t", b"e", b"E\0\1", b"u1", b"h1")] == [True] * 5 + [False] * 2


@pytest.mark.parametrize(
    ("end", "most", "count"),
    [(None, 7, 7), (2, 7, 2), (3, 7, 3), (5, 7, 5), (8, 7, 7), (100, 7, 7), (5, 4, 4), (0, 7, 0)],
)
def test_records_before_an_offset_are_counted_over_several_blocks(end: int | None, most: int, count: int) -> None:
    blocks = [block(0, 3).records, block(3, 8).records]
    assert before(blocks, end, most) == count
