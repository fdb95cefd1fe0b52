"""Cells: the values themselves, or, where there are too many, groups of neighbours that are treated alike.

The heaviest cell is halved across its longest side, and again the heaviest, until it is light enough or there are as
many cells as fit. A value's row is its cell's row, so nothing about privacy depends on the cells; only costs do.
"""

from __future__ import annotations

from beliefs.distance import cost, units_between
from beliefs.native import kernel
from mechanisms.contract import Constant, Floats, NearWorkspace
from mechanisms.sequence.transport import BEST, BEST_SITE, CELLS, MASS, NOBODY, PRICE, WANTED, WEIGHT

LOWER = int(Constant.LOWER)

# work.order holds the cell of a symbol, work.tail a symbol's mass, work.extra the symbols cell by cell.
# Further places in work.lists, by cell: where its symbols begin in work.extra, how many there are, and the one that
# stands for it when it is a site.
START, LENGTH, STANDS = 12, 13, 14

WHOLE = 1 << 60
FINENESS = 16
"""A cell is fine enough when this many of it have the mass of a site."""
SHARE = 1 << 20
"""Shares of the two parts of a price are whole numbers of 2^-20."""


@kernel
def lay_out(belief: Floats, work: NearWorkspace) -> int:
    """Make the cells, with their masses in 2^-60; the sum of the masses."""
    symbols, most = belief.shape[0], work.tables.shape[1]
    whole = 0
    for x in range(symbols):
        work.tail[x] = int(belief[x] * WHOLE)
        whole += work.tail[x]
        work.extra[x] = x
        work.order[x] = x if symbols <= most else 0
    if symbols <= most:
        work.size[CELLS] = symbols
        for x in range(symbols):
            work.lists[START, x] = x
            work.lists[LENGTH, x] = 1
            work.lists[MASS, x] = work.tail[x]
    else:
        work.size[CELLS] = 1
        work.lists[START, 0], work.lists[LENGTH, 0], work.lists[MASS, 0] = 0, symbols, whole
        while work.size[CELLS] < most:
            heaviest = _heaviest(work)
            if heaviest == NOBODY or work.lists[MASS, heaviest] <= work.size[WANTED] // FINENESS:
                break
            _halve(heaviest, work)
        for cell in range(work.size[CELLS]):
            _find_middle(cell, work)
    for cell in range(work.size[CELLS]):
        work.lists[WEIGHT, cell] = work.lists[MASS, cell] >> 30
    return whole


@kernel
def _heaviest(work: NearWorkspace) -> int:
    """The heaviest cell of several symbols, the first of equals; a cell without mass is left as it is."""
    best = NOBODY
    for cell in range(work.size[CELLS]):
        mass = work.lists[MASS, cell]
        if work.lists[LENGTH, cell] > 1 and mass > 0 and (best < 0 or mass > work.lists[MASS, best]):
            best = cell
    return best


@kernel
def _halve(cell: int, work: NearWorkspace) -> None:
    """Symbols beyond the middle of the cell's longest side become a new cell; both keep the order of their symbols.

    Symbols that all lie at one place are divided by their number.
    """
    places, start, length = work.distance.places, work.lists[START, cell], work.lists[LENGTH, cell]
    axis, middle, side = 0, 0.0, 0.0
    for each in range(3):
        low = high = places[work.extra[start], each]
        for place in range(start + 1, start + length):
            low, high = min(low, places[work.extra[place], each]), max(high, places[work.extra[place], each])
        if high - low > side:
            axis, middle, side = each, low + (high - low) / 2.0, high - low
    new = work.size[CELLS]
    kept, gone, gone_mass = 0, 0, 0
    for place in range(length):
        x = work.extra[start + place]
        beyond = places[x, axis] > middle if side > 0.0 else place >= length // 2
        if beyond:
            work.row[gone] = x
            work.order[x] = new
            gone_mass += work.tail[x]
            gone += 1
        else:
            work.extra[start + kept] = x
            kept += 1
    for place in range(gone):
        work.extra[start + kept + place] = work.row[place]
    work.lists[LENGTH, cell] = kept
    work.lists[MASS, cell] -= gone_mass
    work.lists[START, new], work.lists[LENGTH, new], work.lists[MASS, new] = start + kept, gone, gone_mass
    work.size[CELLS] = new + 1


@kernel
def _find_middle(cell: int, work: NearWorkspace) -> None:
    """The cell's centre of mass, and the symbol next to it, which stands for the cell when it is a site."""
    places, start, length = work.distance.places, work.lists[START, cell], work.lists[LENGTH, cell]
    middle = work.middles[cell]
    total = 0.0
    middle[0] = middle[1] = middle[2] = 0.0
    for place in range(start, start + length):
        x = work.extra[place]
        weight = float((work.tail[x] >> 30) + 1)  # never 0, so that a cell without mass has a middle, too
        total += weight
        for axis in range(3):
            middle[axis] += weight * places[x, axis]
    for axis in range(3):
        middle[axis] /= total
    nearest = work.extra[start]
    for place in range(start + 1, start + length):
        x = work.extra[place]
        if _square(middle, places[x]) < _square(middle, places[nearest]):
            nearest = x
    work.lists[STANDS, cell] = nearest


@kernel
def _square(one: Floats, other: Floats) -> float:
    first, second, third = one[0] - other[0], one[1] - other[1], one[2] - other[2]
    return float(first * first + second * second + third * third)


@kernel
def _units(cell: int, symbol: int, work: NearWorkspace) -> int:
    """What it costs to release a symbol for a cell."""
    if work.order.shape[0] - 2 <= work.tables.shape[1]:
        return cost(work.distance, cell, symbol)
    return units_between(work.distance, work.middles[cell], work.distance.places[symbol])


@kernel
def set_prices(constants: Floats, work: NearWorkspace) -> None:
    """A unit of a cell that is released as a symbol costs c D(cell, symbol) + e (mean of D(., symbol)): its own error,
    and its share in the symbol's being released for anybody. In 2^-28 of the largest cost."""
    cells, price = work.size[CELLS], work.tables[PRICE]
    few = work.order.shape[0] - 2 <= work.tables.shape[1]
    for site in range(cells):
        if few:
            work.lists[STANDS, site] = site
        symbol = work.lists[STANDS, site]
        for cell in range(cells):
            price[cell, site] = _units(cell, symbol, work)
        blind = 0
        for cell in range(cells):
            blind += work.lists[WEIGHT, cell] * price[cell, site]
        for cell in range(cells):
            price[cell, site] = _price(constants, price[cell, site], blind >> 30)


@kernel
def _price(constants: Floats, units: int, blind: int) -> int:
    covered = int(constants[LOWER] * SHARE)
    return ((SHARE - covered) * units + covered * blind) >> 16


@kernel
def refine(site: int, constants: Floats, work: NearWorkspace) -> int:
    """The symbol of the site's cell from which the cells that the best plan gives it are served most cheaply."""
    home = work.lists[BEST_SITE, site]
    start, length = work.lists[START, home], work.lists[LENGTH, home]
    best, least = work.lists[STANDS, home], WHOLE
    if length == 1:
        return int(best)
    for place in range(start, start + length):
        symbol = work.extra[place]
        blind = 0
        for cell in range(work.size[CELLS]):
            blind += work.lists[WEIGHT, cell] * _units(cell, symbol, work)
        total = 0
        for cell in range(work.size[CELLS]):
            if work.tables[BEST, cell, site] > 0:
                units = _units(cell, symbol, work)
                total += (work.tables[BEST, cell, site] >> 30) * _price(constants, units, blind >> 30)
        if total < least:
            best, least = symbol, total
    return int(best)


@kernel
def lay_out_all(belief: Floats, work: NearWorkspace) -> None:
    """Make as many cells as there may be."""
    work.size[WANTED] = 0
    lay_out(belief, work)
    if belief.shape[0] <= work.tables.shape[1]:
        for cell in range(work.size[CELLS]):
            work.lists[STANDS, cell] = cell


@kernel
def cheapest_for_all(work: NearWorkspace) -> int:
    """The symbol that costs least if it is released for all cells: of those that stand for a cell, and then of the best
    one's cell; the first of equals.
    """
    home, least = 0, WHOLE
    for cell in range(work.size[CELLS]):
        total = _cost_for_all(work.lists[STANDS, cell], work)
        if total < least:
            home, least = cell, total
    best, start = work.lists[STANDS, home], work.lists[START, home]
    for place in range(start, start + work.lists[LENGTH, home]):
        total = _cost_for_all(work.extra[place], work)
        if total < least:
            best, least = work.extra[place], total
    return int(best)


@kernel
def _cost_for_all(symbol: int, work: NearWorkspace) -> int:
    total = 0
    for cell in range(work.size[CELLS]):
        total += work.lists[WEIGHT, cell] * _units(cell, symbol, work)
    return int(total)
