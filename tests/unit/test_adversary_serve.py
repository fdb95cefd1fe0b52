"""The adversary's metrics beside a pipeline: sums over all users, nothing below the floor, on loopback."""

from __future__ import annotations

import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from attack_help import Growing, adversary_of, attacked, truth_of
from audit_world import TOPIC_ID, Run, run

from stream.adversary.attack import Task
from stream.adversary.facts import Naming, read_facts
from stream.adversary.serve import WHAT, Follower, exposition, follow
from stream.errors import CannotAudit, Refused
from stream.exposition import Page


@pytest.fixture(scope="module")
def finished() -> Run:
    return run(4, events=900, users=12, nats="unlimited", partitions=2)


def test_metrics_show_no_small_groups(finished: Run) -> None:
    result = attacked(finished)
    shown, hidden = exposition(result, 5), exposition(result, 25)
    assert 'sottovoce_adversary_guess_ratio{knows="releases"}' in shown
    assert 'sottovoce_adversary_user_furthest_nats{quantile="p50"}' in shown
    assert 'quantile="p99"' not in shown
    assert "guess_ratio" not in hidden and "furthest" not in hidden
    assert "sottovoce_adversary_users 0.0" in hidden
    assert "sottovoce_adversary_up 1.0" in exposition(None, 1)


def test_the_page_is_served_on_loopback_and_nothing_else_is() -> None:
    with Page("127.0.0.1", 0, WHAT, "") as page:
        page.show("sottovoce_adversary_up 1.0\n")
        with urllib.request.urlopen(f"http://127.0.0.1:{page.port}/metrics") as answer:
            assert answer.read() == b"sottovoce_adversary_up 1.0\n"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{page.port}/")
        with pytest.raises(Exception, match="cannot be served"):
            Page("127.0.0.1", page.port, WHAT, "")
    with pytest.raises(Refused, match="cannot be served"):
        Page("example", 0, WHAT, "")


def raw_task(finished: Run) -> Task:
    reader = adversary_of(finished)
    return Task("phones", "phones.raw", (reader,), Naming(reader.public.fingerprint, TOPIC_ID.bytes), raw_truth=True)


async def test_following_finds_what_one_reading_finds_though_looks_break_off(
    finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = Growing(finished, seen=200, breaks=[9, 2, 6])
    follower = Follower(raw_task(finished), topics)
    shown: list[str] = []
    with Page("127.0.0.1", 0, WHAT, "") as page:
        monkeypatch.setattr(page, "show", shown.append)

        def going() -> bool:
            topics.seen += 150
            return topics.seen < 1400

        await follow(follower, page, floor=1, every=0.0, going=going)
    result = await follower.look()
    assert result is not None
    wanted = attacked(finished).scores
    assert result.scores.scored == wanted.scored == wanted.released
    assert (result.scores.right, result.scores.beyond) == (wanted.right, 0)
    assert result.scores.allowed == pytest.approx(wanted.allowed)
    ups = ["adversary_up 1.0" in text for text in shown]
    assert ups.count(False) == 3
    assert ups[0] and ups[-1]


async def test_a_first_look_that_fails_is_refused(finished: Run) -> None:
    with Page("127.0.0.1", 0, WHAT, "") as page, pytest.raises(CannotAudit, match="did not answer"):
        await follow(Follower(raw_task(finished), Growing(finished, seen=200, breaks=[0])), page, floor=1)
    task = raw_task(finished)
    unnamed = replace(task, naming=Naming(task.naming.fingerprint, None))
    with pytest.raises(CannotAudit, match="cannot be matched"):
        await Follower(unnamed, Growing(finished, seen=200)).look()


def test_facts_by_offset_are_facts_by_release_id(finished: Run, tmp_path: Path) -> None:
    file, naming = tmp_path / "facts.jsonl", Naming(finished.task().public.fingerprint, TOPIC_ID.bytes)
    alphabet = finished.model.alphabet
    lines = [f'{{"partition": 0, "offset": {at}, "value": "act2"}}' for at in (0, 7)]
    file.write_text("\n".join(lines))
    found = read_facts(file, "--knows", alphabet, naming)
    assert len(found) == 2
    assert set(found.by_id) < set(truth_of(finished).by_id)
    file.write_text('{"partition": 0, "offset": -1, "value": "act2"}')
    with pytest.raises(CannotAudit, match="cannot be used"):
        read_facts(file, "--knows", alphabet, naming)
