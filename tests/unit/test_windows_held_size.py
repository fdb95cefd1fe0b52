"""What waits always fits into a message of the changelog: a window ends before it would not."""

from __future__ import annotations

from random import Random

import numpy as np
import orjson
import pytest
from pipeline_help import ACTIVITIES, RING, TOPIC_ID, Line, Record, promise_of, record_settings, windows_of

from stream.engine.topics import MESSAGE_BYTES
from stream.windows.held import HELD_BYTES_MAX, Seals, Waiting, held_bytes_max

START = 1_700_000_000_000


def large_records(count: int, size: int) -> list[Record]:
    return [
        Record(i, orjson.dumps({"activity": ACTIVITIES[i % 4], "battery": "x" * size}), b"u1", START + 1000 * i)
        for i in range(count)
    ]


def line_of(events: int) -> Line:
    return Line(promise_of(record=record_settings(max_bytes=1 << 20), windows=windows_of(events)))


@pytest.mark.parametrize(("size", "together"), [(1_000, 64), (60_000, 9), (200_000, 3), (600_000, 1)])
def test_a_window_ends_where_its_texts_would_not_fit(size: int, together: int) -> None:
    line = line_of(64)
    lengths = []
    for record in large_records(70 if size == 1_000 else 2 * together, size):
        effects = line.carry_out([record])
        assert all(len(held) <= held_bytes_max(4) for held in effects.held.values())
        if len(effects.releases):
            lengths.append(len(effects.releases))
    assert lengths[0] == together


def test_where_windows_end_does_not_depend_on_how_the_records_are_cut() -> None:
    records = large_records(40, 60_000)
    whole = list(line_of(64).carry_out(records).releases)
    line, got, at, chance = line_of(64), [], 0, Random(3)
    while at < len(records):
        size = chance.choice((1, 2, 11))
        got += list(line.carry_out(records[at : at + size]).releases)
        at += size
    assert got == whole


def test_the_size_of_what_waits_is_that_of_its_record() -> None:
    events = [Waiting(i, START, START, 2, b"t" * (100 * i), (("name", b"v" * i),)) for i in range(5)]
    sealed = Seals(RING, "line", TOPIC_ID, 0).waiting(b"u1", events, 4, START)
    assert len(sealed) == held_bytes_max(1) - HELD_BYTES_MAX + sum(event.size for event in events)


def test_the_size_does_not_tell_the_value() -> None:
    sizes = {Waiting(1, START, START, symbol, b"text").size for symbol in range(4)}
    assert len(sizes) == 1


def test_an_open_window_over_very_many_states_needs_a_larger_message() -> None:
    assert held_bytes_max(10) < MESSAGE_BYTES < held_bytes_max(65_536)
    assert np.diff([held_bytes_max(65_536), held_bytes_max(65_537)]) == 16
