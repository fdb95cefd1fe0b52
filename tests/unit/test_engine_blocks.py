"""Where blocks start and end, told from the consumer's positions and never from the records' own offsets."""

from __future__ import annotations

from typing import NamedTuple

from faust.types import TP

from stream.engine.blocks import BlockMessage, BlockScheduler, Continuity
from stream.protocol.inputs import InputBlock

PART = TP("raw", 3)


class Record(NamedTuple):
    offset: int
    timestamp: int = 5
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def fetched(continuity: Continuity, before: int, after: int, *offsets: int) -> tuple[int, int] | None:
    """One fetch: the position before and after it, and the records it gave."""
    continuity.before({PART: before})
    block = (
        continuity.block(PART, InputBlock.of([Record(offset) for offset in offsets]), after, after) if offsets else None
    )
    continuity.after({PART: after})
    return None if block is None else (block.start, block.end)


def test_blocks_follow_one_another() -> None:
    continuity = Continuity()
    assert fetched(continuity, 10, 12, 10, 11) == (10, 12)
    assert fetched(continuity, 12, 15, 12, 13, 14) == (12, 15)


def test_markers_and_compacted_records_belong_to_the_next_block() -> None:
    continuity = Continuity()
    assert fetched(continuity, 10, 13, 10) == (10, 13)
    assert fetched(continuity, 13, 20) is None
    assert fetched(continuity, 20, 23, 21, 22) == (13, 23)


def test_a_seek_starts_anew() -> None:
    continuity = Continuity()
    assert fetched(continuity, 10, 12, 10, 11) == (10, 12)
    assert fetched(continuity, 5, 7, 5, 6) == (5, 7)
    assert fetched(continuity, 30, 31, 30) == (30, 31)


def test_a_seek_backwards_during_a_fetch_shows_in_the_first_record() -> None:
    continuity = Continuity()
    assert fetched(continuity, 10, 12, 10, 11) == (10, 12)
    assert fetched(continuity, 12, 8, 6, 7) == (6, 8)
    assert fetched(continuity, 8, 9, 8) == (8, 9)


def test_the_first_position_is_where_the_first_block_starts() -> None:
    """A first record behind it is no hole: what lies between was compacted away."""
    assert fetched(Continuity(), 4, 9, 7, 8) == (4, 9)


def test_a_block_looks_to_faust_like_its_last_record() -> None:
    continuity = Continuity()
    continuity.before({PART: 0})
    message = BlockMessage("raw", continuity.block(PART, InputBlock.of([Record(0, 10), Record(4, 20)]), 6, 99))
    assert (message.topic, message.partition, message.offset, message.timestamp) == ("raw", 3, 4, 20)
    assert message.value.end == 6
    assert message.value.high_watermark == 99


def test_the_scheduler_hands_over_one_message_a_partition() -> None:
    continuity = Continuity()
    blocks = {TP("raw", part): continuity.block(TP("raw", part), InputBlock.of([Record(7)]), 8, 9) for part in (3, 1)}
    messages = dict(BlockScheduler().iterate(blocks))
    assert {part: message.value for part, message in messages.items()} == blocks
    assert [message.offset for message in messages.values()] == [7, 7]
