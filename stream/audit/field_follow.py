"""The fields of one partition's users, followed event by event, and held against the words that the changelog keeps.

What matters of a user is the window reached and the account. Accounts are numbered, so that an event costs one look-up:
from the account before and the signs to the account after and what was wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from stream.audit.amounts import Integers
from stream.audit.field_gate import Account, Gate
from stream.audit.field_records import UNREADABLE
from stream.audit.field_tally import FieldTally

NO_WINDOW: Final = -1
_WINDOW: Final = "the window"  # no field bears a name with a blank


class Move(NamedTuple):
    """An event with certain signs under a certain account: the number of the next account, and the names of fields
    that were told too much or too little."""

    account: int
    beyond: tuple[str, ...]
    needless: tuple[str, ...]
    near: int


class Found(NamedTuple):
    """Wrong decisions: the finding's code, the field's name, and the offset of the record."""

    code: str
    name: str
    offset: int


class FieldFollower:
    def __init__(self, gate: Gate, signs: Sequence[str]) -> None:
        """`signs` are the headers that events name by number; more may come."""
        self._gate, self._signs = gate, signs
        self._numbers: dict[Account, int] = {gate.nothing: 0}
        self._accounts: list[Account] = [gate.nothing]
        self._moves: dict[tuple[int, int], Move] = {}
        self._steps: list[int] = []
        self._window: list[int] = []
        self._account: list[int] = []
        self._left: set[int] = set()
        self._events: Counter[int] = Counter()
        self._near = 0
        self._closed: set[int] = set()

    def take(self, users: int, *columns: Integers) -> list[Found]:
        """The next events in the order of the partition: user, step, time, number of the signs, and offset of each.
        There are so many users by now.
        """
        self._make_room(users)
        found: list[Found] = []
        for user, step, time, number, offset in zip(*(column.tolist() for column in columns), strict=True):
            # An earlier step once more is reported by whoever follows the steps; it is no event of its own.
            if step <= self._steps[user] or user in self._left:
                continue
            if step > self._steps[user] + 1 or number == UNREADABLE:
                self._left.add(user)
                continue
            self._steps[user] = step
            self._enter_window(user, time)
            move = self._moves.get((self._account[user], number)) or self._move(self._account[user], number)
            self._account[user] = move.account
            self._events[number] += 1
            if move.beyond or move.needless or move.near:
                found += [Found("field_beyond_cap", name, offset) for name in move.beyond]
                found += [Found("field_needless", name, offset) for name in move.needless]
                self._near += move.near
        return found

    def _make_room(self, users: int) -> None:
        more = users - len(self._steps)
        self._steps += [0] * more
        self._window += [NO_WINDOW] * more
        self._account += [0] * more

    def _enter_window(self, user: int, time: int) -> None:
        """A late event belongs to the window that its user has reached."""
        length = self._gate.fields.window
        window = time // length if length else 0
        if window > self._window[user]:
            if self._account[user]:
                self._closed.add(self._account[user])
            self._window[user], self._account[user] = window, 0

    def _move(self, account: int, number: int) -> Move:
        signs = self._signs[number]
        judged = self._gate.judged(self._accounts[account], signs)
        after = self._numbers.setdefault(judged.after, len(self._accounts))
        if after == len(self._accounts):
            self._accounts.append(judged.after)
        names = [field.name for field in self._gate.fields.each]
        beyond, needless = (tuple(names[place] for place in places) for places in (judged.beyond, judged.needless))
        found = self._moves[account, number] = Move(after, beyond, needless, judged.near)
        return found

    def differences(self, steps: Integers, words: Integers) -> dict[str, list[int]]:
        """By what differs, users whose stored words are not those that their events give; `steps` and `words` are of
        the first users, and users whose stored steps are others cannot be compared.
        """
        self._make_room(steps.shape[0])
        users = [
            user for user, stored in enumerate(steps.tolist()) if user not in self._left and stored == self._steps[user]
        ]
        rows = [(max(self._window[user], 0), *self._accounts[self._account[user]]) for user in users]
        expected = np.array(rows, dtype=np.int64).reshape(len(users), len(self._names()))
        differ = expected != words[users, 1:]
        return {
            name: [users[place] for place in np.flatnonzero(differ[:, column]).tolist()]
            for column, name in enumerate(self._names())
            if differ[:, column].any()
        }

    def _names(self) -> list[str]:
        """What the words behind the first hold."""
        names = [field.name for field in self._gate.fields.each]
        return [_WINDOW, *(name for each in names for name in (each, f"{each}, coarse"))]

    def tally(self) -> FieldTally:
        found = FieldTally(near=self._near, users_left=len(self._left))
        for number, many in self._events.items():
            for place, sign in enumerate(self._signs[number]):
                found.reports[place, sign] += many
        for user, account in enumerate(self._account):
            if user not in self._left and self._steps[user]:
                found.standing[self._accounts[account]] += 1
        found.closed = {self._accounts[account] for account in self._closed}
        return found
