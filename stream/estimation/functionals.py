"""What one release says of its value, without bias whatever is believed: functionals of its channel. Proof: channel.md.

A channel a(y|x) is known for each release from the releases before it. A functional f is unbiased for value v if the
sum of f(y) a(y|x) over y is 1 for x = v and 0 for every other x. Where there is one it is worked out here; where there
is none that is said, and the release counts for nothing about v.
"""

from __future__ import annotations

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
    OPTIMAL,
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
from stream.estimation.inverse import Workplace, fits, read_off, shared_by_rows, take_in
from stream.estimation.inverse_optimal import invert_optimal

TOLD, FORECAST, AGAIN, ASTRAY = range(4)
"""What an event is: a release that can be followed; one that tells nothing; one that was read before; all others."""
_ASTRAY: Final = IMPOSSIBLE_VALUE | AFTER_STOP | NOT_FOLLOWED | LOST_BEFORE


class Heard(NamedTuple):
    """One row for each event: what it is; the functional of each value at what was released; whether there is one; what
    a reader of the releases up to it believes of its value; the column of the channel; and whether that was too large
    to be inverted.
    """

    kind: Integers
    functional: Floats
    known: Integers
    believed: Floats
    column: Floats
    large: Integers

    def only(self, which: Integers | slice) -> Heard:
        said = self.functional[which], self.known[which], self.believed[which], self.column[which]
        return Heard(self.kind[which], *said, self.large[which])


def new_heard(events: int, symbols: int) -> Heard:
    table = (events, symbols)
    known: Integers = np.zeros(table, dtype=np.int64)
    kind: Integers = np.full(events, ASTRAY, dtype=np.int64)
    large: Integers = np.zeros(events, dtype=np.int64)
    return Heard(kind, np.zeros(table), known, np.zeros(table), np.ones(table), large)


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
    apart, inverted = shared_by_rows(rules.mechanism, desk.channel, work.common), False
    if rules.mechanism == OPTIMAL:
        inverted = invert_optimal(desk.channel, symbol, heard.functional[i], heard.known[i])
    if apart > 0.0:
        for v in range(heard.known.shape[1]):
            heard.known[i, v] = 1
            heard.functional[i, v] = ((1.0 if v == symbol else 0.0) - work.common[v]) / apart
    elif not inverted and fits(outputs, work):
        for y in range(outputs):
            write_column(rules.mechanism, y, desk)
            write_to_basis(desk.channel.units[COLUMN], y, work)
        read_off(work, outputs, released, heard.functional[i], heard.known[i])
    elif not inverted:
        heard.large[i] = 1
    write_column(rules.mechanism, released, desk)
    total = 0.0
    for v in range(heard.known.shape[1]):
        heard.column[i, v] = float(desk.channel.units[COLUMN, v]) / WHOLE
        heard.believed[i, v] = desk.ahead[v] * heard.column[i, v]
        total += heard.believed[i, v]
    for v in range(heard.known.shape[1]):
        heard.believed[i, v] /= total


@kernel
def write_to_basis(units: Integers, y: int, work: Workplace) -> None:
    """The column of output y, in units of the rows' whole."""
    for v in range(units.shape[0]):
        work.basis[y, v] = float(units[v]) / WHOLE
    take_in(work, y)
