"""Pipelines whose windows kept another promise than their settings make, and faults in the states that they leave."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

import pytest
from audit_windows import ORDERS, falsified, run_of
from audit_world import CHANGELOG, Kept, Run, add_to_word, codes, differing, run

from stream.windows.pipeline import WindowPipeline


@ORDERS
def test_a_budget_that_was_larger_or_smaller_than_said_is_found(order: str) -> None:
    def scaled(factor: float) -> Callable[[WindowPipeline], None]:
        def change(pipeline: WindowPipeline) -> None:
            step = pipeline._steps[0]
            step._policy = step._policy._replace(budget=int(step._policy.budget * factor))

        return change

    assert "over_budget" in falsified(order, scaled(2.0))
    assert "needless_forecast" in falsified(order, scaled(0.5))
    assert "lost_event" in falsified(order, scaled(0.5), when_spent="suppress")


@ORDERS
@pytest.mark.parametrize("factor", [2.0, 1.01, 0.99])
def test_windows_that_were_built_for_another_epsilon_are_found(order: str, factor: float) -> None:
    def change(pipeline: WindowPipeline) -> None:
        step = pipeline._steps[0]
        step._policy = step._policy._replace(epsilon=int(step._policy.epsilon * factor))

    assert falsified(order, change, nats="unlimited") & {"state_differs", "impossible_value", "wrong_shown"}


@ORDERS
def test_what_told_more_than_epsilon_is_said(order: str) -> None:
    """The auditor is told of a smaller epsilon than windows were built for, and of nothing else."""
    finished = run_of(order, nats="unlimited")
    public = finished.task().public
    report = finished.report(public=replace(public, rules=public.rules._replace(epsilon=public.rules.epsilon // 2)))
    assert "above_epsilon" in report.findings.codes()
    assert "above_epsilon" not in codes(finished)


@ORDERS
@pytest.mark.parametrize(
    ("place", "kind", "field"),
    [
        (16, "<i8", "upper"),
        (24, "<i8", "lower"),
        (32, "<i8", "window_upper"),
        (40, "<i8", "window_lower"),
        (56, "<u4", "window"),
        (60, "<u4", "drift"),
        (64, "<u4", "belief"),
        (76, "<u4", "belief"),
    ],
)
@pytest.mark.parametrize("amount", [1, -1])
def test_one_unit_or_one_code_too_many_or_too_few_is_found(
    order: str, place: int, kind: str, field: str, amount: int
) -> None:
    finished = run_of(order, nats="unlimited", window="forever")
    rows = [one for one in finished.states() if one.key is not None and one.key[:1] == b"u"]
    if int.from_bytes((rows[-1].value or b"")[place : place + 4], "little") + amount < 0:
        amount = 1
    finished.change_state(add_to_word(place, kind, amount))
    assert differing(finished) == {field}


def change_held(finished: Run, change: Callable[[bytes], bytes | None]) -> None:
    """Falsify what is held about the user whose record of it is the last."""
    log = finished.states()
    latest = {one.key: at for at, one in enumerate(log) if one.key is not None and one.key[:1] == b"h"}
    at = max(at for at in latest.values() if log[at].value)
    log[at] = replace(log[at], value=change(log[at].value or b""))


def with_field(record: bytes, place: int, kind: str, amount: int) -> bytes:
    (value,) = struct.unpack_from(kind, record, place)
    head = bytearray(record)
    struct.pack_into(kind, head, place, value + amount)
    return bytes(head)


@ORDERS
@pytest.mark.parametrize(
    ("place", "kind", "amount"), [(0, "<B", 1), (1, "<B", 1), (8, "<q", 1), (8, "<q", -1)], ids=range(4)
)
def test_a_held_record_that_does_not_go_with_its_row_is_found(order: str, place: int, kind: str, amount: int) -> None:
    finished = run_of(order, nats="unlimited")
    if (order, place) == ("natural", 1):
        amount = -1
    change_held(finished, lambda record: with_field(record, place, kind, amount))
    assert "wrongly_held" in codes(finished)


def test_a_value_that_waits_and_is_not_counted_is_found() -> None:
    finished = run_of("bisect")
    change_held(finished, lambda record: with_field(record, 2, "<H", 1))
    assert "identity" in codes(finished)


@ORDERS
def test_what_is_held_and_vanished_is_found(order: str) -> None:
    finished = run_of(order, nats="unlimited")
    change_held(finished, lambda record: None)
    assert codes(finished) & {"identity", "wrongly_held"}


def test_what_is_held_although_nothing_waits_is_found() -> None:
    finished = run(4, events=300)
    last = finished.states()[-1]
    held = struct.pack("<BBHIqq", 1, 0, 1, 1, 7, -1) + bytes(40)
    finished.topics.logs[CHANGELOG][0].append(Kept(last.offset + 1, b"huser-0-1", held))
    assert {"wrongly_held", "identity"} <= codes(finished)


@ORDERS
def test_a_release_of_a_stopped_user_is_found(order: str) -> None:
    finished = run_of(order, when_spent="stop")
    log = finished.released()
    latest = next(one for one in reversed(finished.states()) if one.key == b"u" + (log[-1].key or b""))
    steps = int.from_bytes((latest.value or b"")[48:56], "little")
    given = {"step": b"%d" % steps, "release-id": b"ab" * 16, "window": b"1/1/" if order == "bisect" else b"1//"}
    headers = tuple((name, given.get(name, text)) for name, text in log[-1].headers)
    log.append(replace(log[-1], offset=log[-1].offset + 1, headers=headers))
    assert "after_stop" in codes(finished)
