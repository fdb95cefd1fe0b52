"""The epoch mark and the records of epochs as bytes: read back as they were written, bounded, refused when damaged."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from beliefs.alphabet import Categories, IntegerRange
from beliefs.chain import Chain
from stream.errors import StateRefused
from stream.learning.carried import KEPT
from stream.learning.mark import Mark, decode_mark, encode_mark, first_mark
from stream.learning.record import (
    LEARNT,
    START,
    Epoch,
    decode_epoch,
    encode_epoch,
    epoch_key,
    epoch_number,
    mark_bytes_max,
    model_of_epoch,
)
from stream.settings.learning import MOST_VALUES

LARGE = 2**62


def dense(size: int, seed: int = 1) -> Chain:
    rows = np.random.default_rng(seed).dirichlet(np.ones(size), size=size)
    return Chain.from_dense([1 / size] * size, rows.tolist())


def same(one: Mark, other: Mark) -> bool:
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("counts", "score"))
    plain = {name: value for name, value in vars(one).items() if name not in ("counts", "score")}
    return arrays and plain == {name: value for name, value in vars(other).items() if name in plain}


def test_marks_are_read_back_as_they_were_written() -> None:
    learning = replace(
        first_mark(3, 7), epoch=5, looks=4, tests=11, blind_agreement=0.7, informed_agreement=0.25,
        counts=np.arange(9).reshape(3, 3) * 10**12,
    )  # fmt: skip
    informed = replace(first_mark(3, 9), informed=True, error=0.125, score=np.linspace(0.0, 1e300, KEPT))
    assert math.isinf(learning.error)
    for mark in (learning, informed, first_mark(64, 0)):
        assert same(decode_mark(encode_mark(mark), mark.counts.shape[0], ""), mark)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "fewer than its head"),
        (encode_mark(first_mark(3, 0)), "it speaks of 3 values, the settings of 2"),
        (b"\2" + encode_mark(first_mark(2, 0))[1:], "version 2"),
        (b"\1\2" + encode_mark(first_mark(2, 0))[2:], "phase 2"),
        (encode_mark(first_mark(2, 0)) + b"\0", "33 bytes behind its head instead of 32"),
        (encode_mark(replace(first_mark(2, 0), informed=True))[:-1], "instead of 72"),
        (encode_mark(first_mark(2, -1)), "is negative that counts something"),
        (encode_mark(replace(first_mark(2, 0), counts=np.full((2, 2), -1))), "is negative that counts something"),
    ],
)
def test_marks_that_are_none_are_refused(raw: bytes, says: str) -> None:
    with pytest.raises(StateRefused, match=says) as refused:
        decode_mark(raw, 2, "topic t, partition 3")
    assert refused.value.where == "topic t, partition 3"


def test_records_of_epochs_are_read_back_with_the_very_same_model() -> None:
    alphabet, chain = Categories(["a", "b", "c"]), dense(3)
    file = model_of_epoch(alphabet, chain, 2, LEARNT, pairs=12)
    counts = np.arange(9).reshape(3, 3)
    epoch = Epoch(2, 4096, LEARNT, file, 77, tests=3, counts=counts, error=0.1 + 0.2, blind_agreement=0.3)
    found = decode_epoch(encode_epoch(epoch), "")
    assert found.model.digest == epoch.model.digest
    assert found.model.chain.dense.tolist() == chain.dense.tolist()
    assert (found.number, found.first, found.withheld_units, found.tests, found.error) == (2, 4096, 77, 3, 0.1 + 0.2)
    assert found.counts is not None and found.counts.tolist() == counts.tolist()
    assert encode_epoch(found) == encode_epoch(epoch)
    other = model_of_epoch(alphabet, chain, 3, LEARNT, pairs=12)
    assert Epoch(3, 0, LEARNT, other, 0).model.digest != epoch.model.digest


def test_keys_of_epochs_say_their_numbers() -> None:
    assert [epoch_number(epoch_key(number)) for number in (1, 2**40)] == [1, 2**40]
    assert [epoch_number(key) for key in (b"e", b"E", b"E123", b"u12345678", b"Eu12345678")] == [None] * 5


def changed(**change: object) -> bytes:
    epoch = Epoch(1, 0, START, model_of_epoch(Categories(["a", "b"]), dense(2), 1, START), 5)
    return json.dumps({**json.loads(encode_epoch(epoch)), **change}).encode()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"\xff", "not what this release writes"),
        (b"[]", "not what this release writes"),
        (changed(version=2), "another format or version"),
        (changed(phase="informed"), "does not follow from why it began"),
        (changed(model={}), "its model cannot be used"),
        (changed(first_offset=None), "not what this release writes"),
    ],
)
def test_records_that_are_none_are_refused(raw: bytes, says: str) -> None:
    with pytest.raises(StateRefused, match=says):
        decode_epoch(raw, "")


@pytest.mark.parametrize("alphabet", [Categories([f"{x:0>250}" for x in range(MOST_VALUES)]), IntegerRange(0, 1)])
def test_no_mark_and_no_record_is_larger_than_was_said_when_the_topic_was_made(alphabet: Categories) -> None:
    size, most = alphabet.size, mark_bytes_max(alphabet)
    file = model_of_epoch(alphabet, dense(size), LARGE, LEARNT, pairs=LARGE, withheld_units=LARGE)
    full = np.full((size, size), LARGE)
    epoch = Epoch(LARGE, LARGE, LEARNT, file, LARGE, LARGE, full, 1 / 3, 1 / 3, 1 / 3)
    assert len(encode_epoch(epoch)) <= most
    assert len(encode_mark(replace(first_mark(size, 0), counts=full))) <= most
