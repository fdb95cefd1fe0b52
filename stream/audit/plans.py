"""Plans of transport, worked out a second time: which places serve which lots, and the search for the best of them.

Follows `near.md`, points 4 to 7, in whole numbers. Every place but a rare one must have a portion.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.lots import (
    EFFORT,
    KEPT_COST,
    KEPT_PLACES,
    KEPT_RARE,
    KEPT_WANT,
    LOTS,
    PLACES,
    PORTION,
    RARE,
    UNIT_MASS,
    Nearby,
)
from stream.audit.serving import MOST_EFFORT, NONE, UNREACHED, serve

RAREST = 2**28
TRIALS_OF_RARE = 4
EVERYWHERE_UP_TO = 2**11


@kernel
def find_plan(total: int, cap: float, near: Nearby) -> None:
    """Leave the best plan in `kept`, `kept_place` and the figures."""
    figures = near.figures
    figures[EFFORT] = 0
    figures[KEPT_COST] = UNREACHED
    figures[PLACES], figures[RARE] = 1, NONE
    near.place[0] = near.want[0] = 0
    _improve(near)
    _all_that_fill_a_portion(near)
    most = min(total // figures[PORTION], figures[LOTS])
    growing = True
    while growing and figures[KEPT_PLACES] < most:
        _recall(figures[KEPT_PLACES], near)
        growing = _with_one_more(near)
    _replace_each(near)
    count = figures[KEPT_PLACES]
    share = min(total - count * figures[PORTION], figures[PORTION] - 1)
    for _ in range(TRIALS_OF_RARE):
        if share < RAREST:
            break
        _recall(count, near)
        if not _with_a_rare_one(share, cap, near):
            break
        share //= 2
    if figures[KEPT_RARE] != NONE:
        _replace_by_rare(cap, near)


@kernel
def _all_that_fill_a_portion(near: Nearby) -> None:
    near.figures[PLACES] = 0
    for lot in range(near.figures[LOTS]):
        if near.mass[lot] >= near.figures[PORTION]:
            near.place[near.figures[PLACES]] = lot
            near.figures[PLACES] += 1
    if near.figures[PLACES] > 1:
        _all_want_a_portion(near)
        _improve(near)


@kernel
def _replace_each(near: Nearby) -> None:
    count = near.figures[KEPT_PLACES]
    again = count > 1
    while again:
        again = False
        for leaves in range(count):
            _recall(count - 1, near)
            if leaves < count - 1:
                near.place[leaves] = near.kept_place[count - 1]
            if _with_one_more(near):
                again = True


@kernel
def _replace_by_rare(cap: float, near: Nearby) -> None:
    rare, share = near.figures[KEPT_RARE], near.figures[KEPT_WANT]
    again = True
    while again:
        again = False
        for leaves in range(rare):
            _recall(rare, near)
            near.place[leaves] = near.kept_place[rare]
            if _with_a_rare_one(share, cap, near):
                again = True


@kernel
def _recall(count: int, near: Nearby) -> None:
    near.figures[PLACES], near.figures[RARE] = count, NONE
    for p in range(count):
        near.place[p] = near.kept_place[p]


@kernel
def _all_want_a_portion(near: Nearby) -> None:
    for p in range(near.figures[PLACES]):
        near.want[p] = near.figures[PORTION]


@kernel
def _with_one_more(near: Nearby) -> bool:
    if not _open_place(near):
        return False
    _all_want_a_portion(near)
    return _improve(near)


@kernel
def _with_a_rare_one(share: int, cap: float, near: Nearby) -> bool:
    """No lot may give more than cap times the share of its mass to the rare place; the last factor is for roundings."""
    if near.figures[PLACES] == near.figures[LOTS] or not _open_place(near):
        return False
    _all_want_a_portion(near)
    near.figures[RARE] = near.figures[PLACES] - 1
    near.want[near.figures[RARE]] = share
    most = cap * (share / UNIT_MASS) * (1.0 - 2.0**-50)
    for lot in range(near.figures[LOTS]):
        near.limit[lot] = int(near.mass[lot] * most)
    return _improve(near)


@kernel
def _open_place(near: Nearby) -> bool:
    """Where most would be saved if a place took the lots that it is cheaper for."""
    lots, places = near.figures[LOTS], near.figures[PLACES]
    if near.figures[EFFORT] > MOST_EFFORT:
        return False
    near.figures[EFFORT] += lots * (lots + places)
    for lot in range(lots):  # `length` is free until the next serving
        near.length[lot] = near.asked[lot, near.place[0]]
        for p in range(1, places):
            near.length[lot] = min(near.length[lot], near.asked[lot, near.place[p]])
    chosen, most = NONE, 0
    for trial in range(lots):
        saved = 0
        for lot in range(lots):
            saved += near.weight[lot] * max(0, near.length[lot] - near.asked[lot, trial])
        if saved > most:
            chosen, most = trial, saved
    if chosen == NONE:
        return False
    near.place[places] = chosen
    near.figures[PLACES] = places + 1
    return True


@kernel
def _improve(near: Nearby) -> bool:
    """Serve, then let the places move, in turn; whether one of the plans on the way has become the best."""
    better = False
    before = UNREACHED
    going = True
    while going and serve(near):
        cost = _cost(near)
        if cost < near.figures[KEPT_COST]:
            better = True
            _remember(cost, near)
        going = False
        if cost < before:
            for p in range(near.figures[PLACES]):
                if _let_move(p, near):
                    going = True
        before = cost
    return better


@kernel
def _cost(near: Nearby) -> int:
    cost = 0
    for p in range(near.figures[PLACES]):
        for lot in range(near.figures[LOTS]):
            cost += (near.shipped[lot, p] >> 30) * near.asked[lot, near.place[p]]
    return cost


@kernel
def _remember(cost: int, near: Nearby) -> None:
    figures = near.figures
    figures[KEPT_COST], figures[KEPT_PLACES], figures[KEPT_RARE] = cost, figures[PLACES], figures[RARE]
    figures[KEPT_WANT] = near.want[figures[PLACES] - 1]
    for p in range(figures[PLACES]):
        near.kept_place[p] = near.place[p]
        for lot in range(figures[LOTS]):
            near.kept[lot, p] = near.shipped[lot, p]


@kernel
def _let_move(p: int, near: Nearby) -> bool:
    lots, here = near.figures[LOTS], near.place[p]
    served = 0
    for lot in range(lots):
        served += 1 if near.shipped[lot, p] > 0 else 0
    everywhere = lots * served <= EVERYWHERE_UP_TO
    near.figures[EFFORT] += lots + (lots if everywhere else served) * served
    best, least = here, _asked_at(here, p, near)
    for trial in range(lots):
        if (everywhere or near.shipped[trial, p] > 0) and not _is_taken(trial, near):
            asked = _asked_at(trial, p, near)
            if asked < least:
                best, least = trial, asked
    near.place[p] = best
    return bool(best != here)


@kernel
def _is_taken(lot: int, near: Nearby) -> bool:
    taken = False
    for p in range(near.figures[PLACES]):
        taken = taken or near.place[p] == lot
    return taken


@kernel
def _asked_at(trial: int, p: int, near: Nearby) -> int:
    asked = 0
    for lot in range(near.figures[LOTS]):
        asked += (near.shipped[lot, p] >> 30) * near.asked[lot, trial]
    return asked
