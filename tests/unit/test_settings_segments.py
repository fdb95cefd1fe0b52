"""Several models by a public field: what the settings may say of them, and what is refused, where and why."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from settings_text import GOOD

from stream.errors import ConfigurationRefused
from stream.settings.load import parse_settings, policy_fingerprint
from stream.settings.models import MOST_FILES
from stream.settings.schema import json_schema
from stream.settings.segments import assignment, short_of

PUBLIC = GOOD.replace("[$.battery]", "[$.battery, $.device]")
RIGHT = "model: {by: $.device, files: {sensor: a.json, phone: b.json}, otherwise: c.json, step: 10m}"


def text_of(model: str, text: str = PUBLIC) -> str:
    return text.replace("model: model.json", model)


def test_each_value_of_a_public_field_may_have_a_model_of_its_own() -> None:
    settings = parse_settings(text_of(RIGHT).encode(), Path("conf/c.yaml")).model
    folder = Path("conf").absolute()
    assert [(named.file, named.place, named.words) for named in settings.named] == [
        (str(folder / "b.json"), ("model", "files", "phone"), "the model of $.device phone"),
        (str(folder / "a.json"), ("model", "files", "sensor"), "the model of $.device sensor"),
        (str(folder / "c.json"), ("model", "otherwise"), "the model of every other $.device"),
    ]
    assert (settings.file, str(settings.by), settings.step) == (None, "$.device", 600_000)


def test_one_model_for_everybody_is_named_as_before() -> None:
    for model in ("model: model.json", "model: {file: model.json}"):
        settings = parse_settings(text_of(model).encode(), Path("c.yaml")).model
        assert [(named.place, named.words) for named in settings.named] == [(("model",), "")]


def test_names_are_the_texts_of_the_file() -> None:
    model = "model: {by: $.device, files: {7: a.json, true: b.json, 1.50: c.json, '': d.json}}"
    files = parse_settings(text_of(model).encode(), Path("c.yaml")).model.files
    assert sorted(files or ()) == ["", "1.50", "7", "true"]


FILES = "files: {sensor: a.json}"
MANY = ", ".join(f"n{i}: a.json" for i in range(MOST_FILES + 1))
WRONG = [
    ("{by: $.device, file: a.json, files: {sensor: a.json}}", "model", "both file and files", "exactly one of"),
    ("{by: $.device}", "model", "neither file nor files", "exactly one of file, files and learn"),
    ("{by: $.device, otherwise: a.json}", "model", "neither file nor files", "exactly one of file, files and learn"),
    ("{file: a.json, by: $.device}", "model.by", "by beside one file", "remove by"),
    ("{file: a.json, otherwise: b.json}", "model.otherwise", "otherwise beside one file", "remove otherwise"),
    ("{files: {sensor: a.json}}", "model.files", "files without by", "one of record.public"),
    (f"{{by: $.model, {FILES}}}", "model.by", "$.model, which is not public", "$.battery, $.device"),
    (f"{{by: $.activity, {FILES}}}", "model.by", "$.activity, which is not public", "add $.activity to record.public"),
    (f"{{by: $.device.kind, {FILES}}}", "model.by", "$.device.kind, which is not public", "must see which model"),
    (f"{{by: device, {FILES}}}", "model.by", '"device"', "a path starts with $"),
    ("{by: $.device, files: {}}", "model.files", "an empty section", "each with its model file"),
    ("{by: $.device, files: [a.json]}", "model.files", '["a.json"]', "each with its model file"),
    ("{by: $.device, files: a.json}", "model.files", '"a.json"', "a file for each value of the field"),
    ("{by: $.device, files: {sensor: 7}}", "model.files", "sensor", "name a model file for sensor"),
    ("{by: $.device, files: {sensor: ''}}", "model.files", "sensor", "name a model file for sensor"),
    ("{by: $.device, files: {sensor: }}", "model.files", "sensor", "name a model file for sensor"),
    (f"{{by: $.device, files: {{{'n' * 256}: a.json}}}}", "model.files", "section with n", "shorten the value to 255"),
    (f"{{by: $.device, files: {{{MANY}}}}}", "model.files", "section with n0", "at most 64"),
    (f"{{by: $.device, {FILES}, otherwise: 7}}", "model.otherwise", "7", "put the value in quotes"),
    (f"{{by: $.device, {FILES}, otherwsie: a.json}}", "model.otherwsie", "unknown name", "did you mean otherwise?"),
]


@pytest.mark.parametrize(("model", "path", "found", "told"), WRONG, ids=[case[0][:60] for case in WRONG])
def test_what_does_not_fit_together_is_refused(model: str, path: str, found: str, told: str) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        parse_settings(text_of(f"model: {model}").encode(), Path("c.yaml"))
    (problem,) = refused.value.problems
    assert (problem.path, problem.line) == (path, 14)
    assert found in problem.found
    assert told in str(problem)
    assert problem.fix


def test_without_any_public_field_there_is_nothing_to_go_by() -> None:
    text = text_of("model: {by: $.device, files: {sensor: a.json}}", GOOD.replace("[$.battery]", "[]"))
    with pytest.raises(ConfigurationRefused, match="none is declared"):
        parse_settings(text.encode(), Path("c.yaml"))


def test_the_schema_knows_both_ways_to_name_models() -> None:
    validator = importlib.import_module("jsonschema").Draft202012Validator(json_schema())

    def plain(text: str) -> Any:
        return importlib.import_module("ruamel.yaml").YAML(typ="safe", pure=True).load(text)

    assert [error.message for error in validator.iter_errors(plain(text_of(RIGHT)))] == []
    for model in ("{by: $.device}", "{file: a.json, files: {s: b.json}}", "{by: $.device, files: {s: 7}}"):
        assert list(validator.iter_errors(plain(text_of(f"model: {model}")))), model


def fingerprint(files: dict[str, str], otherwise: str | None = "c", model: str = RIGHT) -> str:
    settings = parse_settings(text_of(model).encode(), Path("c.yaml"))
    assert settings.model.by is not None
    return policy_fingerprint(settings, assignment(settings.model.by, files, otherwise)).hex()


def test_the_fingerprint_is_that_of_who_is_served_by_which_model() -> None:
    ours = fingerprint({"sensor": "a", "phone": "b"})
    assert ours == fingerprint({"phone": "b", "sensor": "a"})
    elsewhere = RIGHT.replace("a.json", "elsewhere/a.json")
    assert ours == fingerprint({"sensor": "a", "phone": "b"}, model=elsewhere)
    others = [
        fingerprint({"sensor": "b", "phone": "a"}),
        fingerprint({"sensor": "a", "phone": "b"}, None),
        fingerprint({"sensor": "a", "phone": "b"}, "a"),
        fingerprint({"sensor": "a"}),
        fingerprint({"sensor": "a", "phone": "b"}, model=RIGHT.replace("$.device", "$.battery")),
        policy_fingerprint(parse_settings(text_of(RIGHT).encode(), Path("c.yaml")), "a").hex(),
    ]
    assert len({ours, *others}) == 7


def test_the_short_name_of_an_assignment_is_that_of_its_content_and_of_the_models_names() -> None:
    settings = parse_settings(text_of(RIGHT).encode(), Path("c.yaml")).model
    assert settings.by is not None
    one = assignment(settings.by, {"a": "1", "b": "2"}, None)
    assert one == {"by": "$.device", "files": {"a": "1", "b": "2"}, "otherwise": None}
    assert short_of(one, {"1": ""}) == short_of(json.loads(json.dumps(one)), {"1": ""})
    assert short_of(one, {"1": ""}) != short_of(one, {"1": "/10m"})
    assert len(short_of(one, {})) == 8
