"""What metrics and the status page say of windows of aggregates, and what they leave unsaid."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from aggregate_lives import PEOPLE, Life, at, block_of, gather_of, promise_of
from aggregate_metering import MINUTE, MISSING, MORE_NOISE, RELEASED, WITHHELD, World, decided, report
from aggregate_world import aggregate_text

from stream import names
from stream.errors import PublishFailed
from stream.gathering.first import GatherTold
from stream.metrics.page import status_page


def test_windows_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    world = World(tmp_path)
    until = world.start + 4 * MINUTE
    told = decided(RELEASED, WITHHELD, MISSING, MORE_NOISE, until=until - 3 * MINUTE, waiting=5)
    world.total.block_committed(report(0, told, {}, {names.PARTIAL_UNREADABLE: 2}))
    found = world.series()
    assert found["sottovoce_aggregate_windows_total|released|"] == 2
    assert found["sottovoce_aggregate_windows_total|withheld|budget"] == 1
    assert found["sottovoce_aggregate_windows_total|withheld|partial_missing"] == 1
    assert found["sottovoce_aggregate_topped_up_windows_total"] == 1
    assert found["sottovoce_aggregate_window_loss_nats"] == 0.25
    assert found["sottovoce_aggregate_window_leak_nats"] == 0.5
    assert found["sottovoce_aggregate_total_nats"] == 2
    assert found["sottovoce_aggregate_target_nats"] == 2
    assert found["sottovoce_aggregate_released_lag_seconds"] == 40
    assert found["sottovoce_aggregate_waiting_partials"] == 5
    assert world.meter.dead_letters == Counter({names.PARTIAL_UNREADABLE: 2})
    world.total.revoked([])
    assert "sottovoce_aggregate_total_nats" in world.series()
    world.total.revoked([0])
    found = world.series()
    assert not {"sottovoce_aggregate_total_nats", "sottovoce_aggregate_released_lag_seconds"} & set(found)
    assert found["sottovoce_aggregate_windows_total|released|"] == 2


def test_partitions_say_how_far_they_have_closed(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.gather.assigned([0, 3])
    told = GatherTold(world.start + MINUTE, world.start + 3 * MINUTE + 5)
    outcomes = {names.TAKEN: 5, names.REPEATED: 1, names.DEAD_LETTERED: 2}
    world.gather.block_committed(report(3, told, outcomes, {names.LATE: 1, names.TIME_AHEAD: 1}))
    found = world.series()
    assert found["sottovoce_aggregate_closed_lag_seconds|3"] == 40
    assert found["sottovoce_aggregate_open_windows|3"] == 3
    assert world.meter.outcomes == Counter({**outcomes, names.REPLAYED: 0})
    assert world.meter.dead_letters == Counter({names.LATE: 1, names.TIME_AHEAD: 1})
    world.gather.revoked([3])
    assert not [name for name in world.series() if name.endswith("|3")]


def test_no_open_window_is_counted_where_the_clock_has_closed_past_every_event(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.gather.assigned([0])
    told = GatherTold(world.start + 5 * MINUTE, world.start)
    world.gather.block_committed(report(0, told, {}, {}))
    assert world.series()["sottovoce_aggregate_open_windows|0"] == 0
    assert world.series()["sottovoce_aggregate_closed_lag_seconds|0"] == 0


def test_noise_is_told_in_the_units_of_the_fields(tmp_path: Path) -> None:
    found = World(tmp_path).series()
    scales = {
        name.removeprefix("sottovoce_aggregate_noise_scale|"): value
        for name, value in found.items()
        if "_noise_" in name
    }
    assert list(scales) == ["people|count", "steps|sum", "pace|sum", "pace|count", "job|histogram", "places|top"]
    wanted = (1 / 0.2, 40 / 0.3, 12 / 0.4, 1 / 0.2, 2 / 0.2, 2 / 0.5)
    assert list(scales.values()) == pytest.approx(wanted, rel=1e-8)


def test_what_is_held_of_people_is_told_nobody() -> None:
    """Partitions that differ in nothing but how many users have contributed tell their watchers the same."""
    few, many = ([at(5, b"u%d" % i) for i in range(users)] for users in (1, 40))
    told = [Life(gather_of(promise_of(PEOPLE))).carry_out(block_of(sent)).aggregates for sent in (few, many)]
    assert told[0] == told[1]


def test_a_pipeline_without_target_says_so(tmp_path: Path) -> None:
    world = World(tmp_path, aggregate_text(target="target: {nats: unlimited, windows: 10}"))
    assert world.series()["sottovoce_aggregate_target_nats"] == float("inf")
    assert "the most that may be told" in status_page(world.meter)


def test_failures_of_the_second_stage_count_too(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.total.failed(0, PublishFailed("x"))
    assert world.meter.failures == Counter({"publish_failed": 1})


def test_the_status_page_has_a_card_for_windows(tmp_path: Path) -> None:
    world = World(tmp_path)
    page = status_page(world.meter, now_ms=world.start)
    assert "Windows of aggregates" in page
    assert "Leakage over users" not in page
    assert "released up to" not in page
    world.gather.assigned([0])
    world.gather.block_committed(report(0, GatherTold(world.start + MINUTE, world.start + MINUTE), {}, {}))
    told = decided(RELEASED, WITHHELD, MORE_NOISE, until=world.start + MINUTE, waiting=1)
    world.total.block_committed(report(0, told, {}, {}))
    page = status_page(world.meter, now_ms=world.start)
    plain = re.sub(r"<[^>]*>", " ", page)
    for words in (
        "2026-01-01 00:01:00 UTC",
        "ended 40 s ago",
        "withheld: budget",
        "of a target of 2 nat for any 1,440 windows in a row",
        "of them with more noise",
        "What one window tells about one user",
    ):
        assert words in plain
    assert re.findall(r'data-metric="sottovoce_aggregate_windows_total[^"]*released[^"]*">([^<]*)', page) == ["2"]
