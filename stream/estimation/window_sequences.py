"""What one channel for all values of a window says of each of them, without bias: sequences are its values.

A functional that counts a value at a position, or the square of how often it comes, is one of the whole sequence. Where
the square has none, the count itself stands for it, which is at most the square. Proof: windows.md.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import WHOLE, Floats, Integers
from stream.audit.dual import units
from stream.audit.dual_prices import Slate
from stream.audit.window_book import DRAWN
from stream.estimation.functionals import TOLD, Heard
from stream.estimation.inverse import APART, Workplace, fits, row_of_inverse, take_in
from stream.estimation.window_ties import Ties, all_known, weighed


@kernel
def hear_sequence(slate: Slate, work: Workplace, events: Integers, heard: Heard, ties: Ties, target: Floats) -> None:
    """One window that has just been followed: its channel lies on the slate, and the column of what it gave."""
    length, symbols, count, outputs = events.shape[0], heard.known.shape[1], 1, 0
    for _ in range(length):
        count *= symbols
    for y in range(count):
        outputs += slate.law[y] > 0.0
    inverted = fits(outputs, work)
    if inverted:
        _write_basis(slate, work, _number(events, symbols), count)
    for at in range(length):
        heard.kind[at], ties.alone[at], ties.nth[at] = TOLD, 1, at
        heard.large[at] = 0 if inverted else 1
        for v in range(symbols):
            heard.believed[at, v] = _believed(slate, at, v, length, count)
            if inverted:
                for x in range(count):
                    target[x] = 1.0 if _digit(x, at, length, symbols) == v else 0.0
                heard.known[at, v], heard.functional[at, v] = _told(work, outputs, target, count)
    if inverted:
        _add_ties(work, outputs, length, count, heard, ties, target)


@kernel
def _number(events: Integers, symbols: int) -> int:
    number = 0
    for at in range(events.shape[0]):
        number = number * symbols + events[at, DRAWN]
    return int(number)


@kernel
def _digit(number: int, at: int, length: int, symbols: int) -> int:
    for _ in range(length - 1 - at):
        number //= symbols
    return int(number % symbols)


@kernel
def _write_basis(slate: Slate, work: Workplace, drawn: int, count: int) -> None:
    """Outputs in ascending order; the row of the inverse is that of what was drawn."""
    y = released = 0
    for number in range(count):
        if slate.law[number] <= 0.0:
            continue
        if number == drawn:
            released = y
        for x in range(work.basis.shape[1]):
            work.basis[y, x] = float(units(x, number, count, slate)) / WHOLE if x < count else 0.0
        take_in(work, y)
        y += 1
    row_of_inverse(work, y, released)
    for place in range(y):
        work.inverse[place] /= work.lengths[released]


@kernel
def _told(work: Workplace, outputs: int, target: Floats, count: int) -> tuple[int, float]:
    """Whether something is a functional's mean that depends on the sequence like this, and what that is."""
    size = inside = found = 0.0
    for x in range(count):
        size += target[x] * target[x]
    for y in range(outputs):
        along = 0.0
        for x in range(count):
            along += work.basis[y, x] * target[x]
        inside += along * along
        found += work.inverse[y] * along
    return (1, found) if size - inside <= APART * size else (0, 0.0)


@kernel
def _believed(slate: Slate, at: int, value: int, length: int, count: int) -> float:
    total = own = 0.0
    for x in range(count):
        mass = slate.chance[x] * slate.column[x]
        total += mass
        if _digit(x, at, length, slate.symbols) == value:
            own += mass
    return own / total


@kernel
def _add_ties(work: Workplace, outputs: int, length: int, count: int, heard: Heard, ties: Ties, target: Floats) -> None:
    symbols = heard.known.shape[1]
    for k in range(ties.weights.shape[0]):
        weight = ties.weights[k]
        found = squares = values = 0.0
        for x in range(count):
            target[x] = 0.0
        for at in range(length):
            if not all_known(weight, heard.known[at]):
                continue
            one = weighed(weight, heard.functional[at])
            found, squares = found + one, squares + one * one
            for v in range(symbols):
                values += weight[v] * weight[v] * heard.functional[at, v]
            for x in range(count):
                target[x] += weight[_digit(x, at, length, symbols)]
        for x in range(count):
            target[x] *= target[x]
        known, square = _told(work, outputs, target, count)
        if known == 0:
            square = found if k < symbols else 0.0
        ties.all[0, k] = ties.told[0, k] = found * found - square - squares + values
