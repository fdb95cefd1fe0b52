"""Releases whose long-run frequencies are the belief's own, under a two-sided bound. Proof: marginal_preserving.md.

The channel is a(y|x) = e belief(y) + c K(y|x). A value with belief >= p* keeps itself under K. The others lie on a
circle, each on an arc as long as its belief; K moves x to a uniform point of its own arc, from there to a uniform point
at most p*/2 away, and releases the value whose arc that point lies on. No more than belief(y)/p* of a window of length
p* lies on y's arc, which is the bound; a uniform point of the circle stays uniform, which keeps the marginal. Where the
circle would be shorter than p*, the least likely of the big values joins it; a value the model calls impossible is a
point of it.

Arcs are whole numbers of 2^-60, and row and column take their units from one function of (x, y): they cannot differ.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import TOTAL, Constant, Floats, Workspace, outward
from mechanisms.sequence.forecast import draw_from_belief, most_likely

HOLDS_EPSILON = True

LOWER = int(Constant.LOWER)
FLOOR = int(Constant.FLOOR)
PAD = int(Constant.PAD)

# Places in work.size. By symbol: work.order its start on the circle, or KEPT; work.tail the length of its arc.
COUNT, REST, AROUND, WINDOW = 0, 1, 2, 3
KEPT = -1

CIRCLE = 1 << 60
ROUNDINGS = 1 << 14
"""Six values of `_below` make an entry, each within 5 2^-53 TOTAL + 2 = 2,562 units of its ideal: 15,372 in all."""
UNITS_PER_ARC = TOTAL // CIRCLE
REST_STEP = 1 << 10
"""The rest is a multiple of this, so that 62 bits of it fit a double without rounding."""


@kernel
def _lay_out(belief: Floats, constants: Floats, work: Workspace) -> bool:
    """Put the symbols on the circle. False for a belief that is no law and whose circle is shorter than the window."""
    symbols = belief.shape[0]
    window = 2 * (int(constants[FLOOR] * (CIRCLE // 2)) + 1)  # even, so that half of it is whole; never below p*
    small = 0
    members = 0
    joined = -1
    for x in range(symbols):
        work.tail[x] = int(belief[x] * CIRCLE)
        if work.tail[x] < window:
            small += work.tail[x]
            members += 1
        elif joined < 0 or work.tail[x] < work.tail[joined]:
            joined = x
    if members == 0 or small >= window:
        joined = -1
    around = 0
    for x in range(symbols):
        if work.tail[x] < window or x == joined:
            work.order[x] = around
            around += work.tail[x]
        else:
            work.order[x] = KEPT
    work.size[AROUND] = around
    work.size[WINDOW] = window
    return members == 0 or around >= window


@kernel
def _corner(s: int, short: int, long: int, rest: int) -> int:
    return int(0.5 * rest * (s / short) * (s / long))


@kernel
def _below(s: int, length: int, work: Workspace) -> int:
    """How much of `rest` falls within `s` of the earliest point that a start on an arc of this length can reach.

    The law is a trapezoid, that of a sum of two uniform ones. The result never falls as s grows, whatever the rounding:
    each piece is a chain of monotone operations, and the middle one is held between the ends of the others.
    """
    window: int = work.size[WINDOW]
    rest: int = work.size[REST]
    if s <= 0:
        return 0
    back = length + window - s
    if back <= 0:
        return rest
    short, long = min(length, window), max(length, window)
    if s < short:
        return _corner(s, short, long, rest)
    if back < short:
        return rest - _corner(back, short, long, rest)
    lowest = _corner(short, short, long, rest) if short > 0 else 0
    middle = int(rest * ((2 * s - short) / (2.0 * long)))
    return min(max(middle, lowest), rest - lowest)


@kernel
def _moved(x: int, y: int, work: Workspace) -> int:
    """The units of `rest` that x gives to y, beyond the base that y has from everybody."""
    start, length = work.order[x], work.tail[x]
    if start == KEPT:
        return int(work.size[REST]) if x == y else 0
    from_y, to_y = work.order[y], work.order[y] + work.tail[y]
    if from_y == KEPT:
        return 0
    half, around = work.size[WINDOW] // 2, work.size[AROUND]
    earliest, latest = start - half, start + length + half
    units = 0
    # The circle unrolled: what reaches past its seam lies on the copy before or after.
    for lap in range(-1 if earliest < 0 else 0, 2 if latest > around else 1):
        first, last = from_y + lap * around, to_y + lap * around
        if first < latest and last > earliest:
            units += _below(last - earliest, length, work) - _below(first - earliest, length, work)
    return units


@kernel
def _to_integers(belief: Floats, constants: Floats, work: Workspace) -> bool:
    """The bases in units. False when they do not fit."""
    symbols = belief.shape[0]
    pad = constants[PAD] * (ROUNDINGS + UNITS_PER_ARC * symbols)
    needed = 0.0
    for x in range(symbols):
        needed += constants[LOWER] * belief[x] * TOTAL + pad + 1.0
    # A margin of 1e-9 for the rounding of `needed`: 2^-53 for each of at most 2^20 symbols.
    if not needed < TOTAL * (1.0 - 1.0e-9):
        return False
    count = 0
    rest = TOTAL
    most = most_likely(belief)
    for x in range(symbols):
        if work.tail[x] > 0:
            work.head[count] = x
            work.position[x] = count
            work.base[count] = int(constants[LOWER] * belief[x] * TOTAL) + 1 + int(pad)
            rest -= work.base[count]
            count += 1
    work.size[COUNT] = count
    work.base[work.position[most]] += rest % REST_STEP
    work.size[REST] = rest - rest % REST_STEP
    return True


@kernel
def prepare(belief: Floats, constants: Floats, work: Workspace) -> tuple[float, float, float]:
    for i in range(work.size[COUNT]):
        work.position[work.head[i]] = -1
    fits = _lay_out(belief, constants, work)
    if not (fits and _to_integers(belief, constants, work)):
        work.size[REST] = 0
        for x in range(belief.shape[0]):
            work.order[x] = KEPT
            work.position[x] = -1
        draw_from_belief(belief, work)
        return 1.0, 1.0, 1.0
    upper, lower, spread = 1.0, 1.0, 1.0
    if work.size[COUNT] > 1:
        for i in range(work.size[COUNT]):
            one, two, three = _bound(i, belief, work)
            upper, lower, spread = max(upper, one), max(lower, two), max(spread, three)
    return upper, lower, spread


@kernel
def _bound(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    """Ratios that the i-th released symbol's column cannot exceed, without looking at the column."""
    y, symbols, rest = work.head[i], belief.shape[0], work.size[REST]
    base = float(work.base[i])
    kept = work.order[y] == KEPT
    slack = 0.0 if kept else float(ROUNDINGS + UNITS_PER_ARC * symbols)
    largest = base + (rest if kept else min(rest, rest * (work.tail[y] / work.size[WINDOW]) + slack))
    expected = belief[y] * rest
    # Twice: once for the rounding here, once so that what `column` reports, guarded itself, stays below.
    guard = outward(symbols) * outward(symbols)
    rarest = base + max(expected - slack, 0.0)
    return largest / rarest * guard, (base + expected + slack) / base * guard, largest / base * guard


@kernel
def row(x: int, belief: Floats, work: Workspace) -> None:  # noqa: ARG001 - the shape that all share
    for i in range(work.size[COUNT]):
        work.row[i] = work.base[i] + _moved(x, work.head[i], work)


@kernel
def column(i: int, belief: Floats, work: Workspace) -> tuple[float, float, float]:
    base, y = work.base[i], work.head[i]
    marginal = 0.0
    smallest, largest = TOTAL, 0
    for x in range(belief.shape[0]):
        units = base + _moved(x, y, work)
        smallest, largest = min(smallest, units), max(largest, units)
        work.likelihood[x] = float(units)
        marginal += belief[x] * work.likelihood[x]
    if smallest == largest:
        return 1.0, 1.0, 1.0
    guard = outward(belief.shape[0])
    return largest / marginal * guard, marginal / smallest * guard, largest / smallest * guard
