"""`sottovoce adversary` over a file of released records: what it says, refuses, and never names."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack_help import adversary_of, attacked, truth_of, watched
from audit_world import Run, model_of, run, settings_text
from rich.console import Console
from typer.testing import CliRunner

from beliefs.model_file import serialise
from stream.adversary.facts import Facts
from stream.adversary.hindsight import look_back
from stream.adversary.page import page_of
from stream.adversary.report import tell
from stream.adversary.result import pseudonym_of
from stream.adversary.serve import exposition
from stream.adversary.watcher import TRUTH_AT, PartitionWatch, SegmentsWatch
from stream.attack.bounds import Evidence
from stream.audit.book import STEP, USER, new_desk
from stream.audit.exact import told_about
from stream.commands.app import app

SMALL: dict[str, Any] = {"symbols": 4, "events": 900, "users": 12, "nats": "unlimited"}


@pytest.fixture(scope="module")
def finished() -> Run:
    return run(**SMALL, partitions=2)


@pytest.fixture
def folder(finished: Run, tmp_path: Path) -> Path:
    """Settings, model, an export of the released topic, and the truth by user and step."""
    (tmp_path / "model.json").write_bytes(serialise(finished.model.alphabet, finished.model.chain, {}))
    (tmp_path / "s.yaml").write_text(settings_text(nats="unlimited"))
    write_lines(tmp_path / "released.jsonl", exported(finished))
    write_lines(tmp_path / "truth.jsonl", true_values(finished))
    return tmp_path


def exported(finished: Run) -> Iterator[dict[str, Any]]:
    for partition in range(2):
        for one in finished.released(partition):
            headers = {name: text.decode() for name, text in one.headers}
            value = json.loads(one.value or b"")
            line = {"key": (one.key or b"").decode(), "value": value, "headers": headers, "timestamp": one.timestamp}
            yield {**line, "partition": partition}


def true_values(finished: Run) -> Iterator[dict[str, Any]]:
    """Found by release id, told by user and step."""
    for partition in range(2):
        watch = PartitionWatch(adversary_of(finished), Facts(truth_of(finished, partition)), keeping=True)
        watch.take(finished.released(partition))
        for event in np.concatenate(watch.kept):
            value = finished.model.alphabet.value_at(int(event[TRUTH_AT]))
            yield {"user": watch.keys[event[USER]].decode(), "step": int(event[STEP]), "value": value}


def write_lines(file: Path, lines: Any) -> None:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def ask(folder: Path, *options: str) -> tuple[int, str]:
    command = ["adversary", str(folder / "s.yaml"), "--releases", str(folder / "released.jsonl"), *options]
    answer = CliRunner().invoke(app, command)
    assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.exception
    return answer.exit_code, answer.output


def asked_json(folder: Path, *options: str) -> dict[str, Any]:
    status, text = ask(folder, "--json", *options)
    assert status == 0, text
    found: dict[str, Any] = json.loads(text[text.index("{") :])
    return found


def test_a_file_says_what_the_topic_says(finished: Run, folder: Path) -> None:
    found = asked_json(folder, "--truth", str(folder / "truth.jsonl"), "--smooth")
    wanted = json.loads(json.dumps(attacked(finished, smooth=True).as_json()))
    assert {**found, "seconds": 0} == {**wanted, "seconds": 0}
    assert found["verdict"] == "under the bound"
    assert found["guesses"]["right"] <= found["guesses"]["right_interval"][1]
    assert found["guesses"]["scored"] == found["events"]["released"] > 1700
    assert found["bound"]["users_beyond_the_ledger"] == 0
    assert found["bound"]["one_release_each"]["users"] == 24


def test_hindsight_is_what_the_audit_accounts_for(finished: Run) -> None:
    """The furthest value of each user, by the adversary's plain arithmetic and by the auditor's own."""
    seen = watched(finished)
    public = finished.task().public
    desk = new_desk(public.states, public.symbols, public.distance)
    accounts = seen.watched.accounts() / 2**40
    found = look_back(adversary_of(finished), seen.watched.kept)
    assert len(found.far) == 12
    for user, far, _ in found.far:
        told = told_about(public, desk, seen.events[seen.events[:, USER] == user][:, :5])
        assert told is not None
        assert far == pytest.approx(told.single_value, abs=1e-8)
        assert far <= told.counters == accounts[user]


def test_without_a_truth_it_says_how_sure_it_is_and_no_more(folder: Path) -> None:
    found = asked_json(folder)
    assert found["guesses"]["right"] is None
    assert found["beliefs"]["sure"] > found["beliefs"]["sure_without_any_release"]
    assert found["calibration"] == {"error": None, "bins": []}


def test_another_model_and_side_knowledge_are_held_to_twice_epsilon(folder: Path) -> None:
    other = model_of(4, sparse=True)
    (folder / "other.json").write_bytes(serialise(other.alphabet, other.chain, {}))
    facts = [{"user": name, "step": 1, "value": "act2"} for name in ("user-0-1", "nobody")]
    write_lines(folder / "knows.jsonl", facts)
    for options, given in ((("--model", str(folder / "other.json")), 0), (("--knows", str(folder / "knows.jsonl")), 1)):
        found = asked_json(folder, *options, "--truth", str(folder / "truth.jsonl"))
        assert found["bound"]["nats"] == 2.0
        assert found["reader"] == "believes or knows something else"
        assert found["events"]["known_beforehand"] == given
        assert found["events"]["facts_given"] == 2 * given
    same = asked_json(folder, "--model", str(folder / "model.json"))
    assert same["bound"]["nats"] == 1.0


def test_people_see_a_table_a_plot_and_a_verdict(folder: Path) -> None:
    status, text = ask(folder, "--truth", str(folder / "truth.jsonl"), "--smooth", "--reidentify", "3")
    assert status == 0
    assert text.count("epsilon sets it no ceiling") == 2 and "% of guesses like these" in text
    for words in ("right at most, by epsilon", "right without any release", "in hindsight", "UNDER THE BOUND", "sure "):
        assert words in text
    names = [line.split("│")[1].strip() for line in text.splitlines() if line.startswith("│")]
    assert names[names.index("the value that moved furthest") + 1] == "the same in hindsight"
    assert "released: whose, net, in order" in text and "raw: whose, habits, without order" in text


def test_nobody_is_named_unless_asked_and_then_on_the_terminal_alone(finished: Run, folder: Path) -> None:
    page = folder / "page.html"
    truth = ("--truth", str(folder / "truth.jsonl"))
    told = [ask(folder, *truth)[1], ask(folder, *truth, "--json", "--smooth")[1]]
    asked = ask(folder, *truth, "--html", str(page), "--exposed", "3")[1]
    told += [page.read_text(), exposition(attacked(finished), 1)]
    names = [key.decode() for key in attacked(finished).keys]
    hashes = [pseudonym_of(name.encode(), is_one=False) for name in names]
    for text in told:
        assert not any(secret in text for secret in (*names, *hashes, "act0", "act1", "act2", "act3"))
    assert sum(each in asked for each in hashes) == 3
    assert not any(name in asked for name in names)
    assert "<svg" in page.read_text() and "<script" not in page.read_text() and "http" not in page.read_text()


def test_a_pseudonym_is_shown_as_it_is() -> None:
    assert pseudonym_of(b"p1x", is_one=True) == "p1x"
    assert pseudonym_of(b"p1x", is_one=False) == pseudonym_of(b"p1x", is_one=False) != "p1x"


@pytest.mark.parametrize("option", ["--truth", "--knows"])
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("canary", "not one JSON object"),
        ('["canary"]', "not one JSON object"),
        ('{"user": "canary", "step": 1, "value": "canary"}', "none of the model's"),
        ('{"user": "canary", "step": 0, "value": "act1"}', "neither a user"),
        ('{"user": "canary", "step": true, "value": "act1"}', "neither a user"),
        ('{"step": 1, "value": "act1"}', "neither a user"),
        ('{"user": "canary", "step": 1}', "a fact has a value"),
        ('{"user": "canary", "step": 1, "value": "act1", "canary": 1}', "a fact has a value"),
        ('{"partition": 0, "offset": 1, "value": "act1"}', "from the broker only"),
        ('{"user": "u", "step": 1, "value": "act1"}\n{"user": "u", "step": 1, "value": "act2"}', "another value"),
    ],
)
def test_a_wrong_fact_is_refused_with_its_line(folder: Path, option: str, line: str, why: str) -> None:
    (folder / "facts.jsonl").write_text(f"\n{line}\n")
    status, text = ask(folder, option, str(folder / "facts.jsonl"))
    assert (status, "line " in text, why in text, "to put it right" in text) == (2, True, True, True), text
    assert "canary" not in text and "act1" not in text


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"key": None}, "its key"),
        ({"key": ""}, "its key"),
        ({"headers": 7}, "its headers"),
        ({"headers": [["a"]]}, "its headers"),
        ({"headers": {"canary": 1}}, "its headers"),
        ({"timestamp": None}, "its timestamp"),
        ({"timestamp": -1}, "its timestamp"),
        ({"partition": "canary"}, "its partition"),
    ],
)
def test_a_wrong_export_is_refused_with_its_line(folder: Path, changes: dict[str, Any], why: str) -> None:
    line = {"key": "canary", "value": {}, "headers": {}, "timestamp": 1, **changes}
    write_lines(folder / "released.jsonl", [line])
    status, text = ask(folder)
    assert (status, "line 1" in text, why in text) == (2, True, True), text
    assert "canary" not in text


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--raw",), "reads a file"),
        (("--raw", "--truth", "x"), "what is true"),
        (("--exposed", "3", "--json"), "terminal alone"),
        (("--serve", "0"), "nothing else"),
        (("--truth", "nowhere.jsonl"), "cannot be read"),
        (("--model", "nowhere.json"), "model cannot be read"),
        (("--html", "nowhere/page.html"), "page cannot be written"),
        (("--reidentify", "1"), "fewer than two users"),
    ],
)
def test_what_does_not_go_is_refused(folder: Path, options: tuple[str, ...], why: str) -> None:
    status, text = ask(folder, *options)
    assert status == 2, text
    assert why in text


def test_a_model_of_other_values_and_an_empty_export_are_refused(folder: Path) -> None:
    other = model_of(5)
    (folder / "other.json").write_bytes(serialise(other.alphabet, other.chain, {}))
    status, text = ask(folder, "--model", str(folder / "other.json"))
    assert (status, "other values" in text) == (2, True)
    (folder / "released.jsonl").write_text("\n")
    status, text = ask(folder)
    assert (status, "holds no record" in text) == (2, True)


@pytest.mark.timeout(600)  # compiles
@pytest.mark.parametrize("order", ["bisect", "natural", "dual"])
def test_windows_are_read_and_the_unit_of_epsilon_is_said(order: str, folder: Path) -> None:
    windows = f"{{events: 3, stretch: 20s, order: {order}}}"
    finished = run(**SMALL, partitions=2, windows=windows)
    (folder / "s.yaml").write_text(settings_text(nats="unlimited", windows=windows))
    write_lines(folder / "released.jsonl", exported(finished))
    write_lines(folder / "truth.jsonl", true_values(finished))
    truth, page = ("--truth", str(folder / "truth.jsonl")), folder / "page.html"
    found = asked_json(folder, *truth)
    wanted = json.loads(json.dumps(attacked(finished).as_json()))
    assert {**found, "seconds": 0} == {**wanted, "seconds": 0}
    assert (found["bound"]["nats"], found["bound"]["per"], found["bound"]["events_at_most"]) == (1.0, "window", 3)
    assert found["guesses"]["scored"] == found["events"]["released"] > 1500
    assert found["bound"]["releases_beyond"] == found["bound"]["users_beyond_the_ledger"] == 0
    status, text = ask(folder, *truth, "--html", str(page))
    assert status == 0
    for words in ("each window of up to 3", "one window moved a value by", "right before this window"):
        assert words in text
        assert words in page.read_text()
    assert ("windows of strangers" in text) == (order != "natural")
    assert 'sottovoce_adversary_bound_nats{per="window"} 1.0' in exposition(attacked(finished), 1)
    status, text = ask(folder, "--smooth")
    assert (status, "does not look back upon windows" in text) == (2, True)


def test_lost_and_strange_records_leave_their_users_out() -> None:
    changed = run(**SMALL)
    user = changed.released()[5].key
    records = changed.released()
    del records[5]
    records[7] = replace(records[7], headers=())
    result = attacked(changed)
    assert (result.lost, result.unusable) == (len({user, records[7].key}), 1)
    assert result.scores.scored < 882


def test_beyond_the_bound_is_said_with_status_1(finished: Run) -> None:
    result = attacked(finished)
    scores = replace(result.scores, evidence=Evidence(result.scores.evidence.capital + 20))
    caught = replace(result, scores=scores)
    out = io.StringIO()
    tell(caught, Console(file=out, width=120), [])
    assert (caught.exit_status, "BEYOND THE BOUND" in out.getvalue()) == (1, True)
    assert "beyond the bound" in page_of(caught)


def test_truths_that_were_used_are_forgotten(finished: Run) -> None:
    truth = truth_of(finished)
    watch = SegmentsWatch((adversary_of(finished),), Facts(truth, use_up=True))
    for start in range(0, len(finished.released()), 50):
        watch.take(finished.released()[start : start + 50])
    assert not truth.by_id
    assert watch.parts[0].scores.right == watched(finished).watched.scores.right
