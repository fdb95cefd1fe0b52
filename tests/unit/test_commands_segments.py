"""`validate` and `explain` on a pipeline by segment: each model is checked, and it is said which one serves whom."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from command_house import STICKY, change, make_house, run
from segment_world import sticky

from beliefs import model_file
from beliefs.alphabet import Alphabet, Categories
from beliefs.chain import Chain
from stream.commands.worker import bytes_of_a_row, control_of, pipelines_of
from stream.engine.topic_ids import TopicFacts
from stream.errors import ConfigurationRefused, Problem
from stream.names import EXIT_DONE, EXIT_REFUSED
from stream.opening import open_pipeline
from stream.serving import apart, load_servings, servings_of
from stream.settings.models import ModelSettings, NamedFile

FILES = "{by: $.device, files: {sensor: model.json, phone: phone.json}, otherwise: other.json}"
VALUES = ("still", "walking", "running")


def written(alphabet: Alphabet, chain: Chain, note: str = "") -> bytes:
    return model_file.serialise(alphabet, chain, {"note": note})


def flat(size: int) -> Chain:
    return Chain.from_dense([1 / size] * size, [[1 / size] * size] * size)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    folder = make_house(tmp_path)
    change(folder, "[$.battery]", "[$.battery, $.device]")
    change(folder, "model: model.json", f"model: {FILES}")
    everything = np.arange(3)
    third = np.array([0.5, 0.25, 0.25])
    laws = {(): (everything, third), (0, 1): (everything, third[::-1].copy())}
    phone = model_file.serialise_contexts(Categories(VALUES), 2, third, laws, {})
    (folder / "phone.json").write_bytes(phone)
    (folder / "other.json").write_bytes((folder / "model.json").read_bytes())
    return folder


def told_by(command: str, house: Path, *options: object) -> str:
    answer = run(command, house / "c.yaml", *options)
    assert answer.exit_code == EXIT_DONE, answer.stderr
    return " ".join(answer.stdout.split())


def problems_of(house: Path) -> list[Problem]:
    with pytest.raises(ConfigurationRefused) as refused:
        open_pipeline(house / "c.yaml", {})
    return list(refused.value.problems)


def test_validate_says_which_model_serves_whom(house: Path) -> None:
    opened = open_pipeline(house / "c.yaml", {})
    short, phone = opened.servings[1].model.short, opened.servings[0].model.short
    told = told_by("validate", house)
    assert f"model segments@{opened.promise.beliefs_name[-8:]} (3 values)" in told
    assert f"Users whose first $.device is sensor and all others: model {short}, order 1." in told
    assert f"Users whose first $.device is phone: model {phone}, order 2, 2 contexts." in told
    facts = json.loads(run("validate", house / "c.yaml", "--json").stdout)
    whom = [(each["names"], each["others"], each["model"]) for each in facts["segments"]]
    assert whom == [(["phone"], False, phone), (["sensor"], True, short)]
    assert "order" not in facts


def test_explain_says_the_bounds_of_each_model(house: Path) -> None:
    facts = json.loads(run("explain", house / "c.yaml", "--json", "--events-per-day", 5).stdout)
    alone = {}
    for name, file in (("phone", "phone.json"), ("sensor", "model.json")):
        text = (house / "c.yaml").read_text(encoding="utf-8")
        (house / "alone.yaml").write_text(text.replace(FILES, file), encoding="utf-8")
        alone[name] = json.loads(run("explain", house / "alone.yaml", "--json", "--events-per-day", 5).stdout)
    assert [each["names"] for each in facts["segments"]] == [["phone"], ["sensor"]]
    for each in facts["segments"]:
        wanted = alone[each["names"][0]]
        for what in ("model", "order", "states", "single", "day", "references", "worst_per_event", "worst_per_day"):
            assert each[what] == wanted[what], what
    assert facts["worst_per_event"] == 1.0
    assert facts["segments_by"] == "$.device"
    told = told_by("explain", house, "--events-per-day", 5)
    for text in (
        "Which model serves whom",
        "users whose first $.device is sensor and all others: model",
        "one release tells at most 1 nats",
        "Users whose first $.device is phone: model",
        "segment_changed",
        "whoever reads the releases knows which model serves whom",
        "(order 2)",
        "(order 1)",
    ):
        assert text in told, text
    assert told.count("What to expect") == told.count("What is promised for one event") == 2


def test_explain_says_what_becomes_of_events_of_no_segment(house: Path) -> None:
    change(house, ", otherwise: other.json", "")
    told = told_by("explain", house, "--events-per-day", 5)
    assert "an event without one of these in $.device becomes a dead letter with the reason unknown_segment" in told


def test_the_worst_of_all_segments_is_named(house: Path) -> None:
    change(house, "name: optimal", "name: published_crr\n  accept_unbounded: true")
    facts = json.loads(run("explain", house / "c.yaml", "--json", "--events-per-day", 5).stdout)
    each = [segment["worst_per_event"] for segment in facts["segments"]]
    assert each[0] != each[1]
    assert facts["worst_per_event"] == max(each)


def test_a_model_that_cannot_be_used_is_named_with_its_segment(house: Path) -> None:
    (house / "phone.json").write_bytes(b"{}")
    (house / "other.json").unlink()
    first, second = problems_of(house)
    assert (first.path, first.line) == ("model.files.phone", 14)
    assert first.found.startswith(f"the model of $.device phone: {house / 'phone.json'}")
    assert second.path == "model.otherwise"
    assert second.found.startswith(f"the model of every other $.device: {house / 'other.json'}: No such file")


def test_each_model_is_checked_like_a_single_one(house: Path) -> None:
    change(house, "name: optimal", "name: published_crr")
    problems = problems_of(house)
    assert [problem.path for problem in problems] == ["mechanism.name"] * 2
    for problem, words in zip(problems, ("$.device phone", "$.device sensor"), strict=True):
        assert problem.found.startswith(f"the model of {words} (")
        assert "beliefs may fall to" in problem.found
    change(house, "name: published_crr", "name: optimal")
    change(house, "budget:", "window: {events: 3, order: dual}\nbudget:")
    found = [problem.found for problem in problems_of(house) if "dual beside a model of order 2" in problem.found]
    assert found and all(f"({house / 'phone.json'})" in each for each in found)
    change(house, "otherwise: other.json", "otherwise: other.json, listed: 2")
    assert {problem.path for problem in problems_of(house)} >= {"model.listed"}


@pytest.mark.parametrize(
    ("alphabet", "chain"),
    [
        (Categories(["still", "running", "walking"]), STICKY),
        (Categories(["still", "walking"]), flat(2)),
        (Categories([*VALUES, "cycling"]), flat(4)),
    ],
    ids=["another order", "one less", "one more"],
)
def test_models_with_other_values_are_refused(house: Path, alphabet: Categories, chain: Chain) -> None:
    (house / "other.json").write_bytes(written(alphabet, chain))
    (problem,) = problems_of(house)
    assert problem.path == "model.otherwise"
    assert problem.found.startswith(f"the model of every other $.device, {house / 'other.json'}: other values than")
    assert "the same values in the same order" in problem.fix


def test_models_whose_rows_could_not_be_told_apart_are_refused() -> None:
    one, two = sticky(0.5), sticky(0.8)
    twin = replace(two, digest=one.digest[:8] + two.digest[8:])
    names = [NamedFile(f"{name}.json", ("model", "files", name), f"the model of $.device {name}") for name in "ab"]

    def found(place: tuple[str, ...], what: str, allowed: str, fix: str) -> Problem:
        return Problem("c.yaml", 1, ".".join(place), what, allowed, fix)

    (problem,) = apart(servings_of(zip(names, (one, twin), strict=True)), found)
    assert (problem.path, problem.fix[:10]) == ("model.files.b", "write some")
    assert one.short in problem.found
    assert apart(servings_of(zip(names, (one, two), strict=True)), found) == []
    assert load_servings(ModelSettings(file=None), found, []) == ()


def test_a_worker_has_one_pipeline_for_all_models(house: Path) -> None:
    opened = open_pipeline(house / "c.yaml", {})
    raw = TopicFacts("raw", UUID(int=7), 2, led=True)
    assert control_of(opened, raw).model == opened.promise.beliefs_name
    assert bytes_of_a_row(opened) == 64 + 4 * max(serving.model.chain.size for serving in opened.servings)
    assert len(opened.promise.served) == 2
    assert pipelines_of(opened, raw)(1).deadlines is None


def test_a_field_that_is_not_public_is_refused_where_it_stands(house: Path) -> None:
    change(house, "[$.battery, $.device]", "[$.battery]")
    answer = run("validate", house / "c.yaml")
    assert answer.exit_code == EXIT_REFUSED
    assert "c.yaml:14: model.by" in answer.stderr
