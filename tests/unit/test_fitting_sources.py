"""What a fit reads: the same events from every form of file, bad rows counted and named by their place, never shown."""

from __future__ import annotations

import gzip
import importlib.util
import io
from pathlib import Path

import numpy as np
import pytest
from fitting_help import NAMES, RECORD, as_csv, as_json, events_of, fields, read, write

from beliefs.alphabet import Bins, Categories, IntegerRange
from stream.errors import CannotFit
from stream.fitting import lines
from stream.fitting.alphabets import OpenIntegers, OpenTexts, closed_integers, closed_texts
from stream.fitting.lines import JsonLines
from stream.fitting.progress import Progress
from stream.fitting.reading import Users, open_alphabet
from stream.fitting.sources import CHUNK_RECORDS, Line, Source, file_source, format_of
from stream.fitting.tables import Csv, Parquet

EVENTS = events_of(300)


def source_of(file: Path) -> Source:
    return file_source(file, format_of(file), fields())


def test_every_form_of_file_gives_the_same_events(tmp_path: Path) -> None:
    for name, content in {
        "a.jsonl": as_json(EVENTS),
        "a.ndjson.gz": gzip.compress(as_json(EVENTS)),
        "a.csv": as_csv(EVENTS),
        "a.tsv.gz": gzip.compress(as_csv(EVENTS, "\t").encode()),
        "marked.csv": "\ufeff" + as_csv(EVENTS).replace("\n", "\r\n"),
    }.items():
        reading, found = read(source_of(write(tmp_path, name, content)))
        assert found == EVENTS, name
        assert (reading.rows, reading.refusals.total) == (300, 0)


def test_bad_lines_are_counted_by_reason_and_named_by_number(tmp_path: Path) -> None:
    good = as_json(EVENTS[:2]).splitlines()
    content = b"\n".join(
        [
            good[0],
            b"",
            b"not",
            b'{"user": "u", "at": 1}',
            b"\xff",
            b'{"user": 1.5, "activity": "run", "at": 1}',
            b"  ",
            b'{"user": "u", "activity": "fly", "at": 1}',
            b'{"user": "u", "activity": "run"}',
            good[1],
        ]
    )
    reading, found = read(JsonLines(write(tmp_path, "a.jsonl", content), 65_536))
    assert found == EVENTS[:2]
    assert reading.refusals.places == {
        "not_json": [3],
        "field_missing": [4],
        "not_utf8": [5],
        "user_type": [6],
        "outside_alphabet": [8],
        "time_missing": [9],
    }
    assert reading.rows == 8
    many, _ = read(JsonLines(write(tmp_path, "b.jsonl", b"x\n" * 50), 65_536))
    assert many.refusals.counts == {"not_json": 50}
    assert many.refusals.places == {"not_json": [1, 2, 3, 4, 5]}


def test_a_line_without_an_end_is_too_large_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 1000)
    good = as_json(EVENTS[:3])
    content = good + b'{"user": "' + b"u" * 50_000 + b'", "activity": "run", "at": 1}\n' + good
    source = JsonLines(write(tmp_path, "a.jsonl", content), 2000)
    assert max(len(line.value or b"") for chunk in source.chunks() for line in chunk.records) <= 3001
    reading, found = read(source, record=RECORD.model_copy(update={"max_bytes": 2000}))
    assert found == EVENTS[:3] * 2
    assert reading.refusals.places == {"too_large": [4]}


def test_bad_rows_of_a_table(tmp_path: Path) -> None:
    header, first, *_ = as_csv(EVENTS[:1]).splitlines()
    rows = [header, first, "1,2", first.replace("x", '"a\nb"'), '1,"u"x,x,run', "soon,u,x,run", first + ",more"]
    reading, found = read(Csv(write(tmp_path, "a.csv", "\n".join(rows)), fields()))
    assert found == [EVENTS[0], EVENTS[0]]
    assert reading.refusals.places == {"not_a_row": [3, 6, 8], "time_type": [7]}
    latin, _ = read(Csv(write(tmp_path, "b.csv", f"{header}\n1,caf\xe9,x,run\n".encode("latin-1")), fields()))
    assert latin.refusals.places == {"not_utf8": [2]}


def test_numbers_of_a_table_are_numbers_as_json_writes_them(tmp_path: Path) -> None:
    rows = "at,user,activity\n" + "".join(f"{n},u,{cell}\n" for n, cell in enumerate(["7", "7.0", "07", "true", ""]))
    path = write(tmp_path, "a.csv", rows)
    whole, found = read(Csv(path, fields("$.activity")), IntegerRange(0, 9))
    assert found == [("u", "7", 0)]
    assert whole.refusals.places == {"field_type": [3, 4, 5, 6]}
    cells, found = read(Csv(path, fields("$.activity")), Bins(0.0, 10.0, 10))
    assert [value for _, value, _ in found] == ["7.5", "7.5"]
    assert cells.refusals.places == {"field_type": [4, 5, 6]}


def test_missing_columns_files_and_forms_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotFit, match="no column is called activity"):
        list(Csv(write(tmp_path, "a.csv", "user,at\n"), fields()).chunks())
    with pytest.raises(CannotFit, match="there is no such file"):
        source_of(tmp_path / "none.csv")
    with pytest.raises(CannotFit, match="--format"):
        format_of(tmp_path / "data.txt")
    assert format_of(Path("a.b.JSONL.gz")) == "jsonl"
    torn = write(tmp_path, "torn.jsonl.gz", gzip.compress(as_json(EVENTS))[:-40])
    with pytest.raises(CannotFit, match="to its end") as refusal:
        list(source_of(torn).chunks())
    assert "user-" not in str(refusal.value)


def test_parquet_is_read_where_its_library_is_there_and_otherwise_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    if importlib.util.find_spec("pyarrow") is None:
        path.write_bytes(b"PAR1")
        with pytest.raises(CannotFit, match="pyarrow, is not installed"):
            list(Parquet(path, fields()).chunks())
        return
    import pyarrow as pa
    from pyarrow import parquet

    users, activities, times = (list(column) for column in zip(*EVENTS, strict=True))
    table = {"at": times, "user": users, "other": [b"\xff"] * 300, "activity": [*activities[:-1], None]}
    parquet.write_table(pa.table(table), path, row_group_size=100)
    reading, found = read(source_of(path))
    assert found == EVENTS[:-1]
    assert reading.refusals.places == {"field_type": [300]}
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(CannotFit, match="to its end"):
        list(Parquet(path, fields()).chunks())


def test_values_that_are_not_declared_are_taken_in_by_their_kind(tmp_path: Path) -> None:
    content = b'x\n{"user": "u", "activity": null}\n' + as_json(EVENTS) + b'{"user": "u", "activity": 7, "at": 1}\n'
    texts = JsonLines(write(tmp_path, "a.jsonl", content), 65_536)
    alphabet = open_alphabet(texts, RECORD)
    assert isinstance(alphabet, OpenTexts)
    assert [alphabet.lookup[value] for value in ("b", "a", "b")] == [0, 1, 0]
    assert alphabet.index_of(7) is None
    users = [("c", 3), ("a", 1), ("b", 5)]
    closed, pooled = closed_texts(dict(users), 3, "zz")
    assert (closed.values, pooled) == (("b", "c", "zz"), 1)
    assert [closed.lookup[text] for text in ("b", "a", "never seen", "zz")] == [0, 2, 2, 2]
    with pytest.raises(KeyError):
        closed.lookup[7]
    assert closed_texts(dict(users), 1, None)[0] == Categories(["a", "b", "c"])


def test_integers_that_are_not_declared(tmp_path: Path) -> None:
    rows = b"".join(b'{"user": "u", "activity": %d, "at": 1}\n' % value for value in (7, -2, 3))
    alphabet = open_alphabet(JsonLines(write(tmp_path, "a.jsonl", rows), 65_536), RECORD)
    assert isinstance(alphabet, OpenIntegers)
    assert [alphabet.index_of(value) for value in (7, 3, 7, "x", 1 << 60)] == [0, 1, 0, None, None]
    assert closed_integers([7, -2, 3]) == IntegerRange(-2, 7)
    with pytest.raises(CannotFit, match="too far apart"):
        closed_integers([0, 1 << 20])
    for values in (b"1.5", b"[1]"):
        source = JsonLines(write(tmp_path, "b.jsonl", b'{"user": "u", "activity": ' + values + b"}"), 65_536)
        with pytest.raises(CannotFit, match="--bins"):
            open_alphabet(source, RECORD)
    with pytest.raises(CannotFit, match="none of the first 1 records"):
        open_alphabet(JsonLines(write(tmp_path, "c.jsonl", b"{}"), 65_536), RECORD)


def test_the_group_of_a_user_is_a_hash_of_the_id_and_nothing_else() -> None:
    ids = [f"user-{number}".encode() for number in range(4000)]
    forward, backward = Users(8), Users(8)
    one, other = forward.groups_of(forward.numbers(ids)), backward.groups_of(backward.numbers(ids[::-1]))[::-1]
    assert one.tolist() == other.tolist()
    assert one[:8].tolist() == [3, 1, 7, 2, 1, 6, 2, 3]  # a change would move users between what is learnt and judged
    sizes = np.bincount(one, minlength=8)
    assert len(forward) == 4000 and sizes.min() > 400 and sizes.max() < 600


def test_progress_says_rows_users_rate_and_share(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    now = [0.0]
    monkeypatch.setattr("stream.fitting.progress.time.monotonic", lambda: now[0])
    for out in (Terminal(), io.StringIO()):
        progress = Progress(out)
        progress.begin("counting")
        progress.read(1000, 10, 0.25)
        assert out.getvalue() == ""
        now[0] += 10.0
        progress.read(1000, 12, 0.5)
        assert "fit: counting: 2,000 rows, 12 users, 200 rows/s, 50%" in out.getvalue()
        progress.end()
    assert "..." in repr(Line(b"user-1", b"{}", 0)) and "user" not in repr(Line(b"user-1", b"{}", 0))
    assert CHUNK_RECORDS > 1000 and NAMES
