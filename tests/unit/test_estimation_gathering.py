"""Records into windows of event time: who is late, who comes twice, and what is no release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest
from audit_memory import START_MS, Kept
from estimate_help import (
    VALUES,
    asked_with,
    headers_of,
    lines_of,
    records_of,
    settings_of,
    task_with,
    values_of,
)

from stream.errors import CannotEstimate
from stream.estimation.asked import Task
from stream.estimation.estimate import Estimates, estimate
from stream.estimation.gathering import Gathering
from stream.estimation.results import COLUMNS, WindowResult
from stream.estimation.told import finished
from stream.fields.gate import COARSE, EIGHTH, FULL, HALF, QUARTER, WITHHELD
from stream.settings.model import Settings

HOUR = 3_600_000
FIRST = START_MS // HOUR * HOUR


@pytest.fixture(scope="module")
def task() -> Task:
    return task_with(settings_of())


def gathered(task: Task, *parts: list[Kept], chunk: int = 40) -> Gathering:
    """Partitions read side by side, chunk by chunk."""
    found = Gathering(task)
    for start in range(0, max(map(len, parts)), chunk):
        for partition, records in enumerate(parts):
            found.take(partition, records[start : start + chunk])
    return found


def told(found: Gathering) -> list[WindowResult]:
    return list(finished(found))


def columns(result: WindowResult, field: str, table: str = "frequency") -> dict[str, Any]:
    (one,) = [one for one in result.fields if one.name == field]
    return dict(one.tables[table].columns)


def test_windows_are_cut_by_event_time_and_each_is_what_its_records_say(task: Task) -> None:
    times = FIRST + np.arange(600) * 20_000  # 180 an hour
    records = records_of(task, values_of(600), times=times)
    by_hour = replace(task, asked=asked_with("1h", joint=(("work", "age"),)))
    windows = told(gathered(by_hour, records))
    assert [(one.start, one.end) for one in windows] == [(FIRST + h * HOUR, FIRST + (h + 1) * HOUR) for h in range(4)]
    assert [one.complete for one in windows] == [True, True, True, False]
    assert [one.fields[0].reports for one in windows] == [180, 180, 180, 60]
    for number, window in enumerate(windows):
        alone = told(gathered(replace(by_hour, asked=replace(by_hour.asked, window=0)), records[180 * number :][:180]))
        for mine, theirs in zip(window.fields, alone[0].fields, strict=True):
            assert mine == theirs
    whole = told(gathered(task, records))
    assert [(one.start, one.end, one.complete) for one in whole] == [(FIRST, int(times[-1]) + 1, False)]


def broken(task: Task) -> dict[str, Kept]:
    """One record of each kind that is no release, or is none of this pipeline."""
    (good,) = records_of(task, {name: np.zeros(1, dtype=np.int64) for name in VALUES})
    headers = dict(good.headers)

    def with_headers(**changes: bytes) -> Kept:
        return replace(good, headers=tuple({**headers, **changes}.items()))

    return {
        "no key": replace(good, key=None),
        "tombstone": replace(good, value=None),
        "no json": replace(good, value=b"{"),
        "no object": replace(good, value=b"[1]"),
        "no headers": replace(good, headers=()),
        "another id": with_headers(**{"release-id": b"XYZ"}),
        "no step": with_headers(step=b"one"),
        "another policy": with_headers(policy=b"1:00000000"),
        "another model": with_headers(model=b"1:00000000"),
        "no time": replace(good, timestamp=-1),
    }


def test_what_is_no_release_is_counted_and_passed_over(task: Task) -> None:
    records = records_of(task, values_of(60))
    hourly = replace(task, asked=asked_with("1h"))
    mixed = [*records[:30], *broken(task).values(), replace(records[0], timestamp_type=1), *records[30:]]
    found = gathered(hourly, mixed)
    assert found.reader.counts == {
        "no_release": 7,
        "other_policy": 1,
        "other_model": 1,
        "other_epoch": 0,
        "no_time": 2,
        "late": 0,
        "again": 0,
    }
    assert told(found)[0].fields == told(gathered(hourly, records))[0].fields
    assert gathered(task, [replace(records[0], timestamp_type=1)]).reader.counts["no_time"] == 0


def test_a_report_that_is_none_leaves_out_its_field_alone(task: Task) -> None:
    records = records_of(task, values_of(100))
    wrong = []
    for place, one in enumerate(records):
        document, headers = orjson.loads(one.value or b""), dict(one.headers)
        if place == 10:
            document["work"] = "king"
        elif place == 11:
            del document["work"]
        elif place == 12:
            document["about"] = 7
        elif place == 13:
            document["age"] = document["about"]
            document["about"]["age"]["cell"] = 99
        elif place == 14:
            headers["fields"] = b"000"
        elif place == 15:
            headers["fields"] = b"c000"
        elif place == 16:
            headers["fields"] = b"-?00"
        elif place == 17:
            del headers["fields"]
        wrong.append(replace(one, value=orjson.dumps(document), headers=tuple(headers.items())))
    (result,) = told(gathered(task, wrong))
    facts = {one.name: (one.reports, one.facts["wrong"], one.facts["withheld"]) for one in result.fields}
    assert facts == {"work": (94, 5, 1), "age": (95, 5, 0), "place": (98, 2, 0), "tags": (98, 2, 0)}


def test_anything_at_all_may_stand_in_a_topic(task: Task) -> None:
    """Headers, keys, values and times of any kind: nothing is raised, and what is right still counts."""
    source = np.random.default_rng(9)
    records, junk = records_of(task, values_of(60)), []
    pieces = [
        b"",
        b"null",
        b"{}",
        b'{"work": {"a": [1]}, "about": {"age": {}}}',
        b"\xff",
        b'"text"',
        b"0" * 400,
        b"1:9",
    ]
    names = ["release-id", "policy", "model", "step", "fields", "x", ""]
    for number in range(400):
        chosen = [pieces[at] for at in source.integers(len(pieces), size=3)]
        headers = [(names[at], pieces[source.integers(len(pieces))]) for at in source.integers(len(names), size=4)]
        if number % 2:
            headers = [*headers_of(task, 9_000 + number, 1, "0c-3"), *headers[:1]]
        junk.append(Kept(number, chosen[0] or None, chosen[1], int(source.integers(-5, 1 << 40)), tuple(headers)))
    found = gathered(task, [record for pair in zip(junk, [*records, *records] * 4, strict=False) for record in pair])
    (result,) = told(found)
    assert result.fields[0].reports >= 60
    assert sum(found.reader.counts.values()) > 200


def test_few_users_are_not_told_of(task: Task) -> None:
    records = records_of(task, values_of(100), users=9)
    (result,) = told(gathered(replace(task, asked=asked_with(joint=(("work", "age"),))), records))
    assert [one.name for one in result.fields] == ["work", "age", "place", "tags", "work,age"]
    assert all(one.too_few and not one.tables and not one.reports for one in result.fields)
    choices = {name: np.zeros(200, dtype=np.int64) for name in VALUES}
    choices["work"] = np.where(np.arange(200) % 50 < 9, FULL, WITHHELD)
    records = records_of(task, values_of(200), choices, users=50)
    (result,) = told(gathered(replace(task, asked=asked_with(joint=(("work", "age"),))), records))
    assert [one.too_few for one in result.fields] == [True, False, False, False, True]


def test_every_choice_of_the_gate_has_its_place(task: Task) -> None:
    count = 4_000
    values, turn = values_of(count), np.arange(count)
    choices = {name: np.zeros(count, dtype=np.int64) for name in VALUES}
    choices["work"] = np.array([FULL, HALF, QUARTER, EIGHTH, WITHHELD])[turn % 5]
    choices["place"] = np.array([FULL, COARSE])[turn % 2]
    asked = asked_with(joint=(("work", "age"), ("place", "tags")))
    (result,) = told(gathered(replace(task, asked=asked), records_of(task, values, choices)))
    found = {one.name: one for one in result.fields}
    assert found["work"].facts["levels"] == {"0": 800, "1": 800, "2": 800, "3": 800}
    assert (found["work"].reports, found["work"].facts["withheld"]) == (3200, 800)
    assert found["place"].facts["levels"] == {"0": 2000, "c": 2000}
    assert {name: one.reports for name, one in found["place"].tables.items()} == {"frequency": 2000, "groups": 4000}
    assert found["work,age"].reports == 3200 and found["place,tags"].reports == 2000
    assert set(found["tags"].tables) == {"frequency", "size"} and set(found["age"].tables) == {"frequency", "mean"}
    check_covered(result, "work", np.bincount(values["work"][choices["work"] != WITHHELD], minlength=4) / 3200)
    check_covered(result, "place", np.bincount(values["place"]) / count)
    check_covered(result, "tags", 2 * np.bincount(values["tags"])[:3] / count)
    check_covered(result, "age", [values["age"].mean()], "mean")
    check_covered(result, "tags", [2 - 2 * (values["tags"] == 3).mean()], "size")
    groups = np.bincount(np.array([0, 1, 0])[values["place"]]) / count
    check_covered(result, "place", groups, "groups")
    assert columns(result, "place", "groups")["value"] == ["one", "two"]
    assert columns(result, "tags")["value"] == ["x", "y", "z"]
    joint = columns(result, "work,age", "joint")
    assert (joint["value"][9], joint["other"][9]) == ("nurse", 1)
    assert sum(joint["projected"]) == pytest.approx(1.0)


def check_covered(result: WindowResult, field: str, truth: Any, table: str = "frequency") -> None:
    """Within four and a half standard errors, and these are small."""
    found = columns(result, field, table)
    for estimate_, variance, wanted in zip(found["estimate"], found["variance"], truth, strict=True):
        assert abs(estimate_ - wanted) < 4.5 * variance**0.5
        assert variance**0.5 < 0.25


def test_an_analyst_gets_columns(task: Task) -> None:
    records = records_of(task, values_of(300))
    kinds: list[Any] = [records, list(lines_of(records)), [orjson.dumps(line) for line in lines_of(records)]]
    found: list[Estimates] = [estimate(settings_of(), kind, joint=[("work", "tags")]) for kind in kinds]
    assert found[0].windows == found[1].windows == found[2].windows
    table = found[0].columns()
    assert tuple(table) == COLUMNS and len({len(column) for column in table.values()}) == 1
    assert table["value"].count("clerk") == 1 + 3
    assert found[0].of("work")[0].reports == 300 and found[0].of("nothing") == []
    assert estimate(settings_of(), [b"{", "[]", {"key": 5}, *kinds[2]]).passed_over["no_release"] == 3
    assert estimate(settings_of(), kinds[1][:9]).of("work")[0].too_few
    assert not estimate(settings_of(), kinds[1][:9], floor=1).of("work")[0].too_few


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"window": "1"}, "its unit"),
        ({"window": "10ms"}, "shorter than a second"),
        ({"late": "soon"}, "its unit"),
        ({"confidence": 1.0}, "below 1"),
        ({"pooling": "best"}, "neither precision nor shares"),
        ({"joint": [("work", "wrok")]}, "the fields are work, age"),
        ({"joint": [("work", "work")]}, "with itself"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(CannotEstimate) as refusal:
        estimate(settings_of(), [], **options)
    assert why in refusal.value.why and refusal.value.fix and refusal.value.where


def test_what_reports_say_nothing_of_is_said() -> None:
    """No settings file may ask for kept bits that are told alike; an analyst's own settings may."""
    fields = "    work: {path: $.work, values: [a, b], epsilon: 1.0, lasting: true,\n"
    fields += "           mechanism: {name: rappor, report_zero: 0.5, report_one: 0.75}}"
    settings = with_shares_alike(settings_of(fields=fields))
    records = records_of(task_with(settings), {"work": np.zeros(40, dtype=np.int64)})
    (found,) = estimate(settings, records).of("work")
    assert "nothing can be estimated" in found.why_nothing and not found.tables


def with_shares_alike(settings: Settings) -> Settings:
    assert settings.fields is not None
    work = settings.fields.each["work"]
    alike = work.model_copy(update={"mechanism": work.mechanism.model_copy(update={"report_one": 0.5})})
    return settings.model_copy(update={"fields": settings.fields.model_copy(update={"each": {"work": alike}})})
