"""Releases in windows of values, read as a consumer reads them: whole topics, parts of windows, windows of time."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from audit_memory import START_MS, Kept
from audit_world import Run, run
from chains import first_order
from estimate_help import asked_with
from estimate_windows import ORDERS, model_of_windows

from stream.estimation.gathering import Gathering
from stream.estimation.report import facts_of
from stream.estimation.results import FieldResult
from stream.estimation.task import task_of
from stream.estimation.told import finished

USERS, LENGTH = 100, 24
TRUTH = np.array([[0.75, 0.25], [0.45, 0.55]])


def finished_run(order: str, epsilon: float = 4.0) -> tuple[Run, np.ndarray[Any, Any]]:
    values = first_order(TRUTH, USERS, LENGTH, np.random.default_rng(4))
    inputs = [
        Kept(
            step * USERS + user,
            b"user-%d" % user,
            orjson.dumps({"activity": f"v{values[user, step]}", "battery": 1}),
            START_MS + 60_000 * step + user,
        )
        for step in range(LENGTH)
        for user in range(USERS)
    ]
    settings: dict[str, Any] = {"windows": ORDERS[order], "epsilon": epsilon, "nats": "unlimited"}
    return run(2, model=model_of_windows("two"), inputs=inputs, **settings), values


def gathered(finished_: Run, chunk: int = 700, records: list[Kept] | None = None, **asked: Any) -> Gathering:
    found = Gathering(task_of(finished_.settings, [finished_.model], asked_with(**asked)))
    its = finished_.released() if records is None else records
    for start in range(0, len(its), chunk):
        found.take(0, its[start : start + chunk])
    return found


def told(gathering: Gathering) -> list[FieldResult]:
    return [window.fields[0] for window in finished(gathering)]


def column(found: FieldResult, table: str, name: str = "estimate") -> np.ndarray[Any, Any]:
    return np.array(found.tables[table].columns[name], dtype=np.float64)


@pytest.mark.parametrize("order", ORDERS)
def test_shares_and_a_chain_come_back_whatever_the_order(order: str) -> None:
    finished_, values = finished_run(order)
    (found,) = told(gathered(finished_, transitions=True))
    assert found.reports == USERS * LENGTH and "waiting" not in found.facts
    shares = np.bincount(values.ravel(), minlength=2) / values.size
    for table in ("frequency", "learnt"):
        apart, errors = column(found, table) - shares, np.sqrt(column(found, table, "variance"))
        assert (np.abs(apart) < 4.5 * errors).all() and (errors < 0.03).all()
    pairs = np.zeros((2, 2))
    np.add.at(pairs, (values[:, :-1].ravel(), values[:, 1:].ravel()), 1)
    rows = (pairs / pairs.sum(axis=1, keepdims=True)).ravel()
    errors = np.sqrt(column(found, "chain", "variance"))
    assert (np.abs(column(found, "chain") - rows) < 4.5 * errors).all() and (errors < 0.06).all()
    assert any("no transitions by pairs" in note for note in found.notes)


@pytest.mark.parametrize("order", ORDERS)
def test_it_does_not_matter_how_records_are_read_or_that_some_are_read_twice(order: str) -> None:
    finished_, _ = finished_run(order)
    records = finished_.released()
    (whole,) = told(gathered(finished_))
    again = [*records[:1000], *records[200:1000], *records[1000:], *records[:50]]
    for one in (gathered(finished_, chunk=37), gathered(finished_, records=again, chunk=61)):
        (found,) = told(one)
        for table in ("frequency", "posterior"):
            assert column(found, table) == pytest.approx(column(whole, table), rel=1e-9)
            assert column(found, table, "variance") == pytest.approx(column(whole, table, "variance"), rel=1e-6)
        assert found.reports == whole.reports and not found.facts["not_followed"]


@pytest.mark.parametrize("order", ORDERS)
def test_a_window_counts_where_its_first_value_does(order: str) -> None:
    finished_, _ = finished_run(order)
    (whole,), hourly = told(gathered(finished_)), told(gathered(finished_, window="7m", late="30m"))
    firsts = [(START_MS + 60_000 * step) // 420_000 for step in range(0, LENGTH, 3)]
    lots = range(firsts[0], (START_MS + 60_000 * (LENGTH - 1)) // 420_000 + 1)
    assert [one.reports for one in hourly] == [3 * USERS * firsts.count(lot) for lot in lots]
    hourly = [one for one in hourly if one.reports]
    sums = sum(column(one, "frequency") * one.reports for one in hourly)
    assert sums / whole.reports == pytest.approx(column(whole, "frequency"), rel=1e-9)
    noise = sum(column(one, "frequency", "variance") * one.reports**2 for one in hourly)
    assert noise / whole.reports**2 == pytest.approx(column(whole, "frequency", "variance"), rel=1e-6)


@pytest.mark.parametrize("order", ["bisect", "dual"])
def test_beginnings_of_windows_wait_and_that_is_said(order: str) -> None:
    finished_, _ = finished_run(order)
    records = finished_.released()[:-4]
    gathering = gathered(finished_, records=records)
    (found,) = told(gathering)
    assert found.facts["waiting"] == 2 and found.reports == USERS * LENGTH - 6
    assert "window of values has not come" in facts_of(found)
    assert any("once the rest has come" in note for note in found.notes)
    gathering.take(0, finished_.released()[-4:])
    (later,) = told(gathering)
    assert later.reports == USERS * LENGTH and "waiting" not in later.facts


def test_singular_channels_are_named_and_what_to_do() -> None:
    finished_, _ = finished_run("bisect", epsilon=0.4)
    (found,) = told(gathered(finished_))
    assert "frequency" not in found.tables and "posterior" in found.tables
    (note,) = found.notes
    assert "no share of all without bias of v0, v1" in note and "--transitions" in note
    (asked,) = told(gathered(finished_, transitions=True))
    assert "learnt" in asked.tables and "learnt is what there is" in asked.notes[0]
    assert len(asked.notes) == 2
