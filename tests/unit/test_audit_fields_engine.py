"""What the engine releases of local fields, audited end to end: both have read the same promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from audit_memory import Kept
from field_audit_world import FieldRun, carried_out, settings_with
from field_people import AGE, APPS, BESIDE, COARSE, COARSEN, JOB, LOWER, RANK, SEX, apart, people, table
from field_reference import Reference
from segment_world import run as segments

from beliefs.correlation.joint_file import JointModel
from beliefs.correlation.tables import JointTable
from mechanisms.local.registry import REGISTRY

RAPPOR = "sex: {path: $.sex, values: [f, m], mechanism: rappor, epsilon: 1, lasting: true, cap: 3}"


def inputs(count: int, users: int = 6) -> list[Kept]:
    """Some that are broken, or lack a field, among them."""
    found = people(count, users)
    for place in range(7, count, 23):
        found[place] = replace(found[place], value=b"broken" if place % 2 else b'{"battery": 1}')
    return found


def assert_audited(finished: FieldRun) -> dict[str, Any]:
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.notes == []
    assert report.tally.released + report.tally.forecast + report.dead_letters == report.inputs
    assert finished.outcomes["dead_lettered"] == report.dead_letters > 0
    assert report.fields is not None
    assert {found["verdict"] for found in report.fields.values()} == {"agree"}
    return report.fields


@pytest.mark.parametrize("protect", [None, BESIDE], ids=["alone", "beside"])
@pytest.mark.parametrize(
    ("fields", "joint"),
    [
        ([SEX, JOB], None),
        ([SEX, JOB], table("sex", "job")),
        ([LOWER, SEX, RANK, AGE], table("job", "sex", "rank")),
        ([COARSEN, SEX], None),
        ([COARSE, SEX.replace("cap: 3", "cap: 2.1"), RANK.replace("cap: 5", "cap: 20")], apart()),
        ([COARSE, SEX.replace("cap: 3", "cap: 2.1"), RANK.replace("exp", "oue").replace("cap: 5", "cap: 20")], apart()),
        ([RAPPOR, JOB, APPS], table("sex", "job")),
    ],
    ids=["summed", "joint", "lower", "coarsen", "three", "bits", "rappor"],
)
def test_it_agrees_with_the_engine(
    fields: list[str], joint: JointTable | None, protect: Mapping[str, Any] | None
) -> None:
    if protect is not None:
        fields = [one.replace("cap: 2.1", "cap: 5.1").replace("cap: 3", "cap: 6") for one in fields]
    finished = carried_out(settings_of(fields, joint, protect), inputs(300), joint)
    found = assert_audited(finished)
    assert found["sex"]["reports"]["withheld"] > 0 or "rappor" in fields[0]
    assert finished.settings.fields is not None
    reference = Reference(finished.settings.fields, joint, None)
    if protect is None:
        assert finished.signs(0) == reference.signs((0,) * (2 * len(fields)))


def settings_of(fields: Sequence[str], joint: JointTable | None, protect: Mapping[str, Any] | None, *more: str) -> Any:
    return settings_with(fields, [*more, *(["joint: joint.json"] if joint is not None else [])], protect)


@pytest.mark.parametrize("mechanism", sorted(REGISTRY))
@pytest.mark.parametrize("kind", ["one value", "lists", "windows"])
def test_it_agrees_on_every_mechanism(mechanism: str, kind: str) -> None:
    named = {"top_k": "{name: top_k, top: [b, d]}"}.get(mechanism, mechanism)
    rappor = mechanism == "rappor"
    lists = kind == "lists" and not rappor
    more = ", at_most: 3, beyond: lower" if lists else ", lasting: true" if rappor else ""
    path, cap = ("$.in.apps", 7) if lists else ("$.app", 5)
    one = f"app: {{path: {path}, values: [a, b, c, d], mechanism: {named}, epsilon: 0.8, cap: {cap}{more}}}"
    settings = settings_of([one, AGE], None, None, *(["window: 40s"] if kind == "windows" and not rappor else []))
    found = assert_audited(carried_out(settings, inputs(150)))
    assert found["app"]["reports"]["full"] > 0
    assert found["app"]["largest_total_nats"] <= cap


KNOWN = {"sex": np.array([0.02, 0.05]), "job": np.array([0.1, 0.0, 0.03]), "rank": np.array([0.2, 0.01])}


@pytest.mark.parametrize("kind", ["counted", "stated"])
@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ([SEX, JOB], ("sex", "job")),
        ([LOWER, SEX, RANK, AGE], ("job", "sex", "rank")),
        ([COARSE, SEX.replace("cap: 3", "cap: 4.1"), RANK.replace("cap: 5", "cap: 20")], ("sex", "job", "rank")),
        ([SEX.replace("grr", "oue"), JOB], ("job", "sex")),
    ],
    ids=["two", "lower", "three", "bits"],
)
def test_it_agrees_on_tables_that_are_known_roughly(fields: list[str], names: tuple[str, ...], kind: str) -> None:
    """And both hold that a table which is taken as exact lets more be told."""
    fractions = table(*names)
    counted = JointTable(
        fractions.names, fractions.labels, np.round(fractions.weights * 4000 / fractions.weights.sum())
    )
    roughly = (
        JointModel(counted, failure=0.05)
        if kind == "counted"
        else JointModel(counted, radius={name: KNOWN[name] for name in names})
    )
    settings = settings_of(fields, counted, None)
    finished = carried_out(settings, inputs(300), roughly)
    assert_audited(finished)
    exactly = carried_out(settings, inputs(300), JointModel(counted))
    assert_audited(exactly)
    signs = ["".join(one.signs(place) for place in range(len(one.released()))) for one in (finished, exactly)]
    assert signs[0].count("0") < signs[1].count("0")
    finished.joint, exactly.joint = exactly.joint, finished.joint
    assert "field_needless" in finished.report().findings.codes()
    assert "field_beyond_cap" in exactly.report().findings.codes()


def test_it_agrees_on_forecasts_and_windows_beside_a_protected_field() -> None:
    protect = {**BESIDE, "window": "30s", "nats": 0.75}
    sex = SEX.replace("lasting: true, cap: 3", "cap: 2.6")
    finished = carried_out(settings_of([sex, AGE], None, protect, "window: 30s", "protected_cap: 3"), inputs(200))
    assert finished.outcomes["forecast"] > 0
    assert_audited(finished)


def test_it_agrees_on_endless_streams() -> None:
    """Hundreds of nats without a cap: amounts that count as without bound."""
    fields = [one.replace(f", cap: {cap}", "").replace("epsilon: 0", "epsilon: 3") for one, cap in ((SEX, 3), (JOB, 4))]
    joint = table("sex", "job")
    found = assert_audited(carried_out(settings_of(fields, joint, None), inputs(400, users=2), joint))
    assert found["sex"]["largest_total_nats"] > 250


def test_it_agrees_on_fields_beside_models_by_segment() -> None:
    each = "secret: {path: $.secret, values: [canary, gull], mechanism: oue, epsilon: 0.5, cap: 9}"
    finished = segments(
        events=400, users=8, nats=2, window="30s", beside=f"fields: {{window: 30s, each: {{{each}}}}}\n"
    )
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.fields is not None
    assert all(report.fields["secret"]["reports"][word] for word in ("full", "withheld"))
    assert report.fields["secret"]["verdict"] == "agree"


def test_a_falsified_release_of_the_engine_is_found() -> None:
    finished = carried_out(settings_of([SEX, JOB], None, None), inputs(60))
    one = finished.released()[3]
    headers = tuple((name, b"0-" if name == "fields" else text) for name, text in one.headers)
    finished.released()[3] = replace(one, headers=headers)
    assert finished.report().findings.codes() >= {"withheld_report", "field_needless", "field_account"}
