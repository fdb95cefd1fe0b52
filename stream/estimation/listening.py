"""How the released records of one partition are heard: one by one, in windows that are shown at once, or one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from stream.adversary.listeners import ends_of_windows, new_to
from stream.audit.amounts import Floats, Integers
from stream.audit.book import ADRIFT, MARKS, OUTCOME, RELEASE, USER, WRONG, grown, new_book, new_desk, new_verdicts
from stream.audit.dual_prices import new_slate
from stream.audit.public import Public
from stream.audit.records import ID_BYTES
from stream.audit.window_book import NTH, WAITS, Windows, grown_opened, new_opened, new_strip
from stream.audit.window_whole import follow_whole
from stream.audit.windows import Rows
from stream.estimation.functionals import AGAIN, ASTRAY, FORECAST, TOLD, Heard, hear, new_heard
from stream.estimation.inverse import new_workplace
from stream.estimation.window_functionals import hear_open, hear_window
from stream.estimation.window_sequences import hear_sequence
from stream.estimation.window_ties import Ties, grown_running, new_running, new_ties, weights_of

NOWHERE: Final = -1
"""The place of an event that counts in no window of event time."""


@dataclass(frozen=True)
class Listened:
    """Events that can be heard now, the window of event time that each counts in, and what they say; of windows of
    values, what their positions have to do with one another; of windows with one channel, a table for each: a number
    for each sequence, in the row of the window's first event.
    """

    events: Integers
    places: Integers
    heard: Heard
    ties: Ties | None = None
    tables: Floats | None = None


class Listener:
    """To single releases."""

    def __init__(self, public: Public, coefficients: Floats | None) -> None:
        self._public, self._coefficients = public, coefficients
        self._desk = new_desk(public.states, public.symbols, public.distance)
        self._work = new_workplace(public.symbols)
        self.book = new_book(0, public.states, public.listed, public.rules.sliding)

    def enter(self, public: Public) -> None:
        """From now on this holds: another model of the same values."""
        self._public = public

    @property
    def settle(self) -> int:
        """After how many predictions a belief of unknown beginning counts as known."""
        return self._public.rules.settle

    @property
    def waiting(self) -> Integers:
        """The places of the events that are held back."""
        return np.empty(0, dtype=np.int64)

    def make_room(self, users: int) -> None:
        self.book = grown(self.book, users)

    def take(self, rows: Rows, places: Integers) -> Listened:
        events, public = rows.events, self._public
        heard = new_heard(events.shape[0], public.symbols)
        ours = (public.rules, public.law, self._desk, self.book, self._work)
        hear(*ours, events, new_verdicts(events.shape[0]), heard)
        return Listened(events, places, heard)


class OpenListener(Listener):
    """To windows whose values are shown one by one. All values of a window count where its first one does."""

    def __init__(self, public: Public, windows: Windows, coefficients: Floats | None) -> None:
        super().__init__(public, coefficients)
        self._windows, self._strip = windows, new_strip(public.states, public.symbols)
        self._opened = new_opened(0, public.states)
        self._running = new_running(0, public.states, public.symbols)
        self._places: Integers = np.empty(0, dtype=np.int64)

    def make_room(self, users: int) -> None:
        more = users - self.book.users.shape[0]
        super().make_room(users)
        self._opened, self._running = grown_opened(self._opened, users), grown_running(self._running, users)
        self._places = np.concatenate([self._places, np.full(more, NOWHERE, dtype=np.int64)])

    def take(self, rows: Rows, places: Integers) -> Listened:
        events, public = rows.events, self._public
        count = events.shape[0]
        heard = new_heard(count, public.symbols)
        ties = new_ties(count, public.states, weights_of(public.symbols, self._coefficients))
        ours = (public.rules, self._windows, self._desk, self._strip, self._opened, self.book, self._work)
        hear_open(*ours, self._running, events, new_verdicts(count), heard, ties)
        return Listened(events, self._of_first(events, places, heard.kind), heard, ties)

    def _of_first(self, events: Integers, places: Integers, kinds: Integers) -> Integers:
        found = places.copy()
        for i, (user, nth) in enumerate(events[:, [USER, NTH]].tolist()):
            if kinds[i] != AGAIN:
                if nth == 1:
                    self._places[user] = places[i]
                found[i] = self._places[user]
        return found


class WholeListener(Listener):
    """To windows whose values are shown together; records are held back until the rest of their window has come. All
    values of a window count where its first one does.
    """

    def __init__(self, public: Public, windows: Windows, coefficients: Floats | None) -> None:
        super().__init__(public, coefficients)
        self._windows, self._strip = windows, new_strip(public.states, public.symbols)
        longest = windows.cut.events if windows.cut.dual else 0
        self._slate = new_slate(public.symbols, longest)
        self._sequences = public.symbols**longest if longest else 0
        self._target = np.zeros(self._sequences)
        if longest:
            self._work = new_workplace(self._sequences)
        self._rows = Rows(np.empty((0, 8), np.int64), np.empty(0, np.int64), np.empty(0, f"V{ID_BYTES}"))
        self._held: Integers = np.empty(0, dtype=np.int64)

    @property
    def waiting(self) -> Integers:
        return self._held

    def take(self, rows: Rows, places: Integers) -> Listened:
        rows, places = rows.after(self._rows), np.concatenate([self._held, places])
        order = np.argsort(rows.events[:, USER], kind="stable")
        order = order[new_to(self.book, rows.events[order])]
        rows, places = rows.only(order), places[order]
        events, count = rows.events, rows.events.shape[0]
        heard, verdicts = new_heard(count, self._public.symbols), new_verdicts(count)
        ties = new_ties(count, self._public.states, weights_of(self._public.symbols, self._coefficients))
        tables = np.ones((count, self._sequences)) if self._sequences else None
        start = 0
        for stop in ends_of_windows(self._windows.cut.events, events):
            window = slice(start, stop)
            self._take_one(events[window], verdicts[window], heard.only(window), ties.only(window))
            places[window] = places[start]
            if tables is not None and heard.kind[start] == TOLD:
                column = self._slate.column[: self._public.symbols ** (stop - start)]
                tables[start, : column.shape[0]] = column / column.max()
            start = stop
        waits = verdicts[:, WRONG] & WAITS != 0
        self._rows, self._held = rows.only(waits), places[waits]
        there = np.flatnonzero(~waits)
        numbers = None if tables is None else tables[there]
        return Listened(events[there], places[there], heard.only(there), ties.only(there), numbers)

    def _take_one(self, events: Integers, verdicts: Integers, heard: Heard, ties: Ties) -> None:
        """One window, or the part of it that has come."""
        ours = (self._public.rules, self._windows, self._desk, self._strip, self._slate)
        follow_whole(*ours, self.book, events, verdicts, False)
        if verdicts[0, WRONG] & WAITS:
            return
        if self.book.users[events[0, USER], MARKS] & ADRIFT:
            heard.kind[:] = ASTRAY
        elif events[0, OUTCOME] != RELEASE:
            heard.kind[:] = FORECAST
        elif self._windows.cut.dual:
            hear_sequence(self._slate, self._work, events, heard, ties, self._target)
        else:
            hear_window(self._windows, self._desk, self._strip, self._work, events, heard, ties)


def listener_to(public: Public, coefficients: Floats | None) -> Listener:
    windows = public.windows
    if windows is None:
        return Listener(public, coefficients)
    return (OpenListener if windows.cut.natural else WholeListener)(public, windows, coefficients)
