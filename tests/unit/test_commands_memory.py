"""What the commands say of models with a longer memory and of models by the clock, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from context_models import law_of
from settings_text import GOOD
from typer.testing import CliRunner, Result

from beliefs.alphabet import Categories
from beliefs.chain import Chain, Row
from beliefs.contexts import Context, chain_of
from beliefs.model_file import serialise, serialise_contexts, serialise_phases
from mechanisms.sequence.window import shave_of
from stream import opening
from stream.clock_rows import rows_of, words_of
from stream.commands.app import app
from stream.commands.expectation import Promised, one_day, without_budget
from stream.commands.worker import control_of, pipelines_of
from stream.engine.topic_ids import TopicFacts
from stream.keys import new_ring
from stream.least_belief import least_belief
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.opening import Opened, open_pipeline
from stream.protocol.control import differences, may_change
from stream.protocol.inputs import InputBlock
from stream.protocol.ports import UserStore
from stream.state import CLOCK_HEAD_WORDS, HEAD_WORDS
from stream.stores.disk import DiskStore
from stream.stores.memory import MemoryStore

ALPHABET = Categories(["still", "walking", "running"])
LAWS: dict[Context, Row] = {
    (): law_of([0.5, 0.25, 0.25]),
    (1,): law_of([0.25, 0.5, 0.25]),
    (0, 2): law_of([0.125, 0.125, 0.75]),
}
START = np.array([0.5, 0.25, 0.25])
HOUR_MS = 3_600_000


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder with settings, keys and a model of order 2."""
    (tmp_path / "c.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "model.json").write_bytes(serialise_contexts(ALPHABET, 2, START, LAWS, {}))
    new_ring(tmp_path / "keys.json")
    return tmp_path


def with_clock(house: Path, step: str = "10m", more: str = "") -> Path:
    text = GOOD.replace("model: model.json", f"model: {{file: model.json, step: {step}{more}}}")
    (house / "c.yaml").write_text(text, encoding="utf-8")
    return house / "c.yaml"


def test_validate_says_order_contexts_and_clock(house: Path) -> None:
    told = run("validate", house / "c.yaml")
    assert told.exit_code == EXIT_DONE
    assert "(3 values, order 2, 3 contexts)" in told.stdout
    assert "(3 values, order 2, 3 contexts, a step each 10m)" in run("validate", with_clock(house)).stdout
    facts = json.loads(run("validate", house / "c.yaml", "--json").stdout)
    memory = {name: facts[name] for name in ("values", "order", "contexts", "states", "step_ms", "most_steps")}
    assert memory == {"values": 3, "order": 2, "contexts": 3, "states": 4, "step_ms": 600_000, "most_steps": 1000}


@pytest.mark.parametrize("step", ["event", "1h"])
def test_phases_are_told_and_refused_beside_windows(house: Path, step: str) -> None:
    (house / "model.json").write_bytes(serialise_phases(ALPHABET, 2, START, [LAWS, {**LAWS, (1,): LAWS[()]}], {}))
    path = with_clock(house, step)
    assert "order 2, 3 contexts, 2 phases" in run("validate", path).stdout
    told = " ".join(run("explain", path, "--events-per-day", 48).stdout.split())
    assert "is taken with the transitions of phase i modulo 2" in told
    assert ("counted from midnight of 1 January 1970" in told) == (step == "1h")
    path.write_text(path.read_text(encoding="utf-8") + "window: {events: 5}\n", encoding="utf-8")
    refused = run("validate", path)
    assert refused.exit_code == EXIT_REFUSED
    assert "windows beside a model of 2 phases" in " ".join(refused.stderr.split())


def test_validate_says_nothing_more_of_a_model_of_order_1(house: Path) -> None:
    chain = Chain.from_dense([0.5, 0.25, 0.25], [[0.5, 0.25, 0.25]] * 3)
    (house / "model.json").write_bytes(serialise(ALPHABET, chain, {}))
    assert "(3 values), key epoch" in run("validate", house / "c.yaml").stdout
    facts = json.loads(run("validate", house / "c.yaml", "--json").stdout)
    assert (facts["order"], facts["contexts"], facts["states"], facts["step_ms"]) == (1, 3, 3, None)


def words(result: Result) -> str:
    """What was said, however the lines were broken."""
    assert result.exit_code == EXIT_DONE, result.stderr
    return " ".join(result.stdout.split())


def test_explain_says_what_the_model_remembers(house: Path) -> None:
    told = words(run("explain", house / "c.yaml", "--events-per-day", 24))
    assert "the next value depends on the last 2 values (order 2)" in told
    assert "one of the 3 contexts that the model lists" in told
    assert "A belief has 4 states" in told
    assert "each event is one step of the model" in told
    by_clock = words(run("explain", with_clock(house, "1h", ", most: 48"), "--events-per-day", 24))
    assert "one step for each 1h of event time, so silence moves the belief on" in by_clock
    assert "more than 48 steps the belief is as after 48" in by_clock
    assert "each event is one step" not in by_clock


def figures(path: Path, events: int) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(run("explain", path, "--events-per-day", events, "--json").stdout)
    assert [facts[part].pop("distance") for part in ("single", "day")] == [None, None]
    return facts


def test_one_event_an_interval_is_explained_like_one_step_an_event(house: Path) -> None:
    one, other = figures(house / "c.yaml", 24), figures(with_clock(house, "1h"), 24)
    assert one["single"] == pytest.approx(other["single"], rel=1e-5)  # drift is not the same to the last unit
    assert one["day"] == pytest.approx(other["day"], rel=1e-5)
    assert figures(with_clock(house, "12h"), 24)["day"]["agreement"] != one["day"]["agreement"]


def test_the_expectation_follows_the_clock_of_the_settings(house: Path) -> None:
    """Seconds between steps and hours between events: thousands of steps, within the bound, and as fast."""
    sticky = Chain.from_dense(START, (0.9 * np.eye(3) + 0.1 / 3).tolist())
    (house / "model.json").write_bytes(serialise(ALPHABET, sticky, {}))
    opened = open_pipeline(with_clock(house, "1s", ", most: 10000"), {})
    policy, chain = opened.promise.policy, opened.model.chain
    rare, often = without_budget(Promised(policy), chain, HOUR_MS), without_budget(Promised(policy), chain, 1000)
    assert often.agreement > rare.agreement + 0.05
    assert one_day(Promised(policy), chain, 24).events == 24 * 4


def test_a_model_file_of_another_kind_is_refused_at_its_line(house: Path) -> None:
    text = (house / "model.json").read_text(encoding="utf-8").replace('"context": [0, 2]', '"context": [0, 3]')
    (house / "model.json").write_text(text, encoding="utf-8")
    refused = run("validate", house / "c.yaml")
    assert refused.exit_code == EXIT_REFUSED
    assert "c.yaml:14: model" in refused.stderr
    assert "contexts[2].context: entry 1 is no value" in " ".join(refused.stderr.split())


@pytest.mark.parametrize(("start", "chance"), [(0.5, 1e-130), (1e-130, 0.5)])
def test_a_probability_next_to_nothing_is_refused_beside_a_clock(house: Path, start: float, chance: float) -> None:
    chain = Chain.from_dense([start, 1 - start, 0.0], [[chance, 1 - chance, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    (house / "model.json").write_bytes(serialise(ALPHABET, chain, {}))
    assert run("validate", house / "c.yaml").exit_code == EXIT_DONE
    refused = run("validate", with_clock(house))
    assert refused.exit_code == EXIT_REFUSED
    assert "a probability of 1e-130" in " ".join(refused.stderr.split())
    assert "model.step" in refused.stderr
    path = house / "c.yaml"
    path.write_text(GOOD + "window: {events: 5}\n", encoding="utf-8")
    refused = run("validate", path)
    assert refused.exit_code == EXIT_REFUSED
    assert "windows with a model that holds a probability of 1e-130" in " ".join(refused.stderr.split())


def test_the_least_belief_of_contexts_is_the_least_chance_after_any_state() -> None:
    assert least_belief(chain_of(START, LAWS)) == 0.125
    assert least_belief(chain_of(np.array([1.0, 0.0, 0.0]), LAWS)) == 0.125
    assert least_belief(chain_of(np.array([0.9, 0.05, 0.05]), LAWS)) == 0.05
    assert least_belief(chain_of(START, LAWS | {(2, 2): law_of([0.5, 0.5, 0.0])})) == 0.0


def test_by_the_clock_there_is_no_least_belief(house: Path) -> None:
    """Two events in one step: what the first has told is not averaged out before the second."""
    chain = chain_of(START, LAWS)
    assert least_belief(chain, HOUR_MS) == 0.0
    published = GOOD.replace("optimal", "published_crr").replace("epsilon: 1.0", "epsilon: 2.5")
    (house / "c.yaml").write_text(published, encoding="utf-8")
    assert run("validate", house / "c.yaml").exit_code == EXIT_DONE
    clock = published.replace("model: model.json", "model: {file: model.json, step: 1h}")
    (house / "c.yaml").write_text(clock, encoding="utf-8")
    refused = run("validate", house / "c.yaml")
    assert refused.exit_code == EXIT_REFUSED
    assert "beliefs may fall to 0" in " ".join(refused.stderr.split())


def released(opened: Opened, folder: Path | None = None) -> tuple[UserStore, int]:
    """One block through the pipeline and the store that a worker would make."""
    codec = rows_of(opened.settings, opened.model.chain.size, opened.model.tag)
    store: UserStore = MemoryStore(codec) if folder is None else DiskStore(folder, codec, b"owner")
    pipeline = pipelines_of(opened, TopicFacts("phones.raw", UUID(int=1), 1, led=True))(0)
    inputs = InputBlock.of([_Record(i, 600_000 * i, b"u%d" % (i % 3), b'{"activity":"running"}') for i in range(30)])
    effects = pipeline.prepare(inputs, store)
    store.apply(effects.keys, effects.heads, effects.codes, 30, {})
    return store, len(effects.releases)


class _Record:
    """A raw record."""

    def __init__(self, offset: int, timestamp: int, key: bytes, value: bytes) -> None:
        self.offset, self.timestamp, self.key, self.value = offset, timestamp, key, value
        self.headers: tuple[tuple[str, bytes | None], ...] = ()


@pytest.mark.parametrize("folder", [None, "beliefs"], ids=["memory", "disk"])
@pytest.mark.parametrize("clock", [False, True])
def test_a_worker_keeps_a_state_of_each_context_and_the_clock(house: Path, clock: bool, folder: str | None) -> None:
    opened = open_pipeline(with_clock(house) if clock else house / "c.yaml", {})
    store, count = released(opened, None if folder is None else house / folder)
    assert count == 30
    heads, codes, known = store.load([b"u0", b"u1", b"u2", b"nobody"])
    assert known.tolist() == [True, True, True, False]
    assert heads.shape == (4, CLOCK_HEAD_WORDS if clock else HEAD_WORDS) == (4, words_of(opened.settings))
    assert codes.shape == (4, 4)
    if clock:
        assert heads[:3, -1].tolist() == [27, 28, 29]
    assert sum(len(piece) for piece in store.all_heads()) == 3
    store.close()
    codec = rows_of(opened.settings, opened.model.chain.size, opened.model.tag)
    rows = codec.to_rows(heads[:3], codes[:3])
    back_heads, back_codes, readable = codec.from_rows([*rows, b"\x02" + rows[0][1:]])
    assert readable.tolist() == [True, True, True, False]
    assert np.array_equal(back_heads[:3], heads[:3])
    assert np.array_equal(back_codes[:3], codes[:3])
    assert back_heads[3, 1] == -1 and not back_codes[3].any()


def test_rows_with_and_without_a_clock_are_not_taken_for_each_other(house: Path) -> None:
    plain = open_pipeline(house / "c.yaml", {})
    store, _ = released(plain)
    heads, codes, _ = store.load([b"u0"])
    row = rows_of(plain.settings, 4, plain.model.tag).to_rows(heads, codes)
    clock = open_pipeline(with_clock(house), {})
    assert rows_of(clock.settings, 4, clock.model.tag).from_rows(row)[2].tolist() == [False]
    assert clock.promise.policy_name != plain.promise.policy_name
    assert plain.promise.model_name == f"2:{plain.model.short}"
    assert clock.promise.model_name == f"2:{plain.model.short}/10m"


@pytest.mark.parametrize(("before", "after"), [(None, "10m"), ("10m", "20m"), ("10m", None)])
def test_beliefs_of_another_step_are_never_taken_over(house: Path, before: str | None, after: str | None) -> None:
    """With half the step a user's clock would read twice the time, and every event would be late for decades."""
    raw = TopicFacts("phones.raw", UUID(int=1), 1, led=True)
    opened = [open_pipeline(with_clock(house, step or "event"), {}) for step in (before, after)]
    found = differences(*(control_of(one, raw) for one in opened))
    assert {difference.field for difference in found} == {"policy", "model"}
    assert not may_change(found)


def test_another_bound_on_the_steps_may_take_over_once_nothing_waits(house: Path) -> None:
    raw = TopicFacts("phones.raw", UUID(int=1), 1, led=True)
    opened = [open_pipeline(with_clock(house, "10m", f", most: {most}"), {}) for most in (5, 6)]
    found = differences(*(control_of(one, raw) for one in opened))
    assert {difference.field for difference in found} == {"policy"}
    assert may_change(found)


@pytest.mark.parametrize("clock", ["event", "10m"])
@pytest.mark.parametrize("order", ["bisect", "natural"])
def test_windows_beside_a_longer_memory_are_explained(house: Path, clock: str, order: str) -> None:
    with_clock(house, clock)
    text = (house / "c.yaml").read_text(encoding="utf-8")
    (house / "c.yaml").write_text(f"{text}window: {{events: 5, order: {order}}}\n", encoding="utf-8")
    assert run("validate", house / "c.yaml").exit_code == EXIT_DONE
    explained = run("explain", house / "c.yaml", "--events-per-day", 24)
    assert explained.exit_code == EXIT_DONE
    assert "one window makes no sequence of its values" in " ".join(explained.stdout.split())


@pytest.mark.parametrize(("clock", "kind"), [("event", "of order"), ("10m", "by the clock")])
def test_whole_windows_beside_a_longer_memory_are_refused(house: Path, clock: str, kind: str) -> None:
    with_clock(house, clock)
    text = (house / "c.yaml").read_text(encoding="utf-8")
    (house / "c.yaml").write_text(f"{text}window: {{events: 2, order: dual}}\n", encoding="utf-8")
    refused = run("validate", house / "c.yaml")
    assert refused.exit_code == EXIT_REFUSED
    assert f"dual beside a model {kind}" in " ".join(refused.stderr.split())


def test_windows_over_too_many_steps_are_refused(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 65,536 states and 10,000 steps between two values; here the limit is brought to a smaller model."""
    assert shave_of(64, 65_536, 2.0, 10_000) > opening._MOST_LEAN > shave_of(64, 20_000, 2.0, 10_000)
    monkeypatch.setattr(opening, "_MOST_LEAN", 2.0**-22)
    with_clock(house, "10m", ", most: 10000")
    text = (house / "c.yaml").read_text(encoding="utf-8")
    (house / "c.yaml").write_text(f"{text}window: {{events: 64}}\n", encoding="utf-8")
    refused = run("validate", house / "c.yaml")
    assert refused.exit_code == EXIT_REFUSED
    told = " ".join(refused.stderr.split())
    assert "and up to 10000 steps between two events" in told
    assert "choose a smaller most beside model.step" in told
