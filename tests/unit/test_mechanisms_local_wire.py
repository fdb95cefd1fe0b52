"""Reports as JSON: what is written is read back, and whatever breaks the format is refused without showing it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefs import json_text
from beliefs.alphabet import Alphabet, Bins, Categories, Grid, IntegerRange
from beliefs.checks import Invalid
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.hashing import HashReports, hashed
from mechanisms.local.histogram import drawn_the
from mechanisms.local.registry import DRAWN, drawn
from mechanisms.local.wire import Bits, Cells, Hashes, Shape, Subsets, read, shape_of, write

KEY = field_key(bytes(range(32)), "wire")
SECRET = "kept-to-oneself"
TEN = IntegerRange(0, 9)


def shape_for(name: str, values: int = 10, epsilon: float = 1.0) -> Shape:
    return shape_of(drawn(name, values, epsilon), IntegerRange(0, values - 1))


def equal(one: Any, other: Any) -> bool:
    pairs = zip(one, other, strict=True) if isinstance(one, HashReports) else [(one, other)]
    return all(a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all()) for a, b in pairs)


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(sorted(DRAWN)),
    values=st.integers(2, 70),
    epsilon=st.floats(0.05, 8.0),
    first=st.integers(0, 1 << 40),
    count=st.integers(0, 5),
)
def test_every_report_comes_back_from_its_text(name: str, values: int, epsilon: float, first: int, count: int) -> None:
    found = drawn(name, values, epsilon)
    shape = shape_of(found, IntegerRange(0, values - 1))
    reports = found.draw(np.arange(count, dtype=np.int64) % values, report_coins(KEY, first, count, found.words))
    texts = [json_text.canonical(document) for document in write(shape, reports)]
    again = read(shape, [json_text.read(text) for text in texts])
    assert equal(reports, again)
    assert [json_text.canonical(document) for document in write(shape, again)] == texts


@given(st.integers(1, 40).flatmap(lambda length: st.lists(st.integers(0, 1), min_size=length, max_size=length)))
def test_any_bits_come_back_and_two_reports_never_share_a_text(bits: list[int]) -> None:
    shape, reports = Bits(len(bits)), np.array([bits, [1 - bit for bit in bits]])
    one, other = write(shape, reports)
    assert one != other
    assert read(shape, [one, other]).tolist() == reports.tolist()


@given(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1), st.integers(2, 1 << 16), st.data())
def test_any_seed_comes_back_and_the_hash_is_that_of_whole_numbers(a: int, b: int, span: int, data: Any) -> None:
    words = [np.array([each], dtype=np.uint64) for each in (a, b)]
    value = data.draw(st.integers(0, (1 << 24) - 1))
    cell = (((a * value + b) % 2**64) // 2**32) * span // 2**32
    assert hashed(np.uint64(value), *words, span).tolist() == [cell]
    reports = HashReports(*words, np.array([cell]))
    (document,) = write(Hashes(span), reports)
    assert equal(read(Hashes(span), [json.loads(json.dumps(document))]), reports)
    assert document == {"version": 1, "seed": f"{a:016x}{b:016x}", "range": span, "cell": cell}


@pytest.mark.parametrize(
    "alphabet",
    [
        Categories(["wood", "weed", SECRET]),
        IntegerRange(-1, 1),
        Bins(0.0, 1.0, 3),
        Grid(Bins(0.0, 1.0, 1), Bins(0.0, 3.0, 3), ("lat", "lon")),
    ],
)
def test_a_value_is_written_as_its_field_writes_it(alphabet: Alphabet) -> None:
    shape = shape_of(drawn("grr", 3, 1.0), alphabet)
    documents = write(shape, np.array([2, 0, 1, 1]))
    assert documents == [alphabet.value_at(index) for index in (2, 0, 1, 1)]
    assert read(shape, [json.loads(json.dumps(each)) for each in documents]).tolist() == [2, 0, 1, 1]


def test_thresholds_have_the_shape_of_bits_and_a_field_of_another_size_has_none() -> None:
    assert shape_of(drawn_the(10, 1.0, 0.67), TEN) == Bits(10)
    with pytest.raises(Invalid, match="values: are 10"):
        shape_of(drawn("oue", 9, 1.0), TEN)


GOOD: dict[str, dict[str, object]] = {
    "oue": {"version": 1, "length": 10, "bits": "kEA="},
    "olh": {"version": 1, "seed": "0123456789abcdef" * 2, "range": 4, "cell": 2},
    "ss": {"version": 1, "of": 10, "subset": [1, 7]},
    "she": {"version": 1, "per_unit": 4, "cells": [5, -3, 0, 0, 1, 0, -12, 0, 0, 2]},
}
SHAPES = {"oue": Bits(10), "olh": Hashes(4), "ss": Subsets(10, 2), "she": Cells(10, 4, -96, 100)}
WRONG = [
    ("oue", "length", 9),
    ("oue", "length", 10.0),
    ("oue", "length", SECRET),
    ("oue", "bits", "kA=="),
    ("oue", "bits", "kEAA"),
    ("oue", "bits", "kEE="),  # the last value's bit is 7 - 9 mod 8 = 6; a padding bit is set
    ("oue", "bits", "kEB="),  # the same bytes by another text
    ("oue", "bits", "kEA"),
    ("oue", "bits", "kE A="),
    ("oue", "bits", "_EA="),
    ("oue", "bits", SECRET),
    ("oue", "bits", "ÿÿÿÿ"),
    ("oue", "bits", [1, 0, 0]),
    ("olh", "seed", "0123456789ABCDEF" * 2),
    ("olh", "seed", "0123456789abcdef" * 2 + "\n"),
    ("olh", "seed", "0123456789abcdef"),
    ("olh", "seed", 17),
    ("olh", "range", 5),
    ("olh", "cell", 4),
    ("olh", "cell", -1),
    ("olh", "cell", True),
    ("olh", "cell", 2.0),
    ("ss", "of", 11),
    ("ss", "subset", [7, 1]),
    ("ss", "subset", [7, 7]),
    ("ss", "subset", [1]),
    ("ss", "subset", [1, 2, 7]),
    ("ss", "subset", {"1": 7}),
    ("ss", "subset[1]", [1, 10]),
    ("ss", "subset[0]", [-1, 7]),
    ("ss", "subset[1]", [1, SECRET]),
    ("she", "per_unit", 8),
    ("she", "cells", [0] * 9),
    ("she", "cells[3]", [0, 0, 0, 101, *[0] * 6]),
    ("she", "cells[0]", [-97, *[0] * 9]),
    ("she", "cells[9]", [*[0] * 9, 0.5]),
    ("she", "cells[9]", [*[0] * 9, math.nan]),
    *[(name, "version", version) for name in GOOD for version in (0, 2, "1", True, 1.0, None, [SECRET])],
]


@pytest.mark.parametrize("name", GOOD)
def test_the_good_reports_are_good_and_shapes_are_those_of_the_mechanisms(name: str) -> None:
    assert shape_for(name) == SHAPES[name]
    assert write(SHAPES[name], read(SHAPES[name], [GOOD[name]])) == [GOOD[name]]


@pytest.mark.parametrize(("name", "field", "value"), WRONG)
def test_a_wrong_member_is_refused_by_name_and_not_shown(name: str, field: str, value: object) -> None:
    document = {**GOOD[name], field.partition("[")[0]: value}
    with pytest.raises(Invalid) as caught:
        read(SHAPES[name], [GOOD[name], document])
    assert caught.value.field == f"reports[1].{field}"
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("name", GOOD)
def test_members_are_neither_missing_nor_more_nor_twice(name: str) -> None:
    for missing in GOOD[name]:
        rest = {key: value for key, value in GOOD[name].items() if key != missing}
        with pytest.raises(Invalid, match="version" if missing == "version" else "no others"):
            read(SHAPES[name], [rest])
    with pytest.raises(Invalid, match="no others") as caught:
        read(SHAPES[name], [{**GOOD[name], SECRET: 1}])
    assert SECRET not in str(caught.value)
    text = json.dumps(GOOD[name]).replace("{", '{"version": 2, ', 1).encode()
    with pytest.raises(Invalid, match="twice"):
        read(SHAPES[name], [json_text.read(text)])
    for other in (None, 1, "kEA=", [GOOD[name]], True):
        with pytest.raises(Invalid, match=r"reports\[7\]: must be an object"):
            read(SHAPES[name], [other], 7)


def test_a_value_of_another_field_is_refused_and_not_shown() -> None:
    shape = shape_of(drawn("exp", 3, 1.0), Categories(["wood", "weed", "wind"]))
    for stranger in (SECRET, 0, True, None, ["wood"], {"wood": 1}, "Wood"):
        with pytest.raises(Invalid, match=r"^reports\[1\]: must be one of the 3 values") as caught:
            read(shape, ["wood", stranger])
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize("name", DRAWN)
def test_arrays_that_are_no_reports_are_not_written(name: str) -> None:
    shape, wrong = shape_for(name), np.full((1, 10), 1_000_000)
    words = np.zeros(2, dtype=np.uint64)
    hashes = np.zeros(2, dtype=np.int64)
    strangers: list[object] = [
        wrong,
        wrong[0],
        wrong.astype(float),
        wrong.astype(np.uint64),
        np.zeros((1, 9), int),
        [1],
    ]
    strangers += [HashReports(words, words, hashes - 1), HashReports(hashes, words, hashes)]  # type: ignore[arg-type]
    strangers += [HashReports(words[:1], words, hashes)]
    for reports in strangers:
        with pytest.raises(Invalid, match="reports"):
            write(shape, reports)
    with pytest.raises(Invalid, match="each set"):
        write(shape_for("ss"), np.ones((1, 10), dtype=np.int64))


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(["kEA=", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(GOOD)), st.data())
def test_whatever_stands_in_a_member_is_read_exactly_or_refused(name: str, data: Any) -> None:
    member = data.draw(st.sampled_from(sorted(GOOD[name])))
    document = {**GOOD[name], member: data.draw(ANY_JSON)}
    refused, again = "", []
    try:
        again = write(SHAPES[name], read(SHAPES[name], [document]))
    except Invalid as problem:
        refused = problem.field
    if refused:
        assert refused.startswith(f"reports[0].{member}")
    else:
        assert json_text.canonical(again) == json_text.canonical([document])


def test_nothing_is_no_report() -> None:
    for name in DRAWN:
        shape = shape_for(name)
        assert write(shape, read(shape, [])) == []
