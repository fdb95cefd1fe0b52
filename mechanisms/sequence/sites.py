"""Which values are released and which cells they serve, found by adding, exchanging and moving sites.

1. One site, the cheapest.
2. All cells that have the mass of a site by themselves, if there are several.
3. Sites are added, each where most would be saved if it took what it serves more cheaply than those that are there.
4. Each site in turn is taken away and one is added by the same rule.
5. One more site that is released rarely is added, with as much mass as there is, then with half as much, and so on.
6. Each other site in turn makes way for the rare one, which becomes a site like the others, and a rare one is added.

Each trial is served exactly (`transport.py`), and every site moves to where its cells are served most cheaply, until
nothing improves. A trial that is cheaper than the best plan takes its place; the first that is not ends steps 3 and 5.
"""

from __future__ import annotations

from beliefs.native import kernel
from mechanisms.contract import NearWorkspace
from mechanisms.sequence.transport import (
    BEST,
    BEST_SITE,
    CELLS,
    DEMAND,
    EFFORT,
    EFFORT_MAX,
    FLOW,
    MASS,
    NOBODY,
    PRICE,
    RARE,
    ROOM,
    SITE,
    SITES,
    WANTED,
    WEIGHT,
    cost_of,
    serve,
)

# Further places in work.size: the best plan's sites, its rare one and that one's demand, and its cost; and whether the
# effort came to its limit, so that the best plan is only the best of those that were looked at.
BEST_SITES, BEST_RARE, BEST_REST, LEAST, CUT_SHORT = 5, 6, 7, 8, 9
# Further places in work.lists, by cell: what its cheapest site asks; the cells of one site; whether a site is there.
NEAREST, SERVED, TAKEN = 9, 10, 11

WHOLE = 1 << 60
LEAST_RARE = 1 << 28
"""A site that could be released less than once in 2^32 times is left out."""
HALVINGS = 4
"""How many masses a rare site is tried with."""
LOOKED_AT = 1 << 11
"""Pairs of a site's possible place and a cell that it serves, up to which all places are looked at."""
OUTWARD = 1.0 - 2.0**-50
"""Covers the roundings of the few operations that make a cell's room for the rare site."""


@kernel
def search(whole: int, cap: float, work: NearWorkspace) -> None:
    """Leave the best plan in the tables: each site but a rare one has at least WANTED of the mass `whole`."""
    wanted = work.size[WANTED]
    work.size[EFFORT] = 0
    work.size[LEAST] = WHOLE
    work.size[SITES] = 1
    work.size[RARE] = NOBODY
    work.lists[SITE, 0] = 0
    work.lists[DEMAND, 0] = 0
    _settle(work)
    _try_heavy(work)
    while work.size[BEST_SITES] < min(whole // wanted, work.size[CELLS]) and _try_one_more(work):
        pass
    _exchange(work)
    rest = min(whole - wanted * work.size[BEST_SITES], wanted - 1)
    sites = work.size[BEST_SITES]
    for _ in range(HALVINGS):
        _take_up(sites, work)
        if rest < LEAST_RARE or not _try_rare(rest, cap, work):
            break
        rest //= 2
    if work.size[BEST_RARE] != NOBODY:
        _exchange_rare(cap, work)
    work.size[CUT_SHORT] = 1 if work.size[EFFORT] > EFFORT_MAX else 0


@kernel
def _try_heavy(work: NearWorkspace) -> None:
    sites = 0
    for cell in range(work.size[CELLS]):
        if work.lists[MASS, cell] >= work.size[WANTED]:
            work.lists[SITE, sites] = cell
            work.lists[DEMAND, sites] = work.size[WANTED]
            sites += 1
    work.size[SITES] = sites
    if sites > 1:
        _settle(work)


@kernel
def _exchange(work: NearWorkspace) -> None:
    sites = work.size[BEST_SITES]
    improved = sites > 1
    while improved:
        improved = False
        for site in range(sites):
            _take_up(sites - 1, work)
            if site < sites - 1:
                work.lists[SITE, site] = work.lists[BEST_SITE, sites - 1]
            improved = _try_added(work) or improved


@kernel
def _exchange_rare(cap: float, work: NearWorkspace) -> None:
    rare, rest = work.size[BEST_RARE], work.size[BEST_REST]
    improved = True
    while improved:
        improved = False
        for site in range(rare):
            _take_up(rare, work)
            work.lists[SITE, site] = work.lists[BEST_SITE, rare]
            improved = _try_rare(rest, cap, work) or improved


@kernel
def _try_one_more(work: NearWorkspace) -> bool:
    _take_up(work.size[BEST_SITES], work)
    return _try_added(work)


@kernel
def _try_added(work: NearWorkspace) -> bool:
    """Whether the sites at hand and one more are cheaper than the best plan."""
    if not _add_site(work):
        return False
    for site in range(work.size[SITES]):
        work.lists[DEMAND, site] = work.size[WANTED]
    return _settle(work)


@kernel
def _try_rare(rest: int, cap: float, work: NearWorkspace) -> bool:
    """The same where the one more is released with probability `rest`: no more than cap x rest of any cell is its."""
    if work.size[SITES] == work.size[CELLS] or not _add_site(work):
        return False
    share = cap * (rest / WHOLE) * OUTWARD
    for cell in range(work.size[CELLS]):
        work.lists[ROOM, cell] = int(work.lists[MASS, cell] * share)
    rare = work.size[SITES] - 1
    for site in range(rare):
        work.lists[DEMAND, site] = work.size[WANTED]
    work.lists[DEMAND, rare] = rest
    work.size[RARE] = rare
    return _settle(work)


@kernel
def _take_up(sites: int, work: NearWorkspace) -> None:
    """Begin with the first `sites` of the best plan, none of them rare."""
    work.size[SITES] = sites
    work.size[RARE] = NOBODY
    for site in range(sites):
        work.lists[SITE, site] = work.lists[BEST_SITE, site]


@kernel
def _add_site(work: NearWorkspace) -> bool:
    """Add the site that would save most; False if none would save anything, or the effort is at its limit."""
    cells, sites = work.size[CELLS], work.size[SITES]
    price, nearest, weight = work.tables[PRICE], work.lists[NEAREST], work.lists[WEIGHT]
    if work.size[EFFORT] > EFFORT_MAX:
        return False
    work.size[EFFORT] += cells * (cells + sites)
    for cell in range(cells):
        nearest[cell] = price[cell, work.lists[SITE, 0]]
        for site in range(1, sites):
            nearest[cell] = min(nearest[cell], price[cell, work.lists[SITE, site]])
    best, most = NOBODY, 0
    for trial in range(cells):
        saved = 0
        for cell in range(cells):
            saved += weight[cell] * max(nearest[cell] - price[cell, trial], 0)
        if saved > most:
            best, most = trial, saved
    if best == NOBODY:
        return False
    work.lists[SITE, sites] = best
    work.size[SITES] = sites + 1
    return True


@kernel
def _settle(work: NearWorkspace) -> bool:
    """Serve and move until nothing improves; whether that is better than the best plan, whose place it then takes."""
    improved = False
    least = WHOLE
    while serve(work):
        cost = cost_of(work)
        if cost < work.size[LEAST]:
            _keep(cost, work)
            improved = True
        if cost >= least:
            break
        least = cost
        moved = False
        for site in range(work.size[SITES]):
            moved = _move(site, work) or moved
        if not moved:
            break
    return improved


@kernel
def _keep(cost: int, work: NearWorkspace) -> None:
    work.size[LEAST] = cost
    work.size[BEST_SITES] = work.size[SITES]
    work.size[BEST_RARE] = work.size[RARE]
    work.size[BEST_REST] = work.lists[DEMAND, work.size[SITES] - 1]
    for site in range(work.size[SITES]):
        work.lists[BEST_SITE, site] = work.lists[SITE, site]
        for cell in range(work.size[CELLS]):
            work.tables[BEST, cell, site] = work.tables[FLOW, cell, site]


@kernel
def _move(site: int, work: NearWorkspace) -> bool:
    """Move a site to the free cell from which those that it serves are served most cheaply; whether it has moved.

    Where there are many, only the cells that it serves are looked at: the best place is rarely outside of them.
    """
    cells, flow = work.size[CELLS], work.tables[FLOW]
    served, taken = work.lists[SERVED], work.lists[TAKEN]
    count = 0
    for cell in range(cells):
        taken[cell] = 0
        if flow[cell, site] > 0:
            served[count] = cell
            count += 1
    for other in range(work.size[SITES]):
        taken[work.lists[SITE, other]] = 1
    trials = cells if cells * count <= LOOKED_AT else count
    work.size[EFFORT] += cells + trials * count
    here = work.lists[SITE, site]
    best, least = here, _asked(here, site, count, work)
    for place in range(trials):
        trial = place if trials == cells else served[place]
        if taken[trial] == 0:
            total = _asked(trial, site, count, work)
            if total < least:
                best, least = trial, total
    work.lists[SITE, site] = best
    return bool(best != here)


@kernel
def _asked(trial: int, site: int, count: int, work: NearWorkspace) -> int:
    total = 0
    for place in range(count):
        cell = work.lists[SERVED, place]
        total += (work.tables[FLOW, cell, site] >> 30) * work.tables[PRICE, cell, trial]
    return total
