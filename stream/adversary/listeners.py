"""How the released records of one partition are listened to: one by one, or in windows."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stream.attack.mind import GONE, grown_mind, new_mind, new_slate
from stream.attack.sequences import new_leaves, play_sequence
from stream.attack.span import new_bench
from stream.attack.strangers import play_stranger
from stream.attack.watch import SEEN, TRUTH, WINDOW, watch
from stream.attack.watch_open import grown_halves, new_ears, new_halves, watch_open
from stream.attack.watch_whole import FACTORS, NOTHING, SEQUENCES, hear_stranger, hear_window
from stream.audit.amounts import Floats, Integers
from stream.audit.book import (
    ADRIFT,
    MARKS,
    OUTCOME,
    RELEASE,
    STEP,
    STEPS,
    USER,
    WRONG,
    Book,
    grown,
    new_book,
    new_desk,
    new_verdicts,
)
from stream.audit.dual_prices import new_slate as new_sequences
from stream.audit.law import Law
from stream.audit.public import Public
from stream.audit.records import ID_BYTES
from stream.audit.window_book import LENGTH, NTH, WAITS, Windows, grown_opened, new_opened, new_strip
from stream.audit.window_whole import follow_whole
from stream.audit.windows import Rows

_STRANGER: Final = b"a stranger's window"
"""What names the hashes that windows about nobody are drawn from. No secret goes in."""
Heard = tuple[Integers, Integers, Floats]


class Listener:
    """To single releases. Answers the events that can be looked at now, what is known of them, and what was seen."""

    def __init__(self, public: Public, law: Law) -> None:
        self._public, self._law = public, law
        self._desk = new_desk(public.states, public.symbols, public.distance)
        self._slate = new_slate(law.start.shape[0], public.symbols)
        self.book = new_book(0, public.states, public.listed, public.rules.sliding)
        self.mind = new_mind(0, law.start.shape[0])

    @property
    def waiting(self) -> int:
        """How many records are held back."""
        return 0

    def make_room(self, users: int) -> None:
        self.book, self.mind = grown(self.book, users), grown_mind(self.mind, users)

    def take(self, rows: Rows, facts: Integers) -> Heard:
        seen, verdicts = _tables(rows)
        ours = (self._public.rules, self._public.law, self._desk, self.book)
        watch(*ours, self._law, self.mind, self._slate, rows.events, facts, verdicts, seen)
        return rows.events, facts, seen


class OpenListener(Listener):
    """To windows whose values are shown one by one."""

    def __init__(self, public: Public, windows: Windows, law: Law) -> None:
        super().__init__(public, law)
        self._windows, states = windows, law.start.shape[0]
        self._strip, self._opened = new_strip(public.states, public.symbols), new_opened(0, public.states)
        self._halves, self._ears = new_halves(0, states), new_ears(states, public.symbols)

    def make_room(self, users: int) -> None:
        super().make_room(users)
        self._opened, self._halves = grown_opened(self._opened, users), grown_halves(self._halves, users)

    def take(self, rows: Rows, facts: Integers) -> Heard:
        seen, verdicts = _tables(rows)
        ours = (self._public.rules, self._windows, self._desk, self._strip, self._opened, self.book)
        theirs = (self._law, self.mind, self._halves, self._slate, self._ears)
        watch_open(*ours, *theirs, rows.events, facts, verdicts, seen)
        return rows.events, facts, seen


class WholeListener(Listener):
    """To windows whose values are shown together; records are held back until the rest of their window has come."""

    def __init__(self, public: Public, windows: Windows, law: Law) -> None:
        super().__init__(public, law)
        self._windows, states = windows, law.start.shape[0]
        longest = windows.cut.events if windows.cut.dual else 0
        self._strip, self._bench = new_strip(public.states, public.symbols), new_bench(states, public.symbols)
        self._sequences = new_sequences(public.symbols, longest)
        self._leaves = new_leaves(public.symbols**longest, states)
        self._rows = Rows(np.empty((0, 8), np.int64), np.empty(0, np.int64), np.empty(0, f"V{ID_BYTES}"))
        self._facts: Integers = np.empty((0, 2), np.int64)

    @property
    def waiting(self) -> int:
        return int(self._rows.events.shape[0])

    def take(self, rows: Rows, facts: Integers) -> Heard:
        rows, facts = rows.after(self._rows), np.concatenate([self._facts, facts])
        order = np.argsort(rows.events[:, USER], kind="stable")
        order = order[new_to(self.book, rows.events[order])]
        rows, facts = rows.only(order), facts[order]
        seen, verdicts = _tables(rows)
        coins, start = coins_of(rows.ids), 0
        for stop in ends_of_windows(self._windows.cut.events, rows.events):
            window = slice(start, stop)
            self._take_one(rows.events[window], facts[window], coins[window], verdicts[window], seen[window])
            seen[window, WINDOW], start = start, stop
        waits = verdicts[:, WRONG] & WAITS != 0
        self._rows, self._facts = rows.only(waits), facts[waits]
        return rows.events[~waits], facts[~waits], seen[~waits]

    def _take_one(self, events: Integers, facts: Integers, coins: Floats, verdicts: Integers, seen: Floats) -> None:
        """One window, or the part of it that has come. The auditor's code and the adversary's are compiled apart."""
        rules, windows, strip, sequences = self._public.rules, self._windows, self._strip, self._sequences
        follow_whole(rules, windows, self._desk, strip, sequences, self.book, events, verdicts, False)
        user = events[0, USER]
        if self.book.users[user, MARKS] & ADRIFT:
            self.mind.stands[user, GONE] = 1
            return
        if verdicts[0, WRONG] & WAITS:
            return
        said = NOTHING if events[0, OUTCOME] != RELEASE else SEQUENCES if windows.cut.dual else FACTORS
        law, slate, bench, leaves = self._law, self._slate, self._bench, self._leaves
        heads = hear_window(said, rules, strip, sequences, law, self.mind, slate, bench, leaves, events, facts, seen)
        if said == NOTHING or facts[:, TRUTH].max() < 0:
            return
        if windows.cut.dual:
            play_sequence(sequences, coins[0], events.shape[0])
        else:
            play_stranger(windows, self._desk, strip, coins[:, 0])
        hear_stranger(said, strip, sequences, law, slate, bench, leaves, heads, facts, seen)


def ends_of_windows(longest: int, events: Integers) -> list[int]:
    """Of events sorted by user, where the rows end that may be one window, one after the other."""
    users, places, lengths = events[:, [USER, NTH, LENGTH]].T.tolist()
    ends: list[int] = []
    start = 0
    while start < len(users):
        most = lengths[start] if places[start] == 1 and 1 <= lengths[start] <= longest else 1
        stop = start + 1
        while stop < len(users) and stop - start < most and users[stop] == users[start]:
            stop += 1
        ends.append(stop)
        start = stop
    return ends


def listener_to(public: Public, law: Law) -> Listener:
    windows = public.windows
    if windows is None:
        return Listener(public, law)
    return (OpenListener if windows.cut.natural else WholeListener)(public, windows, law)


def _tables(rows: Rows) -> tuple[Floats, Integers]:
    count = rows.events.shape[0]
    return np.zeros((count, SEEN)), new_verdicts(count)


def new_to(book: Book, events: Integers) -> NDArray[np.bool_]:
    """Of events sorted by user, those with a later step than any before: who begins to read anew reads some twice."""
    reached, found, latest = 0, np.zeros(events.shape[0], dtype=np.bool_), -1
    for place, (user, step) in enumerate(events[:, [USER, STEP]].tolist()):
        reached = reached if user == latest else int(book.users[user, STEPS])
        found[place], reached, latest = step > reached, max(step, reached), user
    return found


def coins_of(ids: NDArray[np.void]) -> Floats:
    """Two numbers from 0 to 1 for each release: public ones, and nothing that a worker draws from."""
    digests = b"".join(blake2b(bytes(name), digest_size=16, key=_STRANGER).digest() for name in ids.tolist())
    return np.frombuffer(digests, dtype="<u8").reshape(-1, 2).astype(np.float64) / 2.0**64
