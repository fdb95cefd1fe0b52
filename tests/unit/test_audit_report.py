"""What an audit says: numbers that add up, counters compared with care, and never a user or a value."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_world import Run, run
from metering import meter_settings
from page_server import served
from rich.console import Console

import stream.audit
from stream.audit.accounts import Account, check_counters
from stream.audit.counters import ABOVE_EPSILON, EVENTS, counters_in, read_counters
from stream.audit.findings import KINDS, Findings
from stream.audit.progress import Shown
from stream.audit.records import Parsed
from stream.audit.repeats import IdIndex
from stream.audit.report import Report, tell
from stream.errors import CannotAudit
from stream.metrics import Meter
from stream.metrics.families import exposition, registry_of
from stream.names import OUTCOMES


@pytest.fixture(scope="module")
def finished() -> Run:
    return run(4, events=600, users=6, partitions=2)


def counted(finished: Run) -> Counter[tuple[str, str]]:
    return Counter({(EVENTS, outcome): count for outcome, count in finished.outcomes.items()})


def compared(finished: Run, before: Counter[tuple[str, str]], after: Counter[tuple[str, str]] | None = None) -> Report:
    report = finished.report()
    account = Account(inputs=1200, dead_letters=finished.outcomes["dead_lettered"], complete=True)
    check_counters(before, before if after is None else after, account, report)
    return report


def test_counters_that_cover_everything_agree(finished: Run) -> None:
    report = compared(finished, counted(finished))
    assert report.agrees
    assert report.compared["exported counters"] == "agree"


@pytest.mark.parametrize("outcome", ["released", "forecast", "dead_lettered"])
def test_a_counter_that_is_one_too_high_is_found(finished: Run, outcome: str) -> None:
    report = compared(finished, counted(finished) + Counter({(EVENTS, outcome): 1}))
    assert report.findings.codes() == {"counters"}


def test_one_counter_too_low_and_another_too_high_are_found(finished: Run) -> None:
    wrong = counted(finished) + Counter({(EVENTS, "released"): 1})
    wrong[EVENTS, "forecast"] -= 1
    report = compared(finished, wrong)
    assert len(report.findings) == 2


def test_counters_of_a_worker_that_started_anew_are_no_contradiction(finished: Run) -> None:
    half = Counter({name: count // 2 for name, count in counted(finished).items()})
    report = compared(finished, half)
    assert report.agrees
    assert "started anew" in report.compared["exported counters"]


def test_counters_that_move_are_not_compared(finished: Run) -> None:
    report = compared(finished, counted(finished), counted(finished) + Counter({(EVENTS, "released"): 5}))
    assert report.agrees
    assert "in flight" in report.compared["exported counters"]


def test_counters_above_epsilon_are_compared(finished: Run) -> None:
    report = compared(finished, counted(finished) + Counter({(ABOVE_EPSILON, "upper"): 1}))
    assert report.findings.codes() == {"counters"}


def test_the_page_of_a_worker_is_understood() -> None:
    page, _ = exposition(registry_of(Meter(meter_settings())), "")
    found = counters_in(page.decode())
    assert {label for name, label in found if name == EVENTS} == set(OUTCOMES)


async def test_pages_of_several_workers_are_added_up() -> None:
    page = b'# HELP x\nsottovoce_events_total{outcome="released"} 7.0\nsottovoce_lag_records{partition="0"} 3.0\n'
    with served(page) as address:
        assert await read_counters([address, address]) == Counter({(EVENTS, "released"): 14})


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/metrics", "file:///etc/hostname", "nonsense"])
async def test_a_page_that_does_not_answer_stops_the_audit(address: str) -> None:
    with pytest.raises(CannotAudit):
        await read_counters([address])


def test_a_page_that_nobody_asked_for_may_be_silent(finished: Run) -> None:
    report = finished.report(metrics=("http://127.0.0.1:9/metrics",))
    assert report.agrees
    assert report.compared["exported counters"].startswith("not compared")
    with pytest.raises(CannotAudit):
        finished.report(metrics=("http://127.0.0.1:9/metrics",), metrics_required=True)


def test_the_report_names_no_user_and_no_value() -> None:
    broken = run(4, events=600, users=6)
    del broken.released()[3]
    broken.released().append(broken.released()[-1])
    broken.change_state(lambda row: row.__setitem__(64, row[64] ^ 1))
    report = broken.report()
    out = io.StringIO()
    tell(report, Console(file=out, width=120))
    text = out.getvalue() + json.dumps(report.as_json())
    assert "DISAGREE" in text
    assert "lost_event" in text
    assert "user-" not in text
    assert not re.search(r"\bact\d", text)


def test_the_report_of_a_right_run(finished: Run) -> None:
    report = finished.report()
    document = json.loads(json.dumps(report.as_json()))
    assert document["verdict"] == "agree"
    assert document["findings"] == []
    events = document["events"]
    assert events["inputs"] == 1200 == events["released"] + events["forecast"] + events["dead_lettered"]
    assert document["users"]["seen"] == document["users"]["states"] == 12
    assert 0 < document["leakage"]["largest_upper_nats"] <= 1
    assert document["cannot_see"]
    out = io.StringIO()
    tell(report, Console(file=out, width=120))
    assert out.getvalue().endswith("verdict: AGREE\n")


def test_every_finding_says_what_why_and_what_to_do() -> None:
    findings = Findings()
    for code in KINDS:
        findings.add(code, 1, ["somewhere"])
    for finding in findings:
        assert all(KINDS[finding.code])
        assert finding.as_json()["where"] == ["somewhere"]
    assert len(findings) == len(KINDS)


def test_every_code_that_is_reported_is_in_the_catalogue() -> None:
    sources = [path.read_text() for path in Path(stream.audit.__file__ or "").parent.glob("*.py")]
    used = {code for text in sources for code in re.findall(r'findings\.add\(\s*"(\w+)"', text)}
    used |= {code for text in sources for code in re.findall(r', "(\w+)"\),$', text, re.MULTILINE)} & set(KINDS)
    assert used
    assert used <= set(KINDS)


def parsed(ids: list[int], values: list[int], contents: list[int]) -> Parsed:
    count = len(ids)
    none = np.zeros(count, dtype=np.int64)
    text = b"".join((number * 2**120 // 97).to_bytes(16, "big") for number in ids)
    return Parsed(
        none,
        none,
        none,
        np.array(values),
        none,
        none,
        np.arange(count),
        np.frombuffer(text, dtype="V16"),
        np.array(contents),
        none,
    )


def part_of(rows: Parsed, start: int, end: int) -> Parsed:
    columns: list[Any] = [column[start:end] for column in rows]
    return Parsed(*columns)


@pytest.mark.parametrize("memory_rows", [10, 1_000_000], ids=["files", "memory"])
def test_repeats_are_found_in_bounded_memory(memory_rows: int) -> None:
    rows = parsed([*range(1000), 5, 6, 7, 7], [0] * 1001 + [1, 0, 0], [0] * 1002 + [9, 9])
    with IdIndex(memory_rows) as index:
        for start in range(0, 1004, 100):
            part = part_of(rows, start, start + 100)
            index.add(3, part, np.ones(part.user.shape[0], dtype=np.bool_))
        found = index.repeats(places=2)
    assert (found.again, found.two_values, found.other_bytes) == (4, 1, 1)
    assert found.places_two_values == [(3, 1001)]
    assert found.places_other_bytes == [(3, 1002), (3, 1003)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("out", [io.StringIO(), Terminal()], ids=["lines", "moving"])
def test_progress_is_shown(out: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr("stream.moving_line.time.monotonic", lambda: next(clock))
    with Shown(out) as shown:
        shown("released records", 4000)
        shown("released records", 4000)
    assert "8,000 released records" in out.getvalue()
