"""What the auditor of `near` works with: lots of values, what they weigh, and what they are asked at each place.

A lot is one value, or, where a distance has no table and there are more than 128 values, a group of neighbours. What an
error costs is an input of the audit like the model itself, so it is read from the same place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.distance import EQUAL, TABLE, Distance, cost, units_between
from beliefs.native import kernel
from stream.audit.amounts import COVERED, Floats, Integers

UNIT_MASS = 2**60
MOST_LOTS = 128
PARTS_OF_A_PORTION = 16


class Nearby(NamedTuple):
    """Scratch space. By value: `lot_of`, `mass_of`, and `members`, the values lot by lot. By lot: `first` and `size` in
    the members, `mass`, `weight` (the mass in 2^-30), `centre`, `deputy` (the value that it is released as).
    `asked[i, j]` is the price of lot i at the place of lot j. The rest belongs to the plans.
    """

    distance: Distance
    lot_of: Integers
    mass_of: Integers
    members: Integers
    spare: Integers
    first: Integers
    size: Integers
    mass: Integers
    weight: Integers
    deputy: Integers
    centre: Floats
    asked: Integers
    shipped: Integers
    kept: Integers
    detour: Integers
    carrier: Integers
    place: Integers
    kept_place: Integers
    stock: Integers
    want: Integers
    limit: Integers
    length: Integers
    previous: Integers
    figures: Integers


# Places in `figures`: lots; places at work, which of them is the rare one (-1: none), the effort so far; the same for
# the best plan, with the rare one's want and the cost; a whole portion, which every place but a rare one must have.
LOTS, PLACES, RARE, EFFORT, KEPT_PLACES, KEPT_RARE, KEPT_WANT, KEPT_COST, PORTION = range(9)


def new_nearby(symbols: int, distance: Distance) -> Nearby:
    lots = symbols if distance.kind == TABLE else min(symbols, MOST_LOTS)
    if distance.kind == EQUAL:
        lots = 0

    def whole(*shape: int) -> Integers:
        return np.zeros(shape, dtype=np.int64)

    return Nearby(
        distance=distance,
        lot_of=whole(symbols),
        mass_of=whole(symbols),
        members=whole(symbols),
        spare=whole(symbols),
        first=whole(lots),
        size=whole(lots),
        mass=whole(lots),
        weight=whole(lots),
        deputy=whole(lots),
        centre=np.zeros((lots, 3)),
        asked=whole(lots, lots),
        shipped=whole(lots, lots),
        kept=whole(lots, lots),
        detour=whole(lots, lots),
        carrier=whole(lots, lots),
        place=whole(lots),
        kept_place=whole(lots),
        stock=whole(lots),
        want=whole(lots),
        limit=whole(lots),
        length=whole(lots),
        previous=whole(lots),
        figures=whole(9),
    )


@kernel
def divide(belief: Floats, near: Nearby) -> int:
    """Make the lots; answers the mass of them all."""
    values, most = belief.shape[0], near.mass.shape[0]
    total = 0
    for x in range(values):
        near.mass_of[x] = int(belief[x] * UNIT_MASS)
        near.members[x] = x
        total += near.mass_of[x]
    if values <= most:
        near.figures[LOTS] = values
        for x in range(values):
            near.lot_of[x] = near.first[x] = near.deputy[x] = x
            near.size[x] = 1
            near.mass[x] = near.mass_of[x]
    else:
        near.figures[LOTS] = 1
        near.first[0], near.size[0], near.mass[0] = 0, values, total
        for x in range(values):
            near.lot_of[x] = 0
        while near.figures[LOTS] < most and _divide_heaviest(near):
            pass
        for lot in range(near.figures[LOTS]):
            _centre(lot, near)
    for lot in range(near.figures[LOTS]):
        near.weight[lot] = near.mass[lot] >> 30
    return total


@kernel
def _divide_heaviest(near: Nearby) -> bool:
    chosen = -1
    for lot in range(near.figures[LOTS]):
        if near.size[lot] > 1 and near.mass[lot] > (0 if chosen < 0 else near.mass[chosen]):
            chosen = lot
    if chosen < 0 or near.mass[chosen] <= near.figures[PORTION] // PARTS_OF_A_PORTION:
        return False
    axis, cut, width = _longest_side(chosen, near)
    new, begin, whole = near.figures[LOTS], near.first[chosen], near.size[chosen]
    staying = leaving = 0
    for i in range(whole):
        x = near.members[begin + i]
        leaves = near.distance.places[x, axis] > cut if width > 0.0 else i >= whole // 2
        if leaves:
            near.spare[leaving] = x
            leaving += 1
        else:
            near.members[begin + staying] = x
            staying += 1
    near.first[new], near.size[new], near.mass[new] = begin + staying, leaving, 0
    for i in range(leaving):
        x = near.spare[i]
        near.members[begin + staying + i] = x
        near.lot_of[x] = new
        near.mass[new] += near.mass_of[x]
    near.size[chosen] = staying
    near.mass[chosen] -= near.mass[new]
    near.figures[LOTS] = new + 1
    return True


@kernel
def _longest_side(lot: int, near: Nearby) -> tuple[int, float, float]:
    """The axis on which the lot is longest, the middle of that side, and its length."""
    best, cut, width = 0, 0.0, 0.0
    for axis in range(3):
        low, high = np.inf, -np.inf
        for i in range(near.first[lot], near.first[lot] + near.size[lot]):
            at = near.distance.places[near.members[i], axis]
            low, high = min(low, at), max(high, at)
        if high - low > width:
            best, cut, width = axis, low + (high - low) / 2.0, high - low
    return best, cut, width


@kernel
def _centre(lot: int, near: Nearby) -> None:
    begin, end = near.first[lot], near.first[lot] + near.size[lot]
    weights = 0.0
    for axis in range(3):
        near.centre[lot, axis] = 0.0
    for i in range(begin, end):
        x = near.members[i]
        weight = float((near.mass_of[x] >> 30) + 1)
        weights += weight
        for axis in range(3):
            near.centre[lot, axis] += weight * near.distance.places[x, axis]
    for axis in range(3):
        near.centre[lot, axis] /= weights
    least = np.inf
    for i in range(begin, end):
        x = near.members[i]
        across = near.centre[lot, 0] - near.distance.places[x, 0]
        along = near.centre[lot, 1] - near.distance.places[x, 1]
        above = near.centre[lot, 2] - near.distance.places[x, 2]
        square = across * across + along * along + above * above
        if square < least:
            near.deputy[lot], least = x, square


@kernel
def error_of(lot: int, value: int, near: Nearby) -> int:
    """What it costs to release the value for the lot."""
    if near.lot_of.shape[0] == near.mass.shape[0]:
        return cost(near.distance, lot, value)
    return units_between(near.distance, near.centre[lot], near.distance.places[value])


@kernel
def price_of(error: int, blind: int, numbers: Floats) -> int:
    for_all = int(numbers[COVERED] * 2**20)
    return ((2**20 - for_all) * error + for_all * blind) >> 16


@kernel
def blind_error(value: int, near: Nearby) -> int:
    """What it costs to release the value whatever the true one is."""
    total = 0
    for lot in range(near.figures[LOTS]):
        total += near.weight[lot] * error_of(lot, value, near)
    return total >> 30


@kernel
def ask(numbers: Floats, near: Nearby) -> None:
    for j in range(near.figures[LOTS]):
        blind = blind_error(near.deputy[j], near)
        for i in range(near.figures[LOTS]):
            near.asked[i, j] = price_of(error_of(i, near.deputy[j], near), blind, numbers)
