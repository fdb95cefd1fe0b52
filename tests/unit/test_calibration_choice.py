"""Budgets that keep their caps in the stream's own sums, and mechanisms that leave the least noise within them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from calibration_help import LABELS, NAMES, people, table_of

from beliefs.correlation.account import AccountField, Totals
from beliefs.correlation.bound import Matrix
from beliefs.correlation.joint_file import JointModel
from beliefs.correlation.outputs import response_leak
from beliefs.correlation.tables import JointTable, conditional_of
from beliefs.rounding import budget_units, units_up
from mechanisms.local.registry import drawn, local
from mechanisms.local.utility import noise_of
from stream.calibration.choice import EVERY_KIND, Asked, Choice, Chooser
from stream.calibration.compared import Published, published
from stream.calibration.source import Sample
from stream.errors import CannotPlan


def nobody(_doing: str, _done: int, _of: int) -> None:
    return None


def exactly(weights: Matrix, labels: tuple[tuple[str, ...], ...] = LABELS) -> JointModel:
    return JointModel(JointTable(NAMES, labels, weights))


def a_sample(added: float = 0.5) -> Sample:
    return Sample(Path("joint.json"), NAMES, LABELS, JointModel(table_of(people()).smoothed(added)))


def asked(caps: tuple[float, ...], reports: int = 20, fixed: Mapping[str, str] | None = None) -> Asked:
    return Asked(caps, reports, fixed or {}, 1000)


def chosen(caps: tuple[float, ...], reports: int = 20, **fixed: str) -> Choice:
    return Chooser(a_sample(), asked(caps, reports, fixed), nobody).choose()


def check_sums(choice: Choice, caps: tuple[float, ...], reports: int) -> None:
    """What the stream would sum up after so many reports, worked out anew, is below every cap."""
    fields = [
        AccountField(name, place, tuple(range(len(LABELS[place]))) if choice.mechanisms[place] == "grr" else None)
        for place, name in enumerate(NAMES)
    ]
    totals = Totals(fields, a_sample().weights)
    for budgets in (choice.equal, choice.unequal):
        levels = [
            drawn(name, len(labels), budget.epsilon).level
            for name, labels, budget in zip(choice.mechanisms, LABELS, budgets, strict=True)
        ]
        assert [budget.level for budget in budgets] == levels
        told = totals.of(tuple(units for level in levels for units in (units_up(level) * reports, 0)))
        assert all(total <= budget_units(cap) for total, cap in zip(told, caps, strict=True))
        assert [units_up(budget.total) for budget in budgets] == list(told)


@pytest.mark.parametrize("fixed", [{}, dict.fromkeys(NAMES, "grr"), dict.fromkeys(NAMES, "oue"), {"work": "sue"}])
@pytest.mark.parametrize("caps", [(4.0, 4.0, 4.0), (1.0, 6.0, 2.0)])
def test_every_cap_is_kept_in_the_streams_own_sums(caps: tuple[float, ...], fixed: dict[str, str]) -> None:
    choice = chosen(caps, 20, **fixed)
    check_sums(choice, caps, 20)
    assert len({budget.epsilon for budget in choice.equal}) == 1
    assert all(name == fixed[field] for field, name in zip(NAMES, choice.mechanisms, strict=True) if field in fixed)
    assert all(budget.epsilon * (1 + 1e-5) >= choice.equal[0].epsilon for budget in choice.unequal)
    assert max(budget.total / cap for budget, cap in zip(choice.equal, caps, strict=True)) > 0.9999


def test_a_field_of_its_own_may_spend_its_whole_cap() -> None:
    weights = a_sample().weights
    assert weights is not None
    alone = weights.sum(axis=2)[:, :, None] * np.array([1.0, 2.0])
    choice = Chooser(Sample(Path("j"), NAMES, LABELS, exactly(alone)), asked((2.0, 2.0, 5.0), 10), nobody).choose()
    assert choice.unequal[2].epsilon == pytest.approx(0.5, abs=1e-5)
    assert choice.unequal[0].epsilon < 0.2
    assert choice.equal[2].epsilon == choice.equal[0].epsilon


def test_the_mechanisms_chosen_leave_less_noise_than_all_of_one_kind() -> None:
    """Against every mixture of kinds, each with the least noise that is possible within it."""
    sample = a_sample()
    for reports in (1, 40):
        chooser = Chooser(sample, asked((3.0, 3.0, 3.0), reports), nobody)
        choice = chooser.choose()
        noises = {}
        for kinds in itertools.product((True, False), repeat=3):
            budgets = Chooser(sample, asked((3.0,) * 3, reports), nobody)._level(kinds) / reports
            noises[kinds] = sum(
                math.log(min(noise_of(local(name, len(LABELS[place]), budgets), sample.law(place)) for name in names))
                for place, names in enumerate(("grr",) if kind else EVERY_KIND for kind in kinds)
            )
        responds = tuple(name == "grr" for name in choice.mechanisms)
        assert min(noises[(True,) * 3], noises[(False,) * 3]) + 1e-9 >= noises[responds]
        assert choice.searched
        assert choice.tried >= 5


def test_caps_are_kept_for_every_table_within_the_radii() -> None:
    """In the stream's own sums of just that table, at lower budgets than those that its weights alone allow."""
    caps, known = (4.0, 4.0, 4.0), {name: np.full(len(each), 0.03) for name, each in zip(NAMES, LABELS, strict=True)}
    roughly = replace(a_sample(), model=JointModel(table_of(people()).smoothed(), radius=known))
    choice, exact = Chooser(roughly, asked(caps), nobody).choose(), chosen(caps)
    assert all(one.epsilon < other.epsilon for one, other in zip(choice.equal, exact.equal, strict=True))
    fields = [
        AccountField(name, place, tuple(range(len(LABELS[place]))) if choice.mechanisms[place] == "grr" else None)
        for place, name in enumerate(NAMES)
    ]
    totals = Totals(fields, roughly.weights, radii=list(known.values()))
    for budgets in (choice.equal, choice.unequal):
        told = totals.of(tuple(units for budget in budgets for units in (units_up(budget.level) * 20, 0)))
        assert all(total <= budget_units(cap) for total, cap in zip(told, caps, strict=True))
        assert [units_up(budget.total) for budget in budgets] == list(told)


def test_records_alone_are_bounded() -> None:
    rows = people(500)
    coded = np.array([[LABELS[place].index(label) for place, label in enumerate(row)] for row in rows])
    sample = Sample(Path("people.csv"), NAMES, LABELS, None, coded, np.ones(len(coded), dtype=np.int64))
    choice = Chooser(sample, asked((3.0, 3.0, 3.0)), nobody).choose()
    assert choice.rules == ("bounded",) * 3
    assert not choice.searched
    table = Sample(Path("joint.json"), NAMES, LABELS, JointModel(table_of(rows)))
    bounded = Chooser(table, asked((3.0, 3.0, 3.0), 20, dict.fromkeys(NAMES, "oue")), nobody).choose()
    assert choice.equal[0].epsilon == pytest.approx(bounded.equal[0].epsilon, rel=1e-5)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(CannotPlan, match="raise --cap"):
        chosen((1e-5, 1.0, 1.0), 100)
    weights = table_of(people()).weights
    weights[:, 1, :] = 0.0
    chooser = Chooser(Sample(Path("j"), NAMES, LABELS, exactly(weights)), asked((1.0, 1.0, 1.0)), nobody)
    with pytest.raises(CannotPlan, match="holds no weight for value 1"):
        chooser.choose()


def compared(choice: Choice, caps: tuple[float, ...]) -> Published:
    return published(a_sample(), asked(caps), choice, 1.0, nobody)


def test_published_sums_stand_beside_the_totals() -> None:
    caps = (4.0, 4.0, 4.0)
    choice = chosen(caps, 20, **dict.fromkeys(NAMES, "grr"))
    beside = compared(choice, caps)
    sample = a_sample()
    told = [budget.level * 20 for budget in choice.unequal]
    for secret in range(3):
        leaks = [
            response_leak(conditional_of(sample.pair(secret, other)).laws, told[other])
            for other in range(3)
            if other != secret
        ]
        assert beside.sums[secret] == pytest.approx(told[secret] + sum(leaks))
    assert beside.budget is not None
    assert beside.reached is not None
    assert beside.reached != 4.0


def test_the_first_benchmark_puts_each_estimate_where_it_belongs() -> None:
    """Two halves of four values each tell the same: a set of values tells more than any one of them."""
    halves = np.array([[4.0, 4.0, 1.0, 1.0], [1.0, 1.0, 4.0, 4.0]])[:, :, None] * np.array([1.0, 3.0, 1.0])
    halves[0, 0, 0] += 2.0
    labels = (("a", "b"), ("p", "q", "r", "s"), ("x", "y", "z"))
    sample = Sample(Path("halves.json"), NAMES, labels, exactly(halves, labels))
    asked_for = asked((4.0,) * 3, 20, dict.fromkeys(NAMES, "oue"))
    beside = published(sample, asked_for, Chooser(sample, asked_for, nobody).choose(), 1.0, nobody)
    regions = {each.name.split(":")[0]: (each.sound, each.scores.region) for each in beside.estimates}
    assert regions["bound for any mechanism"] == (True, "P1")
    assert regions["SPL-ANL"] == (True, "R2")
    assert regions["ITS"] == (False, "R1")
    assert regions["attack"] == (False, "R1")
    assert all(each.scores.undershoot == 0.0 for each in beside.estimates if each.sound)
    assert len(beside.estimates) == 7


def test_the_second_benchmark_tells_the_report_from_a_guess_made_of_it() -> None:
    standings = {each.mechanism: each for each in compared(chosen((4.0,) * 3), (4.0,) * 3).standings}
    for name in ("oue", "sue", "blh", "olh", "she"):
        assert standings[name].exact == pytest.approx(1.0)
        assert standings[name].attacked < 0.8
    for name in ("grr", "exp"):
        assert standings[name].exact == pytest.approx(standings[name].attacked)
    assert standings["exp"].exact < standings["grr"].exact < 1.0
    assert standings["exp"].error > standings["grr"].error
