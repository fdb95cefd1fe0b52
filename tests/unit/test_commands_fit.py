"""`sottovoce fit`: the model that it writes, what it says, and what it refuses."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_house import change, make_house, run
from fitting_help import NAMES, as_csv, as_json, events_of, write
from typer.testing import Result

from beliefs.alphabet import Bins, Categories, IntegerRange
from beliefs.model_file import Model, parse
from stream.fitting.picture import value_labels
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.opening import open_pipeline

FIELDS = ("--user", "user", "--value", "activity", "--time", "at")
NOT_FROM_DATA = ("(--released)", "(--private-epsilon)")


def fitted(folder: Path, *arguments: object, source: str = "a.jsonl") -> tuple[Model, dict[str, Any]]:
    out = folder / "new.json"
    told = run("fit", "--from", folder / source, "--out", out, "--replace", "--json", *arguments)
    assert told.exit_code == EXIT_DONE, told.stderr
    return parse(out.read_bytes()), json.loads(told.stdout)


def refused(folder: Path, *arguments: object, source: str = "a.jsonl") -> Result:
    told = run("fit", "--from", folder / source, "--out", folder / "none.json", *arguments)
    assert (told.exit_code, told.stdout) == (EXIT_REFUSED, "")
    assert not (folder / "none.json").exists()
    return told


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path, "a.jsonl", as_json(events_of(4000)) + b"not json\n")
    return tmp_path


def test_a_model_is_learnt_written_and_reported(data: Path) -> None:
    model, facts = fitted(data, *FIELDS, "--sample", "public")
    assert model.alphabet == Categories(NAMES)
    assert (model.order, model.version, facts["order"]) == (1, 1, 1)
    assert np.abs(model.chain.dense - (0.1 + 0.7 * np.eye(3))).max() < 0.05
    assert (facts["rows"], facts["events"], facts["users"]) == (4001, 4000, 24)
    assert facts["refused"] == {"not_json": {"count": 1, "first": [4001]}}
    assert facts["warnings"] == []
    scores = {one["order"]: one for one in facts["held_out"]["orders"]}
    assert scores[1]["nats"] < scores[0]["nats"] - 0.2
    assert scores[1]["accuracy"] > 0.75 > 0.5 > scores[0]["accuracy"]
    assert facts["held_out"]["uniform"]["accuracy"] == pytest.approx(1 / 3)
    learnt_from = model.learnt_from
    assert (learnt_from["source"], learnt_from["sample"], learnt_from["order"]) == ("a.jsonl", "public", 1)
    assert str(data) not in json.dumps(dict(learnt_from))
    told = run("fit", "--from", data / "a.jsonl", "--out", data / "again.json", *FIELDS, "--sample", "public")
    assert (data / "again.json").read_bytes() == (data / "new.json").read_bytes()
    assert facts["chain_error"]["error"] > 0 and facts["chain_error"]["epsilon"] == 0.5
    for words in (
        "it guesses 79.9% of the next values; the commonest value is right for 33.3%, chance for 33.3%",
        "mechanism.chain_error: 2.8",
        "half of epsilon holds against every reader anyway",
        "4,000 events of 24 users",
        "not_json: 1, at line 4001",
        "* order 1",
        "mechanism.radius: 0.",
    ):
        assert words in told.stdout
    assert "WARNING" not in told.stdout and "user-" not in told.stdout + told.stderr
    assert "in the order in which they stand" not in told.stdout


def test_json_lines_and_csv_give_the_same_model(data: Path) -> None:
    write(data, "b.csv", as_csv(events_of(4000)))
    of_lines, _ = fitted(data, *FIELDS)
    of_table, _ = fitted(data, *FIELDS, source="b.csv")
    assert np.array_equal(of_lines.chain.dense, of_table.chain.dense)
    assert np.array_equal(of_lines.chain.start, of_table.chain.start)


def test_the_page_holds_three_drawings_and_shows_texts_as_texts(tmp_path: Path) -> None:
    events = [(user, f"<{name}>&", time) for user, name, time in events_of(2000)]
    write(tmp_path, "a.jsonl", as_json(events))
    fitted(tmp_path, *FIELDS, "--html", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    drawings = [part.split("</svg>")[0] + "</svg>" for part in ("<svg" + rest for rest in page.split("<svg")[1:])]
    trees = [ET.fromstring(drawing) for drawing in drawings]
    assert len(trees) == 3
    assert len(trees[1].findall(".//{*}rect")) == 9
    dots = [dot.findtext("{*}title") or "" for dot in trees[2].findall(".//{*}circle")]
    assert len(dots) == 3 and all("after <" in dot and ">&:" in dot and " visits, radius 0." in dot for dot in dots)
    assert "http://www.w3.org/2000/svg" in page and page.count("http") == 3  # nothing is fetched
    assert page.index('<p class="bad">WARNING: nothing is said about whose events') < page.index("<svg")
    assert page.index("3 values, order 1, learnt from 2,000 events of 24 users.") < page.index("<svg")
    assert "<rest>" not in page and "&lt;rest&gt;&amp;" in page


def test_values_that_begin_alike_are_told_apart_in_the_drawing() -> None:
    few = value_labels(Categories(["still", "a" * 30, "b" * 30]))
    assert few == ["still", "a" * 15 + "…", "b" * 15 + "…"]
    many = value_labels(Categories([*(f"category number {n} of many" for n in range(40)), "still"]))
    assert len(set(many)) == 41 and max(map(len, many)) == 16
    assert (many[0], many[39], many[40]) == ("1. category num…", "40. category nu…", "41. still")


def test_settings_say_how_records_are_read_and_the_model_fits_them(tmp_path: Path) -> None:
    house = make_house(tmp_path)
    path = change(house, "  user: key\n", "  user: {path: $.user, partitioned_by_user: true}\n")
    write(house, "a.jsonl", as_json(events_of(2000)))
    told = run("fit", path, "--from", house / "a.jsonl", "--out", house / "model.json", "--replace")
    assert told.exit_code == EXIT_DONE, told.stderr
    assert "WARNING: nothing is said about whose events these are" in told.stdout
    assert all(way in told.stdout for way in ("--sample public", "--sample consenting", *NOT_FROM_DATA))
    assert "in the order in which they stand; --time FIELD would check it" in told.stdout
    told = run("fit", path, "--from", house / "a.jsonl", "--out", house / "b.json", "--sample", "protected")
    assert "WARNING: the model is learnt from the very users whom it is to protect" in told.stdout
    assert all(way in told.stdout for way in ("--sample public", "--sample consenting", *NOT_FROM_DATA))
    assert open_pipeline(path, {}).model.alphabet == Categories(NAMES)
    change(house, "{path: $.user, partitioned_by_user: true}", "key")
    told = refused(house, path)
    assert "--user" in told.stderr and "no key that names the user" in told.stderr


def test_the_clock_of_the_settings_or_of_an_option(data: Path) -> None:
    _, facts = fitted(data, *FIELDS, "--step", "2m")
    assert facts["clock"]["again"] > 1500
    assert facts["events"] + facts["clock"]["again"] == 4000
    told = refused(data, *FIELDS, "--step", "30s").stderr  # every event is two steps after the one before
    assert "3,976 times a step or more was skipped" in told and "a longer --step" in told
    assert "no time of their own" in refused(data, "--user", "user", "--value", "activity", "--step", "10m").stderr


def test_a_model_that_predicts_nothing_says_so_and_one_with_gaps_justifies_no_factor(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl", as_json(events_of(2000, stay=1 / 3)))
    told = run("fit", "--from", tmp_path / "a.jsonl", "--out", tmp_path / "m.json", *FIELDS, "--sample", "public")
    assert "It predicts no better than knowing nothing" in told.stdout
    write(tmp_path, "b.jsonl", as_json(events_of(2000, stay=1.0)))
    model, facts = fitted(tmp_path, *FIELDS, source="b.jsonl")
    assert facts["chain_error"] == {"error": None, "unseen": 6, "possible": 12, "epsilon": None}
    told = run("fit", "--from", tmp_path / "b.jsonl", "--out", tmp_path / "n.json", *FIELDS, "--sample", "public")
    assert "none can be justified. 6 of 12 first values and transitions were never seen" in told.stdout
    assert float(model.chain.dense.min()) > 0


def test_rare_values_become_the_declared_other(tmp_path: Path) -> None:
    events = events_of(3000)
    events += [(f"user-{n}", "swim", events[-1][2] + 1) for n in range(3)] + [
        ("user-0", f"odd-{n}", 0) for n in range(9)
    ]
    write(tmp_path, "a.jsonl", as_json(events))
    model, facts = fitted(tmp_path, *FIELDS, "--rare", "4", "--other", "other")
    assert model.alphabet == Categories([*NAMES, "other"])
    assert facts["pooled_values"] == 10
    every, facts = fitted(tmp_path, *FIELDS)
    assert every.alphabet.size == 13 and facts["pooled_values"] == 0


def test_declared_values(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [{"u": n % 20, "v": round(float(v), 3)} for n, v in enumerate(rng.normal(5, 2, 2000))]
    write(tmp_path, "a.jsonl", "\n".join(json.dumps(row) for row in rows))
    model, facts = fitted(tmp_path, "--user", "u", "--value", "v", "--bins", "0:10:20", "--order", "0")
    assert model.alphabet == Bins(0.0, 10.0, 20)
    assert facts["order"] == 0
    assert facts["refused"]["outside_alphabet"]["count"] > 0
    rows = facts["radius"]["rows"]
    assert len(rows) == facts["radius"]["rows_seen"] == len({row["after"] for row in rows}) > 15
    assert sum(row["visits"] for row in rows) == facts["held_out"]["events"]
    assert max(row["radius"] for row in rows) == facts["radius"]["worst"]
    again, _ = fitted(tmp_path, "--user", "u", "--value", "v", "--alphabet", tmp_path / "new.json", "--order", "0")
    assert again.alphabet == model.alphabet
    write(tmp_path, "b.jsonl", "\n".join(json.dumps({"u": n % 20, "v": int(n) % 7}) for n in range(500)))
    model, _ = fitted(tmp_path, "--user", "u", "--value", "v", source="b.jsonl")
    assert model.alphabet == IntegerRange(0, 6)
    wide, _ = fitted(tmp_path, "--user", "u", "--value", "v", "--integers", "0:9", source="b.jsonl")
    assert float(wide.chain.dense.min()) > 0 and wide.alphabet.size == 10


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--value", "activity"], "--user"),
        (["--user", "user"], "--value"),
        (["--user", "$.", "--value", "activity"], "a name is expected"),
        ([*FIELDS, "--integers", "0:2", "--bins", "0:1:2"], "keep one of them"),
        ([*FIELDS, "--bins", "0:1"], "3 numbers"),
        ([*FIELDS, "--bins", "0:1:2.5"], "cells"),
        ([*FIELDS, "--integers", "0:x"], "2 numbers"),
        ([*FIELDS, "--integers", "5:1"], "below low"),
        ([*FIELDS, "--rare", "3"], "--other"),
        ([*FIELDS, "--step", "soon"], "--step"),
        ([*FIELDS, "--sample", "mine"], "public, consenting"),
        ([*FIELDS, "--time-unit", "weeks"], "--time-unit"),
        ([*FIELDS, "--format", "xml"], "--format"),
        ([*FIELDS, "--failure", "0"], "--failure"),
        ([*FIELDS, "--alphabet", "nowhere.json"], "alphabet cannot be read"),
        ([*FIELDS, "--order", "16", "--integers", "0:99"], "too little to learn from"),
        (["--user", "time", "--value", "activity"], "user_missing"),
    ],
)
def test_what_cannot_be_meant_is_refused(data: Path, arguments: list[str], words: str) -> None:
    assert words in refused(data, *arguments).stderr


def test_nothing_is_overwritten_and_a_topic_needs_settings(data: Path) -> None:
    (data / "there.json").write_text("mine", encoding="utf-8")
    told = run("fit", "--from", data / "a.jsonl", "--out", data / "there.json", *FIELDS)
    assert told.exit_code == EXIT_REFUSED and "--replace" in told.stderr
    assert (data / "there.json").read_text(encoding="utf-8") == "mine"
    told = run("fit", "--from", data / "a.jsonl", "--out", data / "none" / "m.json", *FIELDS)
    assert told.exit_code == EXIT_REFUSED and "folder" in told.stderr
    told = run("fit", "--from", "topic:raw", "--out", data / "m.json", *FIELDS, "--json")
    assert told.exit_code == EXIT_REFUSED
    assert "settings file first" in json.loads(told.stdout)["fix"]


def test_places_are_read_from_json_lines_and_not_from_tables(tmp_path: Path) -> None:
    side = {"low": 0.0, "high": 2.0, "cells": 2, "outside": "refuse"}
    write(tmp_path, "grid.json", json.dumps({"kind": "grid", "rows": side, "columns": side, "names": ["lat", "lon"]}))
    rng = np.random.default_rng(3)
    rows = [
        {"u": n % 30, "at": {"lat": float(x), "lon": float(y)}} for n, (x, y) in enumerate(rng.random((900, 2)) * 2)
    ]
    write(tmp_path, "a.jsonl", "\n".join(json.dumps(row) for row in rows))
    declared = ("--user", "u", "--value", "$.at", "--alphabet", tmp_path / "grid.json")
    model, facts = fitted(tmp_path, *declared)
    assert (model.alphabet.size, facts["events"]) == (4, 900)
    assert "one cell for a value" in refused(tmp_path, *declared, "--format", "csv").stderr


def test_a_longer_memory_is_written_with_its_contexts(tmp_path: Path) -> None:
    """Whoever did the same twice does something else; otherwise all is even."""
    rng, events, past = np.random.default_rng(4), [], {}
    for number in range(9000):
        user = number % 60
        before = past.setdefault(user, [])
        choices = [name for name in NAMES if before[-2:] != [name, name]]
        before.append(choices[int(rng.integers(len(choices)))])
        events.append((f"user-{user}", before[-1], number))
    write(tmp_path, "a.jsonl", as_json(events))
    model, facts = fitted(tmp_path, *FIELDS, "--html", tmp_path / "page.html")
    assert (model.version, model.order, facts["order"]) == (2, 2, 2)
    assert facts["listed"] >= 3 and (tmp_path / "page.html").read_text(encoding="utf-8").count("<rect") == 9 + 4
    assert {len(row["after"].split()) for row in facts["radius"]["weightiest"]} == {2}
    only, facts = fitted(tmp_path, *FIELDS, "--order", "1")
    assert (only.order, facts["order"], facts["order_that_predicts_best"]) == (1, 1, 1)
