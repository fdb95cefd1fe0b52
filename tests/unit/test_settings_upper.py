"""Settings of two_budget: what is read, what is refused, what its explanation says, and what changes with it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from settings_text import GOOD

from stream.commands.upwards import upward_lines
from stream.errors import ConfigurationRefused
from stream.settings.load import parse_settings, policy_fingerprint
from stream.settings.model import Settings

FILE = Path("sottovoce.yaml")


def settings_with(mechanism: str) -> Settings:
    usual = "mechanism:\n  name: optimal\n  epsilon: 1.0\n"
    assert usual in GOOD
    return parse_settings(GOOD.replace(usual, f"mechanism: {mechanism}\n").encode(), FILE)


def test_upper_is_read_and_is_part_of_the_policy() -> None:
    one, other = (settings_with(f"{{name: two_budget, epsilon: 1, upper: {upper}}}") for upper in (1, 3))
    assert (one.mechanism.upper, other.mechanism.upper) == (1.0, 3.0)
    assert policy_fingerprint(one, "model") != policy_fingerprint(other, "model")


def test_other_mechanisms_keep_their_fingerprint() -> None:
    chosen = settings_with("{name: optimal, epsilon: 1}")
    assert chosen.mechanism.upper is None
    assert policy_fingerprint(chosen, "model").hex() == "259685b0061edc56"


@pytest.mark.parametrize(
    ("mechanism", "place", "fragment"),
    [
        ("{name: two_budget, epsilon: 1}", "mechanism.upper", "two_budget without upper"),
        ("{name: two_budget, epsilon: 1, upper: 0.5}", "mechanism.upper", "below mechanism.epsilon"),
        ("{name: optimal, epsilon: 1, upper: 3}", "mechanism.upper", "upper beside optimal"),
        ("{name: two_budget, epsilon: 1, upper: 33}", "mechanism.upper", "33"),
        ("{name: two_budget, epsilon: 1, upper: .inf}", "mechanism.upper", "Infinity"),
        ("{name: two_budget, epsilon: 1, upper: 3, radius: 0.1}", "mechanism.radius", "proven for equal sides"),
        ("{name: two_budget, epsilon: 1, upper: 3}\nwindow: {events: 4}", "mechanism.name", "two_budget in windows"),
    ],
)
def test_what_does_not_go_together_is_refused(mechanism: str, place: str, fragment: str) -> None:
    with pytest.raises(ConfigurationRefused) as refused:
        settings_with(mechanism)
    (problem,) = refused.value.problems
    assert problem.path == place
    assert fragment in problem.found
    assert problem.fix


def test_the_explanation_tells_both_sides_and_what_holds_for_everybody() -> None:
    facts = {"upper": 3.0, "epsilon": 1.0, "factor": math.e, "worst_under_any_model": 4.0, "chain_error": 0.0}
    text = " ".join(upward_lines(facts))
    assert "more than 2.72 times less likely" in text
    assert "more than 20.1 times more likely" in text
    assert "54.6 times (4 nats, never more than epsilon + upper)" in text
