"""The gate's turns as tables for the compiled step: one row for each account that was met, worked out once.

A row's number means nothing outside of this object, and nothing after `number_of` was called anew: the table is then
begun again if it has become too long. What the rows say is a function of the account alone.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from beliefs.checks import require
from stream.fields.gate import Choices, Gate

Integers = NDArray[np.int64]
Marks = NDArray[np.uint64]

MOST = 65_536
UNKNOWN = -1


class Turns:
    """For each number: `accounts`, its `totals`, and, once worked out, its `choices` and the number `following` it.

    Arrays are replaced as they grow: whoever hands them to compiled code takes them from here after the last call.
    """

    accounts: Integers
    following: Integers
    choices: Choices
    totals: Integers

    def __init__(self, gate: Gate, most: int = MOST) -> None:
        self.gate, self.most = gate, most
        self.words = len(gate.totals.nothing)
        steps = np.arange(1, self.words + 1, dtype=np.uint64)
        # Odd multipliers, far apart: two accounts with one mark are looked up by themselves.
        self._mixers = (steps * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
        self._begin()

    def _begin(self) -> None:
        self.count = 0
        self.accounts = np.zeros((0, self.words), dtype=np.int64)
        self.following = np.zeros(0, dtype=np.int64)
        self.choices = np.zeros((0, len(self.gate.fields)), dtype=np.int8)
        self.totals = np.zeros((0, len(self.gate.caps)), dtype=np.int64)
        self._number: dict[bytes, int] = {}
        self._marks: Marks = np.zeros(0, dtype=np.uint64)
        self._marked: Integers = np.zeros(0, dtype=np.int64)

    def number_of(self, accounts: Integers) -> Integers:
        """The number of each row of fine and coarse units; all numbers given before may become void."""
        require(accounts.ndim == 2 and accounts.shape[1] == self.words, "an account has two amounts for each field")
        if self.count > self.most:
            self._begin()
        marks = self._marks_of(accounts)
        numbers = self._seen(accounts, marks)
        new = np.flatnonzero(numbers == UNKNOWN)
        if new.size:
            _, first = np.unique(marks[new], return_index=True)
            self._take_in(accounts[new[first]])
            numbers[new] = self._seen(accounts[new], marks[new])
            for place in np.flatnonzero(numbers == UNKNOWN).tolist():  # accounts that share a mark with another one
                numbers[place] = self._numbered(accounts[place])
        return numbers

    def reach(self, numbers: Integers, events: Integers) -> None:
        """Works out all that so many events of each user will meet."""
        while True:
            going = events > 0
            numbers, events = _longest(numbers[going], events[going])
            if not numbers.size:
                return
            for number in numbers[self.following[numbers] == UNKNOWN].tolist():
                self.work_out(number)
            after = self.following[numbers]
            moved = after != numbers
            numbers, events = after[moved], events[moved] - 1

    def work_out(self, number: int) -> int:
        """The number that follows."""
        require(0 <= number < self.count, "a number is one of this table's")
        if self.following[number] == UNKNOWN:
            turn = self.gate.turn(tuple(self.accounts[number].tolist()))
            after = self._numbered(np.array(turn.account, dtype=np.int64))
            self.following[number], self.choices[number] = after, turn.choices
        return int(self.following[number])

    def _numbered(self, account: Integers) -> int:
        known = self._number.get(account.tobytes())
        if known is None:
            self._take_in([account])
            known = self._number[account.tobytes()]
        return known

    def _take_in(self, accounts: Iterable[Integers]) -> None:
        start = self.count
        for account in accounts:
            self._grow()
            self.accounts[self.count] = account
            self.following[self.count] = UNKNOWN
            self.totals[self.count] = self.gate.totals.of(tuple(account.tolist()))
            self._number[account.tobytes()] = self.count
            self.count += 1
        marks = self._marks_of(self.accounts[start : self.count])
        order = np.argsort(marks, kind="stable")
        places = np.searchsorted(self._marks, marks[order])
        self._marks = np.insert(self._marks, places, marks[order])
        self._marked = np.insert(self._marked, places, order + start)

    def _grow(self) -> None:
        if self.count < self.following.size:
            return
        more = max(64, self.following.size)
        self.accounts = np.concatenate([self.accounts, np.zeros((more, self.words), dtype=np.int64)])
        self.following = np.concatenate([self.following, np.full(more, UNKNOWN, dtype=np.int64)])
        self.choices = np.concatenate([self.choices, np.full((more, self.choices.shape[1]), UNKNOWN, dtype=np.int8)])
        self.totals = np.concatenate([self.totals, np.zeros((more, self.totals.shape[1]), dtype=np.int64)])

    def _seen(self, accounts: Integers, marks: Marks) -> Integers:
        if not self.count:
            return np.full(len(accounts), UNKNOWN, dtype=np.int64)
        places = np.minimum(np.searchsorted(self._marks, marks), self.count - 1)
        numbers = self._marked[places]
        same = (self.accounts[numbers] == accounts).all(axis=1)
        found: Integers = np.where(same, numbers, UNKNOWN)
        return found

    def _marks_of(self, accounts: Integers) -> Marks:
        """A number for each account, by which it is found."""
        marks = np.zeros(len(accounts), dtype=np.uint64)
        for word in range(self.words):
            marks = (marks ^ (marks >> np.uint64(29))) + accounts[:, word].astype(np.uint64) * self._mixers[word]
        return marks


def _longest(numbers: Integers, events: Integers) -> tuple[Integers, Integers]:
    """Each number once, with the most events that any user has from there."""
    if numbers.size < 2:
        return numbers, events
    order = np.lexsort((-events, numbers))
    numbers, events = numbers[order], events[order]
    first = np.concatenate([[True], numbers[1:] != numbers[:-1]])
    return numbers[first], events[first]
