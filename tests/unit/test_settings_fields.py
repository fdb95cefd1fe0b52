"""Settings of several fields: what they may hold, each wrong one refused at its place, with a way out."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from fields_world import BESIDE, HEAD, JOB, LOCAL, SEX, settings_of
from settings_text import GOOD

from stream.errors import ConfigurationRefused
from stream.settings.load import parse_settings, policy_fingerprint

SEX_ALONE = "sex: {path: $.sex, values: [f, m], mechanism: grr, epsilon: 0.5}"


def problems(text: str) -> list[tuple[str, str]]:
    with pytest.raises(ConfigurationRefused) as refused:
        parse_settings(text.encode(), Path("c.yaml"))
    for problem in refused.value.problems:
        assert problem.allowed
        assert problem.fix
    return [(problem.path, problem.found) for problem in refused.value.problems]


def wrong_field(field: str, before: str = LOCAL, more: str = "") -> list[tuple[str, str]]:
    return problems(f"{HEAD}{before}fields:\n  each:\n    {field}\n{more}")


def test_what_is_declared_is_read() -> None:
    settings = settings_of(SEX, JOB)
    assert settings.fields is not None
    assert list(settings.fields.each) == ["sex", "job"]
    sex = settings.fields.each["sex"]
    assert (sex.mechanism.name, sex.epsilon, sex.cap, sex.lasting, sex.beyond) == ("grr", 0.5, 3.0, True, "withhold")
    assert not settings.follows
    assert math.isinf(settings.budget.nats)
    assert settings_of(SEX.replace("cap: 3", "cap: 4"), before=BESIDE).follows


@pytest.mark.parametrize(
    ("old", "new", "path", "found"),
    [
        ("mechanism: grr", "mechanism: grrr", "mechanism.name", '"grrr"'),
        ("mechanism: grr", "mechanism: top_k", "mechanism", "top_k without top"),
        ("mechanism: grr", "mechanism: {name: top_k, top: [f, m]}", "mechanism.top", "or all"),
        ("mechanism: grr", "mechanism: {name: top_k, top: [x]}", "mechanism.top", "other values"),
        ("mechanism: grr", "mechanism: {name: oue, top: [f]}", "mechanism", "oue with top"),
        ("mechanism: grr", "mechanism: {name: oue, report_zero: 0.5}", "mechanism", "report_zero beside oue"),
        ("mechanism: grr", "mechanism: rappor", "mechanism", "may change"),
        ("mechanism: grr", "mechanism: rappor, lasting: true, beyond: lower", "mechanism", "rappor beside"),
        ("epsilon: 0.5", "epsilon: 0", "epsilon", "0"),
        ("epsilon: 0.5", "epsilon: 33", "epsilon", "33"),
        ("epsilon: 0.5", "epsilom: 0.5", "epsilom", "unknown"),
        ("epsilon: 0.5", "epsilon: 0.5, cap: 0.4", "cap", "below epsilon"),
        ("epsilon: 0.5", "epsilon: 0.5, cap: none", "cap", '"none"'),
        ("epsilon: 0.5", "epsilon: 0.5, beyond: coarsen", "beyond", "coarsen without coarser"),
        ("epsilon: 0.5", "epsilon: 0.5, coarser: {a: [f], b: [m]}", "beyond", "withhold with coarser"),
        ("epsilon: 0.5", "epsilon: 0.5, beyond: coarsen, coarser: {a: [f], b: [x]}", "coarser", "each value once"),
        ("epsilon: 0.5", "epsilon: 0.5, beyond: coarsen, coarser: {a: [f, m]}", "coarser", "a"),
        (
            "mechanism: grr",
            "mechanism: {name: top_k, top: [f]}, beyond: coarsen, coarser: {a: [f], b: [m]}",
            "coarser",
            "beside top_k",
        ),
        ("epsilon: 0.5", "epsilon: 0.5, at_most: 0", "at_most", "0"),
        ("values: [f, m]", "values: [f]", "values", '"f"'),
        ("values: [f, m]", "values: [f, f]", "values", '"f"'),
        ("values: [f, m]", "values: {kind: bins, low: 0}", "values", "low"),
        ("path: $.sex", "path: sex", "path", '"sex"'),
        ("path: $.sex", "path: $.battery", "path", "a public field"),
    ],
)
def test_each_wrong_field_is_refused_at_its_place(old: str, new: str, path: str, found: str) -> None:
    told = wrong_field(SEX_ALONE.replace(old, new))
    assert any(place == f"fields.each.sex.{path}" and found in what for place, what in told), told


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ("  window: {events: 3}\n", "fields.window"),
        ("  joint: joint.json\n", "fields.joint"),
        ("  protected_cap: 3\n", "fields.protected_cap"),
        ("model: m.json\n", "model"),
        ("mechanism: {name: optimal, epsilon: 1}\n", "mechanism"),
        ("budget: {nats: 3}\n", "budget"),
        ("window: {events: 3}\n", "window"),
    ],
)
def test_what_does_not_go_with_fields_alone(more: str, path: str) -> None:
    assert path in dict(wrong_field(SEX_ALONE, more=more))


@pytest.mark.parametrize(
    ("old", "new", "more", "path"),
    [
        ("nats: 1.5", "nats: unlimited", "", "budget.nats"),
        ("window: forever", "window: 1d", "", "fields.window"),
        ("window: forever", "window: forever, when_spent: suppress", "", "budget.when_spent"),
        ("nats: 1.5", "nats: 2", "", "fields.each.sex.cap"),
        ("nats: 1.5", "nats: 1.5", "  protected_cap: 1.5\n", "fields.protected_cap"),
        ("nats: 1.5", "nats: 1.5", "window: {events: 3}\n", "fields"),
        ("path: $.activity", "path: $.sex", "", "fields.each.sex.path"),
        ("model: model.json", "model: {learn: {values: [a, b]}}", "", "fields"),
    ],
)
def test_what_does_not_go_with_a_field_that_is_followed(old: str, new: str, more: str, path: str) -> None:
    capped = SEX_ALONE.replace("epsilon: 0.5", "epsilon: 0.5, cap: 4")
    assert path in dict(wrong_field(capped, BESIDE.replace(old, new), more))


def test_two_fields_in_one_place_and_names_of_other_signs() -> None:
    twice = wrong_field(SEX_ALONE + "\n    " + SEX_ALONE.replace("sex:", "gender:"))
    assert dict(twice) == {"fields.each.gender.path": '"$.sex", which is fields.each.sex or overlaps with it'}
    assert "fields.each.my field" in dict(wrong_field(SEX_ALONE.replace("sex:", '"my field":')))
    assert "fields.each" in dict(problems(f"{HEAD}{LOCAL}fields: {{each: {{}}}}\n"))


def test_a_value_that_lasts_needs_caps_for_ever() -> None:
    assert "fields.each.sex.lasting" in dict(wrong_field(SEX, more="  window: 1d\n"))
    assert "fields.joint" in dict(wrong_field(SEX_ALONE, more="  window: 1d\n  joint: joint.json\n"))


def test_without_fields_everything_else_is_still_required() -> None:
    for name in ("model: model.json\n", "budget:\n  nats: 10\n  window: 1d\n"):
        assert name.partition(":")[0] in dict(problems(GOOD.replace(name, "")))
    assert "record.protect" in dict(problems(GOOD.replace("  protect:\n    path: $.activity\n", "")))


def test_the_fingerprint_of_the_policy_changes_with_whatever_decides_a_report() -> None:
    prints = {policy_fingerprint(settings_of(field, JOB), "m") for field in (SEX, SEX.replace("cap: 3", "cap: 4"))}
    prints |= {policy_fingerprint(settings_of(SEX, JOB), "m", joint_digest="table")}
    prints |= {policy_fingerprint(settings_of(JOB, SEX), "m"), policy_fingerprint(settings_of(SEX), "m")}
    assert len(prints) == 5
