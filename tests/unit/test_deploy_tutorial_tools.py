"""What the tutorial's reader is handed: a table that is the same each time; records written, read and waited for."""

from __future__ import annotations

import hashlib
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import consume
import orjson
import produce
import pytest
import sample
import settled

FIRST_ROWS = """\
user,time,activity
phone-00000,2024-03-04T00:00:00Z,still
phone-00001,2024-03-04T00:00:00Z,still
phone-00000,2024-03-04T00:10:00Z,still
phone-00001,2024-03-04T00:10:00Z,still
"""


def test_the_sample_is_the_same_to_the_byte(capsys: pytest.CaptureFixture[str]) -> None:
    assert sample.main(["--phones", "2", "--events", "2"]) == 0
    assert capsys.readouterr().out == FIRST_ROWS
    assert sample.main([]) == 0
    digest = hashlib.sha256(capsys.readouterr().out.encode()).hexdigest()
    assert digest == "bccacedf3c94f2b083cb8bde240d4b949806e92b9ee5ddad80273d3db682d242"
    assert list(sample.rows(20, 20, seed=1)) != list(sample.rows(20, 20, seed=2))


def test_rows_become_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.csv"
    table.write_text(FIRST_ROWS)
    assert produce.main([str(table)]) == 0
    lines = [orjson.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[1] == {"user": "phone-00001", "time": "2024-03-04T00:00:00Z", "activity": "still"}
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("user,activity\nu1,still,more\n", "line 2: it has not as many fields"),
        ("user,activity\nu1\n", "line 2: it has not as many fields"),
        ("", "it is empty"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    table = tmp_path / "table.csv"
    table.write_text(text)
    assert produce.main([str(table)]) == 1
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""


def test_a_column_that_is_not_there_and_half_an_order_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(FIRST_ROWS)
    with pytest.raises(produce.Unusable, match="names no column who"):
        list(produce.rows(table, "who"))
    with pytest.raises(SystemExit) as refused:
        produce.main([str(table), "--topic", "t"])
    assert refused.value.code == 2


def test_a_record_is_one_line_whatever_it_holds() -> None:
    record = SimpleNamespace(key=b"u1", value=b'{"activity":"still"}', headers=(("step", b"1"), ("odd", b"\xff")))
    assert orjson.loads(consume.line_of(record)) == {
        "key": "u1",
        "value": {"activity": "still"},
        "headers": {"step": "1", "odd": "\ufffd"},
    }
    bare = SimpleNamespace(key=None, value=b"no json", headers=())
    assert orjson.loads(consume.line_of(bare)) == {"key": None, "value": "no json", "headers": {}}


@contextmanager
def metrics(text: str) -> Iterator[int]:
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *what: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield int(server.server_port)
        finally:
            server.shutdown()
            thread.join()


def test_settled_tells_what_became_of_the_events(capsys: pytest.CaptureFixture[str]) -> None:
    text = 'sottovoce_events_total{outcome="released"} 1200\nsottovoce_events_total{outcome="dead_lettered"} 3\n'
    text += 'sottovoce_releases_above_epsilon_total{side="upper"} 2\nsottovoce_tracked_users 40\n'
    with metrics(text) as port:
        assert settled.main(["--status", str(port), "--events", "1203"]) == 0
        assert (
            capsys.readouterr().out
            == "1,200 released, 0 forecast, 0 suppressed, 3 dead lettered, 0 replayed\n2 above epsilon, 40 users\n"
        )
        assert settled.main(["--status", str(port), "--events", "1204", "--seconds", "0.3"]) == 1
    assert "not 1,204 events within 0.3 s" in capsys.readouterr().err
