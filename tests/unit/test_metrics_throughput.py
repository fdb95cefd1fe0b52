"""Events a second over the last minutes, against a recount of all that was ever added."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.metrics.throughput import SLOT_SECONDS, SLOTS, Throughput


class Clock:
    def __init__(self) -> None:
        self.now = 500.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.tuples(st.floats(0, 200), st.integers(0, 10_000)), max_size=40))
def test_each_slot_holds_what_came_in_it(steps: list[tuple[float, int]]) -> None:
    clock = Clock()
    pace, came = Throughput(clock), list[tuple[int, int]]()
    for seconds, events in steps:
        clock.now += seconds
        pace.add(events)
        came.append((int((clock.now - 500.0) // SLOT_SECONDS), events))
    last = int((clock.now - 500.0) // SLOT_SECONDS)
    assert pace.each() == [
        sum(events for slot, events in came if slot == wanted) for wanted in range(last - SLOTS + 1, last + 1)
    ]


def test_the_pace_is_over_the_time_that_there_was() -> None:
    clock = Clock()
    pace = Throughput(clock)
    assert (pace.per_second(1), sum(pace.each())) == (0.0, 0)
    clock.now += 4
    pace.add(100)
    assert pace.per_second(1) == pace.per_second(30) == 25.0
    clock.now += 21  # the third slot is five seconds old, and the one before it is empty
    assert pace.per_second(1) == 0.0
    assert pace.per_second(2) == pytest.approx(100 / 25)
    pace.add(30)
    assert pace.per_second(1) == pytest.approx(30 / 15)
    clock.now += 10 * SLOT_SECONDS * SLOTS
    assert pace.per_second(30) == 0.0 and pace.each() == [0] * SLOTS
