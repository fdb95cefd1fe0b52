"""What one release says of its value, without bias whatever is believed: functionals of its channel. Proof: channel.md.

A channel a(y|x) is known for each release from the releases before it. A functional f is unbiased for value v if the
sum of f(y) a(y|x) over y is 1 for x = v and 0 for every other x. Where there is one it is worked out here; where there
is none that is said, and the release counts for nothing about v.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.audit.amounts import WHOLE, Floats, Integers
from stream.audit.book import (
    AFTER_STOP,
    IMPOSSIBLE_VALUE,
    LOST,
    LOST_BEFORE,
    NOT_FOLLOWED,
    OUT_OF_ORDER,
    OUTCOME,
    RELEASE,
    SYMBOL,
    WRONG,
    Book,
    Desk,
    Rules,
)
from stream.audit.channel import COLUMN, PLACE
from stream.audit.follow import follow
from stream.audit.judge import write_column
from stream.audit.law import Law

DEPENDENT: Final = 1e-9
"""A column that is left with so small a part of its length is a sum of those before it."""
APART: Final = 1e-12
"""An indicator is a functional's mean if the square of its distance from all of these is at most that."""

TOLD, FORECAST, AGAIN, ASTRAY = range(4)
"""What an event is: a release that can be followed; one that tells nothing; one that was read before; all others."""
_ASTRAY: Final = IMPOSSIBLE_VALUE | AFTER_STOP | NOT_FOLLOWED | LOST_BEFORE


class Workplace(NamedTuple):
    """Scratch space: orthonormal vectors over values, one a row for each output that does not depend on those before
    it; how each output's column is made of them; the lengths of columns; a row of the inverse.
    """

    basis: Floats
    upper: Floats
    lengths: Floats
    inverse: Floats


class Heard(NamedTuple):
    """One row for each event: what it is; the functional of each value at what was released; whether there is one; what
    a reader of the releases up to it believes of its value; and the column of the channel.
    """

    kind: Integers
    functional: Floats
    known: Integers
    believed: Floats
    column: Floats


def new_workplace(symbols: int) -> Workplace:
    square = (symbols, symbols)
    return Workplace(np.zeros(square), np.zeros(square), np.zeros(symbols), np.zeros(symbols))


def new_heard(events: int, symbols: int) -> Heard:
    table = (events, symbols)
    known: Integers = np.zeros(table, dtype=np.int64)
    kind: Integers = np.full(events, ASTRAY, dtype=np.int64)
    return Heard(kind, np.zeros(table), known, np.zeros(table), np.ones(table))


@kernel
def hear(
    rules: Rules, law: Law, desk: Desk, book: Book, work: Workplace, events: Integers, verdicts: Integers, heard: Heard
) -> None:
    """The events in the order of their partition; `verdicts` has a row of zeros for each."""
    for i in range(events.shape[0]):
        follow(rules, law, desk, book, events[i : i + 1], verdicts[i : i + 1])
        if verdicts[i, WRONG] == OUT_OF_ORDER:
            heard.kind[i] = AGAIN
        elif verdicts[i, WRONG] & _ASTRAY or verdicts[i, LOST]:
            heard.kind[i] = ASTRAY
        elif events[i, OUTCOME] != RELEASE:
            heard.kind[i] = FORECAST
        else:
            heard.kind[i] = TOLD
            _hear_one(rules, desk, work, events[i, SYMBOL], i, heard)


@kernel
def _hear_one(rules: Rules, desk: Desk, work: Workplace, symbol: int, i: int, heard: Heard) -> None:
    released, outputs = desk.channel.units[PLACE, symbol], desk.channel.size[0]
    rank = 0
    for y in range(outputs):
        write_column(rules.mechanism, y, desk)
        rank += _take_in(work, desk.channel.units[COLUMN], y)
    _row_of_inverse(work, outputs, released)
    for v in range(heard.known.shape[1]):
        inside = found = 0.0
        for y in range(outputs):
            inside += work.basis[y, v] * work.basis[y, v]
            found += work.inverse[y] * work.basis[y, v]
        if 1.0 - inside <= APART:
            heard.known[i, v] = 1
            heard.functional[i, v] = found / work.lengths[released]
    write_column(rules.mechanism, released, desk)
    total = 0.0
    for v in range(heard.known.shape[1]):
        heard.column[i, v] = float(desk.channel.units[COLUMN, v]) / WHOLE
        heard.believed[i, v] = desk.ahead[v] * heard.column[i, v]
        total += heard.believed[i, v]
    for v in range(heard.known.shape[1]):
        heard.believed[i, v] /= total


@kernel
def _take_in(work: Workplace, units: Integers, y: int) -> int:
    """Make the column of output y orthogonal to those before it, twice, which leaves roundings alone; 1 if it adds a
    direction. Of one that does not, the basis has a row of zeros, so that its functionals are 0.
    """
    row, size = work.basis[y], 0.0
    for v in range(units.shape[0]):
        row[v] = float(units[v]) / WHOLE
        size += row[v] * row[v]
    work.lengths[y] = math.sqrt(size)
    for v in range(units.shape[0]):
        row[v] /= work.lengths[y]
    for j in range(y):
        work.upper[j, y] = 0.0
    for _ in range(2):
        for j in range(y):
            along = 0.0
            for v in range(units.shape[0]):
                along += work.basis[j, v] * row[v]
            work.upper[j, y] += along
            for v in range(units.shape[0]):
                row[v] -= along * work.basis[j, v]
    size = 0.0
    for v in range(units.shape[0]):
        size += row[v] * row[v]
    left = math.sqrt(size)
    work.upper[y, y] = left if left > DEPENDENT else 0.0
    for v in range(units.shape[0]):
        row[v] = row[v] / left if left > DEPENDENT else 0.0
    return 1 if left > DEPENDENT else 0


@kernel
def _row_of_inverse(work: Workplace, outputs: int, released: int) -> None:
    """The row of the inverse of `upper` that belongs to what was released; zeros where that adds no direction."""
    for y in range(outputs):
        work.inverse[y] = 0.0
    if work.upper[released, released] == 0.0:
        return
    work.inverse[released] = 1.0 / work.upper[released, released]
    for y in range(released + 1, outputs):
        if work.upper[y, y] > 0.0:
            total = 0.0
            for j in range(released, y):
                total += work.inverse[j] * work.upper[j, y]
            work.inverse[y] = -total / work.upper[y, y]
