"""Budgets over any N events in a row, re-derived from the released topic; and runs that did not keep them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from audit_windows import WINDOWS
from audit_world import AnyPipeline, Run, add_to_word, codes, differing, run

from stream.promise import Promise
from stream.windows.pipeline import WindowPipeline
from stream.windows.step import WindowStep

SLIDING = "{events: 6}"
KINDS = {
    "one by one": {},
    "by the clock": {"step": "10s"},
    **{order: {"windows": text} for order, text in WINDOWS.items()},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("when_spent", ["forecast", "forecast_draw", "suppress", "stop"])
@pytest.mark.parametrize("window", ["{events: 2}", SLIDING, "{events: 23}"])
def test_an_honest_run_agrees(kind: str, when_spent: str, window: str) -> None:
    if kind == "by the clock" and when_spent in ("suppress", "stop"):
        window = "{events: 9}"
        when_spent = "forecast"
    finished = run(4, events=900, users=9, nats=3, window=window, when_spent=when_spent, **KINDS[kind])
    assert codes(finished) == set()
    assert finished.outcomes["released"] > 0
    spent = sum(finished.outcomes.get(name, 0) for name in ("forecast", "suppressed"))
    assert spent > 0 or window == "{events: 2}"


@pytest.fixture
def finished() -> Run:
    return run(4, events=600, users=6, nats=3, window=SLIDING)


@pytest.mark.parametrize(
    ("place", "field"),
    [(32, "window_upper"), (40, "window_lower"), (64, "upper_charges"), (64 + 48, "lower_charges"), (160, "belief")],
)
def test_one_unit_too_many_is_found(finished: Run, place: int, field: str) -> None:
    finished.change_state(add_to_word(place, "<u4", 1))
    assert differing(finished) == {field}


def with_policy(promise: Promise, **changes: int) -> Promise:
    return replace(promise, policy=promise.policy._replace(**changes))


@pytest.mark.parametrize("kind", ["one by one", "bisect", "natural"])
@pytest.mark.parametrize("when_spent", ["forecast", "stop"])
def test_a_budget_that_was_larger_than_said_is_found(kind: str, when_spent: str) -> None:
    def change(pipeline: AnyPipeline) -> None:
        promise = pipeline._promise = with_policy(pipeline._promise, budget=2 * pipeline._promise.policy.budget)
        if isinstance(pipeline, WindowPipeline):
            bench = pipeline._steps[0]._bench
            pipeline._steps[0] = WindowStep(promise.policy, promise.chain, pipeline._rules.back, bench)

    nats = 3 if kind == "one by one" else 1.5
    finished = run(4, 900, 6, nats=nats, window=SLIDING, when_spent=when_spent, falsify=change, **KINDS[kind])
    assert "over_budget" in codes(finished)


def test_a_smaller_budget_than_said_is_found() -> None:
    def change(pipeline: AnyPipeline) -> None:
        pipeline._promise = with_policy(pipeline._promise, budget=pipeline._promise.policy.budget // 2)

    for when_spent, found in (("forecast", "needless_forecast"), ("suppress", "lost_event")):
        assert found in codes(
            run(4, events=600, users=6, nats=3, window=SLIDING, when_spent=when_spent, falsify=change)
        )


def test_the_accounts_of_users_are_worked_out_under_a_sliding_budget(finished: Run) -> None:
    report = finished.report(accounts=4)
    assert report.agrees and report.accounts is not None
    assert report.accounts["users"] == 4
