"""Tallies add up whatever the order, tables are plain, and a refused report changes nothing."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefs.alphabet import Categories, IntegerRange
from beliefs.checks import Invalid
from beliefs.simplex import on_the_simplex
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.frequencies import estimate, tally
from mechanisms.local.hashing import HashReports
from mechanisms.local.registry import DRAWN, drawn
from mechanisms.local.wire import shape_of, write

KEY = field_key(bytes(range(32)), "frequencies")
FIELD = Categories(["car", "train", "tram", "on foot"])


def reports_of(name: str, people: int, first: int = 0) -> Any:
    found = drawn(name, 4, 1.0)
    return found.draw(np.arange(people, dtype=np.int64) % 3, report_coins(KEY, first, people, found.words))


def documents_of(name: str, people: int) -> list[object]:
    return write(shape_of(drawn(name, 4, 1.0), FIELD), reports_of(name, people))


def part(reports: Any, rows: slice) -> Any:
    return HashReports(*(column[rows] for column in reports)) if isinstance(reports, HashReports) else reports[rows]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(DRAWN)), st.lists(st.integers(0, 60), max_size=4), st.randoms(use_true_random=False))
def test_whoever_counts_what_in_which_order_the_result_is_the_same(name: str, cuts: list[int], shuffle: Any) -> None:
    reports, documents = reports_of(name, 60), documents_of(name, 60)
    ends = [0, *sorted(cuts), 60]
    parts = []
    for number, (low, high) in enumerate(itertools.pairwise(ends)):
        one = tally(name, FIELD, 1.0)
        if number % 2:
            one.read(iter(documents[low:high]))
        else:
            one.add(part(reports, slice(low, high)))
        parts.append(one)
    shuffle.shuffle(parts)
    whole = tally(name, FIELD, 1.0)
    for one in parts:
        whole.merge(one)
    assert whole.reports == 60
    expected = estimate(reports, name, FIELD, 1.0)
    assert whole.frequencies().to_table() == expected.to_table() == estimate(documents, name, FIELD, 1.0).to_table()


@pytest.mark.parametrize("name", DRAWN)
def test_a_table_is_columns_of_plain_values_that_arrow_takes(name: str) -> None:
    found = estimate(documents_of(name, 200), name, FIELD, 1.0)
    table = found.to_table(0.9, projected=True)
    assert list(table) == ["value", "frequency", "variance", "low", "high", "projected"]
    assert table["value"] == list(FIELD.values)
    assert all(type(each) is float for column in list(table)[1:] for each in table[column])
    assert json.loads(json.dumps(table)) == table
    assert pa.table(table).num_rows == 4
    assert table["frequency"] == found.estimate.frequencies.tolist()
    assert table["projected"] == on_the_simplex(found.estimate.frequencies).tolist()
    low, high = found.estimate.interval(0.9)
    assert (table["low"], table["high"]) == (low.tolist(), high.tolist())
    assert "projected" not in found.to_table()
    assert estimate(reports_of(name, 200), name, 4, 1.0).values == (0, 1, 2, 3)


def test_a_refused_report_leaves_the_tally_as_it_was_and_names_its_place() -> None:
    found = tally("grr", FIELD, 1.0)
    found.read(["car", "tram"])
    with pytest.raises(Invalid, match=r"^reports\[5000\]:"):
        found.read(["car"] * 5_000 + ["boat"])
    with pytest.raises(Invalid, match="reports"):
        found.add(np.array([4]))
    assert (found.reports, found.sums.tolist()) == (2, [1, 0, 1, 0])


def test_tallies_of_different_kinds_do_not_add_up_and_nothing_gives_no_estimate() -> None:
    found = tally("oue", FIELD, 1.0)
    others = [tally("sue", FIELD, 1.0), tally("oue", FIELD, 1.1), tally("oue", IntegerRange(0, 3), 1.0)]
    for other in others:
        with pytest.raises(Invalid, match="tally"):
            found.merge(other)
    with pytest.raises(Invalid, match="are none"):
        found.frequencies()
    with pytest.raises(Invalid, match="mechanism"):
        tally("laplace", FIELD, 1.0)


def test_a_field_may_be_given_as_its_values_or_as_their_number() -> None:
    expected = estimate(["car", "tram"], "grr", FIELD, 1.0)
    assert estimate(["car", "tram"], "grr", ["car", "train", "tram", "on foot"], 1.0).to_table() == expected.to_table()
    for number in (4, np.int64(4)):
        assert tally("grr", number, 1.0).alphabet == IntegerRange(0, 3)
    for wrong in (1, 0, "car", ["car", 2], ["car", "car"]):
        with pytest.raises(Invalid):
            tally("grr", wrong, 1.0)  # type: ignore[arg-type]


def test_memory_does_not_grow_with_the_reports() -> None:
    def stream(times: int) -> Iterator[object]:
        for _ in range(times):
            yield {"version": 1, "length": 64, "bits": "AAAAAAAAAAA="}

    peaks = []
    for times in (10_000, 40_000):
        tracemalloc.start()
        assert estimate(stream(times), "oue", 64, 1.0).reports == times
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]
