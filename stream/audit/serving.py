"""The cheapest way to serve lots from given places, each of which wants a least amount: `near.md`, point 3."""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.lots import EFFORT, LOTS, PLACES, RARE, Nearby

MOST_EFFORT = 10**6
UNREACHED = 2**60
NONE = -1


@kernel
def serve(near: Nearby) -> bool:
    """The cheapest plan for these places; False if the effort is spent before it is found."""
    lots, places, rare = near.figures[LOTS], near.figures[PLACES], near.figures[RARE]
    near.figures[EFFORT] += lots * places
    near.stock[:places] = 0
    near.shipped[:, :places] = 0
    for lot in range(lots):
        best = NONE
        for p in range(places):
            if p != rare and (best == NONE or near.asked[lot, near.place[p]] < near.asked[lot, near.place[best]]):
                best = p
        near.shipped[lot, best] = near.mass[lot]
        near.stock[best] += near.mass[lot]
    for p in range(places):
        _find_detours(p, near)
    for p in range(places):
        while near.stock[p] < near.want[p]:
            near.figures[EFFORT] += lots + places * places
            if near.figures[EFFORT] > MOST_EFFORT or not _find_chains(p, near):
                return False
            _ship(p, near)
    return True


@kernel
def _find_detours(p: int, near: Nearby) -> None:
    """What it costs a unit to go from place p to each other place, and whose unit that is."""
    places, rare = near.figures[PLACES], near.figures[RARE]
    near.figures[EFFORT] += near.figures[LOTS]
    near.detour[p, :places] = UNREACHED
    for lot in range(near.figures[LOTS]):
        if near.shipped[lot, p] == 0:
            continue
        near.figures[EFFORT] += places
        for q in range(places):
            if q == p or (q == rare and near.shipped[lot, q] >= near.limit[lot]):
                continue
            more = near.asked[lot, near.place[q]] - near.asked[lot, near.place[p]]
            if more < near.detour[p, q]:
                near.detour[p, q], near.carrier[p, q] = more, lot


@kernel
def _find_chains(end: int, near: Nearby) -> bool:
    places, length = near.figures[PLACES], near.length
    for p in range(places):
        near.previous[p] = NONE
        length[p] = 0 if near.stock[p] > near.want[p] else UNREACHED
    rounds, changed = 0, True
    while changed and rounds < places:
        changed = False
        rounds += 1
        for p in range(places):
            if length[p] == UNREACHED:
                continue
            for q in range(places):
                if near.detour[p, q] != UNREACHED and length[p] + near.detour[p, q] < length[q]:
                    length[q] = length[p] + near.detour[p, q]
                    near.previous[q] = p
                    changed = True
    return bool(length[end] < UNREACHED)


@kernel
def _ship(end: int, near: Nearby) -> None:
    rare = near.figures[RARE]
    amount, over_rare = near.want[end] - near.stock[end], end == rare
    q = end
    while near.previous[q] != NONE:
        p = near.previous[q]
        lot = near.carrier[p, q]
        amount = min(amount, near.shipped[lot, p])
        if q == rare:
            amount = min(amount, near.limit[lot] - near.shipped[lot, q])
        over_rare = over_rare or p == rare
        q = p
    amount = min(amount, near.stock[q] - near.want[q])
    near.stock[q] -= amount
    near.stock[end] += amount
    q = end
    while near.previous[q] != NONE:
        p = near.previous[q]
        near.shipped[near.carrier[p, q], p] -= amount
        near.shipped[near.carrier[p, q], q] += amount
        q = p
    if over_rare:
        for p in range(near.figures[PLACES]):
            _find_detours(p, near)
    else:
        q = end
        while q != NONE:
            _find_detours(q, near)
            q = near.previous[q]
