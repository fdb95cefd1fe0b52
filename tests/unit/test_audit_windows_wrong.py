"""Faults in the released records of windows: each is found, and named for what it is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from audit_windows import ORDERS, WINDOWS, drawn_at, falsified, first, other, place_of, run_of, with_place
from audit_world import codes, is_forecast, run, value_of, with_value

from stream.windows.pipeline import WindowPipeline


@ORDERS
@pytest.mark.parametrize("place", ["1", "2", "3"])
def test_a_value_that_does_not_follow_from_what_was_drawn_is_found(order: str, place: str) -> None:
    finished = run_of(order)
    log = finished.released()
    at = first(finished, drawn_at(place))
    log[at] = with_value(log[at], other(value_of(log[at])))
    assert codes(finished) == {"wrong_shown"}


@ORDERS
def test_a_drawn_value_that_the_channel_cannot_give_is_found(order: str) -> None:
    """The sparse model starts with its first value, and nine steps away is too far."""
    finished = run_of(order, symbols=20, sparse=True)
    log = finished.released()
    at = first(finished, drawn_at("1" if order == "natural" else "3"))
    place, length, _ = place_of(log[at])
    log[at] = with_place(log[at], f"{place}/{length}/19")
    assert "impossible_value" in codes(finished)


@ORDERS
def test_another_drawn_value_that_the_channel_can_give_makes_another_state(order: str) -> None:
    finished = run_of(order, symbols=2, nats="unlimited")
    log = finished.released()
    at = first(finished, drawn_at("2"))
    place, length, drawn = place_of(log[at])
    log[at] = with_place(log[at], f"{place}/{length}/{1 - int(drawn)}")
    assert codes(finished) & {"state_differs", "wrong_shown", "impossible_value"}


@ORDERS
def test_a_channel_that_is_said_to_have_given_nothing_is_found(order: str) -> None:
    finished = run_of(order)
    log = finished.released()
    at = first(finished, drawn_at("1"))
    log[at] = with_place(log[at], "/".join((*place_of(log[at])[:2], "")))
    assert "impossible_value" in codes(finished)


@ORDERS
def test_a_value_that_is_drawn_although_the_cap_is_used_up_is_found(order: str) -> None:
    finished = run_of(order)
    log = finished.released()
    at = first(finished, lambda one: place_of(one)[2] == "" and not is_forecast(one))
    log[at] = with_place(log[at], "/".join((*place_of(log[at])[:2], "0")))
    assert "impossible_value" in codes(finished)


@ORDERS
def test_a_forecast_that_is_said_to_be_drawn_is_found(order: str) -> None:
    finished = run_of(order)
    log = finished.released()
    at = first(finished, is_forecast)
    log[at] = with_place(log[at], "/".join((*place_of(log[at])[:2], "0")))
    assert codes(finished) == {"impossible_value"}


@ORDERS
def test_windows_that_are_too_long_are_found(order: str) -> None:
    def change(pipeline: WindowPipeline) -> None:
        pipeline._rules = replace(pipeline._rules, events=6)

    assert "long_window" in falsified(order, change)


@ORDERS
def test_windows_that_go_on_into_a_later_stretch_are_found(order: str) -> None:
    def change(pipeline: WindowPipeline) -> None:
        pipeline._rules = replace(pipeline._rules, stretch=0)

    assert "wrong_stretch" in falsified(order, change)


def test_windows_without_delay_that_end_too_early_are_found() -> None:
    def shorter(pipeline: WindowPipeline) -> None:
        pipeline._rules = replace(pipeline._rules, stretch=5_000)

    def fewer(pipeline: WindowPipeline) -> None:
        pipeline._rules = replace(pipeline._rules, events=4)

    assert "wrong_place" in falsified("natural", shorter)
    assert "wrong_place" in falsified("natural", fewer)


def test_windows_that_wait_may_end_early_for_their_deadline_only_and_are_charged_for_what_they_are() -> None:
    def change(pipeline: WindowPipeline) -> None:
        pipeline._rules = replace(pipeline._rules, events=4)

    assert falsified("bisect", change) == set()


@ORDERS
@pytest.mark.parametrize("place", ["1", "2", "4"])
def test_places_that_do_not_follow_one_another_are_found(order: str, place: str) -> None:
    finished = run_of(order)
    log = finished.released()
    at = first(finished, lambda one: place_of(one)[0] == "3")
    log[at] = with_place(log[at], "/".join((place, *place_of(log[at])[1:])))
    assert "wrong_place" in codes(finished)


def test_a_window_that_is_split_in_two_afterwards_is_found() -> None:
    finished = run_of("bisect", nats="unlimited")
    log = finished.released()
    at = first(finished, lambda one: place_of(one)[:2] == ("1", "5"))
    for i in range(5):
        text = f"{i + 1}/2" if i < 2 else f"{i - 1}/3"
        log[at + i] = with_place(log[at + i], f"{text}/{place_of(log[at + i])[2]}")
    assert codes(finished) & {"state_differs", "impossible_value"}


def test_two_windows_that_are_joined_afterwards_are_found() -> None:
    finished = run_of("natural")
    log = finished.released()
    at = first(finished, lambda one: place_of(one)[0] == "1" and dict(one.headers)["step"] != b"1")
    log[at] = with_place(log[at], f"6//{place_of(log[at])[2]}")
    assert "long_window" in codes(finished)


@ORDERS
def test_a_length_where_it_is_not_known_or_none_where_it_is_is_found(order: str) -> None:
    finished = run_of(order)
    log = finished.released()
    place, length, drawn = place_of(log[0])
    log[0] = with_place(log[0], f"{place}/{'' if length else '5'}/{drawn}")
    assert "wrong_place" in codes(finished)


@ORDERS
@pytest.mark.parametrize("place", ["1", "3"])
def test_a_missing_value_of_a_window_is_found(order: str, place: str) -> None:
    finished = run_of(order)
    del finished.released()[first(finished, lambda one: place_of(one)[0] == place)]
    found = codes(finished)
    assert {"lost_event", "identity"} <= found
    assert found <= {"lost_event", "identity", "wrong_place"}


@ORDERS
def test_the_last_value_of_the_last_window_is_missed_like_any_other(order: str) -> None:
    finished = run_of(order)
    del finished.released()[-1]
    assert {"lost_event", "identity"} <= codes(finished)


@ORDERS
@pytest.mark.parametrize("when_spent", ["suppress", "stop"])
def test_a_missing_value_is_found_where_gaps_are_allowed(order: str, when_spent: str) -> None:
    finished = run_of(order, when_spent=when_spent)
    del finished.released()[first(finished, lambda one: place_of(one)[0] == "2")]
    assert {"lost_event", "identity"} <= codes(finished)


@ORDERS
def test_a_whole_window_that_is_missing_is_found_where_gaps_are_allowed(order: str) -> None:
    finished = run_of(order, when_spent="suppress")
    log = finished.released()
    user = log[0].key
    mine = [at for at, one in enumerate(log) if one.key == user and int(dict(one.headers)["step"]) <= 5]
    for at in reversed(mine):
        del log[at]
    assert {"lost_event", "identity"} <= codes(finished)


def test_a_missing_window_is_found_where_its_stretch_had_a_budget_of_its_own() -> None:
    """An open window's user is next heard of in a later stretch, and there nothing was spent yet."""
    windows = "{events: 5, stretch: 10s, order: natural}"
    finished = run_of("natural", windows=windows, nats=1, window="10s", when_spent="suppress")
    log = finished.released()
    steps = [(one.key, int(dict(one.headers)["step"])) for one in log]
    seen = dict(zip(steps, log, strict=True))
    opens = [key for key, one in seen.items() if place_of(one)[0] == "1"]
    user, step = next((user, step) for user, step in opens if step > 1 and place_of(seen[user, step - 1])[0] in "1234")
    wanted = range(step, step + next(n for n in range(1, 7) if (user, step + n) not in seen or n == 6))
    gone = [one for (name, number), one in seen.items() if name == user and number in wanted]
    for one in gone:
        log.remove(one)
    assert "lost_event" in codes(finished)


def test_a_value_of_an_open_window_that_is_said_to_be_forecast_is_found() -> None:
    finished = run_of("natural")
    log = finished.released()
    at = first(finished, drawn_at("2"))
    log[at] = with_place(replace(log[at], headers=(*log[at].headers, ("outcome", b"forecast"))), "2//")
    assert "needless_forecast" in codes(finished)


@ORDERS
def test_a_record_that_is_there_twice_is_found(order: str) -> None:
    finished = run_of(order)
    log = finished.released()
    at = first(finished, lambda one: place_of(one)[0] == "2")
    log.insert(at + 1, log[at])
    assert codes(finished) == {"released_twice", "out_of_order"}


@ORDERS
def test_windows_of_two_users_may_lie_between_each_other(order: str) -> None:
    finished = run_of(order)
    log = finished.released()
    log.sort(key=lambda one: int(dict(one.headers)["step"]))
    offsets = sorted(one.offset for one in log)
    log[:] = [replace(one, offset=offset) for one, offset in zip(log, offsets, strict=True)]
    assert codes(finished) == set()


@ORDERS
@pytest.mark.parametrize(
    "text", ["", "1", "1/2", "1/2/3/4", "x/5/0", "-1/5/0", "1/5/4", "01/5/0", "12345/5/0", "/5/0", "1/5/0 "]
)
def test_a_header_that_says_nothing_is_found(order: str, text: str) -> None:
    finished = run_of(order, events=100)
    finished.released()[0] = with_place(finished.released()[0], text)
    assert "unusable_record" in codes(finished)


def test_a_window_where_the_settings_have_none_is_found() -> None:
    finished = run(4, events=100)
    log = finished.released()
    log[0] = replace(log[0], headers=(*log[0].headers, ("window", b"1/1/0")))
    assert codes(finished) == {"strange_field"}


@ORDERS
def test_a_forecast_that_is_a_raw_value_is_found(order: str) -> None:
    finished = run_of(order)
    log = finished.released()
    at = first(finished, is_forecast)
    log[at] = with_value(log[at], other(value_of(log[at])))
    assert codes(finished) == {"not_likeliest"}


def test_a_drawn_forecast_that_no_stranger_can_take_is_found() -> None:
    """In a ring a value is followed by itself or by the next one: each step of a stranger's path must be possible."""
    finished = run_of("bisect", symbols=20, sparse=True, when_spent="forecast_draw")
    log = finished.released()
    at = first(finished, lambda one: is_forecast(one) and place_of(one)[0] == "2")
    here = int(value_of(log[at])[3:])
    log[at] = with_value(log[at], f"act{(here + 10) % 20}")
    assert codes(finished) == {"not_likeliest"}


@ORDERS
def test_a_release_that_says_it_is_a_forecast_is_found(order: str) -> None:
    finished = run_of(order, windows=WINDOWS[order].replace("events: 5", "events: 1"))
    log = finished.released()
    at = first(finished, lambda one: not is_forecast(one))
    log[at] = with_place(replace(log[at], headers=(*log[at].headers, ("outcome", b"forecast"))), "1//")
    if order == "bisect":
        log[at] = with_place(log[at], "1/1/")
    assert "needless_forecast" in codes(finished)
