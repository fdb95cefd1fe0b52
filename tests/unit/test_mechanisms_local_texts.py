"""Reports written as texts, many at once: the bytes of the definition, which writes one value after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefs.alphabet import Alphabet, Bins, Categories, Grid, IntegerRange
from beliefs.checks import Invalid
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.hashing import HashReports
from mechanisms.local.registry import REGISTRY, drawn
from mechanisms.local.slots import Slots, Values
from mechanisms.local.texts import texts_of
from mechanisms.local.wire import Bits, Cells, Hashes, Shape, Subsets, read, shape_of, write

KEY = field_key(bytes(range(32)), "texts")


def texts(shape: Shape, reports: Any) -> list[bytes]:
    written = texts_of(shape, reports)
    starts = [0, *written.ends.tolist()]
    whole = written.data.tobytes()
    assert starts[-1] == len(whole)
    return [whole[starts[i] : starts[i + 1]] for i in written.at.tolist()]


def check_texts(shape: Shape, reports: Any) -> None:
    assert texts(shape, reports) == [orjson.dumps(document) for document in write(shape, reports)]


@settings(max_examples=120, deadline=None)
@given(
    name=st.sampled_from(sorted(REGISTRY)),
    values=st.integers(2, 70),
    epsilon=st.floats(0.05, 8.0),
    first=st.integers(0, 1 << 40),
    count=st.integers(0, 40),
)
def test_texts_are_those_of_the_definition(name: str, values: int, epsilon: float, first: int, count: int) -> None:
    options = {"top": [values - 1, 0][: values - 1]} if name == "top_k" else {}
    found = drawn(name, values, epsilon, **options)
    drawn_reports = found.draw(np.arange(count, dtype=np.int64) % values, report_coins(KEY, first, count, found.words))
    check_texts(shape_of(found, Categories([f"größe {i}" for i in range(values)])), drawn_reports)


ALPHABETS = [
    Categories(["", '"', "\\", "größe", "\x00", "😀", "a/b", "\u2028"]),
    IntegerRange(-3, 12),
    IntegerRange((1 << 53) - 3, (1 << 53) - 1),
    Bins(0.0, 1.0, 3),
    Bins(-1e-7, 1e-7, 5),
    Bins(-1e300, 1e300, 4),
    Bins(0.0, 1e17, 3),
    Grid(Bins(0.0, 1.0, 1), Bins(0.0, 3.0, 3), ("lat", 'l"n')),
    Grid(Bins(47.3, 47.5, 2), Bins(8.4, 8.7, 3)),
]


@pytest.mark.parametrize("alphabet", [*ALPHABETS, *map(Slots, ALPHABETS)])
def test_labels_of_every_kind(alphabet: Values) -> None:
    shape = shape_of(drawn("grr", alphabet.size, 1.0), alphabet)
    every = np.arange(alphabet.size)
    check_texts(shape, np.concatenate([every, every[::-1]]))
    assert read(shape, [orjson.loads(text) for text in texts(shape, every)]).tolist() == every.tolist()
    top = drawn("top_k", alphabet.size, 1.0, top=[1, 0])
    check_texts(shape_of(top, alphabet), np.array([2, 0, 1, 1, 2]))


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_an_empty_slot_is_null_and_stands_behind_all_values(alphabet: Alphabet) -> None:
    shape = shape_of(drawn("grr", alphabet.size + 1, 1.0), Slots(alphabet))
    assert texts(shape, np.array([alphabet.size])) == [b"null"]
    assert read(shape, [None]).tolist() == [alphabet.size]
    with pytest.raises(Invalid, match=f"one of the {alphabet.size + 1} values, found an object"):
        read(shape, [{"x": 1}])
    with pytest.raises(Invalid, match="values: are"):
        shape_of(drawn("grr", alphabet.size, 1.0), Slots(alphabet))
    with pytest.raises(Invalid, match="found null"):
        read(shape_of(drawn("grr", alphabet.size, 1.0), alphabet), [None])


def test_labels_have_one_text_each_however_often_they_are_told() -> None:
    shape = shape_of(drawn("grr", 3, 1.0), Categories(["a", "b", "c"]))
    one, other = texts_of(shape, np.array([2, 2, 2])), texts_of(shape, np.array([0]))
    assert one.data is other.data
    assert one.data.tobytes() == b'"a""b""c"'
    assert (one.ends.tolist(), one.at.tolist()) == ([3, 6, 9], [2, 2, 2])


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 16, 17, 24, 25, 64, 4096])
def test_bits_of_any_length(length: int) -> None:
    source = np.random.default_rng(length)
    check_texts(Bits(length), source.integers(0, 2, (9, length)))
    check_texts(Bits(length), np.ones((1, length), dtype=np.int8))
    check_texts(Bits(length), np.zeros((2, length), dtype=np.uint32))


def test_numbers_of_any_width() -> None:
    words = np.array([0, 1, (1 << 64) - 1, 0x0123456789ABCDEF], dtype=np.uint64)
    check_texts(Hashes(2), HashReports(words, words[::-1].copy(), np.array([0, 1, 1, 0])))
    check_texts(Hashes(1 << 16), HashReports(words, words, np.array([0, 9, 10, 65535])))
    check_texts(Cells(3, 4, -96, 100), np.array([[-96, 0, 100], [-1, 9, 10], [99, -10, -9]]))
    check_texts(Cells(2, 4, -96, 100), np.array([[-96, 100]], dtype=np.int8))
    check_texts(Cells(1, 8, -5, 5), np.array([[-5], [5]]))
    sets = np.zeros((3, 1000), dtype=np.int64)
    sets[[[0], [1], [2]], [[0, 10, 100], [9, 99, 999], [500, 1, 998]]] = 1
    check_texts(Subsets(1000, 3), sets)
    check_texts(Subsets(4, 4), np.ones((2, 4), dtype=np.int64))


def test_what_is_no_report_is_not_written() -> None:
    for shape in (Bits(3), Subsets(3, 1), Cells(3, 4, -9, 9), shape_of(drawn("grr", 3, 1.0), IntegerRange(0, 2))):
        for wrong in (np.array([[0, 0, 10]]), np.array([7]), np.array([[0.0, 0.0, 1.0]]), [0]):
            with pytest.raises(Invalid, match="reports"):
                texts_of(shape, wrong)
    with pytest.raises(Invalid, match="HashReports"):
        texts_of(Hashes(4), np.array([1]))


def test_no_mechanism_is_without_texts() -> None:
    for name in REGISTRY:
        found = drawn(name, 5, 1.0, **({"top": [0]} if name == "top_k" else {}))
        assert texts(
            shape_of(found, IntegerRange(0, 4)), found.draw(np.array([3]), report_coins(KEY, 7, 1, found.words))
        )
