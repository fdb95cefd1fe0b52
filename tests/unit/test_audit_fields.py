"""The auditor follows local fields as the reference writes them: everything agrees, and the numbers are said."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from audit_world import run
from field_audit_world import FieldRun, settings_with, written
from field_people import AGE, APPS, BESIDE, COARSE, COARSEN, JOB, LOWER, RANK, SEX, apart, people, table, world
from rich.console import Console

from beliefs.correlation.tables import JointTable
from stream.audit.report import tell


def assert_agrees(finished: FieldRun) -> dict[str, Any]:
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.notes == []
    assert report.fields is not None
    assert {found["verdict"] for found in report.fields.values()} == {"agree"}
    return report.fields


def reports(fields: Mapping[str, Any], name: str) -> set[str]:
    return {word for word, many in fields[name]["reports"].items() if many}


@pytest.mark.parametrize("protect", [None, BESIDE], ids=["alone", "beside"])
@pytest.mark.parametrize("job", [JOB, LOWER, COARSEN], ids=["withhold", "lower", "coarsen"])
@pytest.mark.parametrize("joint", [None, table("sex", "job")], ids=["summed", "joint"])
def test_it_agrees_on_caps(protect: Mapping[str, Any] | None, job: str, joint: JointTable | None) -> None:
    sex = SEX if protect is None else SEX.replace("cap: 3", "cap: 5.5")
    assert_agrees(world(sex, job.replace("epsilon: 0.25", "epsilon: 0.75"), joint=joint, protect=protect))


def test_every_way_to_stay_below_a_cap_is_met() -> None:
    joint = apart().reordered(["sex", "job"])
    assert reports(assert_agrees(world(SEX, JOB)), "job") == {"full", "withheld"}
    lowered = JOB.replace("epsilon: 0.25, lasting: true, cap: 4", "epsilon: 1, lasting: true, cap: 20, beyond: lower")
    found = assert_agrees(world(lowered, SEX.replace("cap: 3", "cap: 2.1"), joint=joint))
    assert {"full", "half"} < reports(found, "job")
    found = assert_agrees(world(COARSE, SEX.replace("cap: 3", "cap: 2.1"), joint=joint))
    assert {"full", "coarse"} <= reports(found, "job")


@pytest.mark.parametrize("mechanism", ["oue", "ss", "{name: top_k, top: [nurse]}", "{name: rappor, report_one: 0.9}"])
@pytest.mark.parametrize("names", [("sex", "job"), ("job", "rank", "sex")])
def test_it_agrees_on_tables_with_every_kind_of_reports(mechanism: str, names: Sequence[str]) -> None:
    job = JOB.replace("mechanism: grr", f"mechanism: {mechanism}").replace("epsilon: 0.25", "epsilon: 1.25")
    assert_agrees(world(SEX, job, RANK, joint=table(*names), count=90))


def test_it_agrees_on_a_coarsened_field_between_others() -> None:
    """Through the table's other fields, one of which bears bits: the bound of fine and coarse reports together."""
    for mechanism in ("grr", "oue"):
        rank = RANK.replace("exp", mechanism).replace("cap: 5", "cap: 20")
        found = assert_agrees(world(COARSE, SEX.replace("cap: 3", "cap: 2.1"), rank, joint=apart()))
        assert "coarse" in reports(found, "job")


def test_it_agrees_on_lists_numbers_and_nested_places() -> None:
    found = assert_agrees(world(APPS, AGE, count=60))
    assert {"half", "quarter", "eighth"} & reports(found, "apps")
    assert reports(found, "age") == {"full", "withheld"}


def test_windows_begin_with_nothing_told() -> None:
    """Two minutes of events, caps for half a minute; late events join the window that their user has reached."""
    sex = SEX.replace("lasting: true, ", "").replace("cap: 3", "cap: 1.2")
    found = assert_agrees(world(sex, AGE.replace("cap: 7", "cap: unlimited"), more=["window: 30s"]))
    assert found["sex"]["reports"]["full"] > 6 * 2
    assert found["sex"]["largest_total_nats"] <= 1.2
    assert found["age"]["cap_nats"] is None


def test_the_protected_field_has_a_cap_of_its_own() -> None:
    uncapped = (SEX.replace(", cap: 3", ""), JOB.replace(", cap: 4", ""))
    found = assert_agrees(world(*uncapped, more=["protected_cap: 4"], protect=BESIDE))
    assert found["record.protect"]["cap_nats"] == 4
    assert 3.5 < found["record.protect"]["largest_total_nats"] <= 4
    assert "withheld" in reports(found, "sex")


def test_forecasts_bear_reports_as_releases_do() -> None:
    sex = SEX.replace("lasting: true, cap: 3", "cap: 2.6")
    protect = {**BESIDE, "window": "30s", "nats": 0.75}
    finished = world(sex, protect=protect, more=["window: 30s"])
    assert finished.outcomes["forecast"] > 0
    assert {"full", "withheld"} == reports(assert_agrees(finished), "sex")


def test_totals_are_said_as_quantiles_over_users() -> None:
    """Of 100 users 20 have two events, the others one."""
    finished = written(settings_with([SEX.replace("cap: 3", "cap: unlimited")]), people(120, users=100))
    found = assert_agrees(finished)["sex"]
    nats = {name: round(amount, 6) for name, amount in found["total_nats"].items()}
    assert nats == {"p50": 0.5, "p90": 1.0, "p99": 1.0, "max": 1.0}
    assert found["reports"]["full"] == 120


def test_a_window_that_is_over_counts_for_the_largest_total_only() -> None:
    sex = SEX.replace("lasting: true, cap: 3", "cap: unlimited")
    finished = written(settings_with([sex], ["window: 100s"]), people(104, users=1))
    found = assert_agrees(finished)["sex"]
    assert found["total_nats"]["max"] < found["largest_total_nats"] / 10


def test_the_report_says_what_became_of_each_field() -> None:
    report = world(SEX, JOB).report()
    out = io.StringIO()
    tell(report, Console(file=out, width=160))
    text = out.getvalue()
    assert "sex" in text
    assert "cap 3.0000: agrees" in text
    assert "withheld" in text
    assert "which slot of a list" in text
    document = json.loads(json.dumps(report.as_json()))
    assert document["fields"]["job"]["within_cap"] is True
    assert "canary" not in text + json.dumps(document)


def test_a_pipeline_without_fields_says_nothing_of_them() -> None:
    report = run(4, events=60, users=6).report()
    assert report.agrees
    assert "fields" not in report.as_json()
    assert "slot" not in json.dumps(report.as_json())
