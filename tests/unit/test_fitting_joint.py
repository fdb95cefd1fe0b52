"""`sottovoce fit --joint`: the table that it writes, what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from command_house import make_house, run
from fitting_help import fit_refused, fit_written, write
from pyarrow import parquet

from beliefs.correlation.joint_file import JointModel, parse
from beliefs.correlation.robust_rows import radii_of
from stream.fitting import joint
from stream.fitting.joint import JointTask, fit_joint
from stream.fitting.progress import Progress
from stream.fitting.sources import Chunk, Line
from stream.names import EXIT_REFUSED
from stream.records.paths import parse_path

LAW = {"f": [0.2, 0.3, 0.5], "m": [0.1, 0.1, 0.8]}
WORK = ["none", "part", "full"]
Person = tuple[str, str, str, int]


def people(count: int = 3_000, seed: int = 5) -> list[Person]:
    generator = np.random.default_rng(seed)
    sexes = generator.choice(["f", "m"], count).tolist()
    return [
        (f"person-{number}", sex, str(generator.choice(WORK, p=LAW[sex])), int(generator.integers(8, 12)))
        for number, sex in enumerate(sexes)
    ]


def as_csv(rows: list[Person]) -> str:
    return "id,sex,work,age\n" + "".join(f"{who},{sex},{work},{age}\n" for who, sex, work, age in rows)


def as_json(rows: list[Person]) -> str:
    return "".join(
        json.dumps({"id": who, "about": {"sex": sex, "work": work}, "age": age}) + "\n" for who, sex, work, age in rows
    )


def fitted(folder: Path, source: str, *arguments: object) -> tuple[JointModel, dict[str, Any]]:
    written, facts = fit_written(folder, source, "joint.json", *arguments)
    return parse(written), facts


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path, "a.csv", as_csv(people()))
    write(tmp_path, "a.jsonl", as_json(people()))
    return tmp_path


def test_a_table_is_counted_written_and_reported(data: Path) -> None:
    model, facts = fitted(data, "a.csv", "--joint", "sex,work,age", "--user", "id", "--sample", "public")
    counts = np.zeros((2, 3, 4))
    for _, sex, work, age in people():
        counts["fm".index(sex), sorted(WORK).index(work), age - 8] += 1
    assert model.table.names == ("sex", "work", "age")
    assert model.table.labels == (("f", "m"), ("full", "none", "part"), ("8", "9", "10", "11"))
    assert (model.table.weights == counts).all()
    assert (model.failure, facts["people"], facts["rows"], facts["refused"]) == (0.05, 3_000, 3_000, {})
    assert facts["warnings"] == []
    assert (facts["cells"], facts["empty_cells"]) == (24, 0)
    of_sex = counts.sum(axis=(1, 2))
    worst = facts["radius"][0]
    assert worst["worst"] == pytest.approx(radii_of([int(each) for each in of_sex], 12, 0.05).max())
    assert worst["fewest_people"] == of_sex.min()
    assert model.learnt_from == {
        "source": "a.csv",
        "sample": "public",
        "people": 3_000,
        "records_are_people": False,
        "refused": 0,
    }
    told = run("fit", "--from", data / "a.csv", "--out", data / "again.json", "--joint", "sex,work", "--user", "id")
    for words in (
        "WARNING: nothing is said about whose records these are",
        "3,000 rows, 3,000 people counted; 0 rows refused",
        "2 of sex x 3 of work",
        "How sure: but for a probability of 0.05",
        "work given sex: 0.0",
    ):
        assert words in told.stdout
    assert "person-" not in told.stdout + told.stderr


def test_json_lines_csv_and_parquet_give_the_same_table(data: Path) -> None:
    rows = people()
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("id", "sex", "work", "age"))}
    parquet.write_table(pa.table(columns), data / "a.parquet")
    tables = [fitted(data, source, "--joint", "sex,work,age", "--user", "id")[0] for source in ("a.csv", "a.parquet")]
    tables.append(fitted(data, "a.jsonl", "--joint", "$.about.sex,$.about.work,age", "--user", "id")[0])
    assert all((one.table.weights == tables[0].table.weights).all() for one in tables)
    assert all(one.table.labels == tables[0].table.labels for one in tables)
    assert tables[2].table.names == ("about.sex", "about.work", "age")


def test_of_each_person_the_first_record_counts(data: Path) -> None:
    twice = people(400) + [(who, "f", "none", 8) for who, _, _, _ in people(400)]
    write(data, "twice.csv", as_csv(twice))
    once, facts = fitted(data, "twice.csv", "--joint", "sex,work", "--user", "id", "--sample", "public")
    assert (facts["rows"], facts["people"], facts["again"]) == (800, 400, 400)
    assert once.table.weights.sum() == 400
    rows, told = fitted(data, "twice.csv", "--joint", "sex,work", "--sample", "public")
    assert rows.table.weights.sum() == told["people"] == 800
    assert rows.learnt_from["records_are_people"] is True
    assert [warning[:11] for warning in told["warnings"]] == ["each record"]


def test_rare_values_are_joined_and_said(data: Path) -> None:
    rows = [*people(300), ("x", "f", "knight", 8), ("y", "m", "king", 9), ("z", "f", "other", 8)]
    write(data, "rare.csv", as_csv(rows))
    model, facts = fitted(data, "rare.csv", "--joint", "sex,work", "--user", "id", "--rare", "5", "--other", "other")
    assert model.table.labels == (("f", "m"), ("full", "none", "part", "other"))
    assert facts["pooled_values"] == {"sex": 0, "work": 2}
    assert model.people("work")[-1] == 3
    told = run(
        "fit",
        "--from",
        data / "rare.csv",
        "--out",
        data / "b.json",
        "--joint",
        "sex,work",
        "--user",
        "id",
        "--rare",
        "5",
        "--other",
        "other",
    )
    assert "2 rare values of work are one value now" in told.stdout
    assert "king" not in told.stdout + told.stderr


def test_what_cannot_be_read_is_counted_by_reason_and_place(data: Path) -> None:
    bad = [
        "not json",
        "[1]",
        '{"id": "a", "sex": "f"}',
        '{"id": "b", "sex": "f", "work": 1.5}',
        '{"id": "c", "sex": "f", "work": true}',
        '{"id": "c", "sex": null, "work": "none"}',
        '{"sex": "f", "work": "none"}',
        '{"id": "", "sex": "f", "work": "none"}',
        '{"id": [], "sex": "f", "work": "none"}',
        '{"id": 7, "sex": "f", "work": "none"}',
        '{"id": 7, "sex": "m", "work": "none"}',
        '{"id": "c", "sex": "f", "work": 3}',
    ]
    write(data, "bad.jsonl", "\n".join(bad) + "\n")
    model, facts = fitted(data, "bad.jsonl", "--joint", "sex,work", "--user", "id", "--sample", "public")
    assert {reason: one["first"] for reason, one in facts["refused"].items()} == {
        "not_json": [1],
        "not_an_object": [2],
        "field_missing": [3, 6],
        "field_type": [4, 5],
        "user_missing": [7],
        "user_empty": [8],
        "user_type": [9],
    }
    assert (facts["people"], facts["again"]) == (2, 1)
    assert model.table.labels == (("f",), ("3", "none"))
    assert any("same value of sex" in warning for warning in facts["warnings"])
    assert any("10 of" not in warning and "were refused" in warning for warning in facts["warnings"])
    write(data, "bad.csv", b"sex,work\nf,\xff\nf,none\nm,\n")
    model, facts = fitted(data, "bad.csv", "--joint", "sex,work", "--sample", "public")
    assert facts["refused"] == {"not_utf8": {"count": 1, "first": [2]}}
    assert model.table.labels == (("f", "m"), ("", "none"))
    assert facts["empty_cells"] == 2
    assert any("empty cells of work" in warning for warning in facts["warnings"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--joint", "sex"), ("--joint", "two fields or more")),
        (("--joint", "sex,sex"), ("--joint", "name each once")),
        (("--joint", "sex,work", "--user", "sex"), ("--joint and --user",)),
        (("--joint", "sex,$.work["), ("--joint", "write a path")),
        (("--joint", "sex,wrk"), ("no column is called wrk", "--joint A,B")),
        (("--joint", "sex,work", "--value", "age"), ("--value", "leave it away")),
        (("--joint", "sex,work", "--private-epsilon", "1"), ("--private-epsilon",)),
        (("--joint", "sex,work", "--order", "1"), ("--order",)),
        (("--joint", "sex,work", "--released"), ("--released",)),
        (("--joint", "sex,work", "--html", "page.html"), ("--html",)),
        (("--joint", "sex,work", "--rare", "5"), ("--rare", "--other")),
        (("--joint", "sex,work", "--failure", "2"), ("--failure",)),
        (("--joint", "sex,work", "--sample", "all"), ("--sample",)),
        (("--joint", "sex,work", "--format", "xls"), ("--format",)),
    ],
)
def test_what_cannot_be_meant_is_refused(data: Path, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    told = fit_refused(data, "a.csv", *arguments)
    for word in words:
        assert word in told.stderr
    assert "to put it right" in told.stderr


def test_nothing_and_too_much_are_refused(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(data, "none.jsonl", '{"sex": "f"}\n{"work": "none"}\n')
    told = fit_refused(data, "none.jsonl", "--joint", "sex,work")
    assert "none of 2 records could be read: 2 field_missing" in told.stderr
    wide = "".join(f"{number},{number}\n" for number in range(1_100))
    write(data, "wide.csv", "a,b\n" + wide)
    assert "1100 x 1100 values, more than 1,048,576 cells" in fit_refused(data, "wide.csv", "--joint", "a,b").stderr
    monkeypatch.setattr(joint, "MOST_VALUES", 100)
    assert "The field a has too many different values" in fit_refused(data, "wide.csv", "--joint", "a,b").stderr


class Records:
    """A topic's records, as `Topic` hands them over."""

    name, kind = "events", "record"

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines

    def chunks(self) -> Any:
        for start in range(0, len(self.lines), 3):
            part = self.lines[start : start + 3]
            yield Chunk(part, [f"partition 0 offset {start + place}" for place in range(len(part))], 1.0)


def test_the_key_of_a_record_may_name_the_person() -> None:
    lines = [
        Line(key, json.dumps({"a": str(number % 2), "b": number % 3}).encode(), 0)
        for number, key in enumerate([b"x", b"y", b"x", b"", None, b"z"])
    ]
    fields = (parse_path("$.a"), parse_path("$.b"))
    found = fit_joint(JointTask(Records(lines), fields, ("a", "b"), by_key=True), Progress(None))
    assert found.people == 3
    assert found.facts.again == 1
    assert found.facts.refusals.counts == {"user_empty": 1, "user_missing": 1}
    assert found.facts.refusals.places["user_missing"] == ["partition 0 offset 4"]
    everyone = fit_joint(JointTask(Records(lines), fields, ("a", "b")), Progress(None))
    assert everyone.people == 6


def test_a_topic_needs_brokers_and_protects_its_users(data: Path) -> None:
    told = run("fit", "--from", "topic", "--out", data / "none.json", "--joint", "a,b")
    assert told.exit_code == EXIT_REFUSED
    assert "a topic needs brokers" in told.stderr
    house = make_house(data)
    settings, out = house / "c.yaml", data / "none.json"
    told = run("fit", settings, "--from", "topic", "--format", "csv", "--out", out, "--joint", "a,b")
    assert told.exit_code == EXIT_REFUSED
    assert "a topic holds JSON records" in told.stderr
