"""Events by the clock, against a loop over single events."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stream.fitting.clock import Clock, Order
from stream.fitting.reading import Events

STEP = 60_000
events = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 8 * STEP)), max_size=40)


def portions(rows: list[tuple[int, int, int]], cut: int) -> list[Events]:
    parts = [np.array(part, dtype=np.int64).reshape(-1, 3) for part in (rows[:cut], rows[cut:])]
    return [Events(part[:, 0], part[:, 1], part[:, 2]) for part in parts]


@given(events, st.integers(0, 40))
def test_the_first_event_of_each_step_counts_and_gaps_part(rows: list[tuple[int, int, int]], cut: int) -> None:
    clock, found = Clock(STEP), []
    for part in portions(rows, cut):
        kept, apart = clock.of(part)
        found += list(zip(*(column.tolist() for column in (*kept, apart)), strict=True))
    reached: dict[int, int] = {}
    expected, again, late = [], 0, 0
    for user, value, time in rows:
        step, before = time // STEP, reached.get(user)
        if before is not None and step <= before:
            again, late = again + (step == before), late + (step < before)
            continue
        expected.append((user, value, time, int(before is not None and step > before + 1)))
        reached[user] = step
    for user in range(4):
        assert [row for row in found if row[0] == user] == [row for row in expected if row[0] == user]
    assert (clock.again, clock.late) == (again, late)
    assert clock.parted == sum(row[3] for row in expected)


@given(events, st.integers(0, 40))
def test_events_that_go_back_in_time_are_counted(rows: list[tuple[int, int, int]], cut: int) -> None:
    order, last, backwards = Order(), {}, 0
    for part in portions(rows, cut):
        order.look(part)
    for user, _, time in rows:
        backwards += time < last.get(user, -1)
        last[user] = time
    assert order.backwards == backwards
