"""A block of columns is the sequence of records that it stands for; texts are the byte strings that went in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_blocks import blocks

from beliefs.checks import InvariantBroken
from stream.decimals import decimals
from stream.protocol.columns import RecordBlock
from stream.protocol.ports import Outgoing
from stream.protocol.texts import Texts


@given(st.lists(st.binary(max_size=9), max_size=20))
def test_texts_are_the_byte_strings_that_went_in(strings: list[bytes]) -> None:
    texts = Texts.of(strings)
    assert len(texts) == len(strings)
    assert texts.all() == strings
    assert [texts.text(i) for i in range(len(strings))] == strings


@given(st.integers(0, 5), st.integers(0, 5))
def test_rows_are_texts_of_one_length(count: int, width: int) -> None:
    rows = np.arange(count * width, dtype=np.uint8).reshape(count, width)
    assert Texts.of_rows(rows).all() == [row.tobytes() for row in rows]


@given(st.lists(st.integers(0, 2**63 - 1) | st.sampled_from([0, 9, 10, 99, 100]), max_size=20))
def test_numbers_as_decimals(numbers: list[int]) -> None:
    assert decimals(np.array(numbers, dtype=np.int64)).all() == [b"%d" % number for number in numbers]


def test_negative_numbers_have_no_decimals() -> None:
    with pytest.raises(InvariantBroken):
        decimals(np.array([1, -1]))


@given(blocks(max_records=20))
def test_places_and_slices_are_those_of_the_list(block: RecordBlock) -> None:
    records = list(block)
    assert len(block) == len(records)
    assert [block[i] for i in range(-len(records), len(records))] == records + records
    assert block[1:-1:2] == records[1:-1:2]
    with pytest.raises(IndexError):
        _ = block[len(records)]


BYTES = st.binary(max_size=5)
RECORDS = st.lists(st.builds(Outgoing, BYTES, BYTES, st.integers(0, 2**62), st.just(())), max_size=6)


@given(RECORDS, RECORDS)
def test_a_block_is_extended_by_records(first: list[Outgoing], second: list[Outgoing]) -> None:
    block = RecordBlock.of(first).with_records(second)
    assert [tuple(record)[:3] for record in block] == [tuple(record)[:3] for record in first + second]


def test_headers_of_single_records_stand_behind_those_of_the_block() -> None:
    values, times = Texts.of([b"a", b"b"]), np.zeros(2, np.int64)
    block = RecordBlock(None, values, times, (b"step",), (Texts.of([b"1", b"2"]),), extra=[[], [("mine", b"x")]])
    assert [record.headers for record in block] == [[("step", b"1")], [("step", b"2"), ("mine", b"x")]]
    assert [block[i] for i in range(2)] == list(block)
    assert list(RecordBlock.of(list(block))) == list(block)


def test_columns_of_different_lengths_are_no_block() -> None:
    with pytest.raises(InvariantBroken):
        RecordBlock(Texts.of([b"a"]), Texts.of([b"a", b"b"]), np.zeros(2, np.int64))
    with pytest.raises(InvariantBroken):
        RecordBlock(None, Texts.of([b"a"]), np.zeros(1, np.int64), (b"name",), ())
