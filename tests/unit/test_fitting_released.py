"""A model from releases alone: whole pipelines run in memory, and what is learnt from their released topics."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import audit_world
import numpy as np
import orjson
import pytest
from audit_memory import START_MS, Kept
from audit_world import RELEASED, Run, model_of, settings_text
from command_house import run as command
from numpy.typing import NDArray

from beliefs.alphabet import Alphabet
from beliefs.chain import Chain
from beliefs.model_file import parse, serialise
from stream.errors import CannotFit
from stream.fitting.progress import Progress
from stream.fitting.released import FittedHidden, dense, fit_released, row_errors
from stream.fitting.released_report import released_figures, released_page, write_released
from stream.fitting.topic import Topic
from stream.names import EXIT_REFUSED

pytestmark = pytest.mark.timeout(400)  # the first of these compiles the release path and the auditor's
TRUE = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])
UNLIMITED: dict[str, Any] = {"nats": "unlimited", "window": "forever"}


def inputs(alphabet: Alphabet, events: int, users: int, partition: int) -> list[Kept]:
    """Users in turn, each following the true chain."""
    rng = np.random.default_rng(partition)
    values = rng.integers(0, 3, users)
    found = []
    for at in range(events):
        user = at % users
        values[user] = rng.choice(3, p=TRUE[values[user]])
        document = {"activity": alphabet.value_at(int(values[user])), "battery": 1}
        found.append(Kept(at, b"user-%d-%d" % (partition, user), orjson.dumps(document), START_MS + 100 * at))
    return found


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A finished run of users who follow the true chain, under a model that knows nothing of it."""
    monkeypatch.setattr(audit_world, "_inputs", inputs)
    flat = Chain.from_dense([1 / 3] * 3, [[1 / 3] * 3] * 3)
    model = parse(serialise(model_of(3).alphabet, flat, {}))

    def finished(mechanism: str, **changes: Any) -> Run:
        options = {"users": 400, "events": 12_000, "model": model, **UNLIMITED, **changes}
        return audit_world.run(3, mechanism=mechanism, **options)

    return finished


def learn(finished: Run) -> FittedHidden:
    return fit_released(finished.settings, finished.model, Topic(RELEASED, finished.topics), Progress(None))


def error(fitted: FittedHidden) -> NDArray[np.float64]:
    return np.asarray(np.abs(dense(fitted.model.chain) - TRUE).sum(axis=1) / 2)


@pytest.mark.parametrize("mechanism", ["randomised_response", "top_k_grr", "optimal", "marginal_preserving"])
def test_the_chain_behind_the_releases_is_found(pipeline: Any, mechanism: str) -> None:
    """The model in use is flat and wrong; what was released says so, whatever the mechanism."""
    fitted = learn(pipeline(mechanism, epsilon=2.0))
    assert error(fitted).max() < 0.1
    assert fitted.hidden.told > fitted.in_use + 0.01
    assert (fitted.gathered.users, fitted.gathered.left_out, fitted.gathered.events) == (400, 0, 12_000)
    assert parse(fitted.data).learnt_from["sample"] == "released"
    assert 0.2 < float(np.mean(error(fitted) / row_errors(fitted))) < 4.0


def test_forecasts_and_suppressed_events_tell_nothing_and_do_no_harm(pipeline: Any) -> None:
    spent = pipeline("randomised_response", epsilon=2.0, nats=20, window="forever")
    fitted = learn(spent)
    assert fitted.gathered.forecasts > 3_000
    assert error(fitted).max() < 0.15
    hidden = learn(pipeline("randomised_response", epsilon=2.0, nats=20, window="forever", when_spent="suppress"))
    assert hidden.gathered.events < 9_000 and hidden.gathered.forecasts == 0
    assert np.abs(dense(hidden.model.chain) - dense(fitted.model.chain)).max() < 0.02


def test_users_who_cannot_be_followed_are_left_out_and_counted(pipeline: Any) -> None:
    finished = pipeline("randomised_response", epsilon=2.0)
    log = finished.released()
    victims = {b"user-0-1", b"user-0-2"}
    gone = next(at for at, one in enumerate(log) if one.key == b"user-0-1")
    del log[gone]
    other = next(at for at, one in enumerate(log) if one.key == b"user-0-2")
    headers = tuple((name, b"9:00000000" if name == "policy" else value) for name, value in log[other].headers)
    log[other] = replace(log[other], headers=headers)
    fitted = learn(finished)
    assert (fitted.gathered.users, fitted.gathered.left_out) == (400 - len(victims), 2)
    finished.topics.logs[RELEASED][0] = log[:200]
    few = learn(finished)
    assert few.gathered.users > 16
    finished.topics.logs[RELEASED][0] = log[:10]
    with pytest.raises(CannotFit, match="at least 16 are needed"):
        learn(finished)


def test_the_report_the_page_and_the_figures(pipeline: Any) -> None:
    fitted = learn(pipeline("top_k_grr", epsilon=1.0))
    facts = released_figures(fitted)
    assert json.loads(json.dumps(facts))["mechanism"] == "top_k_grr"
    text = write_released(facts, ", written to m.json")
    for words in ("12,000 events of 400 users", "written to m.json", "tells nobody more than that", "after act0"):
        assert words in text
    assert "user-" not in text
    page = released_page(fitted, facts)
    assert page.count("<rect") == 9 and "act2" in page
    assert "the first records" in write_released(released_figures(replace(fitted, cut=True)), "")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"windows": "{events: 5}"}, "released in windows"),
        ({"step": "10s"}, "goes by the clock"),
    ],
)
def test_what_is_not_known_is_refused(pipeline: Any, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(CannotFit, match=words):
        learn(pipeline("optimal", events=100, **changes))


def test_releases_are_read_as_the_settings_say_and_in_no_other_way(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(settings_text(), encoding="utf-8")
    out = ("--out", tmp_path / "m.json", "--released")
    for arguments in (out, (tmp_path / "c.yaml", *out, "--order", "1"), (tmp_path / "c.yaml", *out, "--from", "topic")):
        told = command("fit", *arguments)
        assert told.exit_code == EXIT_REFUSED and "--released" in told.stderr
    told = command("fit", tmp_path / "c.yaml", *out)
    assert told.exit_code == EXIT_REFUSED and "model.json" in told.stderr
    told = command("fit", "--out", tmp_path / "m.json")
    assert told.exit_code == EXIT_REFUSED and "--from" in told.stderr
