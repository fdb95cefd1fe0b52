"""The cheapest way to serve cells of mass from sites that each want a least amount, exactly, in whole numbers.

Every cell begins with its cheapest site. While a site has less than its demand, mass moves to it along the cheapest
chain of sites, from one that has more than it wants: this keeps every stage the cheapest of all with the same amounts
(successive shortest paths), so the last one is the cheapest of all. At most one site, the rare one, takes from each
cell no more than the room that the cell has for it, and begins empty.

Ties: the first site, the first cell, and of equally cheap chains the one that `_reach` finds first.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import NearWorkspace

# Places in work.tables: the price of a cell's unit at another cell; what flows from a cell to a site, in the plan at
# hand and in the best one; what a unit's way from one site to another costs, and the cell that would move.
PRICE, FLOW, BEST, STEP, MOVER = range(5)
# Places in work.lists. By cell: its mass, the same in 2^-30, and its room for the rare site. By site: its cell, in the
# plan at hand and in the best one; what it has; what it wants; how cheaply it is reached, and from where.
MASS, WEIGHT, ROOM, SITE, BEST_SITE, FILLED, DEMAND, REACH, VIA = range(9)
# Places in work.size. WANTED is the demand of a site that is not rare.
CELLS, SITES, RARE, EFFORT, WANTED = 1, 2, 3, 4, 11

EFFORT_MAX = 1_000_000
"""About a millisecond's work. It is counted and not timed, so that every machine stops at the same place."""
FAR = 1 << 60
NOBODY = -1


@kernel
def serve(work: NearWorkspace) -> bool:
    """Work out the flow for the sites in the lists; False when the effort came to its limit before the end."""
    _begin(work)
    sites = work.size[SITES]
    for site in range(sites):
        _steps_from(site, work)
    for site in range(sites):
        while work.lists[FILLED, site] < work.lists[DEMAND, site]:
            work.size[EFFORT] += work.size[CELLS] + sites * sites
            if work.size[EFFORT] > EFFORT_MAX or not _reach(site, work):
                return False
            _move_along(site, work)
    return True


@kernel
def _begin(work: NearWorkspace) -> None:
    cells, sites, rare = work.size[CELLS], work.size[SITES], work.size[RARE]
    price, flow = work.tables[PRICE], work.tables[FLOW]
    site_of, filled = work.lists[SITE], work.lists[FILLED]
    work.size[EFFORT] += cells * sites
    for site in range(sites):
        filled[site] = 0
    for cell in range(cells):
        cheapest = NOBODY
        for site in range(sites):
            flow[cell, site] = 0
            if site != rare and (cheapest < 0 or price[cell, site_of[site]] < price[cell, site_of[cheapest]]):
                cheapest = site
        flow[cell, cheapest] = work.lists[MASS, cell]
        filled[cheapest] += work.lists[MASS, cell]


@kernel
def _steps_from(one: int, work: NearWorkspace) -> None:
    """For each other site, the cell of site `one` that moves there most cheaply, and what that costs a unit."""
    sites, rare = work.size[SITES], work.size[RARE]
    price, flow, step, mover = work.tables[PRICE], work.tables[FLOW], work.tables[STEP], work.tables[MOVER]
    site_of, room = work.lists[SITE], work.lists[ROOM]
    work.size[EFFORT] += work.size[CELLS]
    for other in range(sites):
        step[one, other] = FAR
    for cell in range(work.size[CELLS]):
        if flow[cell, one] > 0:
            work.size[EFFORT] += sites
            here = price[cell, site_of[one]]
            for other in range(sites):
                more = price[cell, site_of[other]] - here
                full = other == rare and flow[cell, other] >= room[cell]
                if other != one and not full and more < step[one, other]:
                    step[one, other] = more
                    mover[one, other] = cell


@kernel
def _reach(wanting: int, work: NearWorkspace) -> bool:
    """The cheapest chain to each site from those that have more than they want; False if none leads to `wanting`."""
    sites = work.size[SITES]
    step, reach, via = work.tables[STEP], work.lists[REACH], work.lists[VIA]
    for site in range(sites):
        reach[site] = 0 if work.lists[FILLED, site] > work.lists[DEMAND, site] else FAR
        via[site] = NOBODY
    for _ in range(sites):
        shorter = False
        for one in range(sites):
            if reach[one] < FAR:
                for other in range(sites):
                    if step[one, other] < FAR and reach[one] + step[one, other] < reach[other]:
                        reach[other] = reach[one] + step[one, other]
                        via[other] = one
                        shorter = True
        if not shorter:
            break
    return bool(reach[wanting] < FAR)


@kernel
def _move_along(wanting: int, work: NearWorkspace) -> None:
    """Move as much along the chain to `wanting` as its narrowest place lets through."""
    flow, mover, via = work.tables[FLOW], work.tables[MOVER], work.lists[VIA]
    filled, demand = work.lists[FILLED], work.lists[DEMAND]
    rare, room = work.size[RARE], work.lists[ROOM]
    amount = demand[wanting] - filled[wanting]
    through_rare = wanting == rare
    site = wanting
    while via[site] != NOBODY:
        before = via[site]
        cell = mover[before, site]
        amount = min(amount, flow[cell, before])
        if site == rare:
            amount = min(amount, room[cell] - flow[cell, site])
        through_rare = through_rare or before == rare
        site = before
    amount = min(amount, filled[site] - demand[site])
    filled[site] -= amount
    filled[wanting] += amount
    site = wanting
    while via[site] != NOBODY:
        before = via[site]
        cell = mover[before, site]
        flow[cell, before] -= amount
        flow[cell, site] += amount
        site = before
    # Elsewhere no flow has changed; but a cell's room for the rare site matters to each site that it is served from.
    for each in range(work.size[SITES]):
        if through_rare or each == wanting or _lies_on(each, wanting, work):
            _steps_from(each, work)


@kernel
def _lies_on(each: int, wanting: int, work: NearWorkspace) -> bool:
    """Whether the chain to `wanting` comes through a site."""
    site = wanting
    while site != NOBODY and site != each:
        site = work.lists[VIA, site]
    return bool(site == each)


@kernel
def cost_of(work: NearWorkspace) -> int:
    """What the plan at hand costs: masses in 2^-30, prices in 2^-28, so 2^58 at most."""
    flow, price = work.tables[FLOW], work.tables[PRICE]
    total = 0
    for cell in range(work.size[CELLS]):
        for site in range(work.size[SITES]):
            if flow[cell, site] > 0:
                total += (flow[cell, site] >> 30) * price[cell, work.lists[SITE, site]]
    return total
