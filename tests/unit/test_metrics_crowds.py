"""What metrics and the status page say of crowds, and what they leave unsaid."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from crowd_metering import (
    ANY,
    DIVIDED,
    NOISY,
    RECORDS,
    RELEASED,
    WITHHELD,
    flow_told,
    of_flow,
    of_windows,
    start_of,
    told,
    until,
    work,
)
from crowd_settings_text import crowd_house, flow_text

from stream import names
from stream.commands.crowd_worker import crowd_task
from stream.crowds.told import CrowdWindow
from stream.gathering.first import GatherTold
from stream.metrics.crowds import CrowdCounts, FlowCounts
from stream.metrics.page import status_page

MINUTE = 60_000


def in_words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_windows_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    worker = of_windows(tmp_path)
    worker.released(until(worker, RELEASED, *WITHHELD, *WITHHELD[2:3], waiting=5))
    found = worker.series()
    assert found["sottovoce_crowd_windows_total|released|"] == 1
    for reason in names.CROWD_REASONS:
        wanted = 2 if reason == names.WITHHELD_DIFFERENCING else 1
        assert found[f"sottovoce_crowd_windows_total|withheld|{reason}"] == wanted
    assert found["sottovoce_crowd_topped_up_windows_total"] == 0
    assert found["sottovoce_crowd_waiting_parts"] == 5
    assert found["sottovoce_crowd_released_lag_seconds"] == 40
    assert found["sottovoce_crowd_due_lag_seconds"] == pytest.approx(60 + sum(lateness_and_grace(worker.counts)))


def lateness_and_grace(counts: CrowdCounts | FlowCounts) -> tuple[float, float]:
    timing = counts.promise.windowed
    return timing.lateness / 1_000, timing.grace / 1_000


def test_a_window_tells_each_adversary_and_the_worst_is_remembered(tmp_path: Path) -> None:
    worker = of_windows(tmp_path)
    worker.released(until(worker, RELEASED))
    worker.released(until(worker, NOISY, WITHHELD[0]))
    found = worker.series()
    assert found["sottovoce_crowd_window_delta|independent"] == 0.002
    assert found["sottovoce_crowd_window_delta|independent_informed"] == 0.003
    assert found["sottovoce_crowd_window_epsilon_nats|independent_informed"] == 0.75
    assert found["sottovoce_crowd_worst_window_delta"] == 0.004
    assert found["sottovoce_crowd_total_delta"] == 0.0075
    assert (found["sottovoce_crowd_target_delta"], found["sottovoce_crowd_target_epsilon_nats"]) == (0.01, 1.0)
    assert found["sottovoce_crowd_topped_up_windows_total"] == 1
    worker.second.revoked([0])
    found = worker.series()
    gone = {"sottovoce_crowd_total_delta", "sottovoce_crowd_released_lag_seconds", "sottovoce_crowd_waiting_parts"}
    assert not gone & set(found) and not [name for name in found if "window_delta|" in name]
    assert found["sottovoce_crowd_windows_total|released|"] == 2
    assert found["sottovoce_crowd_worst_window_delta"] == 0.004


def test_the_target_of_one_window_is_held_against_its_worst_adversary(tmp_path: Path) -> None:
    worker = of_windows(tmp_path, ANY)
    worker.released(until(worker, CrowdWindow(0, 50, None, told(0.001, 0.009))))
    assert worker.series()["sottovoce_crowd_total_delta"] == 0.009


def test_partitions_of_both_stages_say_how_far_they_have_come(tmp_path: Path) -> None:
    worker = of_windows(tmp_path, ANY.replace("k: 10", "k: 10\n  over: partition"))
    start = start_of(worker)
    worker.joined(0, 3)
    worker.closed(3, GatherTold(start + MINUTE, start + 3 * MINUTE + 5))
    worker.released(until(worker, CrowdWindow(0, 50, None, told(0.001, 0.002)), waiting=1), partition=0)
    behind = until(worker, CrowdWindow(0, 20, None, told(0.005, 0.001)), waiting=2)._replace(released_to=start)
    worker.released(behind, partition=3)
    found = worker.series()
    assert found["sottovoce_crowd_closed_lag_seconds|3"] == 40
    assert found["sottovoce_crowd_open_windows|3"] == 3
    assert (found["sottovoce_crowd_released_lag_seconds"], found["sottovoce_crowd_waiting_parts"]) == (100, 3)
    assert found["sottovoce_crowd_window_delta|independent"] == 0.005
    worker.second.revoked([3])
    found = worker.series()
    assert (found["sottovoce_crowd_released_lag_seconds"], found["sottovoce_crowd_waiting_parts"]) == (40, 1)
    assert found["sottovoce_crowd_window_delta|independent"] == 0.001
    worker.first.revoked([3])
    assert not [name for name in worker.series() if name.endswith("|3")]


def test_few_users_are_not_counted(tmp_path: Path) -> None:
    worker = of_windows(tmp_path, RECORDS)
    small = CrowdWindow(0, 9, None, loss=0.5, crowds=3, suppressed=4)
    worker.released(until(worker, small))
    found = worker.series()
    assert found["sottovoce_crowd_group_users_count"] == found["sottovoce_crowd_group_users_sum"] == 0
    assert found["sottovoce_crowd_suppressed_users_total"] == 0
    worker.released(until(worker, DIVIDED))
    found = worker.series()
    assert (found["sottovoce_crowd_group_users_count"], found["sottovoce_crowd_group_users_sum"]) == (1, 60)
    assert found["sottovoce_crowd_suppressed_users_total"] == 16
    assert found["sottovoce_crowd_boxes_total|released|"] == 7
    assert found["sottovoce_crowd_loss_ratio_sum"] == pytest.approx(0.71)
    assert found["sottovoce_crowd_loss_ratio_bucket|0.25"] == 1
    assert not {"sottovoce_crowd_target_delta", "sottovoce_crowd_worst_window_delta"} & set(found)


def test_losses_are_never_told_too_small(tmp_path: Path) -> None:
    worker = of_windows(tmp_path, RECORDS)
    worker.released(until(worker, DIVIDED._replace(loss=0.25 + 1e-9)))
    found = worker.series()
    assert found["sottovoce_crowd_loss_ratio_bucket|0.25"] == 0 < found["sottovoce_crowd_loss_ratio_bucket|0.3"]
    worker.released(until(worker, DIVIDED._replace(loss=0.25)))
    assert worker.series()["sottovoce_crowd_loss_ratio_bucket|0.25"] == 1


def test_crowds_of_a_stream_are_counted_with_their_delay(tmp_path: Path) -> None:
    worker = of_flow(tmp_path)
    worker.released(flow_told(waiting=7))
    worker.released(flow_told(waiting=5), partition=1)
    found = worker.series()
    for kind, records, events in (("released|", 2, 28), ("reused|", 2, 2), ("withheld|too_few", 2, 6)):
        assert found[f"sottovoce_crowd_boxes_total|{kind}"] == records
        assert found[f"sottovoce_crowd_events_total|{kind}"] == events
    assert found["sottovoce_crowd_events_total|withheld|loss"] == 0
    assert found["sottovoce_crowd_waiting_events"] == 12
    assert found["sottovoce_crowd_merged_clusters_total"] == 6
    assert found["sottovoce_crowd_delay_limit_seconds"] == 60
    assert found["sottovoce_crowd_delay_seconds_bucket|60.0"] == 30
    assert found["sottovoce_crowd_delay_seconds_bucket|75.0"] == 30
    assert found["sottovoce_crowd_delay_seconds_bucket|90.0"] == found["sottovoce_crowd_delay_seconds_count"] == 36
    assert (found["sottovoce_crowd_group_users_count"], found["sottovoce_crowd_group_users_sum"]) == (2, 24)
    assert found["sottovoce_crowd_loss_ratio_count"] == 4
    worker.second.revoked([1])
    assert worker.series()["sottovoce_crowd_waiting_events"] == 7
    worker.second.revoked([0])
    assert "sottovoce_crowd_waiting_events" not in worker.series()


def test_what_forwards_events_tells_nothing(tmp_path: Path) -> None:
    worker = of_flow(tmp_path)
    worker.joined(0)
    before = worker.series()
    worker.counts.told(0, None)
    worker.first.revoked([0])
    assert worker.series() == before


@pytest.mark.parametrize(("text", "counts"), [(RECORDS, CrowdCounts), (flow_text(), FlowCounts)])
def test_a_worker_counts_what_its_settings_declare(tmp_path: Path, text: str, counts: type) -> None:
    meter = crowd_task(crowd_house(tmp_path, text), {}).meter
    assert type(meter.gathered) is counts
    assert {said.title for said in meter.settings.about.promise} >= {"What is released of a crowd", "Against whom"}


def test_the_status_page_has_a_card_for_windows_of_crowds(tmp_path: Path) -> None:
    worker = of_windows(tmp_path)
    plain = in_words(status_page(worker.meter, now_ms=0))
    assert "Windows of crowds" in plain and "released up to" not in plain and "none yet" in plain
    assert "Leakage over users" not in plain
    work(worker)
    page = status_page(worker.meter, now_ms=start_of(worker))
    plain = in_words(page)
    for words in (
        "2026-01-01 00:01:00 UTC",
        "withheld: differencing",
        "their users differ by fewer than k from those of a released one",
        "of them with noise",
        "epsilon 1 nat, delta 0.01",
        "of any 60 windows in a row",
        "delta 0.0075",
        "the worst window so far",
        "independent_informed exact 0.003 0.75 nat",
        "users of a released window at least 10 up to 50",
    ):
        assert words in plain
    assert re.findall(r'data-metric="sottovoce_crowd_windows_total[^"]*released[^"]*">([^<]*)', page) == ["2"]
    assert worker.meter.dead_letters == Counter({names.LATE: 4, names.UNKNOWN_TYPE: 2})


def test_the_card_says_that_k_alone_is_promised(tmp_path: Path) -> None:
    worker = of_windows(tmp_path, RECORDS)
    worker.released(until(worker, DIVIDED))
    plain = in_words(status_page(worker.meter, now_ms=0))
    for words in ("10 users a crowd, and no more", "crowds in them 4", "users in no crowd 12", "21.0%"):
        assert words in plain


def test_the_status_page_has_a_card_for_crowds_of_a_stream(tmp_path: Path) -> None:
    worker = of_flow(tmp_path)
    assert "none yet" in in_words(status_page(worker.meter, now_ms=0))
    worker.released(flow_told())
    plain = in_words(status_page(worker.meter, now_ms=0))
    for words in (
        "Crowds of a stream",
        "crowds released of at least 10 users 1",
        "events in the box of an earlier crowd 1",
        "delta is 1: no bound is known",
        "events that wait sealed 7",
        "4 s, 1 min 30 s",
        "100 events or 1 min",
        "too_few no k users in time 1 3",
    ):
        assert words in plain
