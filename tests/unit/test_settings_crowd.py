"""Settings of crowds: what they may hold, each wrong one refused at its place, with a way out."""

from __future__ import annotations

import importlib
from decimal import Decimal

import pytest
from crowd_settings_text import (
    AGE,
    BOXES,
    COUNT,
    DELAY,
    HISTOGRAM,
    JOB,
    MEAN,
    NOTHING,
    RANGE,
    SENSITIVE,
    SUM,
    TARGET,
    crowd_settings,
    crowd_text,
    flow_text,
    problems,
)

from stream.commands.init import template
from stream.commands.init_examples import CROWDS
from stream.settings.crowd import KINDS
from stream.settings.hierarchy import TreeNode, write_tree
from stream.settings.load import crowd_fingerprint, kind_of
from stream.settings.schema import json_schema

NOON_2026 = 1_767_225_600_000


def test_what_is_declared_is_read() -> None:
    settings = crowd_settings(crowd_text(BOXES, believes=NOTHING, target=None))
    found = settings.crowd
    assert found is not None
    assert (found.k, found.over, found.window, found.start) == (10, "all", 60_000, NOON_2026)
    assert (found.lateness, found.grace, found.ahead, found.delay) == (10_000, 10_000, 3_600_000, None)
    assert (found.release.kind, found.release.records, found.release.loss_most) == ("records", "mondrian", 0.5)
    assert list(found.release.by) == ["age", "job"]
    assert found.release.by["age"].steps == (Decimal(20), Decimal(60), Decimal(10))
    tree = found.release.by["job"].tree
    assert tree is not None
    assert tree.leaves() == ("doctor", "nurse", "clerk")
    assert write_tree(tree) == {"any": {"medical": ["doctor", "nurse"], "office": ["clerk"]}}
    sensitive = found.release.sensitive
    assert sensitive is not None
    assert (sensitive.values.size, sensitive.diverse, sensitive.close) == (2, 2, 0.25)
    assert (found.believes.law, found.believes.known, found.believes.windows) == (None, 0.0, "any")
    assert found.target is None
    assert not settings.follows
    assert kind_of(settings) == "crowds"


@pytest.mark.parametrize("release", [COUNT, SUM, MEAN, RANGE, HISTOGRAM])
def test_each_statistic_is_one_release_with_a_target(release: str) -> None:
    found = crowd_settings(crowd_text(release)).crowd
    assert found is not None
    assert found.release.kinds == (release[1:].partition(":")[0],)
    assert found.target is not None
    assert (found.target.epsilon, found.target.delta, found.target.windows) == (1.0, 0.01, 1)


@pytest.mark.parametrize("grouper", ["castle", "fads", "sky"])
def test_single_events_have_a_delay_and_no_window(grouper: str) -> None:
    found = crowd_settings(flow_text(grouper)).crowd
    assert found is not None
    assert found.delay is not None
    assert (found.delay.events, found.delay.time, found.window, found.start) == (100, 60_000, None, None)


@pytest.mark.parametrize(
    ("release", "path", "found"),
    [
        ("{of: [walking]}", "", "none of them"),
        ("{count: $.a, sum: $.b, of: [x]}", "", "count and sum"),
        ("{count: $.a}", "", "count without of"),
        ("{count: $.a, of: []}", ".of", "[]"),
        (COUNT.replace("}", ", low: 1}"), ".low", "low beside count"),
        (COUNT.replace("}", ", take: largest}"), ".take", "largest of values that are no amounts"),
        (COUNT.replace("}", ", take: sum}"), ".take", '"sum"'),
        (SUM.replace(", grid: 1", ""), "", "sum without grid"),
        (SUM.replace("grid: 1", "grid: 0"), ".grid", "0"),
        (SUM.replace("grid: 1", "grid: -1"), ".grid", "-1"),
        (SUM.replace("grid: 1", "grid: 2"), ".high", "3, between two multiples"),
        (SUM.replace("high: 3", "high: 0"), ".high", "0, with low 0"),
        (SUM.replace("high: 3", "high: .nan"), ".high", "NaN"),
        (RANGE.replace("high: 4", "high: .inf"), ".high", "Infinity"),
        (HISTOGRAM.replace(", values: [clerk, nurse, pilot]", ""), "", "histogram without values"),
        (HISTOGRAM.replace("[clerk, nurse, pilot]", "[clerk]"), ".values", '["clerk"]'),
        ("{records: mondrian}", "", "records without by"),
        ("{records: k_means}", ".records", '"k_means"'),
        (BOXES.replace("mondrian", "mondrian, take: first"), ".take", "first of records"),
        (BOXES.replace("0.5}", "0}"), ".loss_most", "0"),
        (BOXES.replace("0.5}", "1.5}"), ".loss_most", "1.5"),
    ],
)
def test_a_release_that_cannot_be_is_refused_where_it_stands(release: str, path: str, found: str) -> None:
    ((line, where, what),) = problems(crowd_text(release))[:1]
    assert (line, where) == (11, f"crowd.release{path}")
    assert found in what


@pytest.mark.parametrize(
    ("by", "path", "found"),
    [
        ("age: {of: $.age}", ".age", "neither"),
        ("age: {of: $.age, low: 0, high: 1}", ".age", "low and high"),
        (AGE.replace("}", ", tree: {any: [a, b]}}"), ".age", "low and high and grid and tree"),
        (AGE.replace("grid: 10", "grid: 0"), ".age.grid", "0"),
        (AGE.replace("high: 60", "high: 65"), ".age.high", "65, between two multiples"),
        ("job: {of: $.job, tree: [a, b]}", ".job.tree", '["a", "b"]'),
        ("job: {of: $.job, tree: {any: [a]}}", ".job.tree", "a section with any"),
        ("job: {of: $.job, tree: {any: [a, a]}}", ".job.tree", "a section with any"),
        ("job: {of: $.job, tree: {any: {any: [a, b]}}}", ".job.tree", "a section with any"),
        ("job: {of: $.job, tree: {any: {x: [], y: [b]}}}", ".job.tree", "a section with any"),
        ("job: {of: $.job, tree: {any: [1, 2]}}", ".job.tree", "a section with any"),
        ("job: {of: $.job, tree: {any: a}}", ".job.tree", "a section with any"),
        ("job: {of: $.job, tree: {a: [b, c], d: [e]}}", ".job.tree", "a section with a, d"),
        ("'no name': {of: $.age, low: 0, high: 1, grid: 1}", ".no name", "a name of other signs"),
    ],
)
def test_an_attribute_that_cannot_be_is_refused_by_its_name(by: str, path: str, found: str) -> None:
    release = f"{{records: mondrian, by: {{{by}}}}}"
    ((line, where, what),) = problems(crowd_text(release, believes=NOTHING, target=None))
    assert (line, where) == (11, f"crowd.release.by{path}")
    assert found in what


def test_a_tree_has_limits_of_depth_and_of_values() -> None:
    deep: object = ["a", "b"]
    for level in range(20):
        deep = {f"n{level}": deep}
    wide = {"any": [f"v{number}" for number in range(5_000)]}
    for tree in (deep, wide):
        text = crowd_text(
            f"{{records: mondrian, by: {{job: {{of: $.job, tree: {tree}}}}}}}", believes=NOTHING, target=None
        )
        assert [where for _, where, _ in problems(text)] == ["crowd.release.by.job.tree"]
    assert TreeNode("any", (TreeNode("a"), TreeNode("b"))).depth == 2


def test_there_are_at_most_eight_attributes() -> None:
    by = ", ".join(AGE.replace("age:", f"a{n}:").replace("$.age", f"$.a{n}") for n in range(9))
    text = crowd_text(f"{{records: mondrian, by: {{{by}}}}}", believes=NOTHING, target=None)
    assert problems(text) == [(11, "crowd.release.by", "9 attributes")]


@pytest.mark.parametrize(
    ("sensitive", "path", "found"),
    [
        (SENSITIVE.replace("diverse: 2, close: 0.25", ""), "", "neither diverse nor close"),
        (SENSITIVE.replace("diverse: 2", "diverse: 3"), ".diverse", "3, with 2 values and k at 10"),
        (SENSITIVE.replace("diverse: 2", "diverse: 1"), ".diverse", "1"),
        (SENSITIVE.replace("0.25", "0"), ".close", "0"),
        (SENSITIVE.replace("0.25", "1"), ".close", "1"),
        (SENSITIVE.replace("0.25", ".nan"), ".close", "NaN"),
    ],
)
def test_a_sensitive_rule_that_cannot_be_met_is_refused(sensitive: str, path: str, found: str) -> None:
    text = crowd_text(BOXES.replace(SENSITIVE, sensitive), believes=NOTHING, target=None)
    ((line, where, what),) = problems(text)
    assert (line, where) == (11, f"crowd.release.sensitive{path}")
    assert found in what


def test_a_flow_counts_at_most_so_many_sensitive_values() -> None:
    values = ", ".join(f"v{n}" for n in range(257))
    many = SENSITIVE[: SENSITIVE.index("[")] + f"[{values}]" + SENSITIVE[SENSITIVE.index("]") + 1 :]
    boxes = BOXES.replace(SENSITIVE, many)
    assert crowd_settings(crowd_text(boxes, believes=NOTHING, target=None)).crowd is not None
    flow = crowd_text(boxes.replace("mondrian", "castle"), times=DELAY, believes=NOTHING, target=None)
    ((_, where, what),) = problems(flow)
    assert where == "crowd.release.sensitive.values" and "257 values beside castle" in what


def test_what_decides_changes_the_fingerprint_and_nothing_else_does() -> None:
    text = crowd_text(BOXES, target="{epsilon: 1, delta: 0.1}")
    mine = crowd_fingerprint(crowd_settings(text), "law")
    same = text.replace("keys.json", "k.json").replace("law.json", "other.json").replace("w.dead", "other.dead")
    assert crowd_fingerprint(crowd_settings(same), "law") == mine
    others = [
        (text, "another law"),
        (text.replace("k: 10", "k: 11"), "law"),
        (text.replace(f"{AGE}, {JOB}", f"{JOB}, {AGE}"), "law"),
        (text.replace("[doctor, nurse]", "[nurse, doctor]"), "law"),
        (text.replace("epsilon: 1", "epsilon: 2"), "law"),
        (text.replace("policy_version: 1", "policy_version: 2"), "law"),
        (text.replace("law: law.json", "law: law.json, known: 0.1"), "law"),
    ]
    found = {crowd_fingerprint(crowd_settings(other), law) for other, law in others}
    assert len(found) == len(others)
    assert mine not in found


def test_the_schema_knows_what_the_settings_know() -> None:
    jsonschema = importlib.import_module("jsonschema")
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    from ruamel.yaml import YAML

    def wrong(text: str) -> bool:
        return not validator.is_valid(YAML(typ="safe", pure=True).load(text.replace("2026-01-01T00:00:00Z", "'x'")))

    for release in (COUNT, SUM, MEAN, RANGE, HISTOGRAM, BOXES):
        assert not wrong(crowd_text(release))
    assert not wrong(flow_text())
    assert wrong(crowd_text("{sum: $.a, mean: $.b, low: 0, high: 1, grid: 1}"))
    assert wrong(crowd_text(k="1"))
    assert wrong(crowd_text(target="{epsilon: 1, delta: 1}"))
    assert wrong(crowd_text(believes="nothing"))
    assert wrong(crowd_text("{records: mondrian, by: {job: {of: $.job, tree: {a: [x], b: [y]}}}}"))


def test_the_file_to_start_from_is_in_order_and_says_every_setting() -> None:
    text = template("phones", CROWDS)
    settings = crowd_settings(text)
    assert settings.crowd is not None
    assert settings.crowd.release.kind == "mean"
    assert settings.crowd.target is not None
    assert TARGET.startswith("{epsilon")
    for name in (*KINDS, "household", "by", "delay", "sensitive", "beyond", "grace"):
        assert f"{name}:" in text
    assert "crowd:" not in template()
