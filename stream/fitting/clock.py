"""Events by the clock: one value for each step of event time, as the pipeline's model by the clock has it.

Of a user's events within one step the first one counts; what is late, or within the step, is left out and counted.
Where a step or more is skipped, the next value does not follow the last one: nobody knows what was in between, and
leaving these pairs out biases nothing as long as silence says nothing about the values, which a clock assumes anyway.
"""

from __future__ import annotations

import numpy as np

from beliefs.chain import Indices
from stream.fitting.reading import Events
from stream.records.parse import END_OF_TIME_MS

_STEP_BITS = 34
"""Steps of a second at least, up to the year 2100, are below 2^32."""


class Clock:
    """Keeps the step that each user has reached."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.again = 0
        self.late = 0
        self.parted = 0
        self._reached = np.zeros(0, dtype=np.int64)

    def of(self, events: Events) -> tuple[Events, Indices]:
        """The events that count, by user, and for each whether something lies between it and the user's last one."""
        if events.users.size == 0:
            return events, np.zeros(0, dtype=np.int64)
        self._make_room(int(events.users.max()))
        order = np.argsort(events.users, kind="stable")
        users, values, times = (column[order] for column in events)
        steps = times // self.step
        before = self._reached_before(users, steps)
        counts = steps > before
        self.again += int(np.count_nonzero(steps == before))
        self.late += int(np.count_nonzero(steps < before))
        apart = (before >= 0) & (steps > before + 1)
        self.parted += int(np.count_nonzero(apart))
        kept = Events(users[counts], values[counts], times[counts])
        # Of equal users the last assignment stays, which is the largest step.
        self._reached[users[counts]] = steps[counts]
        return kept, apart[counts].astype(np.int64)

    def _reached_before(self, users: Indices, steps: Indices) -> Indices:
        """The largest step of the user before each event; -1 before the first."""
        first = np.ones(users.size, dtype=bool)
        first[1:] = users[1:] != users[:-1]
        stretch = np.cumsum(first) << _STEP_BITS
        so_far = np.maximum.accumulate(stretch | (steps + 1))
        earlier = np.zeros(users.size, dtype=np.int64)
        earlier[1:] = so_far[:-1] & ((1 << _STEP_BITS) - 1)
        earlier[first] = 0
        return np.maximum(earlier - 1, self._reached[users])

    def _make_room(self, user: int) -> None:
        if user >= self._reached.size:
            more = np.full(max(user + 1, 2 * self._reached.size, 1024), -1, dtype=np.int64)
            more[: self._reached.size] = self._reached
            self._reached = more


class Order:
    """Counts the events that lie before the user's event in front of them, and the users who have one event only;
    nothing is sorted."""

    def __init__(self) -> None:
        self.backwards = 0
        self.first_time = END_OF_TIME_MS
        self.last_time = 0
        self._last = np.zeros(0, dtype=np.int64)
        self._again = np.zeros(0, dtype=np.bool_)

    @property
    def once(self) -> int:
        """Users with one event."""
        return int(np.count_nonzero((self._last >= 0) & ~self._again))

    def look(self, events: Events) -> None:
        if events.users.size == 0:
            return
        most = int(events.users.max())
        if most >= self._last.size:
            more = max(most + 1, 2 * self._last.size, 1024) - self._last.size
            self._last = np.concatenate([self._last, np.full(more, -1, dtype=np.int64)])
            self._again = np.concatenate([self._again, np.zeros(more, dtype=np.bool_)])
        self.first_time = min(self.first_time, int(events.times.min()))
        self.last_time = max(self.last_time, int(events.times.max()))
        order = np.argsort(events.users, kind="stable")
        users, times = events.users[order], events.times[order]
        before = self._last[users]
        same = users[1:] == users[:-1]
        before[1:][same] = times[:-1][same]
        self.backwards += int(np.count_nonzero(times < before))
        self._again[users[before >= 0]] = True
        last = np.append(~same, True)
        self._last[users[last]] = times[last]
