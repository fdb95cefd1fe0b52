"""Settings of windows of aggregates: what they may hold, each wrong one refused at its place, with a way out."""

from __future__ import annotations

import importlib
from decimal import Decimal
from pathlib import Path

import pytest
from aggregate_world import (
    ALL,
    HEAD,
    INDEPENDENT,
    JOB,
    PACE,
    PEOPLE,
    PLACES,
    STEPS,
    TIMES,
    aggregate_settings,
    aggregate_text,
)

from stream.commands.init import template
from stream.commands.init_examples import AGGREGATES
from stream.errors import ConfigurationRefused
from stream.settings.amounts import read_decimal, write_decimal, write_moment
from stream.settings.load import aggregate_fingerprint, parse_settings
from stream.settings.model import Settings
from stream.settings.schema import json_schema

NOON_2026 = 1_767_225_600_000


def problems(text: str) -> list[tuple[int, str, str]]:
    with pytest.raises(ConfigurationRefused) as refused:
        parse_settings(text.encode(), Path("c.yaml"))
    for problem in refused.value.problems:
        assert problem.allowed
        assert problem.fix
    return [(problem.line, problem.path, problem.found) for problem in refused.value.problems]


def test_what_is_declared_is_read() -> None:
    settings = aggregate_settings()
    found = settings.aggregate
    assert found is not None
    assert (found.window, found.start, found.lateness, found.grace) == (60_000, NOON_2026, 10_000, 10_000)
    assert (found.ahead, found.protects, found.adversary, found.target.beyond) == (
        3_600_000,
        "everything",
        "any",
        "withhold",
    )
    assert [query.kind for query in found.each.values()] == ["count", "sum", "mean", "histogram", "top"]
    assert [str(query.path) for query in found.each.values()] == ["None", "$.steps", "$.pace", "$.job", "$.cell"]
    assert found.each["steps"].steps == (Decimal(0), Decimal(40), Decimal("0.5"))
    assert not settings.follows


@pytest.mark.parametrize(
    ("old", "new", "path", "found"),
    [
        (STEPS, STEPS.replace("sum: $.steps, ", ""), "", "none of them"),
        (STEPS, STEPS.replace("sum", "count: users, sum"), "", "count and sum"),
        (STEPS, STEPS.replace(", grid: 0.5", ""), "", "sum without grid"),
        (STEPS, STEPS.replace("grid: 0.5", "grid: 0"), ".grid", "0"),
        (STEPS, STEPS.replace("grid: 0.5", "grid: 0.3"), ".high", "40, between two multiples"),
        (STEPS, STEPS.replace("grid: 0.5", "grid: 1e-9"), ".high", "40 with a grid of 0.000000001"),
        (STEPS, STEPS.replace("grid: 0.5", "grid: 1e-7").replace("0.3}", "1e-6}"), ".epsilon", "400000000 steps"),
        (PACE, PACE.replace("grid: 0.1", "grid: 12"), ".grid", "one step from low to high"),
        (
            STEPS,
            STEPS.replace("grid: 0.5", "grid: 1e-15").replace("high: 40", "high: 1e15"),
            ".high",
            "1000000000000000",
        ),
        (STEPS, STEPS.replace("grid: 0.5", "grid: fine"), ".grid", '"fine"'),
        (STEPS, STEPS.replace("high: 40", "high: 0"), ".high", "0, with low 0"),
        (STEPS, STEPS.replace("high: 40", "high: .inf"), ".high", "Infinity"),
        (STEPS, STEPS.replace("low: 0", "low: 0.1234567890123456789"), ".low", "0.12345"),
        (STEPS, STEPS.replace("low: 0", "low: true"), ".low", "true"),
        (STEPS, STEPS.replace("epsilon", "values: [a, b], epsilon"), ".values", "values beside sum"),
        (STEPS, STEPS.replace("epsilon", "take: sum, epsilon"), ".take", "take: sum without at_most"),
        (STEPS, STEPS.replace("epsilon", "at_most: 3, epsilon"), ".take", "at_most without take: sum"),
        (STEPS, STEPS.replace("epsilon", "take: sum, at_most: 65, epsilon"), ".at_most", "65"),
        (STEPS, STEPS.replace("epsilon", "take: middle, epsilon"), ".take", '"middle"'),
        (STEPS, STEPS.replace("0.3}", "0}"), ".epsilon", "0"),
        (STEPS, STEPS.replace("0.3}", "33}"), ".epsilon", "33"),
        (PEOPLE, PEOPLE.replace("users", "events"), ".count", '"events"'),
        (PEOPLE, PEOPLE.replace("epsilon", "take: first, epsilon"), ".take", "first of users"),
        (JOB, JOB.replace("epsilon", "take: largest, epsilon"), ".take", "largest of values that are no amounts"),
        (JOB, JOB.replace("[clerk, nurse, pilot]", "[clerk]"), ".values", '"clerk"'),
        (JOB, JOB.replace("values: [clerk, nurse, pilot], ", ""), "", "histogram without values"),
        (PLACES, PLACES.replace("of: $.cell, ", ""), "", "top without of"),
        (PLACES, PLACES.replace("top: 2", "top: 10"), ".top", "10 of 10 values"),
        (PLACES, PLACES.replace("of: $.cell", "of: cell"), ".of", '"cell"'),
    ],
)
def test_each_wrong_aggregate_is_refused_at_its_line(old: str, new: str, path: str, found: str) -> None:
    name = old.partition(":")[0]
    told = problems(aggregate_text(*(new if query == old else query for query in ALL)))
    line = 11 + ALL.index(old)
    assert any(at == line and place == f"aggregate.each.{name}{path}" and found in what for at, place, what in told), (
        told
    )


@pytest.mark.parametrize(
    ("old", "new", "path", "found"),
    [
        ("window: 1m", "window: 1", "window", "1"),
        ("window: 1m", "window: 500ms", "window", '"500ms"'),
        ("window: 1m", "window: 32d", "window", '"32d"'),
        ("window: 1m", "windows: 1m", "windows", "unknown"),
        ("from: 2026-01-01T00:00:00Z", "from: 2026-01-01T00:00:00", "from", '"2026-01-01T00:00:00"'),
        ("from: 2026-01-01T00:00:00Z", "from: 2026-01-01", "from", '"2026-01-01"'),
        ("from: 2026-01-01T00:00:00Z", "from: tomorrow", "from", '"tomorrow"'),
        ("from: 2026-01-01T00:00:00Z", "from: 1969-12-31T00:00:00Z", "from", "1969"),
        ("from: 2026-01-01T00:00:00Z", "from: 2026-01-01T00:00:00.0001Z", "from", ".0001Z"),
        ("from: 2026-01-01T00:00:00Z", "from: 4102444800000", "from", "4102444800000"),
        ("from: 2026-01-01T00:00:00Z", "from: 2100-01-01T00:00:00Z", "from", "2100"),
        ("from: 2026-01-01T00:00:00Z", "start: 2026-01-01T00:00:00Z", "start", "unknown"),
        ("window: 1m", "window: 1s\n  ahead: 31d", "ahead", "2,678,412 windows"),
        ("dependence: {users: independent}", "", "dependence", "nothing"),
        ("users: independent", "windows: any", "dependence.users", "nothing"),
        ("users: independent", "users: alone", "dependence.users", '"alone"'),
        ("users: independent", "users: {group: 1}", "dependence.users.group", "1"),
        ("users: independent", "users: {group: 4, law: a.json}", "dependence.users", "a group and a law"),
        ("users: independent", "users: {law: a.json}", "dependence.users", "without windows: fresh"),
        ("users: independent", "users: independent, windows: {law: a.json}", "dependence.windows", "gains nothing"),
        (
            "users: independent}",
            "users: independent, windows: {fresh: true, law: a.json}}",
            "dependence.windows",
            "fresh and a law",
        ),
        (
            "dependence: {users: independent}",
            "dependence: {users: {group: 4}, windows: {law: a.json}}\n  protects: one_window",
            "dependence.windows",
            "beside groups",
        ),
        ("dependence: {users: independent}", f"{INDEPENDENT}\n  adversary: weakest", "adversary", "weakest without"),
        ("nats: 2.0", "nats: 0", "target.nats", "0"),
        ("nats: 2.0", "nats: none", "target.nats", '"none"'),
        ("windows: 1440", "windows: 0", "target.windows", "0"),
        ("windows: 1440", "windows: 44641", "target.windows", "44641"),
        ("windows: 1440", "windows: 1440, beyond: lower", "target.beyond", '"lower"'),
    ],
)
def test_each_wrong_setting_of_the_windows_is_refused(old: str, new: str, path: str, found: str) -> None:
    text = aggregate_text()
    assert old in text
    told = problems(text.replace(old, new))
    assert any(place == f"aggregate.{path}" and found in what for _, place, what in told), told


def test_too_many_aggregates_are_refused() -> None:
    most = aggregate_settings(*(f"a{i}: {{count: users, epsilon: 0.01}}" for i in range(32))).aggregate
    assert most is not None
    assert len(most.each) == 32
    told = problems(aggregate_text(*(f"a{i}: {{count: users, epsilon: 0.01}}" for i in range(33))))
    assert told == [(10, "aggregate.each", "33 aggregates")]


def test_a_name_of_other_signs_is_refused() -> None:
    assert problems(aggregate_text("'two words': {count: users, epsilon: 1}")) == [
        (11, "aggregate.each.two words", "a name of other signs")
    ]


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ("model: model.json\n", "model"),
        ("mechanism: {name: optimal, epsilon: 1.0}\n", "mechanism"),
        ("budget: {nats: 1.0}\n", "budget"),
        ("window: {events: 4}\n", "window"),
        ("fields: {each: {sex: {path: $.sex, values: [f, m], mechanism: grr, epsilon: 1.0}}}\n", "fields"),
        ("metrics: {accounts: 3}\n", "metrics.accounts"),
    ],
)
def test_no_section_about_single_events_goes_beside_aggregates(more: str, path: str) -> None:
    told = problems(aggregate_text() + more)
    assert [(place, what) for _, place, what in told] == [(path, f"{path} beside aggregate")]


@pytest.mark.parametrize("name", ["protect: {path: $.a}", "public: [$.a]", "headers: [a]", "release_key: keep"])
def test_nothing_of_an_event_is_passed_on_beside_aggregates(name: str) -> None:
    told = problems(aggregate_text().replace("record: {user: key}", f"record: {{user: key, {name}}}"))
    path = f"record.{name.partition(':')[0]}"
    assert (4, path, f"{path} beside aggregate") in told


@pytest.mark.parametrize("topic", ["walkers-partials", "walkers-total-beliefs-changelog", "walkers-beliefs-changelog"])
def test_the_topics_of_its_own_are_no_other_topics(topic: str) -> None:
    told = problems(aggregate_text().replace("walkers.out", topic))
    assert [(place, topic in what) for _, place, what in told] == [("kafka.released_topic", True)]


def test_too_many_numbers_and_too_long_records_are_refused() -> None:
    wide = "values: {kind: integers, low: 1, high: 31999}"
    many = f"a: {{top: 3, of: $.a, {wide}, epsilon: 1}}"
    assert aggregate_settings(many).aggregate is not None
    told = problems(aggregate_text(many, "b: {mean: $.b, low: 0, high: 2, grid: 1, epsilon: 1}"))
    assert [what for _, _, what in told] == ["32,001 numbers a window, 31,999 of them of a"]
    told = problems(aggregate_text(f"a: {{histogram: $.a, {wide}, epsilon: 1}}"))
    assert [(place, what.split()[0]) for _, place, what in told] == [("aggregate.each", "about")]


def test_more_numbers_than_memory_holds_are_refused() -> None:
    """One user may open every window that an event may lie in, and each has all its numbers in memory."""
    wide = "a: {top: 3, of: $.a, values: {kind: integers, low: 1, high: 9999}, epsilon: 1}"
    found = "432 windows that may be open at once, of 9,999 numbers each"
    assert problems(aggregate_text(wide, times=f"{TIMES}\nahead: 430m")) == [(10, "aggregate.ahead", found)]
    assert aggregate_settings(wide, times=f"{TIMES}\nahead: 410m").aggregate is not None


def test_numbers_are_the_decimals_that_are_written() -> None:
    assert read_decimal(0.1) == Decimal("0.1")
    assert read_decimal("0.10") == Decimal("0.1")
    assert [write_decimal(read_decimal(text)) for text in ("40", "40.50", "1e3", "-0.5")] == [
        "40",
        "40.5",
        "1000",
        "-0.5",
    ]


def test_moments_are_written_as_they_are_read() -> None:
    assert write_moment(NOON_2026) == "2026-01-01T00:00:00Z"
    assert write_moment(NOON_2026 + 500) == "2026-01-01T00:00:00.500Z"
    found = aggregate_settings(times="window: 1m\nfrom: 2026-01-01T01:00:00.500+01:00").aggregate
    assert found is not None
    assert found.start == NOON_2026 + 500


def test_everything_that_decides_what_is_released_is_in_the_fingerprint() -> None:
    usual = aggregate_fingerprint(aggregate_settings(), {})
    assert usual == aggregate_fingerprint(aggregate_settings(), {})
    others = [
        aggregate_settings(*reversed(ALL)),
        aggregate_settings(*(query.replace("0.2", "0.25") for query in ALL)),
        aggregate_settings(*(query.replace("high: 40", "high: 41") for query in ALL)),
        aggregate_settings(times="window: 2m\nfrom: 2026-01-01T00:00:00Z"),
        aggregate_settings(times="window: 1m\nfrom: 2026-01-01T00:01:00Z"),
        aggregate_settings(times="window: 1m\nfrom: 2026-01-01T00:00:00Z\nlateness: 11s"),
        aggregate_settings(more="dependence: {users: {group: 4}}"),
        aggregate_settings(more="dependence: {users: independent, windows: fresh}"),
        aggregate_settings(more=f"{INDEPENDENT}\nprotects: one_window"),
        aggregate_settings(target="target: {nats: 2.0, windows: 1441}"),
        aggregate_settings(target="target: {nats: 2.0, windows: 1440, beyond: top_up}"),
    ]
    assert len({usual, aggregate_fingerprint(aggregate_settings(), {"users": "1234"}), *map(_alone, others)}) == 13
    same = parse_settings(aggregate_text().replace("high: 40", "high: 40.0").encode(), Path("d.yaml"))
    assert aggregate_fingerprint(same, {}) == usual
    moved = aggregate_text().replace("127.0.0.1:9092", "127.0.0.1:9093")
    assert aggregate_fingerprint(parse_settings(moved.encode(), Path("c.yaml")), {}) == usual
    with pytest.raises(ValueError, match="no aggregate"):
        aggregate_fingerprint(aggregate_settings().model_copy(update={"aggregate": None}), {})


def _alone(settings: Settings) -> bytes:
    return aggregate_fingerprint(settings, {})


def test_the_schema_accepts_what_the_reader_accepts() -> None:
    validator = importlib.import_module("jsonschema").Draft202012Validator(json_schema())
    yaml = importlib.import_module("ruamel.yaml").YAML(typ="safe", pure=True)
    more = "dependence: {users: {law: homes.json}, windows: {fresh: true}}\nprotects: one_window\nadversary: weakest"
    times = "window: 1h\nfrom: '2026-01-01T00:00:00Z'\nlateness: 0s\ngrace: 1m\nahead: 1d"
    for text in (
        template("hours", AGGREGATES).replace("2026-01-01T00:00:00Z\n", "'2026-01-01T00:00:00Z'\n"),
        aggregate_text(times=times, more=more),
    ):
        assert [error.message for error in validator.iter_errors(yaml.load(text))] == []
        assert parse_settings(text.encode(), Path("c.yaml")).aggregate is not None
    wrong = aggregate_text(times=times).replace("count: users", "sum: $.a, count: users")
    assert [error.message for error in validator.iter_errors(yaml.load(wrong))] != []


def test_laws_lie_beside_the_settings_file() -> None:
    more = "dependence: {users: {law: homes.json}, windows: fresh}\nadversary: weakest"
    text = aggregate_text(more=more)
    found = parse_settings(text.encode(), Path("/data/c.yaml")).aggregate
    assert found is not None
    assert found.dependence.users.law == "/data/homes.json"
    assert HEAD in text
    assert PACE in text
