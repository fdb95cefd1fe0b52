"""Bad files and options that contradict each other: a clear refusal or a plain warning each, and never a value."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from command_house import make_house, run
from fitting_help import NAMES, Event, as_csv, as_json, events_of, write
from settings_text import GOOD

from stream.names import EXIT_DONE, EXIT_REFUSED

FIELDS = ("--user", "user", "--value", "activity", "--time", "at")
EVENTS = [(f"secret-{user}", value, at) for user, value, at in events_of(1200)]
LINES, ROWS = as_json(EVENTS), as_csv(EVENTS).encode()


def shifted(change_of_time: Callable[[int], object]) -> bytes:
    return as_json([(user, value, change_of_time(at)) for user, value, at in EVENTS])  # type: ignore[misc]


def swapped(value_of: Callable[[int, str], object]) -> bytes:
    events = [(user, value_of(number, value), at) for number, (user, value, at) in enumerate(EVENTS)]
    return as_json(events)  # type: ignore[arg-type]


def fit(file: Path, *arguments: object) -> tuple[int, str]:
    """The exit status and all that was said, in which no user, and no value that only the file has, may stand."""
    told = run("fit", "--from", file, "--out", file.parent / "new.json", "--replace", *(arguments or FIELDS))
    assert told.exception is None or isinstance(told.exception, SystemExit), told.exception
    text = told.stdout + told.stderr
    assert "secret" not in text and "Traceback" not in text
    return told.exit_code, text


REFUSED = {
    "empty.jsonl": (b"", ["it is empty"]),
    "empty.csv": (b"", ["it is empty"]),
    "empty.parquet": (b"", ["it is empty"]),
    "blank.jsonl": (b"\n \n", ["it holds no record"]),
    "header.csv": (b"at,user,activity\n", ["it holds no record"]),
    "header.tsv": (b"at\tuser\tactivity\n", ["it holds no record"]),
    "one_row.jsonl": (LINES.splitlines()[0], ["1 events of 1 users"]),
    "one_event_each.jsonl": (
        as_json([(f"secret-{n}", "run", 1_700_000_000_000) for n in range(500)]),
        ["500 events of 500 users: each has one event"],
    ),
    "one_user.jsonl": (as_json([("secret", v, t) for _, v, t in EVENTS]), ["too few users with two events"]),
    "garbage.jsonl": (random.Random(1).randbytes(9000), ["not_utf8", "line 1", "UTF-8"]),
    "garbage.csv": (random.Random(1).randbytes(9000), ["lacks a column"]),
    "garbage.parquet": (random.Random(1).randbytes(9000), ["does not begin as a Parquet file"]),
    "csv.parquet": (ROWS, ["does not begin as a Parquet file", "--format"]),
    "wide.jsonl": (LINES.decode().encode("utf-16"), ["UTF-16", "UTF-8"]),
    "wide.csv": (ROWS.decode().encode("utf-16"), ["UTF-16", "UTF-8"]),
    "bare_wide.csv": (ROWS.decode().encode("utf-16-le"), ["many of its first bytes are zero"]),
    "sheet.csv": (b"PK\x03\x04" + bytes(range(256)), ["spreadsheet", "CSV"]),
    "parquet.csv": (b"PAR1" + bytes(range(256)), ["Parquet", "--format parquet"]),
    "array.jsonl": (json.dumps([{"user": "secret", "activity": "run"}]).encode(), ["not_an_object", "line 1"]),
    "pretty.json": (json.dumps([{"user": "secret"}] * 9, indent=1).encode(), ["not_json", "one JSON object a line"]),
    "csv.jsonl": (ROWS, ["not_json", "--format csv"]),
    "jsonl.csv": (LINES, ["lacks a column", "--user, --value, --time"]),
    "no_header.csv": (ROWS.split(b"\n", 1)[1], ["lacks a column", "header", "a line with names in front"]),
    "semicolons.csv": (ROWS.replace(b",", b";"), ["semicolons", "commas"]),
    "tabs.csv": (ROWS.replace(b",", b"\t"), ["tabs", "--format tsv"]),
    "commas.tsv": (ROWS, ["commas", "--format csv"]),
    "capitals.csv": (ROWS.replace(b"at,user", b"At,User", 1), ["no column is called user or at", "capital letters"]),
    "twice.csv": (ROWS.replace(b",other,", b",user,", 1), ["user stands there more than once"]),
    "twice.jsonl": (LINES.replace(b'"at"', b'"user"'), ["duplicate_key", "line 1"]),
    "unknown.jsonl": (LINES.replace(b'"activity"', b'"action"'), ["field_missing", "--value"]),
    "unknown_user.jsonl": (LINES.replace(b'"user"', b'"who"'), ["user_missing", "--user"]),
    "half_users.jsonl": (LINES.replace(b'"secret-', b'1.5, "x": "'), ["user_type", "--user"]),
    "microseconds.jsonl": (shifted(lambda at: at * 1000), ["time_out_of_range", "--time-unit"]),
    "negative.jsonl": (shifted(lambda at: -at), ["time_out_of_range", "before 1970"]),
    "texts_for_times.jsonl": (shifted(lambda _: "2024-01-01T00:00:00Z"), ["time_type", "--time-unit"]),
    "not_whole.jsonl": (swapped(lambda n, _: n / 8), ["numbers that are not whole", "--bins"]),
    "numbers.jsonl": (swapped(lambda n, _: n if n % 2 else n / 8), ["numbers that are not whole", "--bins"]),
    "objects.jsonl": (swapped(lambda _, value: {"is": value}), ["neither texts nor whole numbers"]),
    "huge.jsonl": (b'{"user": "' + b"s" * 10_000_000 + b'", "activity": "run", "at": 1}\n', ["user_too_long"]),
    "torn.jsonl.gz": (gzip.compress(LINES)[:-40], ["to its end", "damaged or cut off"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_from_which_nothing_can_be_learnt_is_refused(tmp_path: Path, name: str) -> None:
    content, words = REFUSED[name]
    status, text = fit(write(tmp_path, name, content))
    assert status == EXIT_REFUSED
    assert not (tmp_path / "new.json").exists()
    assert f"where: {name}" in text or f"where: {tmp_path / name}" in text
    assert "why: " in text and "to put it right: " in text
    for word in words:
        assert word in text


WARNED = {
    "fine.jsonl": (LINES, []),
    "marked.jsonl": (b"\xef\xbb\xbf" + LINES, []),
    "marked.csv": (b"\xef\xbb\xbf" + ROWS, []),
    "blank_lines.csv": (ROWS.replace(b"\n", b"\n\n"), []),
    "unsorted.jsonl": (b"\n".join(sorted(LINES.splitlines(), key=hash)), ["lie before the user's event in front"]),
    "backwards.csv": (b"\n".join([ROWS.splitlines()[0], *ROWS.splitlines()[:0:-1]]), ["lie before", "sort it by time"]),
    "seconds.jsonl": (shifted(lambda at: at // 1000), ["before the year 2000", "--time-unit"]),
    "future.jsonl": (shifted(lambda at: at + int(1e12)), ["lie in the future"]),
    "one_value.jsonl": (swapped(lambda *_: "run"), ["one and the same value"]),
    "mixed.jsonl": (swapped(lambda n, value: value if n % 3 else n), ["400 of 1,200 rows (33%)", "field_type"]),
    "none.jsonl": (swapped(lambda n, value: value if n % 5 else None), ["240 of 1,200 rows (20%)", "field_type"]),
    "not_a_number.jsonl": (
        LINES.replace(b'"run"', b"NaN"),
        ["not_json", "NaN and Infinity are none"],
    ),
    "mixed.csv": (ROWS.replace(b",rest", b",7.5"), ["1 of 3 values look like numbers"]),
    "numbers.csv": (ROWS.replace(b",rest", b",nan").replace(b",run", b",inf"), ["2 of 3 values look like numbers"]),
    "empty_cells.csv": (ROWS.replace(b",rest", b","), ["empty cells are learnt as a value"]),
    "long_line.jsonl": (LINES + b'{"user": "' + b"s" * 10_000_000 + b'"}\n', []),
    "long_line.csv": (ROWS + b"s" * 10_000_000 + b"\n", []),
    "latin.csv": (ROWS.replace(b",rest", b",r\xe9st"), ["not_utf8"]),
    "mostly_once.jsonl": (
        LINES + as_json([(f"secret-more-{n}", "run", 1_700_000_000_000) for n in range(90)]),
        ["90 of 114 users have one event", "and not the event"],
    ),
}


@pytest.mark.parametrize("name", WARNED)
def test_what_is_doubtful_is_warned_of_and_learnt_from(tmp_path: Path, name: str) -> None:
    content, words = WARNED[name]
    status, text = fit(write(tmp_path, name, content), *FIELDS, "--sample", "public")
    assert status == EXIT_DONE
    assert text.count("WARNING") == (1 if words else 0)
    for word in words:
        assert word in text
    if name.startswith("long_line"):
        assert "1 rows refused" in text


def test_a_mix_of_kinds_is_learnt_by_what_most_are(tmp_path: Path) -> None:
    """The first record is a number, and most are texts."""
    fit(write(tmp_path, "a.jsonl", swapped(lambda n, value: value if n else n)))
    assert json.loads((tmp_path / "new.json").read_bytes())["alphabet"]["values"] == NAMES


def test_a_place_that_is_no_file_is_refused(tmp_path: Path) -> None:
    status, text = fit(tmp_path / "none.csv")
    assert status == EXIT_REFUSED and "no such file" in text
    (tmp_path / "folder.jsonl").mkdir()
    status, text = fit(tmp_path / "folder.jsonl")
    assert status == EXIT_REFUSED and "it is a folder" in text
    status, text = fit(write(tmp_path, "noend", LINES))
    assert status == EXIT_REFUSED and "--format" in text
    assert fit(tmp_path / "noend", *FIELDS, "--format", "jsonl")[0] == EXIT_DONE


def test_parquet_that_cannot_be_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    users, values, times = (list(column) for column in zip(*EVENTS, strict=True))
    path = tmp_path / "a.parquet"

    def told(columns: dict[str, object] | object) -> str:
        parquet.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path)
        status, text = fit(path)
        assert status == EXIT_REFUSED and "to put it right" in text
        return text

    assert "it holds no record" in told({"user": users[:0], "activity": values[:0], "at": times[:0]})
    stamps = pa.array(times, pa.timestamp("ms"))
    assert "column at" in told({"user": users, "activity": values, "at": stamps})
    assert "milliseconds" in told({"user": users, "activity": values, "at": stamps})
    assert "it holds binary" in told({"user": users, "activity": [v.encode() for v in values], "at": times})
    assert "it holds struct" in told({"user": users, "activity": [{"is": v} for v in values], "at": times})
    assert "--bins" in told({"user": users, "activity": [float("nan"), 1.5] * 600, "at": times})
    names = ["user", "activity", "at", "at"]
    twice = pa.table([pa.array(users), pa.array(values), pa.array(times), pa.array(values)], names)
    assert "at stands there more than once" in told(twice)
    parquet.write_table(pa.table({"user": users, "activity": pa.array(values).dictionary_encode(), "at": times}), path)
    assert fit(path)[0] == EXIT_DONE
    whole = path.read_bytes()
    for torn in (whole[:-60], whole[: len(whole) // 2], whole[:200] + bytes(200) + whole[400:]):
        path.write_bytes(torn)
        status, text = fit(path)
        assert status == EXIT_REFUSED and "to its end" in text


CONTRADICTIONS = [
    (("--order", "1", "--most-order", "2"), "--most-order"),
    (("--contribution", "5"), "--private-epsilon"),
    (("--private-epsilon", "1", "--least", "3", "--integers", "0:3"), "--least"),
    (("--private-epsilon", "1", "--sample", "public", "--integers", "0:3"), "--sample"),
    (("--private-epsilon", "nan", "--integers", "0:3"), "--private-epsilon"),
    (("--private-epsilon", "1"), "declare the values"),
    (("--private-epsilon", "1", "--order", "2", "--integers", "0:3"), "only order 1"),
    (("--integers", "0:9", "--other", "rest"), "--other"),
    (("--integers", "0:99999999"), "--integers"),
    (("--bins", "0:nan:4"), "--bins"),
    (("--bins", "0:inf:4"), "--bins"),
    (("--failure", "nan"), "--failure"),
    (("--value", "$.user.name"), "--user and --value"),
    (("--time", "activity"), "--value and --time"),
    (("--released",), "--released"),
]


@pytest.mark.parametrize(("more", "words"), CONTRADICTIONS, ids=[" ".join(more) for more, _ in CONTRADICTIONS])
def test_options_that_contradict_each_other_are_refused(tmp_path: Path, more: tuple[str, ...], words: str) -> None:
    status, text = fit(write(tmp_path, "a.jsonl", LINES), *FIELDS, *more)
    assert status == EXIT_REFUSED and words in text and "to put it right" in text


def test_a_time_unit_needs_a_time_and_nothing_is_written_over(tmp_path: Path) -> None:
    file = write(tmp_path, "a.jsonl", LINES)
    status, text = fit(file, "--user", "user", "--value", "activity", "--time-unit", "s")
    assert status == EXIT_REFUSED and "add --time" in text
    for more in (("--out", file), ("--html", file), ("--html", tmp_path / "new.json"), ("--out", tmp_path)):
        status, text = fit(file, *FIELDS, *more)
        assert status == EXIT_REFUSED and ("the same file" in text or "it is a folder" in text)
    assert file.read_bytes() == LINES
    house = make_house(tmp_path)
    told = run("fit", house / "c.yaml", "--from", "topic", "--out", house / "new.json", "--format", "csv")
    assert told.exit_code == EXIT_REFUSED and "a topic holds JSON records" in told.stderr
    told = run("fit", house / "c.yaml", "--from", file, "--out", house / "c.yaml", "--replace")
    assert told.exit_code == EXIT_REFUSED and "the same file" in told.stderr
    assert (house / "c.yaml").read_text(encoding="utf-8") == GOOD


def test_noisy_counts_warn_of_the_same(tmp_path: Path) -> None:
    alphabet = json.dumps({"kind": "categories", "values": NAMES})
    declared = ("--private-epsilon", "8", "--alphabet", write(tmp_path, "values.json", alphabet))
    for content, words in (
        (shifted(lambda at: at // 1000), "before the year 2000"),
        (swapped(lambda n, value: value if n % 3 else n), "33%"),
        (b"\n".join(LINES.splitlines()[::-1]), "lie before the user's event"),
    ):
        status, text = fit(write(tmp_path, "a.jsonl", content), *FIELDS, *declared)
        assert status == EXIT_DONE and "WARNING: " in text and words in text.split("For you, and not for others")[1]


@pytest.mark.parametrize("end", [b"", b'"'])
def test_lines_that_a_quote_swallows_are_counted(tmp_path: Path, end: bytes) -> None:
    """From line 1001 on, to the end of the file or to the next quote, there is one row for the reader of the table."""
    rows = [line.replace(b'"', b"") for line in ROWS.splitlines()]
    rows[1000] = b'1,"' + rows[1000]
    rows[-1] += end
    status, text = fit(write(tmp_path, "a.csv", b"\n".join(rows)))
    assert status == EXIT_DONE
    assert "1,200 rows, 999 events" in text and "at line 1001, 1002, 1003" in text
    assert "201 of 1,200 rows (17%)" in text and "a quote that does not end" in text


def test_many_users_with_one_event_are_refused(tmp_path: Path) -> None:
    events: list[Event] = [(f"secret-{number}", NAMES[number % 3], 1_700_000_000_000) for number in range(100_000)]
    status, text = fit(write(tmp_path, "a.csv", as_csv(events)))
    assert status == EXIT_REFUSED and "100000 events of 100000 users: each has one event" in text
