"""What workers export of fields is held against what was worked out from the releases."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from field_audit_world import HEAD, FieldRun, carried_out, settings_with
from field_people import BESIDE, JOB, SEX, people, table
from metering import meter_settings
from page_server import served

from stream.audit.field_exported import check_exported, exported_in
from stream.audit.report import Report
from stream.fields.joint import Joint
from stream.fields.promise import compile_fields
from stream.metrics import Meter
from stream.metrics.families import exposition, registry_of
from stream.metrics.fields import CHOICE_NAMES, FieldCounts

SIGNS = "0123c-"
Rows = Sequence[bytes]


@pytest.fixture(scope="module")
def finished() -> FieldRun:
    sex, job = (one.replace("cap: 3", "cap: 6").replace("cap: 4", "cap: 6") for one in (SEX, JOB))
    return carried_out(settings_with([sex, job], ["joint: joint.json"], BESIDE), people(90), table("sex", "job"))


def page_of(finished: FieldRun, users: Callable[[int], bool] = lambda user: True, more: int = 0) -> str:
    """What a worker shows that has these users and has seen all events; the first counter is off by so many."""
    assert finished.joint is not None
    weights = finished.joint.table.reordered(["sex", "job"])  # type: ignore[attr-defined]
    promise = compile_fields(finished.settings, Joint(weights, ""), bytes(32))
    assert promise is not None
    counts = FieldCounts(promise, floor=1)
    latest = {one.key: one.value for one in finished.states() if one.key is not None and one.key[:1] == b"u"}
    words = [struct.unpack_from("<6q", row or b"", HEAD) for key, row in latest.items() if users(int(key[-1:]))]
    counts.change(0, np.zeros((0, 6), dtype=np.int64), np.array(words, dtype=np.int64))
    for place, name in enumerate(("sex", "job")):
        signs = Counter(finished.signs(record)[place] for record in range(len(finished.released())))
        counts.choices[name] = [signs[sign] for sign in SIGNS]
    counts.choices["sex"][0] += more
    meter = Meter(meter_settings())
    meter.fields = counts
    return exposition(registry_of(meter), "")[0].decode()


def compared(finished: FieldRun, pages: Sequence[str], later: Sequence[str] | None = None) -> Report:
    report = finished.report()
    check_exported(pages, pages if later is None else later, report)
    return report


def test_the_page_of_a_worker_is_understood(finished: FieldRun) -> None:
    found = exported_in([page_of(finished)])
    assert {choice for _, choice in found.reports} == set(CHOICE_NAMES)
    assert {field for field, _ in found.totals[0]} == {"sex", "job", "record.protect"}
    assert found.reports.total() == 2 * 90


def test_what_is_exported_agrees(finished: FieldRun) -> None:
    report = compared(finished, [page_of(finished)])
    assert [finding.as_json() for finding in report.findings] == []
    assert report.compared["exported fields"] == "agree"


def test_a_report_too_many_is_found(finished: FieldRun) -> None:
    report = compared(finished, [page_of(finished, more=1)])
    assert {finding.detail for finding in report.findings} == {"sex, full: counted 25, found 24"}


def test_counters_of_a_worker_that_started_anew_are_no_contradiction(finished: FieldRun) -> None:
    report = compared(finished, [page_of(finished, more=-3)])
    assert report.agrees
    assert "started anew" in report.compared["exported fields"]


def test_a_total_that_differs_is_found(finished: FieldRun) -> None:
    page = page_of(finished)
    before = exported_in([page]).totals[0]["sex", "1"]
    for change in (1e-6, -1e-6):
        text = 'sottovoce_field_total_nats{field="sex",quantile="1"} '
        wrong = page.replace(f"{text}{before}", f"{text}{before + change}")
        assert wrong != page
        (finding,) = compared(finished, [wrong]).findings
        assert finding.detail.startswith("sex, total at max: exported")


def test_the_largest_total_of_several_workers_is_that_of_all(finished: FieldRun) -> None:
    """Each has half of the users; their shares of users are not compared."""
    halves = [page_of(finished, lambda user, half=half: user % 2 == half) for half in (0, 1)]  # type: ignore[misc]
    halves[1] = "\n".join(line for line in halves[1].splitlines() if "field_reports_total{" not in line)
    assert compared(finished, halves).agrees


def test_pages_that_move_or_say_nothing_are_not_compared(finished: FieldRun) -> None:
    page = page_of(finished)
    assert "in flight" in compared(finished, [page], [page_of(finished, more=1)]).compared["exported fields"]
    assert "no page says" in compared(finished, [""]).compared["exported fields"]


def test_an_audit_asks_for_the_pages(finished: FieldRun) -> None:
    with served(page_of(finished, more=2).encode()) as address:
        report = finished.report(metrics=(address,), metrics_required=True)
    assert "sex, full: counted 26, found 24" in {finding.detail for finding in report.findings}
