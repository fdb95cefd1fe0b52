"""Settings of budgets over any N events in a row: what is read, what is refused, and what changes with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from settings_text import GOOD

from stream.commands.explain import worst_per_day
from stream.errors import ConfigurationRefused
from stream.settings.kinds import Sliding
from stream.settings.load import parse_settings, policy_fingerprint
from stream.settings.model import Settings
from stream.settings.schema import json_schema

FILE = Path("sottovoce.yaml")


def settings_with(window: str) -> Settings:
    return parse_settings(GOOD.replace("window: 1d", f"window: {window}").encode(), FILE)


@pytest.mark.parametrize(
    ("window", "fragment"),
    [
        ("{events: 1}", "from 2 to 256"),
        ("{events: 257}", "from 2 to 256"),
        ("{events: 20.0}", "a whole number"),
        ("{events: true}", "a whole number"),
        ("{events: 20, time: 1d}", "and nothing else"),
        ("{}", "{events: 20}"),
        ("[20]", "for any 20 events in a row"),
    ],
)
def test_what_is_wrong_is_named_at_its_line(window: str, fragment: str) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        settings_with(window)
    (problem,) = refused.value.problems
    assert (problem.line, problem.path) == (20, "budget.window")
    assert fragment in f"{problem.allowed} {problem.fix}"


def test_a_window_of_events_is_read() -> None:
    budget = settings_with("{events: 20}").budget
    assert (budget.window, budget.sliding, budget.length) == (Sliding(20), 20, 0)
    assert (settings_with("1h").budget.sliding, settings_with("1h").budget.length) == (None, 3_600_000)
    assert (settings_with("forever").budget.sliding, settings_with("forever").budget.length) == (None, 0)


def test_the_policy_is_another_one_for_each_window_and_the_others_keep_theirs() -> None:
    kinds = ("forever", "1d", "{events: 20}", "{events: 21}")
    assert len({policy_fingerprint(settings_with(window), "model") for window in kinds}) == 4
    assert settings_with("{events: 20}").budget.model_dump()["window"] == {"events": 20}
    assert settings_with("1d").budget.model_dump()["window"] == 86_400_000


def test_the_schema_knows_it_and_says_what_it_does_not_bound() -> None:
    window = json_schema()["$defs"]["BudgetSettings"]["properties"]["window"]
    assert {"events"} in [set(branch.get("properties", {})) for branch in window["anyOf"]]
    assert window["default"] == "forever"
    assert "leakage about these events from outputs outside is not bounded by it" in window["description"]


def test_what_a_day_may_tell_is_what_stretches_of_events_cover_it() -> None:
    assert worst_per_day(5.0, Sliding(20), 1e9, 100) == 25.0
    assert worst_per_day(5.0, Sliding(20), 1e9, 101) == 30.0
    assert worst_per_day(5.0, Sliding(20), 3.0, 100) == 3.0
