"""Encoded batches are byte for byte those of the library, and the library takes them like its own."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import numpy as np
from aiokafka import TopicPartition
from aiokafka.producer import message_accumulator, sender
from aiokafka.producer.message_accumulator import BatchBuilder, MessageBatch
from aiokafka.record.default_records import DefaultRecordBatch
from aiokafka.record.util import calc_crc32c
from hypothesis import given
from hypothesis import strategies as st
from record_blocks import PRODUCER, blocks, library_batches

from stream.engine import batches
from stream.engine.batches import encode
from stream.engine.checksum import crc32c
from stream.engine.seams import ReadyBatch
from stream.protocol.columns import RecordBlock
from stream.protocol.texts import Texts

LIMITS = st.sampled_from([0, 61, 100, 200, 1_000, 20_000, 1 << 20])


def encoded(block: RecordBlock, batch_bytes: int) -> list[bytes]:
    found = []
    for batch in encode(block, batch_bytes):
        ready = ReadyBatch(batch)
        ready._set_producer_state(*PRODUCER)
        found.append(bytes(ready._build()))
    return found


def block_of(count: int, value: bytes = b"value") -> RecordBlock:
    keys = Texts.of([b"%d" % i for i in range(count)])
    return RecordBlock(keys, Texts.of([value] * count), np.arange(count, dtype=np.int64))


@given(blocks(), LIMITS)
def test_the_bytes_are_those_of_the_library(block: RecordBlock, batch_bytes: int) -> None:
    assert encoded(block, batch_bytes) == library_batches(list(block), batch_bytes)


@given(blocks(), LIMITS)
def test_the_library_reads_back_what_went_in(block: RecordBlock, batch_bytes: int) -> None:
    read: list[Any] = []
    for buffer in encoded(block, batch_bytes):
        batch = DefaultRecordBatch(buffer)
        assert batch.validate_crc()
        assert batch.is_transactional
        assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == PRODUCER
        records = list(batch)
        assert [record.offset for record in records] == list(range(len(records)))
        assert len(buffer) < batch_bytes or len(records) == 1
        read += [(record.key, record.value, record.timestamp, list(record.headers)) for record in records]
    assert read == list(block)


@given(st.binary(max_size=100) | st.integers(0, 5_000).map(lambda length: bytes(i * i % 251 for i in range(length))))
def test_the_checksum_is_that_of_the_library(data: bytes) -> None:
    assert crc32c(data) == crc32c(bytearray(data)) == calc_crc32c(data)


def test_the_checksum_of_the_published_example() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_one_batch_holds_more_records_than_a_short_number_counts() -> None:
    block = block_of(20_000)
    assert encoded(block, 1 << 24) == library_batches(list(block), 1 << 24)


@given(st.integers(150, 400))
def test_a_batch_is_full_at_the_same_byte_as_the_library_s(batch_bytes: int) -> None:
    block = block_of(20, b"twenty bytes of text")
    assert encoded(block, batch_bytes) == library_batches(list(block), batch_bytes)


def test_a_record_larger_than_the_limit_has_a_batch_of_its_own() -> None:
    values = [b"small", b"large" * 1_000, b"small"]
    block = RecordBlock(None, Texts.of(values), np.zeros(3, np.int64))
    assert [batch.records for batch in encode(block, 1_000)] == [1, 1, 1]


def test_blocks_of_every_kind_run_on_one_compiled_kernel() -> None:
    """A kernel compiled anew stops the lane for seconds, so arrays of any origin must count as one kind."""
    block = block_of(3)
    for texts in (block.values, Texts(np.frombuffer(b"aab", np.uint8), np.array([1, 2, 3]))):
        for keys in (None, texts):
            for headers in ((), (b"same",), (texts,)):
                names = (b"name",) * len(headers)
                encode(RecordBlock(keys, texts, block.timestamps, names, headers), 1_000)
    assert len(vars(batches)["_encode"].signatures) == 1


def test_a_ready_batch_has_everything_that_the_library_asks_of_a_builder() -> None:
    """The names are taken from the library's source, so that a new version that asks for more is noticed here."""
    asked = {
        node.attr
        for module in (message_accumulator, sender)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "_builder"
        and node.attr not in {"build", "set_producer_state"}  # of the builder inside the library's own
    }
    assert {"append", "close", "closed", "record_count", "_build", "_set_producer_state"} <= asked
    for name in asked:
        ours, theirs = inspect.signature(getattr(ReadyBatch, name)), inspect.signature(getattr(BatchBuilder, name))
        assert list(ours.parameters) == list(theirs.parameters), name


async def test_the_library_sends_the_same_bytes_at_each_attempt() -> None:
    batch = encode(block_of(5), 1_000)[0]
    message = MessageBatch(TopicPartition("topic", 0), ReadyBatch(batch), 10, 0)
    assert not message.is_empty()
    assert message.record_count == 5
    assert message.remaining_linger() is None
    assert message.append(b"key", b"value", 1) is None
    message.set_producer_state(*PRODUCER)
    first = bytes(message.get_data_buffer())
    message.drain_ready()
    message.reset_drain()
    message.drain_ready()
    assert bytes(message.get_data_buffer()) == first
    assert ReadyBatch(batch).size() == len(first)


def test_an_empty_block_has_no_batches() -> None:
    assert encode(block_of(0), 1_000) == []
