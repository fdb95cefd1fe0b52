"""The release that is near: a small expected distance under a two-sided bound. Proof and algorithm: near.md.

The channel is a(y|x) = e p(y) + c K(y|x). K is a plan of transport: cells of values are served by sites, which are the
released values; each site has at least the probability p* = 1/M, so that it may serve a cell wholly, but one may be
rare and then serves no more of a cell than the bound allows. Everything is whole numbers: masses in 2^-60, rows in
2^-62. Where all errors count alike, the closed form of `optimal` is used.
"""

from __future__ import annotations

from beliefs.distance import EQUAL
from beliefs.native import kernel
from mechanisms.contract import TOTAL, Constant, Floats, NearWorkspace, Workspace, nearby_of, outward, plain_of
from mechanisms.sequence import optimal
from mechanisms.sequence.cells import lay_out, refine, set_prices
from mechanisms.sequence.repeats import is_kept, keep, mark_of, recall
from mechanisms.sequence.sites import BEST_RARE, BEST_SITES, CUT_SHORT, WHOLE, search
from mechanisms.sequence.transport import BEST, BEST_SITE, CELLS, FLOW, MASS, NOBODY, PRICE, WANTED

HOLDS_EPSILON = True

LOWER, CAP, FLOOR, PAD = int(Constant.LOWER), int(Constant.CAP), int(Constant.FLOOR), int(Constant.PAD)

# Places in work.size; the last one counts and outlives events. After the search work.tables[FLOW] holds what a cell's
# row has above the bases.
COUNT, REST, CUT_SHORT_SO_FAR = 0, 10, 14
UNITS_PER_MASS = TOTAL // WHOLE
ROUNDINGS = 8


def searches_cut_short(work: Workspace) -> int:
    """How many channels since the last call were the best of those that were looked at, and not of all."""
    nearby = nearby_of(work)
    if nearby is None or nearby.distance.kind == EQUAL:
        return 0
    count, nearby.size[CUT_SHORT_SO_FAR] = int(nearby.size[CUT_SHORT_SO_FAR]), 0
    return count


@kernel
def prepare(belief: Floats, constants: Floats, work: NearWorkspace) -> tuple[float, float, float]:
    if work.distance.kind == EQUAL:
        return optimal.prepare(belief, constants, plain_of(work))
    for i in range(work.size[COUNT]):
        work.position[work.head[i]] = -1
    mark = mark_of(belief, constants)
    if is_kept(mark, belief, constants, work):
        ratios = recall(mark, belief.shape[0], work)
    else:
        ratios = _find(belief, constants, work)
        keep(mark, belief, constants, ratios, work)
    work.size[CUT_SHORT_SO_FAR] += work.size[CUT_SHORT]
    return ratios


@kernel
def _find(belief: Floats, constants: Floats, work: NearWorkspace) -> tuple[float, float, float]:
    work.size[WANTED] = int(constants[FLOOR] * WHOLE) + 1
    whole = lay_out(belief, work)
    set_prices(constants, work)
    search(whole, constants[CAP], work)
    if work.size[BEST_SITES] == 1 or not _to_integers(belief, constants, work):
        return _constant_channel(constants, work)
    for i in range(work.size[COUNT]):
        work.head[i] = refine(i, constants, work)
    return _worst(belief, work)


@kernel
def _constant_channel(constants: Floats, work: NearWorkspace) -> tuple[float, float, float]:
    """Always one value: where epsilon is too small for a unit of anything else, or nothing else is worth it."""
    work.size[COUNT] = 1
    work.head[0] = refine(0, constants, work)
    work.base[0] = TOTAL
    for cell in range(work.size[CELLS]):
        work.tables[FLOW, cell, 0] = 0
    return 1.0, 1.0, 1.0


@kernel
def _to_integers(belief: Floats, constants: Floats, work: NearWorkspace) -> bool:
    """The bases and, above them, each cell's row; False when the bases do not fit."""
    cells, sites = work.size[CELLS], work.size[BEST_SITES]
    pad = constants[PAD] * (UNITS_PER_MASS * belief.shape[0] + sites + ROUNDINGS)
    needed = 0.0
    for i in range(sites):
        work.base[i] = 0
        for cell in range(cells):
            work.base[i] += work.tables[BEST, cell, i]
        needed += constants[LOWER] * work.base[i] * UNITS_PER_MASS + pad + 1.0
    if not needed < TOTAL * (1.0 - 1.0e-9):
        return False
    rest = TOTAL
    for i in range(sites):
        work.base[i] = int(constants[LOWER] * work.base[i] * UNITS_PER_MASS) + 1 + int(pad)
        rest -= work.base[i]
    work.size[COUNT] = sites
    work.size[REST] = rest
    for cell in range(cells):
        _split(cell, work)
    return True


@kernel
def _split(cell: int, work: NearWorkspace) -> None:
    """The rest in proportion to the cell's flow, rounded down; what is left goes to the first site that may have it."""
    units, flow = work.tables[FLOW], work.tables[BEST]
    sites, rest, rare = work.size[COUNT], work.size[REST], work.size[BEST_RARE]
    mass = work.lists[MASS, cell]
    first = NOBODY
    left = rest
    for i in range(sites):
        units[cell, i] = 0
        if mass > 0 and flow[cell, i] > 0:
            units[cell, i] = rest if flow[cell, i] == mass else _portion(rest, flow[cell, i], mass)
            left -= units[cell, i]
            if i != rare and first == NOBODY:
                first = i
    if mass == 0:
        first = _cheapest(cell, work)
    units[cell, first] += left


@kernel
def _cheapest(cell: int, work: NearWorkspace) -> int:
    best = NOBODY
    for i in range(work.size[COUNT]):
        if i != work.size[BEST_RARE]:
            asked = work.tables[PRICE, cell, work.lists[BEST_SITE, i]]
            if best == NOBODY or asked < work.tables[PRICE, cell, work.lists[BEST_SITE, best]]:
                best = i
    return best


@kernel
def _portion(rest: int, flow: int, mass: int) -> int:
    """rest * flow / mass, rounded down, exactly: the binary digits of `rest` from the highest on, as a long division.

    flow < mass <= 2^60 + 2^30, so twice a remainder and one flow stay below 2^62.
    """
    quotient, remainder = 0, 0
    for digit in range(62, -1, -1):
        remainder = 2 * remainder + (flow if (rest >> digit) & 1 else 0)
        quotient *= 2
        while remainder >= mass:  # twice at most; a division would take ten times as long
            remainder -= mass
            quotient += 1
    return quotient


@kernel
def _ratios(i: int, marginal: float, symbols: int, work: NearWorkspace) -> tuple[float, float, float]:
    smallest, largest = TOTAL, 0
    for cell in range(work.size[CELLS]):
        smallest = min(smallest, work.tables[FLOW, cell, i])
        largest = max(largest, work.tables[FLOW, cell, i])
    if smallest == largest:
        return 1.0, 1.0, 1.0
    smallest, largest = smallest + work.base[i], largest + work.base[i]
    guard = outward(symbols)
    return largest / marginal * guard, marginal / smallest * guard, largest / smallest * guard


@kernel
def _worst(belief: Floats, work: NearWorkspace) -> tuple[float, float, float]:
    """work.scratch keeps the marginals for `column`."""
    upper, lower, spread = 1.0, 1.0, 1.0
    for i in range(work.size[COUNT]):
        marginal = float(work.base[i])
        for x in range(belief.shape[0]):
            marginal += belief[x] * work.tables[FLOW, work.order[x], i]
        work.scratch[i] = marginal
        one, two, three = _ratios(i, marginal, belief.shape[0], work)
        upper, lower, spread = max(upper, one), max(lower, two), max(spread, three)
    return upper, lower, spread


@kernel
def row(x: int, belief: Floats, work: NearWorkspace) -> None:
    if work.distance.kind == EQUAL:
        optimal.row(x, belief, plain_of(work))
        return
    for i in range(work.size[COUNT]):
        work.row[i] = work.base[i] + work.tables[FLOW, work.order[x], i]


@kernel
def column(i: int, belief: Floats, work: NearWorkspace) -> tuple[float, float, float]:
    if work.distance.kind == EQUAL:
        return optimal.column(i, belief, plain_of(work))
    for x in range(belief.shape[0]):
        work.likelihood[x] = float(work.base[i] + work.tables[FLOW, work.order[x], i])
    return _ratios(i, work.scratch[i], belief.shape[0], work)
