"""Plans for aggregates: the least epsilons for wanted widths, the largest that a target pays for, and their table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from aggregate_world import JOB, PACE, PEOPLE, STEPS, aggregate_house, aggregate_text, opened_aggregates
from command_house import run

from beliefs.laws.law_file import LawFile, serialise
from beliefs.laws.table import TableLaw
from stream.errors import CannotPlan
from stream.names import EXIT_DONE, EXIT_FAILED, EXIT_REFUSED
from stream.planning.aggregates import FACTORS, AggregatePlans, rounded_down, rounded_up

HOUR = "window: 1h\nfrom: 2026-01-01T00:00:00Z"
DAY = "target: {nats: 24, windows: 24}"


def plans(
    folder: Path, *queries: str, target: str = DAY, more: str = "dependence: {users: independent}"
) -> AggregatePlans:
    text = aggregate_text(*queries or (PEOPLE, PACE), times=HOUR, target=target, more=more)
    return AggregatePlans(opened_aggregates(folder, text), users=2_000)


def test_scaled_epsilons_change_noise_and_what_is_told_alike(tmp_path: Path) -> None:
    found = list(plans(tmp_path).scaled())
    assert [each.title for each in found] == ["x 1/4", "x 1/2", "as declared", "x 2", "x 4"]
    for factor, each in zip(FACTORS, found, strict=True):
        assert [one.epsilon for one in each.queries] == pytest.approx([0.2 * factor, 0.4 * factor])
        assert each.queries[0].scale == pytest.approx(5 / factor)
        assert each.told["independent"] == pytest.approx((0.6 * factor, 24 * 0.6 * factor))
        assert each.told["groups of 4"] == pytest.approx((2.4 * factor, 96 * 0.6 * factor))
    assert [each.fit for each in found] == [24, 24, 24, 20, 10]
    widths = [each.queries[1].within or 0.0 for each in found]
    assert widths == sorted(widths, reverse=True)


def test_factors_that_leave_the_limits_are_left_out(tmp_path: Path) -> None:
    found = plans(tmp_path, PEOPLE.replace("0.2", "9"), target="target: {nats: 999, windows: 2}").scaled()
    assert [each.title for each in found] == ["x 1/4", "x 1/2", "as declared", "x 2"]


def test_the_target_pays_for_every_window_of_what_fits_and_for_no_more(tmp_path: Path) -> None:
    for target in (DAY, "target: {nats: 3, windows: 24}"):
        mine = plans(tmp_path, target=target)
        found = mine.fitting()
        assert found is not None
        assert found.fit == 24
        allowed = mine.promise.target
        assert allowed is not None
        told = found.told["independent"][1] * 2**40
        assert allowed * 0.999 < told <= allowed
        ratio = [one.epsilon for one in found.queries]
        assert ratio[1] == pytest.approx(2 * ratio[0], rel=1e-3)
    assert plans(tmp_path, target="target: {nats: unlimited, windows: 24}").fitting() is None


def test_wanted_widths_take_the_least_epsilons(tmp_path: Path) -> None:
    mine = plans(tmp_path, PEOPLE, STEPS, PACE, JOB)
    widths = {"people": 20.0, "steps": 250.0, "pace": 0.5, "job": 31.0}
    found = mine.wanted(widths)
    for one in found.queries:
        assert one.within is not None
        assert one.within <= widths[one.name]
        (less,) = [
            each
            for each in mine._outlook("less", {**mine_epsilons(mine), one.name: one.epsilon * 0.97}).queries
            if each.name == one.name
        ]
        assert less.within is None or less.within > widths[one.name], one.name
    alone = mine.wanted({"people": 20.0})
    assert [one.epsilon for one in alone.queries][1:] == pytest.approx([0.3, 0.4, 0.2])


def mine_epsilons(mine: AggregatePlans) -> dict[str, float]:
    return {name: each.epsilon for name, each in mine.declared.items()}


def test_what_no_epsilon_brings_near_enough_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotPlan, match="no epsilon up to 32"):
        plans(tmp_path).wanted({"pace": 1e-9})
    with pytest.raises(CannotPlan, match="there is none"):
        plans(tmp_path).wanted({"nobody": 1.0})


def test_a_law_stands_beside_independent_users_and_groups(tmp_path: Path) -> None:
    bits = np.array([0.0, 1.0])
    (tmp_path / "law.json").write_bytes(
        serialise(LawFile(TableLaw(np.array([[0.45, 0.05], [0.05, 0.45]]), (bits, bits))))
    )
    found = list(plans(tmp_path, more="dependence: {users: {law: law.json}, windows: fresh}").scaled())
    assert list(found[0].told) == ["independent", "groups of 2", "by the law"]
    for each in found:
        alone, law, group = (each.told[name][0] for name in ("independent", "by the law", "groups of 2"))
        assert alone < law < group


def test_the_plan_is_printed_and_says_what_is_wanted(tmp_path: Path) -> None:
    file = str(aggregate_house(tmp_path, aggregate_text(PEOPLE, PACE, times=HOUR, target=DAY)))
    told = run("plan", file)
    assert (told.exit_code, told.stderr) == (EXIT_DONE, "")
    for words in (
        "as declared",
        "every window fits",
        "groups of 4: one",
        "24 windows in a row (1d)",
        "over 1,000 users",
    ):
        assert words in told.stdout
    near = run("plan", file, "--within", "people=40", "--within", "pace=1", "--users", "2000")
    assert near.exit_code == EXIT_DONE
    assert "the target of 24 nats pays for every window" in near.stdout
    nearer = run("plan", file, "--within", "people=2", "--json")
    assert nearer.exit_code == EXIT_FAILED
    facts = json.loads(nearer.stdout)
    assert facts["ok"] is False
    wanted = facts["choices"][-1]
    assert wanted["title"] == "as wanted"
    assert wanted["aggregates"]["people"]["within"] == 2
    assert wanted["windows_that_fit"] == 15
    assert "Nothing less is near enough" in run("plan", file, "--within", "people=2").stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--within", "people"], "no name with a width"),
        (["--within", "people=0"], "no name with a width"),
        (["--within", "people=near"], "no name with a width"),
        (["--within", "people=inf"], "no name with a width"),
        (["--users", "0"], "no number of users"),
        (["--agreement", "0.8"], "for a field whose values follow one another"),
        (["--html", "page.html"], "for a field whose values follow one another"),
    ],
)
def test_what_cannot_be_planned_is_said(tmp_path: Path, options: list[str], words: str) -> None:
    file = aggregate_house(tmp_path, aggregate_text(PEOPLE, PACE, times=HOUR, target=DAY))
    told = run("plan", str(file), *options)
    assert told.exit_code == EXIT_REFUSED
    assert words in told.stderr


def test_widths_are_for_aggregates_alone(tmp_path: Path) -> None:
    told = run("plan", "--model", str(tmp_path / "model.json"), "--within", "people=3")
    assert told.exit_code == EXIT_REFUSED
    assert "widths are for aggregates of windows" in told.stderr


def test_epsilons_are_rounded_to_the_safe_side() -> None:
    assert [rounded_up(0.123401), rounded_down(0.123499), rounded_up(2.0)] == [0.1235, 0.1234, 2.0]
