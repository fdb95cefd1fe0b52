"""What is counted of crowds is what their released records say: the stages themselves run, and both are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

import pytest
from aggregate_lives import MINUTE, SECOND, START, Life, block_of_partials
from crowd_lives import (
    COUNT,
    RECORDS,
    SUM,
    TOPPED,
    TWO,
    TYPED,
    crowd_promise,
    parts_of,
    random_walks,
    windows_of,
)
from crowd_lives import told as said_of
from flow_lives import GROUPERS, ILL, FlowLife, flow_of, flow_promise, random_events, random_turns
from flow_lives import told as said_of_flow

from stream import names
from stream.crowds.promise import CrowdPromise
from stream.metrics import crowd_table as metrics
from stream.metrics.crowds import REUSED, CrowdCounts, FlowCounts
from stream.metrics.metric import Metric

NOTHING = "believes: nothing_declared"
KINDS: list[tuple[str, str, bytes | None]] = [
    (COUNT, TYPED, TWO),
    (SUM, TOPPED, None),
    (SUM, NOTHING, None),
    (RECORDS, NOTHING, None),
]


def samples_of(counts: CrowdCounts | FlowCounts) -> dict[Metric, Mapping[tuple[str, ...], float]]:
    return dict(counts.samples())


@pytest.mark.parametrize("place", range(len(KINDS)))
def test_what_is_counted_of_windows_is_what_is_released(place: int) -> None:
    release, believes, law = KINDS[place]
    promise = crowd_promise(release, believes, law=law)
    life, records = released(promise, Random(place))
    counts = CrowdCounts(promise, 1, lambda: 0)
    for effects in life.effects:
        counts.told(0, effects.aggregates)
    windows = [each for each in records if "crowd" not in each]
    out = [each for each in windows if each["outcome"] == names.RELEASED]
    assert len(out) > 3 and counts.released == len(out)
    reasons = Counter(each["reason"] for each in windows if each["outcome"] == names.WITHHELD)
    assert +counts.withheld == reasons and reasons[names.WITHHELD_FEW] > 0
    assert counts.groups.sizes.sum == sum(each["users"] for each in out)
    assert counts.crowds == len(records) - len(windows) == sum(each["crowds"] or 0 for each in out)
    assert counts.suppressed == sum(each["suppressed"] for each in out)
    check_guarantees(counts, out)
    if release == RECORDS:
        losses = [float(each["release"]["loss"]) for each in out if each["release"]["loss"] is not None]
        assert counts.losses.count == len(losses) > 0 and counts.crowds >= len(losses) and counts.suppressed > 0
        assert counts.losses.sum == pytest.approx(sum(losses), abs=1e-5)
    noisy = sum(bool(each["release"].get("noise_scale")) for each in out)
    assert counts.topped_up == noisy and (noisy > 0) == promise.tops_up


def released(promise: CrowdPromise, chance: Random) -> tuple[Life, list[dict[str, Any]]]:
    """Eight windows of a partition, in blocks of one part each."""
    sent = random_walks(chance, 260, users=16)
    until = max(each.record for each in sent) + 2 * MINUTE + 15 * SECOND
    life = Life(windows_of(promise))
    for first, part in enumerate(parts_of(promise, sent, until)):
        life.carry_out(block_of_partials([part], first))
    return life, said_of(life.released)


def check_guarantees(counts: CrowdCounts, out: Iterable[Mapping[str, Any]]) -> None:
    """Records round deltas up at their ninth digit."""
    said = [each["guarantee"]["adversaries"] or {} for each in out]
    declared = [{name: each for name, each in one.items() if each is not None} for one in said]
    assert counts.deltas().keys() == declared[-1].keys()
    for name, delta in counts.deltas().items():
        assert delta == pytest.approx(float(declared[-1][name]["delta"]), rel=1e-8, abs=1e-300)
    deltas = [float(each["delta"]) for one in declared for each in one.values()]
    assert (counts.worst is None) == (not deltas)
    if deltas:
        assert counts.worst == pytest.approx(max(deltas), rel=1e-8)
        assert samples_of(counts)[metrics.CROWD_TOTAL][()] == max(counts.deltas().values())


@pytest.mark.parametrize("grouper", GROUPERS)
def test_what_is_counted_of_a_stream_is_what_is_released(grouper: str) -> None:
    promise, chance = flow_promise(grouper, k=3, more=ILL), Random(5)
    life = FlowLife(flow_of(promise, 2))
    life.turns(random_turns(chance, promise, [random_events(chance, 80) for _ in range(2)]))
    counts = FlowCounts(promise, 1)
    for effects in life.effects:
        counts.told(0, effects.aggregates)
    records = said_of_flow(life.released)
    crowds, events = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for each in records:
        kind = (REUSED, "") if each["reused"] else (each["outcome"], each["reason"] or "")
        crowds[kind] += 1
        events[kind] += each["events"]
    assert +counts.crowds == crowds and +counts.events == events and crowds[names.RELEASED, ""] > 3
    assert sum(counts.events.values()) == counts.delays.count == sum(each["events"] for each in records)
    fresh = [each for each in records if each["box"] is not None and not each["reused"]]
    assert counts.groups.sizes.sum == sum(each["users"] for each in fresh)
    assert counts.losses.count == sum(each["box"] is not None for each in records)
    assert samples_of(counts)[metrics.CROWD_WAITING] == {(): 0.0}


def test_a_window_s_start_is_no_clock_of_a_stream() -> None:
    """Windows begin at a declared time, a stream at none."""
    assert crowd_promise().windowed.start == START
    with pytest.raises(ValueError, match="have no windows"):
        CrowdCounts(flow_promise(), 1)
