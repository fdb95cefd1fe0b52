"""`sottovoce calibrate`: budgets under caps, from a table or from records, and what is published beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from calibration_help import LABELS, NAMES, joint_file, many_values, people, records_file, table_of
from command_house import run
from fields_world import HEAD, LOCAL
from pipeline_help import RING
from ruamel.yaml import YAML

from beliefs.correlation.joint_file import parse
from beliefs.rounding import nats
from stream.fields.joint import joint_of
from stream.fields.promise import compile_fields
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.settings.load import parse_settings


@pytest.fixture
def joint(tmp_path: Path) -> Path:
    return joint_file(tmp_path, table_of(people()))


def found(*arguments: object) -> dict[str, Any]:
    answer = run("calibrate", *arguments, "--json")
    assert answer.exit_code == EXIT_DONE, answer.stderr
    figures: dict[str, Any] = json.loads(answer.stdout)
    return figures


def test_every_total_keeps_its_cap(joint: Path) -> None:
    figures = found(joint, "--cap", 4, "--cap", "income=1.5", "--reports", 20)
    assert figures["ok"] is True
    assert [field["name"] for field in figures["fields"]] == list(NAMES)
    for field in figures["fields"]:
        assert field["cap"] == (1.5 if field["name"] == "income" else 4.0)
        for kind in ("equal", "unequal"):
            assert 0 < field[kind]["total"] <= field["cap"]
            assert field[kind]["error"] > 0
        assert field["published"]["guarantee"] is False
    assert figures["algorithm_3"]["guarantee"] is False
    assert {each["name"].split(":")[0] for each in figures["benchmarks"]["estimates"] if each["guarantee"]} == {
        "bound for any mechanism",
        "SPL-ANL",
    }


def test_more_reports_leave_less_for_each(joint: Path) -> None:
    once, often = (found(joint, "--cap", 4, "--mechanism", "grr", "--reports", count) for count in (1, 100))
    for one, many in zip(once["fields"], often["fields"], strict=True):
        assert one["equal"]["epsilon"] == pytest.approx(100 * many["equal"]["epsilon"], rel=1e-4)
        assert one["equal"]["total"] == pytest.approx(many["equal"]["total"], rel=1e-4)


def test_the_terminal_shows_table_benchmarks_and_settings(joint: Path) -> None:
    told = run("calibrate", joint, "--cap", 4, "--at", 2)
    assert told.exit_code == EXIT_DONE
    for words in ("rule", "published", "ITS: formula of grr", "attacked", "at one report of 2 nats", "algorithm 3"):
        assert words in told.stdout
    lines = told.stdout[told.stdout.index("\nfields:") :]
    settings = YAML(typ="safe").load(lines)["fields"]
    assert settings["joint"] == "joint.json"
    assert list(settings["each"]) == list(NAMES)
    for (name, field), labels in zip(settings["each"].items(), LABELS, strict=True):
        assert field["path"] == f"$.{name}"
        assert field["values"] == list(labels)
        assert field["cap"] == 4.0
        assert field["lasting"] is True
        assert 0 < field["epsilon"] < 4 / 50
    assert settings == YAML(typ="safe").load(found(joint, "--cap", 4, "--at", 2)["settings"])["fields"]


def test_the_lines_are_settings_that_keep_the_totals_shown(joint: Path) -> None:
    """As pasted, with the table that was read: what the stream sums up after so many events is what was shown."""
    figures = found(joint, "--cap", 4, "--reports", 12)
    settings = parse_settings(f"{HEAD}{LOCAL}{figures['settings']}\n".encode(), joint.parent / "c.yaml")
    assert settings.fields is not None
    promise = compile_fields(settings, joint_of(settings.fields, joint.read_bytes()), RING)
    assert promise is not None
    account, totals = promise.gate.totals.nothing, [0.0]
    for _ in range(12):
        turn = promise.gate.turn(account)
        assert not turn.choices.any()
        account, totals = turn.account, [nats(total) for total in turn.totals]
    assert totals == [field["unequal"]["total"] for field in figures["fields"]]
    assert promise.gate.turn(account).choices.any(), "one more report of each is too many"


def test_records_are_counted_and_their_table_written(tmp_path: Path) -> None:
    rows = people()
    out = tmp_path / "counted.json"
    given = (records_file(tmp_path, rows), *(word for name in NAMES for word in ("--field", name)), "--cap", 4)
    told = run("calibrate", *given, "--write-table", out)
    assert told.exit_code == EXIT_DONE
    assert 'joint: "counted.json"\n' in told.stdout
    table = parse(out.read_bytes()).table
    assert table.weights.sum() == 3000
    again = run("calibrate", out, "--cap", 4)
    assert again.stdout.splitlines()[2:6] == told.stdout.splitlines()[2:6]
    refused = run("calibrate", out, "--cap", 4, "--write-table", out, "--replace")
    assert refused.exit_code == EXIT_REFUSED
    assert "it is there already" in refused.stderr
    unwritten = run("calibrate", *given)
    assert 'joint: "joint.json"  # which --write-table joint.json writes' in unwritten.stdout


def test_counts_leave_room_for_chance_unless_everybody_was_counted(tmp_path: Path) -> None:
    file, out = records_file(tmp_path, people()), tmp_path / "whole.json"
    named = [word for name in NAMES for word in ("--field", name)]
    sample, whole = (found(file, *named, "--cap", 4, *more) for more in ((), ("--everybody", "--write-table", out)))
    assert (sample["known"], whole["known"]) == ("counted", "exact")
    assert 0.0 < max(max(each) for each in sample["radii"]) < 0.3
    assert whole["radii"] is None
    for one, other in zip(sample["fields"], whole["fields"], strict=True):
        assert one["equal"]["epsilon"] < other["equal"]["epsilon"]
        assert one["equal"]["total"] <= one["cap"]
    assert parse(out.read_bytes()).known == "exact"
    told = run("calibrate", file, *named, "--cap", 4).stdout
    assert "known within radii" in told
    assert "worst of all tables within" in told
    assert "radii" not in run("calibrate", out, "--cap", 4).stdout


def test_combinations_that_never_occur_are_pointed_out(tmp_path: Path) -> None:
    few = joint_file(tmp_path, table_of([row for row in people() if row[:2] != ("clerk", "none")]))
    told = run("calibrate", few, "--cap", 4, "--reports", 400).stdout
    assert "2 of them without any weight" in told
    assert "see --add" in told
    without, added = found(few, "--cap", 4, "--reports", 1), found(few, "--cap", 4, "--add", 20, "--reports", 1)
    assert added["empty_cells"] == 0
    assert added["fields"][0]["equal"]["epsilon"] > without["fields"][0]["equal"]["epsilon"]
    assert "which --write-table" in added["settings"]


def test_fields_that_no_table_holds_are_only_bounded(tmp_path: Path) -> None:
    file = many_values(tmp_path, "a-b ")
    named = ("--field", "$['a-b ']", *(word for name in "bcdef" for word in ("--field", name)))
    told = run("calibrate", file, *named, "--cap", 2, "--reports", 2)
    assert "more combinations than a joint table may have" in told.stdout
    assert "give a-b  another" in told.stdout
    assert "fields:\n" not in told.stdout
    assert found(file, *named, "--cap", 2, "--reports", 2)["settings"] == ""
    refused = run("calibrate", file, *named, "--cap", 2, "--write-table", tmp_path / "out.json")
    assert "name fewer fields with --field" in refused.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "write --cap 4"),
        (("--cap", "work=3"), "school has no cap"),
        (("--cap", "x"), "x is no number of nats"),
        (("--cap", "0"), "0 is no number of nats"),
        (("--cap", "nan"), "nan is no number of nats"),
        (("--cap", "4", "--cap", "5"), "say it once"),
        (("--cap", "4", "--cap", "age=5"), "age is no field"),
        (("--cap", "4", "--mechanism", "rappor"), "rappor is not known here"),
        (("--cap", "4", "--mechanism", "work=x"), "x is not known here"),
        (("--cap", "4", "--reports", "0"), "0 is not from 1 to"),
        (("--cap", "4", "--people", "0"), "--people"),
        (("--cap", "4", "--add", "-1"), "--add"),
        (("--cap", "4", "--at", "100"), "--at"),
        (("--cap", "4", "--field", "age"), "must be different ones"),
        (("--cap", "4", "--field", "work"), "name two fields"),
        (("--cap", "4", "--user", "work"), "nobody is named"),
        (
            (
                "--cap",
                "1e-6",
            ),
            "raise --cap",
        ),
        (("--cap", "4", "--write-table", "/no-such-folder/x.json"), "name a place that can be written"),
    ],
)
def test_what_cannot_be_calibrated_is_said(joint: Path, options: tuple[str, ...], words: str) -> None:
    told = run("calibrate", joint, *options)
    assert (told.exit_code, told.stdout) == (EXIT_REFUSED, "")
    assert words in told.stderr
    assert "to put it right" in told.stderr
    as_json = json.loads(run("calibrate", joint, *options, "--json").stdout)
    assert as_json["ok"] is False
