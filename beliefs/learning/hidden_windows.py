"""A chain from windows of releases alone: what each window says of all its values together is known. Proof:
hidden_windows.md.

In a window with a secret coin the releases speak of the user's values if it shows tails, and of nobody's if it shows
heads: the coin is one more hidden state, thrown anew where a window begins. Where one channel takes all values of a
window, each sequence of values has a number of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beliefs.chain import Indices
from beliefs.learning.hidden import Heard, Workplace
from beliefs.native import kernel
from beliefs.simplex import Vector


@dataclass(frozen=True)
class HeardWindows(Heard):
    """`opens[i]` says whether event i begins a window, whose coin shows heads with the chance `shares[i]`."""

    opens: Indices
    shares: Vector

    def of_users(self, chosen: Indices) -> HeardWindows:
        places, begins = self.places_of(chosen)
        return HeardWindows(self.columns, self.which[places], begins, self.opens[places], self.shares[places])

    def workplace(self) -> Workplace:
        longest, n = int(np.diff(self.begins).max(initial=1)), self.values
        return np.zeros((2, longest, n)), np.zeros(longest), np.zeros((4, n))

    def expect(self, start: Vector, matrix: Vector, work: Workplace, expected: Vector, firsts: Vector) -> float:
        said = self.columns, self.which, self.begins, self.opens, self.shares
        return float(expect_windows(*said, start, matrix, *work, expected, firsts))


@kernel
def expect_windows(
    columns: Vector,
    which: Indices,
    begins: Indices,
    opens: Indices,
    shares: Vector,
    start: Vector,
    matrix: Vector,
    filtered: Vector,
    scales: Vector,
    behind: Vector,
    expected: Vector,
    firsts: Vector,
) -> float:
    """`filtered` holds heads above tails."""
    whole = 0.0
    firsts[:] = 0.0
    expected[:] = 0.0
    for user in range(begins.shape[0] - 1):
        first, stop = begins[user], begins[user + 1]
        if stop > first:
            its = which[first:stop], opens[first:stop], shares[first:stop]
            whole += _forth(columns, its[0], its[1], its[2], start, matrix, filtered, scales)
            _back(columns, its[0], its[1], its[2], matrix, filtered, scales, behind, expected)
            for x in range(firsts.shape[0]):
                firsts[x] += filtered[0, 0, x] * behind[0, x] + filtered[1, 0, x] * behind[1, x]
    return whole


@kernel
def _forth(
    columns: Vector,
    heard: Indices,
    opens: Indices,
    shares: Vector,
    start: Vector,
    matrix: Vector,
    filtered: Vector,
    scales: Vector,
) -> float:
    n, whole = start.shape[0], 0.0
    for t in range(heard.shape[0]):
        column, scale = columns[heard[t]], 0.0
        for y in range(n):
            heads = start[y] if t == 0 else 0.0
            tails = 0.0
            if t > 0:
                for x in range(n):
                    heads += filtered[0, t - 1, x] * matrix[x, y]
                    tails += filtered[1, t - 1, x] * matrix[x, y]
            if t == 0 or opens[t] == 1:
                both = heads + tails
                heads, tails = shares[t] * both, (1.0 - shares[t]) * both
            filtered[0, t, y], filtered[1, t, y] = heads, tails * column[y]
            scale += filtered[0, t, y] + filtered[1, t, y]
        for y in range(n):
            filtered[0, t, y] /= scale
            filtered[1, t, y] /= scale
        scales[t] = scale
        whole += np.log(scale)
    return whole


@kernel
def _back(
    columns: Vector,
    heard: Indices,
    opens: Indices,
    shares: Vector,
    matrix: Vector,
    filtered: Vector,
    scales: Vector,
    behind: Vector,
    expected: Vector,
) -> None:
    """`behind[0]` and `behind[1]` are left at the user's first value, under heads and under tails."""
    n = matrix.shape[0]
    behind[0:2] = 1.0
    for t in range(heard.shape[0] - 1, 0, -1):
        column = columns[heard[t]]
        for y in range(n):
            heads, tails = behind[0, y] / scales[t], behind[1, y] * column[y] / scales[t]
            if opens[t] == 1:
                heads = tails = shares[t] * heads + (1.0 - shares[t]) * tails
            behind[2, y], behind[3, y] = heads, tails
        for x in range(n):
            heads = tails = 0.0
            for y in range(n):
                heads += matrix[x, y] * behind[2, y]
                tails += matrix[x, y] * behind[3, y]
                led = filtered[0, t - 1, x] * behind[2, y] + filtered[1, t - 1, x] * behind[3, y]
                expected[x, y] += matrix[x, y] * led
            behind[0, x], behind[1, x] = heads, tails


@dataclass(frozen=True)
class HeardSequences(Heard):
    """`columns[which[i]]` belongs to window i, which has `lengths[i]` values: a number for each of their sequences, the
    first value counting most. Windows without a number of their own have ones there.
    """

    lengths: Indices
    symbols: int

    @property
    def values(self) -> int:
        return self.symbols

    @property
    def events(self) -> int:
        return int(self.lengths.sum())

    def of_users(self, chosen: Indices) -> HeardSequences:
        places, begins = self.places_of(chosen)
        return HeardSequences(self.columns, self.which[places], begins, self.lengths[places], self.symbols)

    def workplace(self) -> Workplace:
        longest, n = int(np.diff(self.begins).max(initial=1)), self.values
        return np.zeros((longest, n)), np.zeros(longest), np.zeros((3, n))

    def expect(self, start: Vector, matrix: Vector, work: Workplace, expected: Vector, firsts: Vector) -> float:
        said = self.columns, self.which, self.begins, self.lengths
        return float(expect_sequences(*said, start, matrix, *work, expected, firsts))


@kernel
def expect_sequences(
    columns: Vector,
    which: Indices,
    begins: Indices,
    lengths: Indices,
    start: Vector,
    matrix: Vector,
    filtered: Vector,
    scales: Vector,
    rows: Vector,
    expected: Vector,
    firsts: Vector,
) -> float:
    """`filtered` holds what is known of each window's last value."""
    whole = 0.0
    firsts[:] = 0.0
    expected[:] = 0.0
    for user in range(begins.shape[0] - 1):
        first = begins[user]
        count = begins[user + 1] - first
        for t in range(count):
            _ahead(t, start, matrix, filtered, rows[0])
            column = columns[which[first + t]]
            scales[t] = _to_last(column, lengths[first + t], matrix, rows[0], filtered[t])
            whole += np.log(scales[t])
        rows[1] = 1.0
        for t in range(count - 1, -1, -1):
            _ahead(t, start, matrix, filtered, rows[0])
            column = columns[which[first + t]]
            _to_first(column, lengths[first + t], matrix, rows, scales[t], expected)
            if t == 0:
                for x in range(firsts.shape[0]):
                    firsts[x] += rows[0, x] * rows[2, x]
            else:
                _step_back(matrix, filtered[t - 1], rows, expected)
    return whole


@kernel
def _ahead(t: int, start: Vector, matrix: Vector, filtered: Vector, ahead: Vector) -> None:
    """What is expected of the first value of window t."""
    for y in range(ahead.shape[0]):
        ahead[y] = start[y]
        if t > 0:
            ahead[y] = 0.0
            for x in range(ahead.shape[0]):
                ahead[y] += filtered[t - 1, x] * matrix[x, y]


@kernel
def _chance(number: int, length: int, matrix: Vector) -> tuple[int, int, float]:
    """First and last value of a sequence, and the chance of all of them after the first."""
    n = matrix.shape[0]
    last, chance = number % n, 1.0
    after = last
    for _ in range(length - 1):
        number //= n
        before = number % n
        chance *= matrix[before, after]
        after = before
    return after, last, chance


@kernel
def _to_last(column: Vector, length: int, matrix: Vector, ahead: Vector, law: Vector) -> float:
    """The law of the last value, from what is expected of the first; how likely the window is."""
    law[:] = 0.0
    total = 0.0
    for number in range(law.shape[0] ** length):
        first, last, chance = _chance(number, length, matrix)
        law[last] += ahead[first] * chance * column[number]
    for x in range(law.shape[0]):
        total += law[x]
    for x in range(law.shape[0]):
        law[x] /= total
    return total


@kernel
def _to_first(column: Vector, length: int, matrix: Vector, rows: Vector, scale: float, expected: Vector) -> None:
    """From what is behind the window to what is behind its first value, and the transitions inside."""
    n = matrix.shape[0]
    rows[2] = 0.0
    for number in range(n**length):
        first, last, chance = _chance(number, length, matrix)
        seen = chance * column[number] * rows[1, last] / scale
        rows[2, first] += seen
        rest, after = number // n, number % n
        for _ in range(length - 1):
            expected[rest % n, after] += rows[0, first] * seen
            rest, after = rest // n, rest % n


@kernel
def _step_back(matrix: Vector, filtered: Vector, rows: Vector, expected: Vector) -> None:
    for x in range(filtered.shape[0]):
        rows[1, x] = 0.0
        for y in range(filtered.shape[0]):
            led = matrix[x, y] * rows[2, y]
            expected[x, y] += filtered[x] * led
            rows[1, x] += led
