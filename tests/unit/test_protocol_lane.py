"""One lane: what waits becomes the next block, the store follows the commit, and nothing slips between two blocks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import perf_counter

import pytest
from protocol_fakes import CODEC, TOPICS, CountPipeline, FakeProducer, Told, block, limits_of, steps_of, until

from stream.errors import Fenced, PublishFailed
from stream.protocol.control import PROGRESS_KEY, decode_progress
from stream.protocol.effects import Effects
from stream.protocol.inputs import InputBlock
from stream.protocol.lane import Lane
from stream.protocol.limits import LaneLimits
from stream.protocol.ports import UserStore
from stream.stores.memory import MemoryStore


@dataclass
class Track:
    """A lane with its surroundings."""

    producer: FakeProducer = field(default_factory=FakeProducer)
    pipeline: CountPipeline = field(default_factory=CountPipeline)
    store: MemoryStore = field(default_factory=lambda: MemoryStore(CODEC))
    told: Told = field(default_factory=Told)
    limits: LaneLimits = field(default_factory=limits_of)
    expected: int = 0

    def lane(self, clock: Callable[[], float] = perf_counter) -> Lane:
        return Lane(
            0, producer=self.producer, pipeline=self.pipeline, store=self.store, topics=TOPICS, observer=self.told,
            expected=self.expected, limits=self.limits, drained=nothing_waits, clock=clock,
        )  # fmt: skip


async def nothing_waits(_: int) -> bool:
    return True


@asynccontextmanager
async def running(track: Track) -> AsyncIterator[Lane]:
    lane = track.lane()
    task = asyncio.create_task(lane.run())
    yield lane
    lane.close()
    await task


async def test_a_block_is_one_transaction_in_the_order_of_the_protocol() -> None:
    track = Track()
    async with running(track) as lane:
        lane.accept(block(0, 3))
        await until(lambda: track.told.committed)
    assert track.producer.names == ["begin", "send released", "send changelog", "offset", "commit"]
    assert track.producer.offsets == [3]
    assert steps_of(track.store, b"ann") == 3
    assert decode_progress(track.store.marks()[PROGRESS_KEY], "") == 3
    assert track.store.position() == track.producer.changelog_end


async def test_the_store_learns_nothing_before_the_commit() -> None:
    track = Track(producer=FakeProducer(gate_at="commit"))
    async with running(track) as lane:
        lane.accept(block(0, 3))
        await until(lambda: "commit" in track.producer.names)
        assert steps_of(track.store, b"ann") == 0
        track.producer.gate.set()
        await until(lambda: steps_of(track.store, b"ann") == 3)


async def test_what_comes_while_a_transaction_is_on_its_way_is_the_next_block() -> None:
    track = Track(producer=FakeProducer(gate_at="commit"))
    async with running(track) as lane:
        lane.accept(block(0, 2))
        await until(lambda: "commit" in track.producer.names)
        for start in range(2, 12, 2):
            lane.accept(block(start, start + 2))
        track.producer.gate.set()
        await until(lambda: len(track.told.committed) == 2)
    assert track.pipeline.blocks == [[0, 1], list(range(2, 12))]


async def test_a_block_has_at_most_so_many_records() -> None:
    track = Track(limits=limits_of(max_block_records=4))
    async with running(track) as lane:
        lane.accept(block(0, 10))
        await until(lambda: len(track.told.committed) == 3)
    assert [len(part) for part in track.pipeline.blocks] == [4, 4, 2]
    assert track.producer.offsets == [4, 8, 10]


class SlowPipeline(CountPipeline):
    """Each event takes a millisecond of the time that `now` tells."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    def prepare(self, records: InputBlock, store: UserStore) -> Effects:
        self.seconds += 0.001 * len(records)
        return super().prepare(records, store)


async def test_slow_events_make_short_blocks() -> None:
    """A worker is cut off that tells nobody for a session's length that it lives, and each new one would be, too."""
    slow = SlowPipeline()
    track = Track(pipeline=slow)
    lane = track.lane(clock=slow.now)
    task = asyncio.create_task(lane.run())
    lane.accept(block(0, 2_000))
    await until(lambda: sum(map(len, slow.blocks)) == 2_000)
    lane.close()
    await task
    # Adding up milliseconds may be off by a trifle, and 100 of them be a trifle too long.
    assert {len(part) for part in slow.blocks[1:-1]} <= {99, 100}
    assert len(slow.blocks[0]) == track.limits.first_block_records


async def test_large_records_make_short_blocks() -> None:
    track = Track(limits=limits_of(max_block_bytes=3))
    async with running(track) as lane:
        lane.accept(block(0, 7))
        await until(lambda: sum(map(len, track.pipeline.blocks)) == 7)
    assert max(map(len, track.pipeline.blocks)) == 3


async def test_a_whole_block_ends_where_the_consumer_stands() -> None:
    """Behind the last record stand markers of transactions; they are done with it."""
    track = Track()
    async with running(track) as lane:
        lane.accept(block(0, 9, 0, 1, 5))
        await until(lambda: track.told.committed)
    assert track.producer.offsets == [9]


async def test_a_cut_block_ends_behind_its_last_record() -> None:
    track = Track(limits=limits_of(max_block_records=2))
    async with running(track) as lane:
        lane.accept(block(0, 9, 0, 1, 5))
        await until(lambda: len(track.told.committed) == 2)
    assert track.producer.offsets == [2, 9]


async def test_records_that_were_dealt_with_are_dropped_and_counted() -> None:
    track = Track(expected=4)
    async with running(track) as lane:
        lane.accept(block(0, 3))
        lane.accept(block(3, 6))
        await until(lambda: track.told.committed)
    assert track.pipeline.blocks == [[4, 5]]
    assert track.told.again == [(0, 3), (0, 1)]


async def test_records_that_come_twice_in_one_life_are_dropped_in_silence() -> None:
    track = Track()
    async with running(track) as lane:
        lane.accept(block(0, 4))
        lane.accept(block(0, 4))
        lane.accept(block(2, 6))
        await until(lambda: sum(map(len, track.pipeline.blocks)) == 6)
    assert [offset for part in track.pipeline.blocks for offset in part] == list(range(6))
    assert track.told.again == []


def test_a_hole_is_an_error() -> None:
    lane = Track(expected=3).lane()
    with pytest.raises(PublishFailed, match="offset 3 was expected and offset 5 came"):
        lane.accept(block(5, 7))


def test_there_is_room_until_enough_waits() -> None:
    lane = Track(limits=limits_of(room_records=5)).lane()
    assert lane.has_room()
    lane.accept(block(0, 4))
    assert lane.has_room()
    lane.accept(block(4, 5))
    assert not lane.has_room()


def test_there_is_room_until_enough_bytes_wait() -> None:
    lane = Track(limits=limits_of(room_bytes=4)).lane()
    lane.accept(block(0, 4))
    assert not lane.has_room()


async def test_closing_finishes_the_block_at_work_and_no_other() -> None:
    track = Track(producer=FakeProducer(gate_at="commit"))
    async with running(track) as lane:
        lane.accept(block(0, 2))
        await until(lambda: "commit" in track.producer.names)
        lane.accept(block(2, 4))
        lane.close()
        lane.accept(block(4, 6))
        track.producer.gate.set()
    assert track.pipeline.blocks == [[0, 1]]
    assert steps_of(track.store, b"ann") == 2


@pytest.mark.parametrize("step", ["begin", "send released", "send changelog", "offset", "commit"])
async def test_a_failure_at_any_step_aborts_ends_the_lane_and_leaves_the_store(step: str) -> None:
    track = Track(producer=FakeProducer(fail_at=step))
    lane = track.lane()
    lane.accept(block(0, 2))
    with pytest.raises(PublishFailed):
        await lane.run()
    assert track.producer.names[-1] == "abort"
    assert steps_of(track.store, b"ann") == 0
    assert track.told.committed == []


async def test_a_fenced_lane_does_not_even_abort() -> None:
    track = Track(producer=FakeProducer(fail_at="commit", error=Fenced("Replaced.")))
    lane = track.lane()
    lane.accept(block(0, 2))
    with pytest.raises(Fenced):
        await lane.run()
    assert "abort" not in track.producer.names


async def test_a_transaction_that_takes_too_long_is_aborted() -> None:
    track = Track(producer=FakeProducer(gate_at="commit"), limits=limits_of(transaction_seconds=0.01))
    lane = track.lane()
    lane.accept(block(0, 2))
    with pytest.raises(PublishFailed, match="did not commit in time"):
        await lane.run()
    assert track.producer.names[-1] == "abort"


async def test_the_control_record_is_written_once() -> None:
    track = Track()
    async with running(track) as lane:
        lane.write_control(b"whose")
        lane.accept(block(0, 1))
        await until(lambda: len(track.told.committed) == 1)
        lane.accept(block(1, 2))
        await until(lambda: len(track.told.committed) == 2)
    written = [call[1] for call in track.producer.calls if call[0] == "send changelog"]
    assert [sum(record.key == b"c" for record in records) for records in written] == [1, 0]
    assert track.store.marks()[b"c"] == b"whose"


async def test_the_report_says_what_waits_and_what_is_behind() -> None:
    track = Track(limits=limits_of(max_block_records=3))
    async with running(track) as lane:
        lane.accept(block(0, 5, high_watermark=50))
        await until(lambda: len(track.told.committed) == 2)
    first, second = track.told.committed
    assert (first.waiting, first.lag, first.users) == (2, 47, 1)
    assert (second.waiting, second.lag) == (0, 45)


async def begins(track: Track, *counts: int) -> list[float]:
    """When the transactions began whose records came at once, one after the other."""
    seen: list[float] = []
    track.told.block_started = lambda partition, records: seen.append(asyncio.get_running_loop().time())  # type: ignore[method-assign]
    async with running(track) as lane:
        start = 0
        for number, count in enumerate(counts, 1):
            lane.accept(block(start, start + count))
            start += count
            async with asyncio.timeout(5):
                while len(track.told.committed) < number:
                    await asyncio.sleep(0.001)
    return seen


async def test_transactions_of_few_records_begin_with_a_pause_between_them() -> None:
    first, second, third = await begins(Track(limits=limits_of(pause_seconds=0.1)), 1, 1, 1)
    assert second - first >= 0.09
    assert third - second >= 0.09


async def test_many_records_do_not_wait() -> None:
    first, second = await begins(Track(limits=limits_of(pause_seconds=2.0, hurry_records=10)), 1, 10)
    assert second - first < 1.0


async def test_a_pause_does_not_hold_up_a_closing() -> None:
    track = Track(limits=limits_of(pause_seconds=60.0))
    async with asyncio.timeout(5):
        async with running(track) as lane:
            lane.accept(block(0, 1))
            await until(lambda: track.told.committed)
            lane.accept(block(1, 2))
            await asyncio.sleep(0.01)
    assert track.pipeline.blocks == [[0]]
