"""Plans of crowds: how many users a target needs, which windows have them, and what each grouper makes of a sample."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_house import run
from crowd_settings_text import (
    AGE,
    BOXES,
    COUNT,
    JOB,
    NOTHING,
    TWO,
    TYPES,
    crowd_house,
    crowd_text,
    flow_text,
    opened_crowds,
)

from mechanisms.crowds.registry import REGISTRY
from stream.crowds.promise import CrowdPromise
from stream.errors import CannotPlan
from stream.names import EXIT_DONE, EXIT_FAILED, EXIT_REFUSED
from stream.planning.crowd_groupers import side_by_side
from stream.planning.crowd_sample import CrowdSample, read_crowd_sample
from stream.planning.crowds import FACTORS, expected_windows, last_rows, sampled_windows
from stream.planning.sample import with_user

FROM = 1_767_225_600_000
TIMED = "{user: key, event_time: {path: $.time, unit: ms}}"


def silent(doing: str, done: int, of: int) -> None:
    assert 0 <= done < of, doing


def timed(text: str) -> str:
    return text.replace("{user: key}", TIMED)


def promise(folder: Path, text: str, law: bytes | None = None) -> CrowdPromise:
    return opened_crowds(folder, text, law).promise


def written(file: Path, lines: Iterable[Mapping[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def sample_of(folder: Path, text: str, lines: Iterable[Mapping[str, Any]], law: bytes | None = None) -> CrowdSample:
    opened = opened_crowds(folder, text, law)
    record = with_user(opened.settings.record, "user")
    return read_crowd_sample(written(folder / "e.jsonl", lines), record, opened.promise, 60_000)


def walks(users: int, minutes: int) -> list[dict[str, Any]]:
    return [
        {"user": f"u{user}", "time": FROM + minute * 60_000 + user, "activity": ("still", "walking")[user % 2]}
        for minute in range(minutes)
        for user in range(users)
    ]


def people(events: int) -> list[dict[str, Any]]:
    jobs, ills = ("doctor", "nurse", "clerk"), ("flu", "none")
    return [
        {
            "user": f"u{row * 7 % 60}",
            "time": FROM + row * 1_000,
            "age": 20 + row * 13 % 41,
            "job": jobs[row % 3],
            "disease": ills[row // 3 % 2],
        }
        for row in range(events)
    ]


def test_expected_windows_grow_with_their_length(tmp_path: Path) -> None:
    found = expected_windows(promise(tmp_path, crowd_text()), 20)
    assert [each.length for each in found] == [round(60_000 * factor) for factor in FACTORS]
    assert [each.users for each in found] == [5, 10, 20, 40, 80, 160]
    deltas = [each.delta for each in found]
    assert all(delta is not None for delta in deltas)
    assert deltas == sorted(deltas, reverse=True)  # type: ignore[type-var]
    assert [each.released for each in found] == [0, 0, 1, 1, 1, 1]
    assert [each.delay for each in found] == [each.length / 2 + 10_000 for each in found]
    short = expected_windows(promise(tmp_path, crowd_text().replace("window: 1m", "window: 2s")), 200_000)
    assert [(each.length, each.users) for each in short] == [(1_000, 100_000), (2_000, 200_000)]


def test_a_sample_is_read_as_the_pipeline_reads(tmp_path: Path) -> None:
    lines = [*reversed(people(6)), {"user": "x", "time": FROM, "age": "old", "job": "clerk", "disease": "flu"}]
    text = timed(crowd_text(BOXES, believes=NOTHING, target=None))
    found = sample_of(tmp_path, text, lines)
    assert found.size == 6
    assert found.times.tolist() == [FROM + row * 1_000 for row in range(6)]
    assert found.cells.tolist() == [
        [0, 0, 0],
        [1, 1, 0],
        [3, 2, 0],
        [4, 0, 1],
        [1, 1, 1],
        [2, 2, 1],
    ]
    assert found.refused == {"field_type": 1}
    assert any("were refused" in warning for warning in found.warnings)
    assert found.first(2).times.tolist() == found.times[:2].tolist()
    typed = sample_of(
        tmp_path,
        timed(crowd_text(COUNT, believes=TYPES)),
        [{"user": "a", "time": FROM, "activity": "walking", "kind": "old"}],
        TWO,
    )
    assert (typed.cells.tolist(), typed.types.tolist()) == ([[1]], [1])


def test_a_sample_without_times_is_spaced_and_one_without_events_refused(tmp_path: Path) -> None:
    lines = [{"user": name, "activity": "still"} for name in ("a", "b", "a", "a")]
    found = sample_of(tmp_path, crowd_text(), lines)
    assert found.times.tolist() == [0, 0, 60_000, 120_000]
    assert any("60 s apart" in warning for warning in found.warnings)
    for broken in ([], [{"user": "a"}]):
        with pytest.raises(CannotPlan, match=r"it is empty|no event that can be used"):
            sample_of(tmp_path, crowd_text(), broken)


def test_the_last_event_of_each_user_in_each_window_counts() -> None:
    users, numbers = np.array([1, 2, 1, 1, 2]), np.array([0, 0, 0, 1, 1])
    assert last_rows(users, numbers).tolist() == [1, 2, 3, 4]


def test_windows_of_a_sample_have_its_people(tmp_path: Path) -> None:
    text = timed(crowd_text())
    sample = sample_of(tmp_path, text, walks(20, 6))
    found = {each.length: each for each in sampled_windows(promise(tmp_path, text), sample, silent)}
    assert sorted(found) == [15_000, 30_000, 60_000, 120_000, 240_000]
    assert {(each.users, each.least) for each in found.values()} == {(20, 20)}
    assert {each.released for each in found.values()} == {1.0}
    assert found[60_000].delay == pytest.approx(60_000 - 9.5 + 10_000)
    few = sample_of(
        tmp_path, text, [*walks(20, 2), *[{**line, "time": line["time"] + 120_000} for line in walks(3, 1)]]
    )
    minute = {each.length: each for each in sampled_windows(promise(tmp_path, text), few, silent)}[60_000]
    assert (minute.users, minute.least) == (20, 3)
    assert minute.released == pytest.approx(2 / 3)


def test_every_grouper_is_run_with_several_k(tmp_path: Path) -> None:
    text = timed(flow_text("castle", k="4", by=f"{AGE}, {JOB}", delay="delay: {events: 30, time: 1m}"))
    sample = sample_of(tmp_path, text, people(240))
    found = list(side_by_side(promise(tmp_path, text), sample, silent))
    assert [(each.grouper, each.k) for each in found] == [
        (name, k) for k in (2, 4, 8, 20) for name in ("mondrian", *REGISTRY)
    ]
    for each in found:
        assert 0 <= each.loss <= 1
        assert 0 <= each.suppressed <= 1
        assert each.delta is None
        assert each.users >= each.k
        assert 0 <= each.delay <= 60_000
        assert (each.delay_events is None) == (each.grouper == "mondrian")
        if each.delay_events is not None:
            assert each.delay_events <= 30
    by_name = {name: [each.loss for each in found if each.grouper == name] for name in ("mondrian", *REGISTRY)}
    for losses in by_name.values():
        assert losses[0] < losses[-1]


def test_windows_of_boxes_are_counted_by_hand(tmp_path: Path) -> None:
    text = timed(crowd_text("{records: mondrian, by: {" + AGE + "}}", k="2", believes=NOTHING, target=None))
    lines = [
        {"user": name, "time": FROM + time, "age": age}
        for name, time, age in (("a", 0, 20), ("b", 1_000, 20), ("c", 2_000, 60), ("d", 3_000, 60), ("e", 60_000, 20))
    ]
    found = next(side_by_side(promise(tmp_path, text), sample_of(tmp_path, text, lines), silent))
    assert (found.grouper, found.k, found.users, found.loss) == ("mondrian", 2, 2.0, 0.0)
    assert found.suppressed == pytest.approx(1 / 5)
    waits = [60_000, 59_000, 58_000, 57_000, 60_000]
    assert found.delay == pytest.approx(sum(waits) / 5 + 10_000)


def test_the_command_says_what_a_target_needs(tmp_path: Path) -> None:
    file = crowd_house(tmp_path, crowd_text())
    enough = run("plan", file, "--users", 40)
    assert enough.exit_code == EXIT_DONE
    assert "For epsilon 1 and delta 0.01 a window needs 17 users, without noise." in enough.stdout
    few = run("plan", file, "--users", 12, "--json")
    assert few.exit_code == EXIT_FAILED
    answer = json.loads(few.stdout)
    assert (answer["ok"], answer["needed_users"], answer["sample"]) == (False, {"default": 17}, None)
    assert [each["users"] for each in answer["windows"]] == [3, 6, 12, 24, 48, 96]


def test_the_command_reads_samples(tmp_path: Path) -> None:
    file = crowd_house(tmp_path, timed(crowd_text()))
    sample = written(tmp_path / "walks.jsonl", walks(20, 4))
    told = run("plan", file, "--sample", sample, "--user", "$.user")
    assert told.exit_code == EXIT_DONE
    assert "Windows of the sample" in told.stdout
    boxes = crowd_house(tmp_path, timed(flow_text("castle", k="4", delay="delay: {events: 30, time: 1m}")))
    people_file = written(tmp_path / "people.jsonl", people(120))
    found = run("plan", boxes, "--sample", people_file, "--user", "user", "--json")
    assert found.exit_code == EXIT_DONE
    answer = json.loads(found.stdout)
    assert {each["grouper"] for each in answer["groupers"]} == {"mondrian", *REGISTRY}
    table = run("plan", boxes, "--sample", people_file, "--user", "user")
    assert "left out" in table.stdout


@pytest.mark.parametrize(
    ("options", "where"),
    [
        (("--agreement", "0.5"), "the options"),
        (("--within", "a=1"), "the options"),
        (("--html", "page.html"), "the options"),
        (("--users", "0"), "--users"),
        (("--users", "200001"), "--users"),
        (("--events-per-day", "0"), "--events-per-day"),
        (("--sample", "no.jsonl"), "--user"),
        (("--sample", "no.jsonl", "--user", "$."), "--user"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_its_option(tmp_path: Path, options: tuple[str, ...], where: str) -> None:
    found = run("plan", crowd_house(tmp_path, crowd_text()), *options)
    assert found.exit_code == EXIT_REFUSED
    assert f"where: {where}" in found.stderr
    assert "to put it right:" in found.stderr


def test_records_are_not_planned_without_a_sample_nor_events_with_one(tmp_path: Path) -> None:
    found = run("plan", crowd_house(tmp_path, flow_text("castle")))
    assert found.exit_code == EXIT_REFUSED
    assert "what a box loses depends on the people in it" in found.stderr
    assert run("plan", "--model", tmp_path / "m.json", "--sample", tmp_path / "s.jsonl").exit_code == EXIT_REFUSED
    assert Fraction(1, 2) in FACTORS
