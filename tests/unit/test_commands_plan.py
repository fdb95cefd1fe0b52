"""`sottovoce plan`: what it answers, what it writes, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_house import change, make_house, run
from hypothesis import given
from hypothesis import strategies as st

from stream.names import EXIT_DONE, EXIT_FAILED, EXIT_REFUSED
from stream.planning.page import _scale
from stream.settings.load import load_settings

QUICK = (
    "--epsilon",
    1,
    "--epsilon",
    2,
    "--window",
    5,
    "--mechanism",
    "optimal",
    "--mechanism",
    "top_k_grr",
    "--order",
    "none",
    "--order",
    "bisect",
)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    return make_house(tmp_path)


def planned(*options: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("plan", *options, "--json").stdout)
    return found


def test_the_chosen_point_is_written_and_passes_validate(house: Path) -> None:
    written, told = house / "sottovoce.planned.yaml", house / "plan.html"
    options = ("--agreement", 0.6, "--delay", "2h", "--write", written, "--html", told)
    answer = run("plan", house / "c.yaml", *QUICK, *options)
    assert answer.exit_code == EXIT_DONE, answer.stderr
    assert "Chosen: " in answer.stdout and "The rule: " in answer.stdout
    assert run("validate", written).exit_code == EXIT_DONE
    given, made = load_settings(house / "c.yaml"), load_settings(written)
    assert made.policy_version == given.policy_version + 1
    assert (made.kafka, made.keys, made.model) == (given.kafka, given.keys, given.model)
    assert f"Chosen: {made.mechanism.name}" in answer.stdout
    assert str(made.mechanism.epsilon).rstrip("0").rstrip(".") in answer.stdout.split("Chosen: ")[1]
    assert run("plan", house / "c.yaml", *QUICK, *options).exit_code == EXIT_REFUSED, "files are not overwritten"


def test_the_page_needs_nothing_else_and_fits_a_phone_by_day_and_night(house: Path) -> None:
    told = house / "plan.html"
    assert run("plan", house / "c.yaml", *QUICK, "--agreement", 0.6, "--html", told).exit_code == EXIT_DONE
    page = told.read_text(encoding="utf-8")
    assert not re.findall(r"""(?:src|href|xlink:href|action)\s*=|url\(|@import|<script|<link|https?:|//[a-z]""", page)
    assert page.count("<svg") == page.count("</svg>") == 4
    assert 'name="viewport"' in page and "prefers-color-scheme: dark" in page
    assert 'class="chosen"' in page and 'class="best"' in page


def test_what_is_simulated_has_its_interval_in_the_drawings_and_what_is_exact_has_none(house: Path) -> None:
    one, told = ("--epsilon", 1, "--order", "none", "--mechanism", "optimal"), house / "plan.html"
    drawn = []
    for per_day in (96, 4):
        found = planned(house / "c.yaml", *one, "--events-per-day", per_day, "--html", told, "--replace")["points"]
        drawings = told.read_text(encoding="utf-8").split("<svg")[1:]
        lines = [re.findall(r'<line class="(?:dot|best|chosen)" .*? y1="(.*?)" y2="(.*?)"', each) for each in drawings]
        assert all(float(low) > float(high) for each in lines for low, high in each)
        wanted = sum(point["agreement_error"] > 0 for point in found)
        assert [len(each) for each in lines] == [wanted] * 4
        drawn.append(wanted)
    assert drawn[0] > drawn[1] == 0


@given(st.lists(st.just(0.0) | st.floats(1e-6, 1e9), max_size=6))
def test_an_axis_of_a_plan_holds_all_values_between_round_numbers(values: list[float]) -> None:
    low, high = _scale(values)
    assert low < high and all(low * (1 - 1e-12) <= value <= high * (1 + 1e-12) for value in values)
    step = (high - low) / 4
    assert float(f"{step:.2g}") == pytest.approx(step)
    if values and max(values) > 0:
        assert high - low <= 20 * (max(values) - low), "the values fill more than a corner"


def test_the_figures_fit_together(house: Path) -> None:
    found = planned(house / "c.yaml", *QUICK, "--leakage-per-day", 24, "--agreement", 0.3)
    assert found["ok"] and found["chosen"]["kept_per_day"] <= 24
    for point in found["points"]:
        assert point["mean_per_day"] <= point["worst_per_day"] + 1e-9
        assert point["notion"] in ("SIP 1", "SIP 2", "LDP 1", "LDP 2")
        assert point["delay_ms"] == 0 or point["candidate"]["order"] == "bisect"
        assert point["cost_us"] > 0
    best = [point for point in found["points"] if point["on_frontier"]]
    for point in best:
        tried = point["users"] * point["steps"]
        assert point["exact"] or point["agreement_error"] <= 0.01 or tried >= 40_000
    assert found["rule"].startswith("of the points that meet the target: the least")


def test_few_events_are_exact(house: Path) -> None:
    found = planned(house / "c.yaml", "--epsilon", 1, "--order", "none", "--events-per-day", 4)
    assert all("followed" in point["exact"] and point["agreement_error"] == 0 for point in found["points"])


def test_what_nothing_meets_is_answered_with_what_is_nearest(house: Path) -> None:
    written = house / "planned.yaml"
    answer = run("plan", house / "c.yaml", *QUICK, "--agreement", 0.99, "--leakage-per-day", 24, "--write", written)
    assert answer.exit_code == EXIT_FAILED
    assert "Nothing that was tried meets" in answer.stdout and "Nearest to being met" in answer.stdout
    assert "would meet --" in answer.stdout and not written.exists()
    missed = planned(house / "c.yaml", *QUICK, "--agreement", 0.999)["nearest"]
    assert (missed["name"], missed["others_kept"]) == ("agreement", True)
    again = ("--agreement", missed["best"] - 1e-6)
    assert run("plan", house / "c.yaml", *QUICK, *again).exit_code == EXIT_DONE


def test_a_model_alone_is_enough_to_plan_with(house: Path) -> None:
    found = planned("--model", house / "model.json", *QUICK)
    assert found["values"] == 3 and found["chosen"] is None and found["ok"]


def test_a_distance_is_planned_for(house: Path) -> None:
    (house / "far.json").write_text("[[0, 1, 4], [1, 0, 2], [4, 2, 0]]")
    change(house, "    path: $.activity", "    path: $.activity\n    distance: {table: far.json}")
    change(house, "name: optimal", "name: near")
    written = house / "planned.yaml"
    options = ("--mechanism", "near", *QUICK, "--order", "none", "--distance", 1.2, "--write", written)
    answer = run("plan", house / "c.yaml", *options)
    assert answer.exit_code == EXIT_DONE, answer.stdout + answer.stderr
    assert run("validate", written).exit_code == EXIT_DONE


@pytest.mark.parametrize(
    ("options", "where", "why"),
    [
        ((), "the model", "neither settings nor a model"),
        (("--model", "nowhere.json"), "nowhere.json", "No such file"),
        (("c.yaml", "--agreement", "-0.5"), "--agreement", "not negative"),
        (("c.yaml", "--agreement", "1.2"), "--agreement", "above 0 and at most 1"),
        (("c.yaml", "--leakage-per-day", "-1"), "--leakage-per-day", "not negative"),
        (("c.yaml", "--distance", "-1"), "--distance", "not negative"),
        (("c.yaml", "--distance", "1"), "--distance", "all errors count alike"),
        (("c.yaml", "--events-per-day", "-3"), "--events-per-day", "-3 is no number of events"),
        (("c.yaml", "--delay", "soon"), "--delay", "unit"),
        (("c.yaml", "--delay", "-5m"), "--delay", "unit"),
        (("c.yaml", "--delay", "5m", "--order", "none"), "--delay", "none of these is to be tried"),
        (("c.yaml", "--delay", "5m", "--order", "natural"), "--delay", "none of these is to be tried"),
        (("c.yaml", "--order", "sideways"), "--order", "sideways is not known"),
        (("c.yaml", "--epsilon", "0"), "--epsilon", "0 is not allowed"),
        (("c.yaml", "--window", "1"), "--window", "1 is not allowed"),
        (("c.yaml", "--mechanism", "magic"), "--mechanism", "magic is not known"),
        (("c.yaml", "--write", "p.yaml"), "--write", "nothing is asked for"),
        (("--model", "model.json", "--agreement", "0.5", "--write", "p.yaml"), "--write", "none are given"),
        (("c.yaml", "--mechanism", "published_crr", "--order", "none"), "the model", "no configuration"),
    ],
)
def test_wrong_input_is_refused_with_its_place_and_a_way_out(
    house: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], where: str, why: str
) -> None:
    monkeypatch.chdir(house)
    quick = () if "--epsilon" in options else ("--epsilon", "1")
    answer = run("plan", *options, *quick)
    assert answer.exit_code == EXIT_REFUSED, answer.stdout
    assert f"where: {where}" in answer.stderr and why in answer.stderr and "to put it right: " in answer.stderr
    assert "Traceback" not in answer.stderr and not (house / "p.yaml").exists()
