"""Windows of event time: who is late, which are over, and which records have been read before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from estimate_help import asked_with, records_of, settings_of, task_with, values_of
from test_estimation_gathering import FIRST, HOUR, gathered, told

from stream.estimation.asked import Task
from stream.estimation.event_time import LATE, EventTime
from stream.estimation.seen import Seen


@pytest.fixture(scope="module")
def task() -> Task:
    return task_with(settings_of())


def test_lateness_is_a_matter_of_the_own_partition_whoever_reads_how_fast(task: Task) -> None:
    hourly = replace(task, asked=asked_with("1h", "10m"))
    source = np.random.default_rng(3)
    parts = [
        records_of(
            task, values_of(300, seed), times=FIRST + np.sort(source.integers(9 * HOUR, size=300)) - late, first=seed
        )
        for seed, late in ((1000, source.integers(HOUR, size=300)), (2000, 0))
    ]
    found = [gathered(hourly, *parts, chunk=chunk) for chunk in (7, 300)]
    alone = gathered(hourly, parts[0])
    assert found[0].reader.counts["late"] == found[1].reader.counts["late"] == alone.reader.counts["late"] > 10
    assert [one.fields[0] for one in told(found[0])] == [one.fields[0] for one in told(found[1])]


def test_an_event_is_late_if_its_window_is_behind_or_has_been_told() -> None:
    time = EventTime(100, 30)
    assert time.places(0, np.array([50, 129, 99, 131, 99, 231, 150, 250])).tolist() == [0, 1, 0, 1, LATE, 2, LATE, 2]
    assert time.places(1, np.array([10])).tolist() == [0]
    time.begins(1)
    assert time.over() == 0
    time.ended(1)
    assert time.over() == 2
    time.told = 2
    assert time.places(1, np.array([150, 250])).tolist() == [LATE, 2]
    assert EventTime(0, 0).places(0, np.array([5, 1])).tolist() == [0, 0]


def test_a_window_is_over_when_every_partition_that_goes_on_has_passed_it() -> None:
    time = EventTime(100, 0)
    for partition in (0, 1):
        time.begins(partition)
    time.places(0, np.array([950]))
    assert time.over() == 0
    time.places(1, np.array([350]))
    assert time.over() == 3
    assert [time.progress(partition) for partition in (0, 1, 2)] == [950, 350, -1]
    time.ended(1)
    assert time.over() == 9
    time.ended(0)
    assert time.over() == 9


def test_repeated_records_count_once(task: Task) -> None:
    records = records_of(task, values_of(300))
    twice = gathered(task, [*records, *records[100:250], *records[::-1]])
    assert twice.reader.counts["again"] == 450
    assert told(twice)[0].fields == told(gathered(task, records))[0].fields
    seen, source = Seen(), np.random.default_rng(1)
    ids = source.integers(1 << 62, size=5_000).astype(np.uint64)
    order = source.integers(5_000, size=20_000)
    fresh = np.concatenate([seen.first(ids[part]) for part in np.split(order, 37 * np.arange(1, 500))])
    assert int(fresh.sum()) == np.unique(order).shape[0]
    assert np.unique(order[fresh]).shape[0] == int(fresh.sum())
