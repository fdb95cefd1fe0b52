"""`sottovoce estimate` over files and topics: what it tells, where it writes, what it serves, and what it refuses."""

from __future__ import annotations

import csv
import json
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from audit_memory import START_MS, Kept
from audit_world import run as pipeline_run
from audit_world import settings_text as sequence_text
from command_house import run
from estimate_help import (
    lines_of,
    records_of,
    settings_of,
    settings_text,
    task_with,
    values_of,
)

from beliefs.model_file import serialise
from stream.estimation.estimate import estimate
from stream.estimation.exporter import WHAT, exposition
from stream.estimation.gathering import Gathering
from stream.estimation.results import COLUMNS, FieldResult, WindowResult, table_of
from stream.estimation.told import finished
from stream.exposition import Page, labels_of

HOUR = 3_600_000
RELEASED = "phones.released"


def hourly_records() -> list[Kept]:
    """Three hours and twenty minutes of a partition."""
    times = START_MS // HOUR * HOUR + np.arange(400) * 30_000
    return records_of(task_with(settings_of()), values_of(400), times=times)


@pytest.fixture(scope="module")
def records() -> list[Kept]:
    return hourly_records()


@pytest.fixture
def house(tmp_path: Path, records: list[Kept]) -> Path:
    (tmp_path / "s.yaml").write_text(settings_text())
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines_of(records)))
    return tmp_path


def ask(house: Path, *options: object, status: int = 0) -> Any:
    answer = run("estimate", house / "s.yaml", "--releases", house / "r.jsonl", *options)
    assert answer.exit_code == status, answer.output
    assert "Traceback" not in answer.output
    return answer


def test_a_terminal_shows_each_field_of_each_window(house: Path) -> None:
    said = ask(house, "--window", "1h", "--joint", "work,age").stdout
    assert said.count("work: ") == 4 and said.count("joint table") == 4
    assert "as it stands: more may come" in said.splitlines()[-1] or said.count("as it stands") == 1
    assert "clerk" in said and "95 % from" in said and "and 12 more" in said
    assert "too few users to be told of" in ask_small(house)


def ask_small(house: Path) -> str:
    lines = (house / "r.jsonl").read_text().splitlines()[:9]
    (house / "few.jsonl").write_text("\n".join(lines))
    return str(run("estimate", house / "s.yaml", "--releases", house / "few.jsonl").stdout)


def test_files_hold_what_the_library_gives(house: Path, records: list[Kept]) -> None:
    wanted = estimate(settings_of(), records, window="1h", joint=[("work", "age")])
    table = wanted.columns()
    for name in ("o.csv", "o.parquet", "o.jsonl"):
        ask(house, "--window", "1h", "--joint", "work,age", "--to", house / name)
    with (house / "o.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == COLUMNS and len(rows) == len(table["value"]) + 1
    assert [row[7] for row in rows[1:]] == [str(number) for number in table["estimate"]]
    assert pq.read_table(house / "o.parquet").to_pydict() == table == pa.table(table).to_pydict()
    documents = [json.loads(line) for line in (house / "o.jsonl").read_text().splitlines()]
    assert documents == [json.loads(json.dumps(one)) for window in wanted.windows for one in window.documents()]
    assert {"version", "pipeline", "policy", "window", "field", "confidence", "reports", "tables"} <= documents[
        0
    ].keys()
    joint = next(one for one in documents if one["field"] == "work,age")
    assert joint["tables"]["joint"]["other"][:2] == [0, 1]


def test_json_is_one_object_for_each_field(house: Path) -> None:
    decoder, text, found = json.JSONDecoder(), ask(house, "--json").stdout.strip(), []
    while text:
        one, end = decoder.raw_decode(text)
        found.append(one)
        text = text[end:].strip()
    assert [one["field"] for one in found] == ["work", "age", "place", "tags"]
    assert found[0]["tables"]["frequency"]["value"] == ["clerk", "nurse", "pilot", "cook"]


def test_what_was_passed_over_is_said(house: Path) -> None:
    lines = (house / "r.jsonl").read_text().splitlines()
    other = [json.loads(line) for line in lines[:3]]
    for one in other:
        one["headers"] = [[name, "9:00000000" if name == "policy" else text] for name, text in one["headers"]]
    mixed = [*lines, *lines[:5], *map(json.dumps, other), '{"key": 7}']
    (house / "r.jsonl").write_text("\n".join(mixed))
    said = ask(house).stderr
    assert "5 records repeat" in said and "3 records bear another policy" in said and "1 records are no rel" in said


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--window", "1x"], "its unit"),
        (["--joint", "work"], "no pair"),
        (["--joint", "work,age,place"], "no pair"),
        (["--joint", "work,nothing"], "the fields are work, age"),
        (["--pool", "best"], "neither precision nor shares"),
        (["--confidence", "0.2"], "from 0.5"),
        (["--follow", "--window", "1h"], "reads a file"),
        (["--serve", "0"], "reads a file"),
        (["--to", "o.txt"], "ends with none of"),
        (["--to", "there.csv"], "there already"),
        (["--to", "nowhere/o.csv"], "folder is not there"),
        (["--to", "folder.csv"], "it is a folder"),
        (["--to", "topic:phones.released"], "the pipeline's own topics"),
        (["--to", "topic:"], "no topic is named"),
        (["--to", "o.csv", "--json"], "--json is for standard output"),
        (["--releases", "nothing.jsonl"], "not there"),
    ],
)
def test_refusals_say_what_where_why_and_how(
    house: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], why: str
) -> None:
    monkeypatch.chdir(house)
    (house / "there.csv").write_text("mine")
    (house / "folder.csv").mkdir()
    said = ask(house, *options, status=2).output
    assert why in said and ("to put it right: " in said or '"fix": ' in said) and "where" in said
    assert (house / "there.csv").read_text() == "mine"


def test_a_broken_file_is_refused_with_its_line(house: Path) -> None:
    lines = (house / "r.jsonl").read_text().splitlines()
    (house / "r.jsonl").write_text("\n".join([*lines[:7], "{no json"]))
    said = ask(house, status=2).output
    assert "line 8" in said and "no json" not in said
    assert "--follow tells of each window" in run("estimate", house / "s.yaml", "--follow").output


def test_windows_of_values_are_answered_and_what_is_not_told_is_said(house: Path) -> None:
    finished_ = pipeline_run(4, windows="{events: 4}", nats="unlimited")
    (house / "s.yaml").write_text(sequence_text(windows="{events: 4}", nats="unlimited"))
    (house / "model.json").write_bytes(serialise(finished_.model.alphabet, finished_.model.chain, {}))
    (house / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines_of(finished_.released())))
    said = " ".join(ask(house).stdout.split())
    assert "$.activity: " in said and "shares, if users follow the model in use" in said
    assert "not told: no share of all without bias of act0, act1, act2, act3" in said and "--transitions adds" in said


def test_metrics_are_those_of_the_last_window(records: list[Kept]) -> None:
    (result,) = finished(gathered(records))
    text = exposition(result, {"late": 3})
    frequency = result.fields[0].tables["frequency"].columns
    labels = '{field="work",value="nurse"}'
    assert f"sottovoce_estimate_frequency{labels} {frequency['estimate'][1]!r}\n" in text
    assert f"sottovoce_estimate_frequency_lower{labels} {frequency['low'][1]!r}\n" in text
    assert f"sottovoce_estimate_frequency_upper{labels} {frequency['high'][1]!r}\n" in text
    assert 'sottovoce_estimate_reports{field="age"} 400.0' in text
    assert 'sottovoce_estimate_mean{field="age"} ' in text and 'sottovoce_estimate_size{field="tags"} ' in text
    assert 'sottovoce_estimate_passed_over_total{reason="late"} 3.0' in text
    assert f"sottovoce_estimate_window_start_seconds {result.start / 1000!r}" in text
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(set(names)) == len(names)
    assert all(line.startswith(("#", "sottovoce_estimate_")) for line in text.splitlines())
    assert "frequency" not in exposition(None, {}, up=False) and "_up 0.0" in exposition(None, {}, up=False)
    small = replace(result, fields=[FieldResult("work", too_few=True)])
    assert "field=" not in exposition(small, {})


def gathered(records: list[Kept]) -> Gathering:
    found = Gathering(task_with(settings_of()))
    found.take(0, records)
    return found


def test_labels_of_any_text_are_one_label() -> None:
    table = table_of({"value": ['a"b', "c\\d\ne", None, 7]}, np.zeros(4), np.zeros(4), 2.0, 9)
    result = WindowResult("p", "1:0", 0, 1, True, 0.95, [FieldResult("f", 9, {}, {"frequency": table})])
    lines = [line for line in exposition(result, {}).splitlines() if line.startswith("sottovoce_estimate_frequency{")]
    assert [line.rsplit(" ", 1)[0].partition("value=")[2] for line in lines] == [
        '"a\\"b"}',
        '"c\\\\d\\ne"}',
        '"(others)"}',
        '"7"}',
    ]
    assert labels_of({}) == "{}"


def test_the_page_is_served_on_loopback(records: list[Kept]) -> None:
    with Page("127.0.0.1", 0, WHAT, exposition(None, {})) as page:
        page.show(exposition(next(finished(gathered(records))), {}))
        with urllib.request.urlopen(f"http://127.0.0.1:{page.port}/metrics", timeout=5) as answer:
            assert b"sottovoce_estimate_frequency" in answer.read()


def test_where_nothing_can_be_told_of_a_pair_the_exit_status_says_so(house: Path) -> None:
    lines = [json.loads(line) for line in (house / "r.jsonl").read_text().splitlines()]
    for number, line in enumerate(lines):
        del line["value"]["work" if number % 2 else "about"]
    (house / "r.jsonl").write_text("\n".join(map(json.dumps, lines)))
    joint = ("--joint", "work,age")
    assert "no record has reports of both fields" in " ".join(ask(house, *joint, status=1).stdout.split())
    said = ask(house, *joint, "--to", house / "o.jsonl", status=1).stderr
    assert "not told: work,age: no record has" in " ".join(said.split())
    ask(house)
