"""The windows of one partition, followed: released records in, verdicts out. Records whose window has not been read to
its end are held back until the rest comes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream.audit.amounts import Integers
from stream.audit.book import (
    ADRIFT,
    DRIFT,
    MARKS,
    STEPS,
    UNSURE,
    USER,
    WRONG,
    Book,
    Desk,
    Rules,
    events_of,
    new_verdicts,
)
from stream.audit.dual_prices import Slate, new_slate
from stream.audit.places import unpacked
from stream.audit.records import ID_BYTES, Parsed
from stream.audit.window_book import COUNT, ROLLED, WAITS, Windows, grown_opened, new_opened, new_strip
from stream.audit.window_judge import pass_gap
from stream.audit.window_open import follow_open, pass_unseen
from stream.audit.window_whole import follow_whole


class Rows(NamedTuple):
    """Released events, with the offsets of their records and the ids that these bear."""

    events: Integers
    offsets: Integers
    ids: NDArray[np.void]

    def only(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> Rows:
        return Rows(self.events[which], self.offsets[which], self.ids[which])

    def after(self, earlier: Rows) -> Rows:
        return Rows(*(np.concatenate(pair) for pair in zip(earlier, self, strict=True)))


def rows_of(parsed: Parsed, which: Integers) -> Rows:
    columns = [column[which] for column in parsed[:5]]
    return Rows(events_of(*columns, *unpacked(parsed.place[which])), parsed.offset[which], parsed.id[which])


@lru_cache(maxsize=1)
def _slate_of(symbols: int, longest: int) -> Slate:
    """Shared by all partitions: one window is worked out at a time."""
    return new_slate(symbols, longest)


class WindowFollower:
    def __init__(self, rules: Rules, windows: Windows) -> None:
        states, symbols = windows.law.start.shape[0], windows.law.begin.shape[0] - 1
        self._slate = _slate_of(symbols, windows.cut.events if windows.cut.dual else 0)
        self._rules, self._windows = rules, windows
        self._strip, self._opened = new_strip(states, symbols), new_opened(0, states)
        self._left: Rows | None = None

    def take(self, book: Book, desk: Desk, rows: Rows, *, final: bool = False) -> tuple[Rows, Integers]:
        """The next records: those that can be judged now, some earlier ones among them, with a verdict on each."""
        if self._windows.cut.natural:
            verdicts = new_verdicts(rows.offsets.shape[0])
            self._make_room(book)
            natural = (self._rules, self._windows, desk, self._strip, book, self._opened)
            follow_open(*natural, rows.events, verdicts)
            return rows, verdicts
        if self._left is not None:
            rows = rows.after(self._left)
        rows = rows.only(np.argsort(rows.events[:, USER], kind="stable"))
        verdicts = new_verdicts(rows.offsets.shape[0])
        everything = (self._rules, self._windows, desk, self._strip, self._slate, book)
        follow_whole(*everything, rows.events, verdicts, final)
        waits = verdicts[:, WRONG] == WAITS
        self._left = rows.only(waits)
        return rows.only(~waits), verdicts[~waits]

    @property
    def left(self) -> int:
        """How many records are held back."""
        return 0 if self._left is None else self._left.offsets.shape[0]

    def rest(self, book: Book, desk: Desk, *, decided: bool) -> tuple[Rows, Integers]:
        """Whatever was held back: nothing more comes. Where it is not decided how far the topic should go, the rest of
        a window may come after the audit.
        """
        nothing = Rows(np.empty((0, 8), np.int64), np.empty(0, np.int64), np.empty(0, f"V{ID_BYTES}"))
        return self.take(book, desk, nothing, final=decided)

    def catch_up(self, book: Book, desk: Desk, users: Integers, steps: Integers) -> Integers:
        """Events up to these steps of which nothing was seen: how many of them should have been."""
        if self._windows.cut.natural:
            self._make_room(book)
        lost = np.zeros(users.shape[0], dtype=np.int64)
        for place, (user, until) in enumerate(zip(users.tolist(), steps.tolist(), strict=True)):
            row = book.users[user]
            missing = until - int(row[STEPS])
            if missing > 0 and not row[MARKS] & ADRIFT:
                lost[place] = self._pass(book, desk, user, missing)
        return lost

    def _pass(self, book: Book, desk: Desk, user: int, missing: int) -> int:
        if self._windows.cut.natural:
            return int(pass_unseen(self._rules, self._windows, desk, book, self._opened, user, missing))
        return int(pass_gap(self._rules, self._windows, desk, book, user, missing))

    def open_users(self, book: Book) -> NDArray[np.bool_]:
        """Whose window is open after all that was read."""
        if not self._windows.cut.natural:
            return np.zeros(book.users.shape[0], dtype=np.bool_)
        self._make_room(book)
        return self._opened.marks[:, COUNT] > 0

    def show_open(self, book: Book, drifts: Integers) -> None:
        """An open window's row holds the belief from before the window, and no drift where the window opened one of the
        budget. `drifts` are those that the rows hold: where suppressed events may have opened it, either is right.
        """
        if not self._windows.cut.natural:
            return
        known = drifts.shape[0]
        rolled = self.open_users(book)[:known] & (self._opened.marks[:known, ROLLED] > 0)
        sure = (book.column(MARKS)[:known] & UNSURE == 0) | (drifts == 0)
        book.users[np.flatnonzero(rolled & sure), DRIFT] = 0

    def _make_room(self, book: Book) -> None:
        users = book.users.shape[0]
        if users > self._opened.marks.shape[0]:
            self._opened = grown_opened(self._opened, users)
