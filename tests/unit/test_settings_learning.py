"""A model that is learnt: what the settings may say of it, and what is refused beside it, where and why."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from settings_text import GOOD

from beliefs.alphabet import Bins, Categories, IntegerRange
from stream.errors import ConfigurationRefused
from stream.settings.declared import declared_model
from stream.settings.learning import MOST_VALUES
from stream.settings.load import parse_settings
from stream.settings.model import Settings
from stream.settings.schema import json_schema

LEARN = "model: {learn: {values: [still, walking]}}"


def text_of(model: str = LEARN, *changes: tuple[str, str]) -> str:
    text = GOOD.replace("model: model.json", model)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def settings_of(model: str = LEARN, *changes: tuple[str, str]) -> Settings:
    return parse_settings(text_of(model, *changes).encode(), Path("c.yaml"))


def test_values_may_be_declared_in_every_way_that_a_model_file_knows() -> None:
    learn = settings_of().model.learn
    assert learn is not None
    assert (learn.values, learn.doubt, learn.withheld) == (Categories(["still", "walking"]), 1e-6, 0.1)
    for values, alphabet in (
        ("{kind: categories, values: [a, b, c]}", Categories(["a", "b", "c"])),
        ("{kind: integers, low: -1, high: 4}", IntegerRange(-1, 4)),
        ("{kind: bins, low: 0, high: 10, cells: 5}", Bins(0, 10, 5)),
    ):
        found = settings_of(f"model: {{learn: {{values: {values}, doubt: 0.001, withheld: 0.2}}}}").model
        assert found.learn is not None and found.learn.values == alphabet
        assert (found.learn.doubt, found.learn.withheld, found.named) == (0.001, 0.2, ())


@pytest.mark.parametrize(
    ("model", "path", "told"),
    [
        ("{learn: {}}", "model.learn.values", "values, which is required"),
        ("{learn: {values: []}}", "model.learn.values", "2 to 64 values"),
        ("{learn: {values: [still]}}", "model.learn.values", "declare two values at least"),
        ("{learn: {values: [still, still]}}", "model.learn.values", "2 to 64 values"),
        ("{learn: {values: [1, 2]}}", "model.learn.values", "2 to 64 values"),
        ("{learn: {values: still}}", "model.learn.values", "2 to 64 values"),
        ("{learn: {values: {kind: integers, low: 0, high: 64}}}", "model.learn.values", "larger bins"),
        ("{learn: {values: {kind: dice}}}", "model.learn.values", "correct kind"),
        ("{learn: {values: [a, b], doubt: 0}}", "model.learn.doubt", "at least 1e-12"),
        ("{learn: {values: [a, b], withheld: 0.6}}", "model.learn.withheld", "at most 0.5"),
        ("{learn: {values: [a, b], hidden: 1}}", "model.learn.hidden", "the unknown name"),
        ("{file: a.json, learn: {values: [a, b]}}", "model", "both file and learn"),
        ("{learn: {values: [a, b]}, otherwise: b.json}", "model.otherwise", "beside one learnt model"),
        ("{learn: {values: [a, b]}, step: 10m}", "model.step", "pairs of releases say nothing about the time"),
        ("{learn: {values: [a, b]}, listed: 5}", "model.listed", "a learnt model has no tail"),
    ],
)
def test_what_is_wrong_about_it_is_said(model: str, path: str, told: str) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        settings_of(f"model: {model}")
    (problem,) = refused.value.problems
    assert problem.path == path
    assert told in str(problem)
    assert problem.fix


@pytest.mark.parametrize(
    ("old", "new", "path", "told"),
    [
        ("name: optimal", "name: marginal_preserving", "mechanism.name", "it is what releases go over to"),
        ("name: optimal", "name: top_k_grr", "mechanism.name", "before, top_k_grr is used"),
        ("epsilon: 1.0", "epsilon: 1.0\n  radius: 0.05", "mechanism.radius", "finds out by itself"),
        ("epsilon: 1.0", "epsilon: 1.0\n  chain_error: 0.01", "mechanism.chain_error", "model.learn.withheld says"),
        ("budget:", "window: {events: 3}\nbudget:", "window", "write it to a file with `sottovoce learnt`"),
        ("window: 1d", "window: 1d\n  when_spent: suppress", "budget.when_spent", "in which epoch a hidden event fell"),
        ("window: 1d", "window: 1d\n  when_spent: stop", "budget.when_spent", "forecast or forecast_draw"),
        ("budget:", "metrics: {accounts: 20}\nbudget:", "metrics.accounts", "write accounts: 0"),
    ],
)
def test_what_does_not_go_beside_it_is_refused(old: str, new: str, path: str, told: str) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        settings_of(LEARN, (old, new))
    (problem,) = refused.value.problems
    assert problem.path == path
    assert told in str(problem)


def test_the_schema_knows_it() -> None:
    validator = importlib.import_module("jsonschema").Draft202012Validator(json_schema())

    def wrong(model: str) -> list[Any]:
        loaded = importlib.import_module("ruamel.yaml").YAML(typ="safe", pure=True).load(text_of(f"model: {model}"))
        return list(validator.iter_errors(loaded))

    assert wrong("{learn: {values: [still, walking], doubt: 1.0e-6, withheld: 0.1}}") == []
    assert wrong("{learn: {values: {kind: integers, low: 0, high: 9}}}") == []
    for model in ("{learn: {values: [1, 2]}}", "{learn: {}}", "{learn: {values: [a, b]}, file: a.json}"):
        assert wrong(model), model


def test_whatever_decides_what_is_learnt_is_in_the_digest() -> None:
    """The control record bears it: beliefs that were learnt under other settings are refused."""
    models = [
        declared_model(settings)
        for settings in (
            settings_of(),
            settings_of("model: {learn: {values: [walking, still]}}"),
            settings_of("model: {learn: {values: [still, walking], doubt: 1.0e-5}}"),
            settings_of("model: {learn: {values: [still, walking], withheld: 0.2}}"),
            settings_of(LEARN, ("epsilon: 1.0", "epsilon: 1.5")),
        )
    ]
    digests = {model.digest for model in models if model is not None}
    assert len(digests) == len(models)
    assert MOST_VALUES == 64
