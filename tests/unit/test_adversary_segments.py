"""The adversary of a pipeline by segment: everybody is read by the model that his releases name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import audit_world
import numpy as np
import orjson
import pytest
from attack_help import Growing, adversary_of, attacked, models_of, truth_of
from audit_world import TOPIC_ID, Run, with_value
from segment_world import SIMPLE, UNLIKE, SegmentRun, remembering, run, sticky, text_of
from typer.testing import CliRunner

from beliefs.model_file import Model, serialise
from stream.adversary.attack import Task
from stream.adversary.facts import Facts, Naming
from stream.adversary.hindsight import beliefs_about
from stream.adversary.serve import Follower
from stream.adversary.watcher import SegmentsWatch
from stream.attack.bounds import interval_of
from stream.audit.book import USER
from stream.commands.adversary import readers_of
from stream.commands.app import app

KINDS: dict[str, dict[str, Any]] = {
    "alike": {"nats": "unlimited"},
    "unlike": {"given": UNLIKE, "nats": "unlimited"},
    "by the clock": {"given": UNLIKE, "step": "1s", "nats": "unlimited"},
    "suppress": {"given": UNLIKE, "when_spent": "suppress", "nats": 3},
    "nested": {"models": "by: $.where.room, files: {sensor: a.json, phone: b.json}, otherwise: c.json"}
    | {"public": "[$.battery, $.where.room]", "nested": True, "nats": "unlimited"},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("own", [None, sticky(0.9), remembering()], ids=["true", "sticky", "order 2"])
def test_everybody_is_followed_and_nobody_is_beyond_the_bound(kind: str, own: Model | None) -> None:
    finished = run(**KINDS[kind])
    result = attacked(finished, own, smooth=True)
    scores = result.scores
    assert (result.lost, result.unusable, len(result.keys)) == (0, 0, 24)
    assert scores.released == scores.scored == finished.outcomes["released"] > 60
    assert (scores.beyond, result.beyond_the_ledger) == (0, 0)
    assert result.stays_under_the_bound
    users, right, allowed = scores.one_each
    assert users == 24
    assert interval_of(right, users)[0] <= allowed
    assert scores.limits.reader == (1.0 if own is None else 2.0)
    assert result.hindsight is not None
    assert result.hindsight.released == scores.released


def test_each_user_is_read_by_the_model_that_his_releases_name() -> None:
    """Against the plain arithmetic, with the law of the user's own segment; no other law says the same."""
    finished = run(given=UNLIKE, nats="unlimited")
    readers = readers_of(finished.settings, models_of(finished))
    watch = SegmentsWatch(readers, Facts(truth_of(finished)), keeping=True)
    watch.take(finished.released())
    compared = 0
    for number, part in enumerate(watch.parts):
        events = np.concatenate(part.kept)
        named = {dict(one.headers)["model"] for one in finished.released() if one.key in part.keys}
        assert named == {readers[number].name}
        told = [beliefs_about(part.adversary, events[events[:, USER] == user]) for user in range(len(part.keys))]
        sure = sum(float(found[0].after.max(axis=1).sum()) for found in told if found is not None)
        assert part.scores.sure == pytest.approx(sure, abs=1e-6)
        compared += len(part.keys)
    assert compared == 12


def test_who_changes_the_model_that_a_record_names_is_left_out_from_there_on() -> None:
    finished = run(nats="unlimited")
    log = finished.released()
    names = sorted({dict(one.headers)["model"] for one in log})
    at = next(at for at, one in enumerate(log) if at > 200 and dict(one.headers)["model"] == names[0])
    headers = [(name, names[1] if name == "model" else value) for name, value in log[at].headers]
    log[at] = replace(log[at], headers=tuple(headers))
    result = attacked(finished)
    assert (result.lost, result.unusable, len(result.keys)) == (1, 1, 24)


def test_a_segment_that_shows_more_than_its_channel_allows_is_caught() -> None:
    finished = run(SIMPLE, events=6000, partitions=1, nats="unlimited")
    assert attacked(finished).exit_status == 0
    truth, log = truth_of(finished).by_id, finished.released()
    for place in range(0, len(log), 3):
        value = truth[bytes.fromhex(dict(log[place].headers)["release-id"].decode())]
        log[place] = with_value(log[place], f"act{value}")
    caught = attacked(finished)
    assert caught.scores.evidence.against_the_bound
    assert (caught.exit_status, caught.scores.beyond) == (1, 0)


async def test_following_finds_what_one_reading_finds() -> None:
    """Truths are forgotten once all segments of a block have asked for theirs."""
    finished = run(nats="unlimited")
    readers = readers_of(finished.settings, models_of(finished))
    naming = Naming(readers[0].public.fingerprint, TOPIC_ID.bytes)
    topics = Growing(finished, seen=400)
    follower = Follower(Task("phones", "phones.raw", readers, naming, raw_truth=True), topics)
    await follower.look()
    topics.seen = 5000
    result = await follower.look()
    assert result is not None
    wanted = attacked(finished).scores
    assert (result.scores.scored, result.scores.right) == (wanted.scored, wanted.right)
    assert wanted.scored == wanted.released > 1000


def exported(finished: Run) -> Iterator[dict[str, Any]]:
    for partition in range(2):
        for one in finished.released(partition):
            headers = {name: text.decode() for name, text in one.headers}
            value = orjson.loads(one.value or b"")
            line = {"key": (one.key or b"").decode(), "value": value, "headers": headers, "timestamp": one.timestamp}
            yield {**line, "partition": partition}


def test_the_command_reads_segments_and_one_wrong_model_is_believed_of_everybody(tmp_path: Path) -> None:
    models = (sticky(0.25), *SIMPLE[1:])
    finished: SegmentRun = run(models, nats="unlimited")
    (tmp_path / "s.yaml").write_text(text_of(nats="unlimited"))
    for name, model in zip(("b", "a", "c"), models, strict=True):
        (tmp_path / f"{name}.json").write_bytes(written(model))
    (tmp_path / "own.json").write_bytes(written(sticky(0.9)))
    (tmp_path / "released.jsonl").write_text("".join(json.dumps(line) + "\n" for line in exported(finished)))
    command = ["adversary", str(tmp_path / "s.yaml"), "--releases", str(tmp_path / "released.jsonl"), "--json"]
    for options, reader, nats in (([], "knows the model", 1.0), (["--model", str(tmp_path / "own.json")], "else", 2.0)):
        answer = CliRunner().invoke(app, [*command, *options])
        assert answer.exit_code == 0, answer.output
        found = json.loads(answer.output[answer.output.index("{") :])
        assert found["reader"].endswith(reader)
        assert found["bound"]["nats"] == nats
        assert found["events"]["released"] == finished.outcomes["released"]
        assert found["users"] == {"seen": 24, "not_followed": 0}


def written(model: Model) -> bytes:
    return serialise(model.alphabet, model.chain, {})


def test_one_model_for_everybody_is_one_reader() -> None:
    finished = audit_world.run(4, events=300, nats="unlimited")
    assert len(readers_of(finished.settings, models_of(finished))) == 1
    assert adversary_of(finished).name.startswith(b"1:")
