"""Faults in the released topic: each is found, and named for what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from audit_world import (
    RELEASED,
    Kept,
    Run,
    codes,
    is_forecast,
    run,
    value_of,
    with_value,
)


@pytest.fixture
def finished() -> Run:
    return run(4, events=1200, users=12)


def test_a_right_run_agrees(finished: Run) -> None:
    assert codes(finished) == set()


def test_a_missing_release_is_a_lost_event(finished: Run) -> None:
    del finished.released()[100]
    report = finished.report()
    assert report.findings.codes() == {"lost_event", "identity"}
    lost = next(finding for finding in report.findings if finding.code == "lost_event")
    assert lost.count == 1
    assert lost.places[0].startswith("before phones.released, partition 0, offset ")


@pytest.mark.parametrize("when_spent", ["suppress", "stop"])
def test_a_missing_release_is_found_where_gaps_are_allowed(when_spent: str) -> None:
    finished = run(4, events=1200, users=12, when_spent=when_spent)
    del finished.released()[5]
    assert "lost_event" in codes(finished)


def test_the_last_release_of_a_user_is_missed_like_any_other(finished: Run) -> None:
    del finished.released()[-1]
    assert codes(finished) == {"lost_event", "identity"}


def test_a_release_that_is_there_twice_is_found(finished: Run) -> None:
    last = finished.released()[-1]
    finished.released().append(replace(last, offset=last.offset + 1))
    assert codes(finished) == {"released_twice", "out_of_order"}


def test_two_values_for_one_input_are_found(finished: Run) -> None:
    last = finished.released()[-1]
    other = "act1" if value_of(last) == "act0" else "act0"
    finished.released().append(with_value(replace(last, offset=last.offset + 1), other))
    assert codes(finished) == {"released_twice", "two_values", "out_of_order"}


def test_two_values_for_one_input_are_found_among_uncommitted_records(finished: Run) -> None:
    last = finished.released()[-1]
    other = "act1" if value_of(last) == "act0" else "act0"
    finished.released().append(with_value(replace(last, offset=last.offset + 1, committed=False), other))
    assert codes(finished) == {"two_values"}
    assert codes(finished, with_uncommitted=False) == set()


def test_an_aborted_repeat_of_the_same_bytes_is_counted_and_is_right(finished: Run) -> None:
    last = finished.released()[-1]
    finished.released().append(replace(last, offset=last.offset + 1, committed=False))
    report = finished.report()
    assert report.agrees
    assert report.repeats_uncommitted == 1


def test_a_repeat_with_another_timestamp_is_found(finished: Run) -> None:
    last = finished.released()[-1]
    repeat = replace(last, offset=last.offset + 1, committed=False, timestamp=last.timestamp + 1)
    finished.released().append(repeat)
    assert codes(finished) == {"two_texts"}


def test_records_out_of_order_are_found(finished: Run) -> None:
    log = finished.released()
    first, second = [at for at, one in enumerate(log) if one.key == log[0].key][:2]
    log[first], log[second] = (
        replace(log[second], offset=log[first].offset),
        replace(log[first], offset=log[second].offset),
    )
    assert "out_of_order" in codes(finished)


def test_a_forecast_that_is_a_raw_value_is_found(finished: Run) -> None:
    log = finished.released()
    at = next(at for at, one in enumerate(log) if is_forecast(one))
    log[at] = with_value(log[at], "act1" if value_of(log[at]) == "act0" else "act0")
    report = finished.report()
    assert report.findings.codes() == {"not_likeliest"}


def test_a_forecast_that_says_it_is_a_release_is_over_budget(finished: Run) -> None:
    log = finished.released()
    at = next(at for at, one in enumerate(log) if is_forecast(one))
    log[at] = replace(log[at], headers=tuple(header for header in log[at].headers if header[0] != "outcome"))
    assert "over_budget" in codes(finished)


def test_a_release_that_says_it_is_a_forecast_is_needless(finished: Run) -> None:
    log = finished.released()
    at = next(at for at, one in enumerate(log) if not is_forecast(one))
    log[at] = replace(log[at], headers=(*log[at].headers, ("outcome", b"forecast")))
    assert "needless_forecast" in codes(finished)


def test_a_changed_released_value_is_found(finished: Run) -> None:
    log = finished.released()
    at = next(at for at, one in enumerate(log) if not is_forecast(one))
    log[at] = with_value(log[at], "act1" if value_of(log[at]) == "act0" else "act0")
    assert codes(finished) & {"impossible_value", "state_differs", "not_likeliest"}


def test_a_release_of_a_stopped_user_is_found() -> None:
    finished = run(4, events=1200, users=12, when_spent="stop")
    log = finished.released()
    user = log[-1].key
    latest = next(one for one in reversed(finished.states()) if one.key == b"u" + (user or b""))
    steps = int.from_bytes((latest.value or b"")[48:56], "little")
    headers = tuple((name, b"%d" % steps if name == "step" else text) for name, text in log[-1].headers)
    headers = tuple((name, b"ab" * 16 if name == "release-id" else text) for name, text in headers)
    log.append(replace(log[-1], offset=log[-1].offset + 1, headers=headers))
    assert "after_stop" in codes(finished)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda one: replace(one, key=None), "unusable_record"),
        (lambda one: replace(one, value=None), "unusable_record"),
        (lambda one: replace(one, value=b"{"), "unusable_record"),
        (lambda one: with_value(one, "strange"), "unusable_record"),
        (lambda one: replace(one, headers=one.headers[1:]), "unusable_record"),
        (lambda one: replace(one, headers=(*one.headers[:3], ("step", b"-1"))), "unusable_record"),
        (lambda one: replace(one, headers=(*one.headers, ("cookie", b"c"))), "strange_field"),
        (lambda one: replace(one, value=one.value.replace(b'"battery"', b'"secrets"')), "strange_field"),
        (lambda one: replace(one, timestamp_type=1), "broker_time"),
        (lambda one: replace(one, headers=(one.headers[0], ("policy", b"2:0"), *one.headers[2:])), "wrong_policy"),
    ],
    ids=range(10),
)
def test_a_record_of_a_wrong_form_is_found(finished: Run, change: Callable[[Kept], Kept], code: str) -> None:
    log = finished.released()
    log[50] = change(log[50])
    assert code in codes(finished)


def test_a_user_in_two_partitions_is_found() -> None:
    finished = run(4, events=400, users=5, partitions=2)
    first = finished.topics.logs[RELEASED][1]
    first.append(replace(first[-1], offset=first[-1].offset + 1, key=finished.released()[0].key))
    assert {"two_partitions", "state_missing"} <= codes(finished)
