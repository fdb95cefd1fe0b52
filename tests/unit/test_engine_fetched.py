"""Blocks made from the bytes of a fetch hold what the library reads there; what it cannot read stops nothing."""

from __future__ import annotations

import gc
import struct
import weakref
import zlib

import cramjam
import pytest
from aiokafka import TopicPartition
from aiokafka.consumer import fetcher
from aiokafka.errors import CorruptRecordException
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder
from fetches import (
    APPEND_TIME,
    COMPRESSORS,
    GZIP,
    PLAIN,
    SNAPPY,
    TRANSACTIONAL,
    Read,
    dressed,
    fetch_of,
    has_batch,
    library,
    marker,
    rechecked,
    with_body,
)
from hypothesis import given
from hypothesis import strategies as st
from record_blocks import blocks
from test_engine_batches import block_of

from stream.engine.batches import HEADER
from stream.engine.compression import EXPANDED_BYTES_MAX, Unreadable, expand
from stream.engine.fetched import BATCH_RECORDS_MAX, Fetched
from stream.engine.seams import as_blocks
from stream.protocol.columns import RecordBlock
from stream.protocol.inputs import InputBlock, joined

KINDS = st.sampled_from(sorted(COMPRESSORS))
PIECES = st.none() | st.integers(1, 40)


def taken(data: bytes, first: int, aborted: list[tuple[int, int]], most: int | None = None) -> tuple[list[Read], int]:
    """All records of a fetch, taken at most so many at a time, and the offset behind them."""
    fetched, found = Fetched(data, aborted, first), []
    while not fetched.ended:
        block = fetched.take(most)
        assert most is None or len(block) <= most
        found += [tuple(record) for record in block]
        assert not block or fetched.next_offset > block.offsets[-1]
    return found, fetched.next_offset


@given(blocks(), st.sampled_from([100, 1_000, 1 << 20]), st.integers(0, 2**40), KINDS, PIECES, st.data())
def test_the_same_as_the_library(
    block: RecordBlock, limit: int, base: int, kind: int, most: int | None, data: st.DataObject
) -> None:
    attributes = data.draw(st.sampled_from([0, TRANSACTIONAL, APPEND_TIME]))
    fetch = fetch_of(block, limit, base, gap=2, attributes=attributes, kind=kind)
    fetch = fetch[: len(fetch) - data.draw(st.integers(0, 70))]
    first = base + data.draw(st.integers(0, 3))
    if has_batch(fetch):
        assert taken(fetch, first, [], most) == library(fetch, first)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2)), max_size=14), PIECES)
def test_aborted_transactions_are_left_out(steps: list[tuple[int, int]], most: int | None) -> None:
    """Each step is a producer and what it does: write in a transaction, commit it, or abort it."""
    fetch, at = fetch_of(block_of(1), 1_000, 0, attributes=0), 1
    began: dict[int, int] = {}
    aborted = []
    for producer, act in steps:
        if act == 0:
            began.setdefault(producer, at)
            fetch += fetch_of(block_of(2), 1_000, at, producer=producer)
            at += 2
            continue
        start = began.pop(producer, None)
        if act == 2 and start is not None:
            aborted.append((producer, start))
        fetch += marker(producer, at, committed=act == 1)
        at += 1
    assert taken(fetch, 0, aborted, most) == library(fetch, 0, aborted)


@given(blocks(max_records=4), KINDS, st.data())
def test_a_damaged_batch_becomes_unreadable_records(block: RecordBlock, kind: int, data: st.DataObject) -> None:
    """Damage that its writer has made, under a checksum that fits it: brokers may let it through, we do not stop."""
    fetch = fetch_of(block, 1 << 20, 5, kind=kind)
    if len(fetch) <= HEADER.size:
        return
    damaged = bytearray(fetch)
    damaged[data.draw(st.integers(HEADER.size, len(fetch) - 1))] = data.draw(st.integers(0, 255))
    found = Fetched(rechecked(bytes(damaged)), [], 5).take(None)
    assert found.offsets.tolist() == list(range(5, 5 + len(block)))
    if found.unreadable().shape[0]:
        assert [record.value for record in found] == [None] * len(block)
    elif kind == PLAIN:
        try:
            assert [tuple(record) for record in found] == library(rechecked(bytes(damaged)), 5)[0]
        except UnicodeDecodeError:
            return  # a name that is no text: the library stops for ever


def test_a_header_name_that_is_no_text_is_replaced() -> None:
    block = block_of(2)
    named = RecordBlock(block.keys, block.values, block.timestamps, (b"\xff\xfe",), (b"v",))
    for kind in COMPRESSORS:
        found = Fetched(fetch_of(named, 1_000, 0, kind=kind), [], 0).take(None)
        assert [record.value for record in found] == [b"value"] * 2
        assert found.headers(1) == [("\ufffd\ufffd", b"v")]


def test_a_wrong_checksum_is_an_error() -> None:
    fetch = fetch_of(block_of(3), 1_000, 0)
    with pytest.raises(CorruptRecordException):
        Fetched(fetch[:-1] + b"x", [], 0).take(None)


def bombs() -> list[tuple[int, bytes]]:
    zeros = bytes(EXPANDED_BYTES_MAX + 1)
    gzip = zlib.compressobj(wbits=31)
    halves = gzip.compress(zeros[: EXPANDED_BYTES_MAX // 2 + 1]) + gzip.flush()
    snappy = bytes(cramjam.snappy.compress_raw(zeros[: EXPANDED_BYTES_MAX // 2 + 1]))
    xerial = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + 2 * (struct.pack(">i", len(snappy)) + snappy)
    whole = [(kind, bytes(press(zeros))) for kind, press in COMPRESSORS.items() if kind not in (PLAIN, SNAPPY)]
    return [*whole, (GZIP, halves + halves), (SNAPPY, bytes(cramjam.snappy.compress_raw(zeros))), (SNAPPY, xerial)]


def test_what_becomes_too_large_is_not_expanded() -> None:
    for kind, data in bombs():
        with pytest.raises(Unreadable):
            expand(kind, data)


@pytest.mark.parametrize("kind", [kind for kind in COMPRESSORS if kind != PLAIN] + [5, 7])
def test_what_is_not_compressed_so_is_unreadable(kind: int) -> None:
    for data in (b"\xff", b"garbage" * 9, b"\x82SNAPPY\0" + b"\xff" * 20):
        with pytest.raises(Unreadable):
            expand(kind, data)


@pytest.mark.parametrize("records", [-1, 0, BATCH_RECORDS_MAX + 1, 2**31 - 1])
def test_a_batch_that_claims_an_impossible_number_is_one_unreadable_record(records: int) -> None:
    header = bytearray(with_body(b"rubbish", 3))
    struct.pack_into(">i", header, 57, records)
    found = Fetched(rechecked(bytes(header)), [], 0).take(None)
    assert found.unreadable().tolist() == [0]


def test_records_that_go_back_in_their_batch_are_unreadable() -> None:
    one = b"\x10\0\0\0\x01\x01\0"[1:]
    body = bytes([2 * len(one)]) + one
    assert Fetched(with_body(body * 2, 2), [], 0).take(None).unreadable().tolist() == [0, 1]
    assert Fetched(with_body(body, 1), [], 0).take(None).unreadable().tolist() == []


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("kind", [PLAIN, GZIP])
def test_formats_of_old_are_read_by_the_library(magic: int, kind: int) -> None:
    builder = LegacyRecordBatchBuilder(magic, kind, 10_000)
    for i in range(3):
        builder.append(i, 1_000 + i, b"key", b"value-%d" % i)
    old = bytes(builder.build())
    expected = [(offset, time if magic else -1, *rest) for offset, time, *rest in library(old, 1)[0]]
    assert taken(old, 1, []) == (expected, 3)
    found, end = taken(old + fetch_of(block_of(2), 1_000, 3), 1, [])  # the library takes all batches for the first kind
    assert ([record[0] for record in found], end) == ([1, 2, 3, 4], 5)


def test_blocks_are_cut_and_joined_without_a_change() -> None:
    fetch = fetch_of(block_of(30), 300, 0, gap=1)
    whole = Fetched(fetch, [], 0).take(None)
    parts = [whole[:7], whole[7:7], whole[7:20], InputBlock.of(whole[20:22]), whole[22:]]
    again = joined(parts)
    assert list(again) == list(whole)
    assert (again.texts(0), again.value_bytes) == (whole.texts(0), whole.value_bytes)
    assert len(joined([whole[:3], whole[3:4]]).buffer) < len(whole.buffer)
    assert repr(whole[0]) == "FetchedRecord(offset=0)"


def test_a_tombstone_and_a_record_without_key_keep_their_places() -> None:
    empty = dressed(with_body(b"\x0c\0\0\0\x01\x01\0", 1), 9, attributes=0)
    (record,) = Fetched(empty, [], 0).take(None)
    assert tuple(record) == (9, 0, None, None, [])


def test_a_fetch_is_gone_when_nobody_holds_it() -> None:
    """Without the garbage collector, which looks seldom in a worker: a fetch is a megabyte."""
    data = fetch_of(block_of(3), 1_000, 0)
    made = fetcher.PartitionRecords(
        TopicPartition("t", 0), fetcher.MemoryRecords(data), [], 0, as_blocks, None, True, fetcher.READ_COMMITTED
    )
    assert len(made.blocks.take(None)) == 3
    seen = weakref.ref(made)
    gc.disable()
    try:
        del made
        assert seen() is None
    finally:
        gc.enable()
