"""Windows through one channel, audited: states agree to the last bit, and planted wrongs are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from audit_windows import drawn_at, falsified, first, other, place_of, run_of, with_place
from audit_world import Run, add_to_word, codes, differing, is_forecast, settings_of, value_of, with_value

from beliefs.rounding import UNITS_PER_NAT, budget_units
from mechanisms.contract import constants_of, design_units
from mechanisms.sequence import dual as engine
from mechanisms.sequence.dual_prices import new_rooms
from mechanisms.sequence.dual_sequences import SEQUENCES_MAX
from stream.audit import dual
from stream.audit.amounts import constants_by_level
from stream.audit.dual_prices import MOST_SEQUENCES, new_slate
from stream.errors import CannotAudit
from stream.windows.dual import Sequences, Sides
from stream.windows.pipeline import WindowPipeline

WINDOWS = "{events: 3, stretch: 20s, order: dual}"
SETTINGS: dict[str, Any] = {"windows": WINDOWS, "symbols": 3}


def dual_run(**changes: Any) -> Run:
    return run_of("bisect", **{**SETTINGS, **changes})


def found_after(change: Callable[[WindowPipeline], None], **changes: Any) -> set[str]:
    return falsified("bisect", change, **{**SETTINGS, **changes})


@pytest.mark.parametrize(("symbols", "length"), [(2, 1), (2, 4), (3, 3), (4, 2), (1, 3)])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0, 6.0])
def test_the_channel_is_that_of_the_engine_to_the_last_unit(symbols: int, length: int, epsilon: float) -> None:
    random, units = np.random.default_rng(symbols), budget_units(epsilon)
    room = new_rooms(symbols, length)[-1]
    slate = new_slate(symbols, length)
    count = symbols**length
    for concentration in (0.05, 0.5, 5.0):
        law = random.dirichlet(np.full(count, concentration))
        law[random.random(count) < 0.2] = 0.0
        law = law / law.sum() if law.sum() > 0 else np.full(count, 1 / count)
        theirs = engine.prepare(law, np.array(constants_of(design_units(units, 0))), room)
        assert dual.work_out(law, constants_by_level(units)[0], length, slate) == theirs
        released = room.head[: room.counts[engine.COUNT]].tolist()
        assert np.flatnonzero(slate.law[:count]).tolist() == released
        for i, y in enumerate(released):
            assert dual.rate(y, law, slate) == engine.column(i, law, room)
            assert slate.column[:count].tolist() == room.likelihood.tolist()


@pytest.mark.parametrize("windows", [WINDOWS, "{events: 4, stretch: 4s, deadline: 3s, order: dual}"])
@pytest.mark.parametrize("when_spent", ["forecast", "forecast_draw", "suppress", "stop"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_audit_agrees_with_the_changelog_to_the_last_bit(windows: str, when_spent: str, sparse: bool) -> None:
    finished = dual_run(windows=windows, when_spent=when_spent, sparse=sparse)
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    counted = (report.tally.released, report.tally.forecast, report.tally.suppressed, report.dead_letters)
    outcomes = finished.outcomes
    assert counted == tuple(outcomes[name] for name in ("released", "forecast", "suppressed", "dead_lettered"))
    assert report.compared["in = sum of outcomes"] == "agrees"
    assert report.tally.released > 0


@pytest.mark.parametrize(
    "settings",
    [
        {"nats": "unlimited"},
        {"radius": 0.05},
        {"window": "forever", "nats": 9},
        {"epsilon": 6.0, "nats": 20},
        {"epsilon": 0.01, "nats": 0.025},
        {"symbols": 1},
        {"symbols": 6, "windows": "{events: 2, order: dual}"},
    ],
)
def test_it_agrees_under_other_settings(settings: dict[str, Any]) -> None:
    assert codes(dual_run(events=400, **settings)) == set()


def test_settings_that_no_pipeline_can_have_run_with_are_refused() -> None:
    assert MOST_SEQUENCES == SEQUENCES_MAX
    wrong = dual_run(events=10)
    wrong.settings = settings_of(windows="{events: 7, order: dual}")
    with pytest.raises(CannotAudit, match="at most 1,300 sequences"):
        wrong.task()


def test_a_shown_value_that_was_not_drawn_is_found() -> None:
    for place in ("1", "3"):
        finished = dual_run()
        log = finished.released()
        at = first(finished, drawn_at(place))
        log[at] = with_value(log[at], other(value_of(log[at])))
        assert codes(finished) == {"wrong_shown"}


def redrawn(finished: Run, drawn: int) -> None:
    """The first window's second value is said to have been another one, in the field and in the header."""
    log = finished.released()
    at = first(finished, lambda one: drawn_at("2")(one) and int(place_of(one)[2]) != drawn)
    place, length, _ = place_of(log[at])
    log[at] = with_place(with_value(log[at], f"act{drawn}"), f"{place}/{length}/{drawn}")


def test_another_sequence_makes_another_state_or_cannot_be() -> None:
    found = set()
    for drawn in range(3):
        finished = dual_run(nats="unlimited")
        redrawn(finished, drawn)
        found |= codes(finished)
        assert codes(finished) & {"state_differs", "impossible_value"}
    assert "impossible_value" in found or "state_differs" in found


@pytest.mark.parametrize("text", ["", "7"])
def test_a_sequence_that_no_channel_can_give_is_found(text: str) -> None:
    finished = dual_run()
    log = finished.released()
    at = first(finished, drawn_at("2"))
    log[at] = with_place(log[at], "/".join((*place_of(log[at])[:2], text)))
    assert codes(finished) & {"impossible_value", "unusable_record"}


def test_a_sequence_that_is_never_released_is_found() -> None:
    """At a small epsilon a window of a known user releases few of the sequences."""
    finished = dual_run(symbols=3, sparse=True, epsilon=0.3, nats="unlimited")
    log = finished.released()
    for place, value in (("1", 2), ("2", 1), ("3", 0)):
        at = first(finished, drawn_at(place))
        log[at] = with_place(with_value(log[at], f"act{value}"), f"{place}/3/{value}")
    assert "impossible_value" in codes(finished)


@pytest.mark.parametrize("factor", [2.0, 1.001, 0.999])
def test_windows_that_were_built_for_another_epsilon_are_found(factor: float) -> None:
    def change(pipeline: WindowPipeline) -> None:
        step = pipeline._steps[0]
        step._policy = step._policy._replace(epsilon=int(step._policy.epsilon * factor))

    assert found_after(change, nats="unlimited") & {"state_differs", "impossible_value"}


class Charged(Sequences):
    """Says that it told a unit less than it did."""

    def release(self, *given: Any) -> Sides:
        told = super().release(*given)
        return told._replace(upper=told.upper - 1) if told.upper > 1 else told


class Forgetful(Sequences):
    """Learns from what it has shown a little less than it should."""

    def release(self, values: Any, coin: int, shown: Any, last: Any) -> Sides:
        told = super().release(values, coin, shown, last)
        last *= 1.0 - 2.0**-20 * np.arange(last.shape[0])
        return told


class Generous(Sequences):
    """Reserves only half of what a window may tell."""

    def prepare(self, belief: Any, units: int, length: int) -> Sides:
        worst = super().prepare(belief, units, length)
        return Sides(worst.upper // 2, worst.lower // 2, worst.spread)


@pytest.mark.parametrize(
    ("kind", "found"), [(Charged, "state_differs"), (Forgetful, "state_differs"), (Generous, "over_budget")]
)
def test_a_wrong_charge_belief_or_reserve_is_found(kind: type[Sequences], found: str) -> None:
    def change(pipeline: WindowPipeline) -> None:
        pipeline._steps[0]._sequences = kind(pipeline._promise.chain, 3)

    assert found in found_after(change, nats=3.6)
    assert found_after(lambda _: None, nats=3.6) == set()


def test_a_budget_that_was_larger_or_smaller_than_said_is_found() -> None:
    def scaled(factor: float) -> Callable[[WindowPipeline], None]:
        def change(pipeline: WindowPipeline) -> None:
            step = pipeline._steps[0]
            step._policy = step._policy._replace(budget=int(step._policy.budget * factor))

        return change

    assert "over_budget" in found_after(scaled(2.0))
    assert "needless_forecast" in found_after(scaled(0.5))
    assert "lost_event" in found_after(scaled(0.5), when_spent="suppress")


def test_what_told_more_than_epsilon_is_said() -> None:
    finished = dual_run(nats="unlimited")
    public = finished.task().public
    report = finished.report(public=replace(public, rules=public.rules._replace(epsilon=public.rules.epsilon // 2)))
    assert {"above_epsilon", "not_certified"} & report.findings.codes()
    assert public.rules.epsilon == UNITS_PER_NAT


@pytest.mark.parametrize(
    ("place", "kind", "field"), [(16, "<i8", "upper"), (24, "<i8", "lower"), (64, "<u4", "belief")]
)
def test_a_row_that_was_changed_is_found(place: int, kind: str, field: str) -> None:
    finished = dual_run()
    finished.change_state(add_to_word(place, kind, 1))
    assert differing(finished) == {field}


def test_missing_and_split_windows_are_found() -> None:
    finished = dual_run(nats="unlimited")
    del finished.released()[first(finished, lambda one: place_of(one)[0] == "2")]
    assert {"lost_event", "identity"} <= codes(finished)
    finished = dual_run(nats="unlimited")
    log = finished.released()
    at = first(finished, lambda one: place_of(one)[:2] == ("1", "3"))
    for i, text in enumerate(("1/1", "1/2", "2/2")):
        log[at + i] = with_place(log[at + i], f"{text}/{place_of(log[at + i])[2]}")
    assert codes(finished) & {"state_differs", "impossible_value"}


def test_a_forecast_that_is_not_one_is_found() -> None:
    finished = dual_run()
    log = finished.released()
    at = first(finished, is_forecast)
    log[at] = with_value(log[at], other(value_of(log[at])))
    assert codes(finished) == {"not_likeliest"}
    finished = dual_run(windows="{events: 1, order: dual}")
    log = finished.released()
    at = first(finished, lambda one: not is_forecast(one))
    log[at] = with_place(replace(log[at], headers=(*log[at].headers, ("outcome", b"forecast"))), "1/1/")
    assert "needless_forecast" in codes(finished)
