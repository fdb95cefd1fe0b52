"""Windows audited: the states agree to the last bit, whatever the cut, the budget and the model."""

from __future__ import annotations

from typing import Any

import pytest
from audit_world import Run, codes, run

from stream.audit.report import Report

BISECT = ("{events: 5}", "{events: 7, stretch: 4s, deadline: 3s}")
NATURAL = ("{events: 5, order: natural}", "{events: 4, stretch: 7s, order: natural}")
WHEN_SPENT = ("forecast", "forecast_draw", "suppress", "stop")


def assert_agrees(finished: Run) -> Report:
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    counted = (report.tally.released, report.tally.forecast, report.tally.suppressed, report.dead_letters)
    outcomes = finished.outcomes
    assert counted == tuple(outcomes[name] for name in ("released", "forecast", "suppressed", "dead_lettered"))
    assert report.waiting == finished.waiting
    assert report.compared["in = sum of outcomes"] == "agrees"
    return report


@pytest.mark.parametrize("windows", [*BISECT, *NATURAL])
@pytest.mark.parametrize("when_spent", WHEN_SPENT)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("symbols", [1, 2, 10])
def test_the_audit_agrees_with_the_changelog_to_the_last_bit(
    windows: str, when_spent: str, sparse: bool, symbols: int
) -> None:
    finished = run(symbols, events=1000, users=8, sparse=sparse, windows=windows, when_spent=when_spent, nats=3)
    report = assert_agrees(finished)
    assert report.inputs == 1000


@pytest.mark.parametrize("windows", [*BISECT, *NATURAL])
@pytest.mark.parametrize(
    "settings",
    [
        {"nats": "unlimited"},
        {"radius": 0.05},
        {"radius": 0.7, "epsilon": 2.0},
        {"chain_error": 0.001},
        {"chain_error": 0.0001, "radius": 0.05, "epsilon": 2.0},
        {"window": "forever", "nats": 9},
        {"window": "3s", "nats": 1.5},
        {"epsilon": 8.0, "nats": 20},
        {"epsilon": 0.01, "nats": 0.025},
    ],
)
def test_it_agrees_under_other_budgets(windows: str, settings: dict[str, Any]) -> None:
    assert_agrees(run(4, events=800, windows=windows, **settings))


@pytest.mark.parametrize("events", [1, 2, 64])
@pytest.mark.parametrize("order", ["bisect", "natural"])
def test_it_agrees_for_the_shortest_and_the_longest_windows(order: str, events: int) -> None:
    windows = f"{{events: {events}, order: {order}}}"
    assert_agrees(run(3, events=3000, users=5, windows=windows, epsilon=3.0, nats=60))


def test_it_agrees_where_beliefs_fall_below_the_smallest_that_is_kept() -> None:
    """A hundred values in a ring: in forecasts a belief falls below 2^-126, and its drift is unknown from then on."""
    for order in ("bisect", "natural"):
        windows = f"{{events: 3, order: {order}}}"
        finished = run(100, events=3000, users=5, sparse=True, windows=windows, nats=1)
        states = [one.value or b"" for one in finished.states() if one.key is not None and one.key[:1] == b"u"]
        assert any(row[60:64] == b"\xff" * 4 for row in states)
        assert_agrees(finished)


def test_all_that_can_happen_happens_in_these_runs() -> None:
    bisect = run(4, events=1000, users=8, windows=BISECT[1], nats=3)
    lengths = {dict(one.headers)["window"].split(b"/")[1] for one in bisect.released()}
    assert {b"1", b"2", b"3"} < lengths
    assert bisect.waiting > 0
    natural = run(4, events=1000, users=8, windows=NATURAL[1], nats=3)
    assert any(one.key is not None and one.key[:1] == b"h" and one.value for one in natural.states())
    for finished in (bisect, natural):
        assert finished.outcomes["released"] > 100
        assert finished.outcomes["forecast"] > 100
        assert any(dict(one.headers)["window"].endswith(b"/") for one in finished.released())


@pytest.mark.parametrize("windows", [BISECT[0], NATURAL[0]])
def test_partitions_are_audited_apart(windows: str) -> None:
    assert_agrees(run(4, events=600, partitions=3, windows=windows))


@pytest.mark.parametrize("windows", [BISECT[0], NATURAL[0]])
def test_releases_are_audited_without_a_changelog(windows: str) -> None:
    finished = run(4, events=600, users=6, windows=windows)
    assert codes(finished, with_changelog=False) == set()
    del finished.released()[-1]
    assert codes(finished, with_changelog=False) == set()  # its window's end may be on its way


@pytest.mark.parametrize("when_spent", ["suppress", "stop"])
@pytest.mark.parametrize("windows", ["{events: 1}", *BISECT, *NATURAL])
def test_suppressed_values_are_followed_however_they_were_cut(windows: str, when_spent: str) -> None:
    report = assert_agrees(run(4, events=1500, users=12, windows=windows, when_spent=when_spent))
    assert report.tally.suppressed > 0
    assert report.tally.not_followed == 0
