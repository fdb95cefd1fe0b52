"""The auditor's own levels of two_budget: the pipeline's bits, and what is found when levels or charges are others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from audit_world import AnyPipeline, Run, run
from numpy.typing import NDArray

from beliefs.rounding import INFINITE, UNITS_PER_NAT, budget_units
from mechanisms.sequence.two_budget import rising_of
from stream.audit.rising import levels_between, numbers_of_levels
from stream.state import Word


def two_budget(**settings: Any) -> Run:
    return run(10, events=1200, users=12, mechanism="two_budget", **settings)


@pytest.mark.parametrize(
    ("epsilon", "upper", "symbols", "shift"),
    [(1.0, 3.0, 10, 0), (0.5, 32.0, 41_270, 1 << 30), (1e-6, 1.0, 3, 7), (2.0, 2.0, 3, 0), (0.2, 0.2 + 4e-12, 2, 0)],
)
def test_levels_and_constants_are_worked_out_alike(epsilon: float, upper: float, symbols: int, shift: int) -> None:
    ours = rising_of(budget_units(epsilon), budget_units(upper), symbols, shift)
    levels = levels_between(budget_units(epsilon), budget_units(upper))
    assert np.array_equal(ours.levels, levels)
    assert np.array_equal(ours.constants[1:], numbers_of_levels(levels, shift, symbols))


@pytest.mark.parametrize(
    "settings",
    [
        {"window": "{events: 20}"},
        {"window": "{events: 20}", "when_spent": "stop", "nats": 2},
        {"window": "forever", "nats": "unlimited", "upper": 32.0},
        {"epsilon": 0.2, "upper": 2.0},
        {"epsilon": 0.2, "upper": 2.0, "when_spent": "suppress", "window": "20s"},
        {"chain_error": 0.0001},
        {"chain_error": 5.0},
        {"upper": 1.0},
        {"step": "2s", "upper": 4.0},
    ],
    ids=str,
)
def test_it_agrees_to_the_last_bit(settings: dict[str, Any]) -> None:
    finished = two_budget(**settings)
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.tally.released == finished.outcomes["released"] > 0
    assert report.tally.largest[1] <= budget_units(finished.settings.mechanism.epsilon)
    assert report.tally.largest[0] <= budget_units(finished.settings.mechanism.upper or 0.0)


def test_more_is_told_upwards_than_epsilon_and_is_no_finding() -> None:
    report = two_budget().report()
    assert report.tally.largest[0] > UNITS_PER_NAT >= report.tally.largest[1]
    assert report.tally.above_epsilon[0] > 0 == report.tally.above_epsilon[1]
    assert report.agrees


def falsified(**changes: Any) -> set[str]:
    """What is found when the pipeline works by another policy than it declares."""

    def change(pipeline: AnyPipeline) -> None:
        promise = pipeline._promise
        pipeline._promise = replace(promise, policy=promise.policy._replace(**changes))

    return set(two_budget(falsify=change).report().findings.codes())


def test_levels_that_reach_further_are_found() -> None:
    found = falsified(rising=rising_of(UNITS_PER_NAT, 4 * UNITS_PER_NAT, 10))
    assert {"above_epsilon", "state_differs"} & found


def test_a_level_one_unit_off_is_found() -> None:
    rising = rising_of(UNITS_PER_NAT, budget_units(2.5), 10)
    other = rising_of(UNITS_PER_NAT, budget_units(2.5) - 64, 10)
    assert falsified(rising=rising) == set()
    assert "state_differs" in falsified(rising=other)


def test_a_channel_above_its_level_releases_nothing_and_that_is_found() -> None:
    """All constants are those of the top level: where less is left, the reserve is above the level."""
    rising = rising_of(UNITS_PER_NAT, budget_units(2.5), 10)
    top = np.broadcast_to(rising.constants[-1], rising.constants.shape).copy()
    assert "needless_forecast" in falsified(rising=rising._replace(constants=top))


def test_levels_that_do_not_look_at_what_is_left_are_found() -> None:
    assert "over_budget" in falsified(budget=INFINITE)


def test_releases_of_the_lowest_level_alone_are_found() -> None:
    assert falsified(rising=rising_of(UNITS_PER_NAT, UNITS_PER_NAT, 10)) & {"state_differs", "impossible_value"}


@pytest.mark.parametrize("word", [Word.UPPER, Word.LOWER, Word.WINDOW_UPPER])
def test_a_charge_that_was_lowered_is_found(word: Word) -> None:
    finished = two_budget()

    def lower(row: NDArray[np.uint8]) -> None:
        words = row[:64].view(np.int64)
        words[word] = max(words[word] - 1, 0) if words[word] else 1

    finished.change_state(lower)
    assert "state_differs" in finished.report().findings.codes()


def test_settings_with_another_upper_are_another_policy() -> None:
    finished, other = two_budget(), two_budget(upper=3.0)
    before = finished.task()
    public = replace(before.public, rules=other.task().public.rules)
    assert "state_differs" in finished.report(public=public).findings.codes()
    assert before.public.fingerprint != other.task().public.fingerprint
