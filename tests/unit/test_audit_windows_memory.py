"""The auditor follows windows of models with a longer memory, by the clock, and with a tail, to the last bit; and what
is wrong with them is found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from audit_windows import ORDERS, WINDOWS, drawn_at, first, other, place_of, with_place
from audit_world import Run, add_to_word, codes, differing, is_forecast, run, value_of, with_value
from context_models import DETOUR, law_of
from tail_models import zipf_chain
from test_audit_listed import model_of
from test_audit_memory import remembering

from beliefs.alphabet import Categories
from beliefs.model_file import parse, serialise_contexts
from stream.windows.pipeline import WindowPipeline

KINDS: dict[str, dict[str, Any]] = {
    "contexts": {},
    "clock": {"step": "1s"},
    "slow clock": {"step": "1h", "most": 5},
    "few steps": {"step": "1s", "most": 2},
    "contexts by the clock": {"step": "2s"},
    "tail": {},
    "listed": {"listed": 8},
    "listed by the clock": {"listed": 3, "step": "2s"},
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
BY_EVENT = pytest.mark.parametrize("kind", ["contexts", "tail", "listed"])


def run_of(kind: str, order: str, **changes: Any) -> Run:
    settings = {"events": 900, "users": 9, "windows": WINDOWS[order], "nats": 3, **KINDS[kind], **changes}
    if settings.get("listed"):
        settings["listed"] = f", listed: {settings['listed']}"
    if "tail" in kind or "listed" in kind:
        return run(12, model=model_of(zipf_chain(12, reach=6, left=0.6)), **settings)
    return run(3, model=remembering(3, 3) if "contexts" in kind else None, **settings)


def assert_agrees(finished: Run) -> None:
    report = finished.report()
    assert [finding.as_json() for finding in report.findings] == []
    assert report.agrees
    for outcome in ("released", "forecast", "suppressed"):
        assert getattr(report.tally, outcome) == finished.outcomes[outcome]
    assert report.tally.not_followed == 0


@ORDERS
@EVERY_KIND
@pytest.mark.parametrize("when_spent", ["forecast", "forecast_draw"])
def test_it_agrees(kind: str, order: str, when_spent: str) -> None:
    finished = run_of(kind, order, when_spent=when_spent)
    assert_agrees(finished)
    assert finished.outcomes["released"] > 100
    assert finished.outcomes["forecast"] > 100


@ORDERS
@BY_EVENT
@pytest.mark.parametrize("when_spent", ["suppress", "stop"])
def test_suppressed_values_are_followed(kind: str, order: str, when_spent: str) -> None:
    finished = run_of(kind, order, when_spent=when_spent)
    assert_agrees(finished)
    assert finished.outcomes["suppressed"] > 100


@ORDERS
@EVERY_KIND
def test_many_windows_of_few_users_agree(kind: str, order: str) -> None:
    """Every drift is compared: spans are looked back upon, and a budget never ends."""
    assert_agrees(run_of(kind, order, users=2, nats="unlimited", windows=f"{{events: 3, order: {order}}}"))


@ORDERS
@pytest.mark.parametrize("events", [1, 2, 64])
@pytest.mark.parametrize("kind", ["contexts", "contexts by the clock", "listed"])
def test_the_shortest_and_the_longest_windows_agree(kind: str, order: str, events: int) -> None:
    windows = f"{{events: {events}, order: {order}}}"
    assert_agrees(run_of(kind, order, events=1500, users=4, windows=windows, epsilon=3.0, nats=60, radius=0.02))


@ORDERS
@EVERY_KIND
@pytest.mark.parametrize("place", ["1", "3"])
def test_a_value_that_does_not_follow_from_what_was_drawn_is_found(kind: str, order: str, place: str) -> None:
    finished = run_of(kind, order)
    log = finished.released()
    at = first(finished, drawn_at(place))
    log[at] = with_value(log[at], other(value_of(log[at])))
    assert codes(finished) == {"wrong_shown"}


@ORDERS
@EVERY_KIND
def test_another_drawn_value_makes_another_state(kind: str, order: str) -> None:
    finished = run_of(kind, order, nats="unlimited")
    log = finished.released()
    at = first(finished, drawn_at("2"))
    place, length, drawn = place_of(log[at])
    log[at] = with_place(log[at], f"{place}/{length}/{(int(drawn) + 1) % 3}")
    assert codes(finished) & {"state_differs", "wrong_shown", "impossible_value"}


@ORDERS
@EVERY_KIND
def test_a_forecast_that_is_a_raw_value_is_found(kind: str, order: str) -> None:
    finished = run_of(kind, order)
    log = finished.released()
    at = first(finished, is_forecast)
    log[at] = with_value(log[at], other(value_of(log[at])))
    assert codes(finished) == {"not_likeliest"}


@ORDERS
@pytest.mark.parametrize("kind", ["contexts", "contexts by the clock", "listed", "listed by the clock"])
@pytest.mark.parametrize(("field", "place"), [("upper", 16), ("drift", 60), ("belief", -4)])
def test_one_unit_too_few_in_a_row_is_found(kind: str, order: str, field: str, place: int) -> None:
    finished = run_of(kind, order, nats="unlimited", window="forever")
    row = next(one.value for one in reversed(finished.states()) if (one.key or b"")[:1] == b"u") or b""
    place = place if place > 0 else place_of_belief(row)
    finished.change_state(add_to_word(place, "<u4", -1))
    assert differing(finished) == {field}


def place_of_belief(row: bytes) -> int:
    """A word of the belief that is not zero."""
    head = 72 if row[0] in (3, 5) else 64
    return next(at for at in range(head, len(row), 4) if row[at : at + 4] != bytes(4))


@ORDERS
@pytest.mark.parametrize("kind", ["clock", "contexts by the clock", "listed by the clock"])
def test_a_wrong_clock_in_a_row_is_found(kind: str, order: str) -> None:
    finished = run_of(kind, order, nats="unlimited")
    finished.change_state(add_to_word(64, "<i8", 1))
    assert differing(finished) == {"clock"}


@ORDERS
@pytest.mark.parametrize("kind", ["clock", "contexts by the clock", "listed by the clock"])
def test_a_value_that_came_at_another_time_is_found(kind: str, order: str) -> None:
    """Times are part of the account: the model goes on by them inside of a window, too."""
    finished = run_of(kind, order, nats="unlimited", windows=f"{{events: 5, order: {order}}}")
    log = finished.released()
    at = first(finished, drawn_at("3"))
    log[at] = replace(log[at], timestamp=log[at].timestamp + 60_000)
    assert codes(finished) & {"state_differs", "wrong_shown", "impossible_value"}


@ORDERS
@pytest.mark.parametrize("factor", [2.0, 1.01, 0.99])
@pytest.mark.parametrize("kind", ["contexts", "clock", "tail"])
def test_windows_that_were_built_for_another_epsilon_are_found(kind: str, order: str, factor: float) -> None:
    def change(pipeline: Any) -> None:
        assert isinstance(pipeline, WindowPipeline)
        pipeline._steps[0]._policy = pipeline._steps[0]._policy._replace(
            epsilon=int(pipeline._steps[0]._policy.epsilon * factor)
        )

    found = codes(run_of(kind, order, nats="unlimited", falsify=change))
    assert found & {"state_differs", "impossible_value", "wrong_shown"}


@ORDERS
def test_a_clock_that_was_not_looked_at_is_found(order: str) -> None:
    """Each gap inside of a window taken for one step."""

    def change(pipeline: Any) -> None:
        pipeline._steps[0]._steps_to = lambda head, time: 1

    assert codes(run_of("clock", order, nats="unlimited", falsify=change))


@pytest.mark.parametrize("step", ["event", "1s"])
def test_a_drawn_forecast_that_no_stranger_can_take_is_found(step: str) -> None:
    """After two equal values comes another one, always; a stranger who stays for a third has no such state."""
    laws = {(): law_of([0.5, 0.5]), (0, 0): law_of([0.0, 1.0]), (1, 1): law_of([1.0, 0.0])}
    start = np.array([0.5, 0.5])
    model = parse(serialise_contexts(Categories(["act0", "act1"]), 2, start, laws, {}))
    settings: dict[str, Any] = {"events": 900, "users": 2, "nats": 1, "when_spent": "forecast_draw", "step": step}
    finished = run(2, model=model, windows=WINDOWS["bisect"], **settings)
    assert codes(finished) == set()
    log = finished.released()
    at = first(finished, lambda one: is_forecast(one) and place_of(one)[:2] == ("1", "5"))
    whose = [i for i in range(at, len(log)) if log[i].key == log[at].key][:5]
    for i in whose:
        log[i] = with_value(log[i], "act0")
    assert codes(finished) == ({"not_likeliest"} if step == "event" else set())


@ORDERS
@pytest.mark.parametrize("step", ["event", "1s"])
def test_it_agrees_where_a_mass_was_too_small_between_two_steps(order: str, step: str) -> None:
    """Inside of a window, too, nothing possible is lost as a zero: the drift is unknown from then on."""
    model = model_of(DETOUR)
    windows = f"{{events: 5, order: {order}}}"
    finished = run(5, events=300, users=12, model=model, step=step, most=3, nats="unlimited", windows=windows)
    states = [one.value or b"" for one in finished.states() if (one.key or b"")[:1] == b"u"]
    assert any(row[60:64] == b"\xff" * 4 for row in states)
    assert_agrees(finished)
