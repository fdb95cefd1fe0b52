"""What is known about single events, in files of every form; a bad one is refused by its line, and shows no value."""

from __future__ import annotations

import codecs
import importlib.util
from pathlib import Path

import pytest
from command_house import make_house, run
from fitting_help import write

from beliefs.alphabet import Alphabet, Categories, IntegerRange
from stream.adversary.facts import Known, Naming, read_facts
from stream.errors import CannotAudit
from stream.names import EXIT_REFUSED

VALUES = Categories(["run", "walk"])
NAMING = Naming(b"12345678", bytes(16))
FACTS = {(b"u1", 1): 0, (b"u1", 2): 1, (b"u2", 1): 1}
ROWS = "value,user,step\nrun,u1,1\nwalk,u1,2\nwalk,u2,1\n"


def known(file: Path, alphabet: Alphabet = VALUES) -> Known:
    return read_facts(file, "--truth", alphabet, NAMING)


def test_lines_and_tables_say_the_same(tmp_path: Path) -> None:
    lines = b'{"user":"u1","step":1,"value":"run"}\n{"user":"u1","step":2,"value":"walk"}\n\n'
    lines += b'{"user":"u2","step":1,"value":"walk"}\n'
    files = [
        write(tmp_path, "a.jsonl", lines),
        write(tmp_path, "marked", codecs.BOM_UTF8 + lines),
        write(tmp_path, "a.csv", ROWS),
        write(tmp_path, "a.tsv", ROWS.replace(",", "\t")),
    ]
    if importlib.util.find_spec("pyarrow") is not None:
        import pyarrow as pa
        from pyarrow import parquet

        columns = {"user": ["u1", "u1", "u2"], "step": [1, 2, 1], "value": ["run", "walk", "walk"]}
        parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
        files.append(tmp_path / "a.parquet")
    for file in files:
        found = known(file)
        assert (found.by_step, found.by_id) == (FACTS, {}), file.name
    by_offset = known(write(tmp_path, "b.csv", "partition,offset,value\n0,7,3\n1,8,4\n"), IntegerRange(0, 9))
    assert by_offset.by_id == {NAMING.id_of(0, 7): 3, NAMING.id_of(1, 8): 4}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.jsonl", "", "it holds no fact"),
        ("a.csv", "", "it is empty"),
        ("a.csv", "user,step,value\n", "it holds no fact"),
        ("a.csv", "user,value\nu1,run\n", "no column is called step"),
        ("a.csv", ROWS.replace("u2,1", "u2"), "line 4"),
        ("a.csv", ROWS.replace("run", "secret"), "line 2"),
        ("a.csv", ROWS.replace("u1,2", "u1,secret"), "line 3"),
        ("a.csv", ROWS.replace("u1,2", "u1,1"), "line 3"),
        ("a.csv", ROWS.encode("utf-16"), "UTF-16"),
        ("a.csv", ROWS.replace("u2", "u\udce9").encode("utf-8", "surrogateescape"), "line 4"),
        ("a.parquet", ROWS, "does not begin as a Parquet file"),
        ("a.jsonl", "secret\n", "line 1"),
        ("a.jsonl", '{"user": "u1", "step": 0, "value": "run"}', "line 1"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, name: str, content: str | bytes, words: str) -> None:
    with pytest.raises(CannotAudit) as refusal:
        known(write(tmp_path, name, content))
    told = str(refusal.value)
    assert words in told and "--truth" in told and "to put it right" in told
    assert "secret" not in told


def test_a_page_that_could_not_be_written_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    house = make_house(tmp_path)
    for page, words in ((house, "it is a folder"), (house / "none" / "page.html", "its folder is not there")):
        told = run("adversary", house / "c.yaml", "--releases", house / "none.jsonl", "--html", page)
        assert told.exit_code == EXIT_REFUSED and words in told.stderr and "none.jsonl" not in told.stderr


def test_plans_refuse_what_contradicts_itself_before_they_search(tmp_path: Path) -> None:
    house = make_house(tmp_path)
    model, page = house / "model.json", house / "page.html"
    for more, words in (
        (("--window", 5, "--order", "none"), "--order none tries no windows"),
        (("--agreement", 0.5, "--html", house, "--replace"), "it is a folder"),
        (("--agreement", 0.5, "--html", page, "--write", page), "the same file"),
        (("--agreement", 0.5, "--write", model, "--replace"), "the model that the plan is for"),
    ):
        told = run("plan", house / "c.yaml", *more)
        assert told.exit_code == EXIT_REFUSED and words in told.stderr and "to put it right" in told.stderr
