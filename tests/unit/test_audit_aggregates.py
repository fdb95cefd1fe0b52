"""The audit of windows of aggregates: it agrees with what the stages make, and sees whatever is changed afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from io import StringIO
from typing import Any

import pytest
from aggregate_audited import KINDS, RING_KEYS, House
from aggregate_world import PACE, aggregate_settings
from audit_memory import Kept, with_header
from rich.console import Console

from mechanisms.aggregate.coin_stream import CoinStream
from mechanisms.aggregate.geometric import Geometric, scale_for, slimmed
from stream.aggregates.compiled import queries_of
from stream.audit.aggregate_noise import Draws, loss_of, reach_of, scale_from, scale_of
from stream.audit.aggregate_report import AggregateReport, tell_aggregates
from stream.audit.aggregate_rules import windows_of
from stream.errors import CannotAudit

CHANGED: list[tuple[str, Callable[[dict[str, Any]], None]]] = [
    ("aggregate_numbers", lambda said: said["aggregates"]["people"].update(scale=1.0)),
    ("aggregate_numbers", lambda said: said["aggregates"]["people"]["interval"].reverse()),
    ("aggregate_numbers", lambda said: said["aggregates"]["speed"].update(value=0.3)),
    ("aggregate_numbers", lambda said: said["aggregates"]["pace"].update(value=7.9)),
    ("aggregate_numbers", lambda said: said["aggregates"]["pace"]["sum"].update(above=0)),
    ("aggregate_numbers", lambda said: said["aggregates"]["job"]["cells"].pop()),
    ("aggregate_numbers", lambda said: said["aggregates"]["job"]["cells"].reverse()),
    ("aggregate_numbers", lambda said: said["aggregates"]["top"]["cells"].reverse()),
    ("aggregate_numbers", lambda said: said["aggregates"]["top"].update(kind="histogram")),
    ("aggregate_strange", lambda said: said["aggregates"].update(more={"kind": "count"})),
    ("aggregate_strange", lambda said: said.update(users=["ann"])),
    ("aggregate_strange", lambda said: said["guarantee"].update(note="x")),
    ("aggregate_account", lambda said: said["guarantee"].update(loss=0.1)),
    ("aggregate_account", lambda said: said["guarantee"].update(total=0.1)),
    ("aggregate_account", lambda said: said["guarantee"].update(adversary="weakest")),
    ("aggregate_account", lambda said: said["guarantee"].update(method="exact")),
    ("aggregate_account", lambda said: said["guarantee"].update(more_noise=2)),
    ("aggregate_span", lambda said: said["window"].update(end="2026-01-01T00:00:00Z")),
    ("window_twice", lambda said: said["window"].update(number=0)),
    ("window_missing", lambda said: said["window"].update(number=9)),
    ("aggregate_needless", lambda said: said.update(outcome="withheld", reason="budget", aggregates={})),
    ("aggregate_strange", lambda said: said.update(reason="late")),
]


@pytest.fixture(scope="module")
def house() -> House:
    return House()


async def test_what_the_stages_make_agrees_with_and_without_keys(house: House) -> None:
    report = await house.audit()
    assert [finding.code for finding in report.findings] == []
    assert report.seen.released == house.minutes
    opened = await house.audit(ring_keys=RING_KEYS)
    assert opened.agrees
    assert opened.exit_status == 0
    assert opened.largest_total == house.minutes * house.promise.window_loss


@pytest.mark.parametrize(("code", "change"), CHANGED)
async def test_whatever_is_changed_is_found(house: House, code: str, change: Callable[[dict[str, Any]], None]) -> None:
    before = list(house.released)
    house.change(4, change)
    try:
        report = await house.audit()
    finally:
        house.released[:] = before
    assert code in report.findings.codes()
    assert report.exit_status == 1


@pytest.mark.parametrize(
    ("query", "part"), [("people", None), ("speed", None), ("pace", "count"), ("job", "cells"), ("top", "cells")]
)
async def test_another_number_with_everything_around_it_right_is_seen_with_the_keys_alone(
    house: House, query: str, part: str | None
) -> None:
    """One more in the value and in its interval: in the released topic everything fits."""

    def change(said: dict[str, Any]) -> None:
        told = said["aggregates"][query]
        step = 0.5 if query == "speed" else 1
        if part == "cells":
            cells = told["cells"]
            cells[0]["count"] += step
            cells[0]["interval"] = [end + step for end in cells[0]["interval"]]
        elif part is None:
            told["value"] += step
            told["interval"] = [end + step for end in told["interval"]]
        else:
            told[part]["value"] += step
            told[part]["interval"] = [end + step for end in told[part]["interval"]]

    before = list(house.released)
    house.change(6, change)
    try:
        public, opened = await house.audit(), await house.audit(ring_keys=RING_KEYS)
    finally:
        house.released[:] = before
    assert "wrong_noise" in opened.findings.codes()
    if query != "pace":
        assert public.agrees


async def test_headers_keys_times_and_records_of_others_are_looked_at(house: House) -> None:
    before = list(house.released)
    record = before[3]
    cases = [
        ("aggregate_policy", with_header(record, "policy", b"9:00000000")),
        ("aggregate_id", with_header(record, "release-id", b"0" * 32)),
        ("aggregate_strange", replace(record, headers=(*record.headers, ("user", b"ann")))),
        ("aggregate_strange", with_header(record, "outcome", b"withheld")),
        ("aggregate_span", replace(record, key=b"2026")),
        ("aggregate_span", replace(record, timestamp=record.timestamp + 1)),
        ("aggregate_unreadable", replace(record, value=b"{}")),
        ("aggregate_unreadable", replace(record, value=(record.value or b"").replace(b'"reason"', b'"outcome"'))),
    ]
    for code, changed in cases:
        house.released[3] = changed
        report = await house.audit()
        assert code in report.findings.codes(), code
    house.released[:] = before


async def test_a_window_that_is_gone_or_comes_twice_is_found() -> None:
    house = House(KINDS[0])
    gone = house.released.pop(5)
    assert (await house.audit()).findings.codes() >= {"window_missing"}
    house.released.insert(5, gone)
    house.released.append(replace(house.released[2], offset=99))
    assert (await house.audit()).findings.codes() >= {"window_twice"}


async def test_a_window_that_readers_of_uncommitted_data_saw_otherwise_is_found() -> None:
    house = House(KINDS[0])
    record = house.released[2]
    house.released.insert(2, replace(record, committed=False))
    assert (await house.audit()).agrees
    other = (record.value or b"").replace(b'"reason":null', b'"reason": null')
    house.released[2] = replace(record, committed=False, value=other)
    assert (await house.audit()).findings.codes() == {"window_two_texts"}
    assert (await house.audit(with_uncommitted=False)).agrees


async def test_what_the_second_stage_keeps_is_compared() -> None:
    house = House(KINDS[0])
    log = house.memory.logs["walkers-total-beliefs-changelog"][0]
    mark = log[0].value or b""
    other = (mark[:-1] + b"\x01", "losses"), (b"\x02" + mark[1:], "of other windows"), (b"\x01", "unreadable")
    for changed, detail in other:
        log[0] = replace(log[0], value=changed)
        report = await house.audit()
        assert [(finding.code, finding.detail) for finding in report.findings] == [("aggregate_state", detail)]
    log[0] = replace(log[0], value=mark)
    del house.released[-1]
    assert (await house.audit()).findings.codes() == {"window_missing"}
    assert (await house.audit(with_changelog=False)).agrees


async def test_sealed_sums_that_are_foreign_missing_or_repeated_are_found() -> None:
    house = House(KINDS[0])
    log = house.memory.logs["walkers-partials"][0]
    log.append(Kept(len(log), None, b"not a partial of anybody, and rather short"))
    assert (await house.audit(ring_keys=RING_KEYS)).findings.codes() == {"partial_unreadable"}
    log[-1] = replace(log[0], offset=len(log) - 1)
    assert (await house.audit(ring_keys=RING_KEYS)).findings.codes() == {"partial_twice"}
    del log[-1]
    first = log.pop(0)
    report = await house.audit(ring_keys=RING_KEYS)
    assert first.value is not None
    assert report.findings.codes() & {"window_early", "wrong_noise"}
    log.insert(0, first)
    assert (await house.audit(ring_keys={1: bytes(32)})).findings.codes() >= {"partial_unreadable", "window_early"}


@pytest.mark.parametrize("beyond", ["withhold", "top_up"])
async def test_withheld_windows_and_more_noise_follow_from_the_target(beyond: str) -> None:
    house = House(
        "people: {count: users, epsilon: 0.5}",
        target=f"target: {{nats: 1.2, windows: 4, beyond: {beyond}}}",
    )
    report = await house.audit(ring_keys=RING_KEYS)
    assert report.agrees
    assert report.seen.withheld == {"budget": report.seen.records - report.seen.released}
    outcomes = [json.loads(record.value or b"") for record in house.released]
    noises = [said["guarantee"]["more_noise"] for said in outcomes if said["outcome"] == "released"]
    assert (max(noises) > 1) == (beyond == "top_up")
    assert report.largest_total <= 1.2 * 2**40
    place = next(i for i, said in enumerate(outcomes) if said["outcome"] == "withheld")
    house.released[place] = replace(house.released[place - 1], offset=place)
    house.change(place, lambda said: said["window"].update(number=place))
    assert "aggregate_beyond_target" in (await house.audit()).findings.codes()


async def test_groups_and_fresh_windows_have_their_own_account() -> None:
    for more, protects in (
        ("dependence: {users: {group: 3}}", ""),
        ("dependence: {users: {group: 2}, windows: fresh}", "\nprotects: one_window"),
    ):
        house = House(KINDS[0], KINDS[1], more=more + protects, target="target: {nats: 9, windows: 3}")
        assert (await house.audit(ring_keys=RING_KEYS)).agrees
        other = House(KINDS[0], KINDS[1], target="target: {nats: 9, windows: 3}")
        other.memory = house.memory
        assert (await other.audit()).findings.codes() >= {"aggregate_account", "aggregate_policy"}


async def test_what_cannot_be_audited_is_said() -> None:
    house = House(KINDS[0])
    house.memory.first = 3
    with pytest.raises(CannotAudit, match=r"The beginning of the topic walkers\.out is gone"):
        await house.audit()
    house.memory.first = 0
    house.memory.logs["walkers-beliefs-changelog"][0].clear()
    with pytest.raises(CannotAudit, match="It is not known which raw topic"):
        await house.audit()
    del house.memory.logs["walkers-total-beliefs-changelog"]
    control = b'{"topic_id": "' + bytes(16).hex().encode() + b'"}'
    house.memory.logs["walkers-beliefs-changelog"] = [[Kept(0, b"c", control)]]
    with pytest.raises(CannotAudit, match="A changelog of the pipeline does not exist"):
        await house.audit()
    house.memory.logs[house.settings.kafka.released_topic] = [[], []]
    with pytest.raises(CannotAudit, match="cannot be that of windows of aggregates"):
        await house.audit()


def test_the_report_says_what_was_read_and_what_cannot_be_seen() -> None:
    report = AggregateReport("walkers")
    report.seen.withheld["budget"] = 4
    report.findings.add("wrong_noise", places=["window 7"])
    out = StringIO()
    tell_aggregates(report, Console(width=120, file=out))
    text = out.getvalue()
    for part in ("withheld: budget", "window 7", "DISAGREE", "--keys looks at that", "why it matters"):
        assert part in text
    assert report.as_json()["verdict"] == "disagree"


@pytest.mark.parametrize(
    ("shift", "loss"), [(1, 1 << 40), (2, 219_902_325_555), (41, 1 << 20), (80, 10**15), (7, 10**11 + 7)]
)
def test_scales_losses_and_reaches_are_those_of_the_mechanism(shift: int, loss: int) -> None:
    ours, theirs = scale_of(shift, loss), scale_for(shift, loss)
    assert ours == theirs.scale
    assert loss_of(shift, ours) == theirs.loss(shift)
    for confidence in ("0.95", "0.975"):
        assert reach_of(ours, Fraction(confidence)) == theirs.interval(float(confidence))
    assert scale_from(ours * Fraction(7, 3)) == slimmed(theirs, Fraction(7, 3)).scale


@pytest.mark.parametrize("scale", [Fraction(5), Fraction(1, 3), Fraction(10**9 + 7, 12345), Fraction(2**40)])
def test_draws_are_those_of_the_mechanism(scale: Fraction) -> None:
    key = bytes(range(32))
    for window, query in ((0, 0), (17, 3), (2**40, 2**31)):
        mine, stream = Draws(key, window, query), CoinStream(key, window, query)
        noise = Geometric(scale.numerator, scale.denominator)
        assert [mine.one(scale) for _ in range(40)] == [noise.draw(stream) for _ in range(40)]


@pytest.mark.parametrize("high", ["0.2", "0.3", "12"])
def test_parts_of_a_mean_have_the_noise_that_the_engine_gives_them(high: str) -> None:
    settings = aggregate_settings(PACE.replace("high: 12", f"high: {high}"))
    assert settings.aggregate is not None
    (query,) = queries_of(settings.aggregate)
    (asked,) = windows_of(settings, lambda: bytes(32)).asked
    assert asked.scales == tuple(noise.scale for noise in query.noise)
    assert asked.loss == query.loss
