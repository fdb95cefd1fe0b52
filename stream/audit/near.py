"""The mechanism `near`, worked out a second time: from the best plan to the whole numbers of each column.

Everybody gives a base to each released value; the rest of the whole goes where a value's lot is served, in proportion,
rounded down, and what rounding leaves goes to the first place that serves the lot and is not rare. A lot without mass
gives all of it to the cheapest such place.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import CAP, COVERED, FULL, PAD, WHOLE, Floats
from stream.audit.channel import BASE, COLUMN, Channel, admit, certain, empty, rate
from stream.audit.lots import KEPT_PLACES, KEPT_RARE, LOTS, PORTION, UNIT_MASS, Nearby, ask, blind_error, divide
from stream.audit.lots import error_of as error
from stream.audit.lots import price_of as price
from stream.audit.plans import find_plan
from stream.audit.serving import NONE

REST = 1
UNITS_OF_MASS = 4
ROUNDINGS = 8


@kernel
def work_out(belief: Floats, numbers: Floats, near: Nearby, channel: Channel) -> None:
    near.figures[PORTION] = int(numbers[FULL] * UNIT_MASS) + 1
    total = divide(belief, near)
    ask(numbers, near)
    find_plan(total, numbers[CAP], near)
    count = near.figures[KEPT_PLACES]
    if count == 1 or not _bases(belief, numbers, near, channel):
        certain(_released(0, numbers, near), channel)
        near.shipped[:, 0] = 0
        return
    for lot in range(near.figures[LOTS]):
        _share_out(lot, near, channel)
    empty(channel)
    for i in range(count):
        admit(_released(i, numbers, near), channel)
        write_column(i, near, channel)
        law = float(channel.units[BASE, i])
        for x in range(belief.shape[0]):
            law += belief[x] * near.shipped[near.lot_of[x], i]
        rate(i, law, belief, channel)


@kernel
def write_column(i: int, near: Nearby, channel: Channel) -> None:
    for x in range(near.lot_of.shape[0]):
        channel.units[COLUMN, x] = channel.units[BASE, i] + near.shipped[near.lot_of[x], i]


@kernel
def _bases(belief: Floats, numbers: Floats, near: Nearby, channel: Channel) -> bool:
    """False when they do not fit. `shipped` is free from here on and takes what a lot gives above them."""
    count = near.figures[KEPT_PLACES]
    padding = numbers[PAD] * (UNITS_OF_MASS * belief.shape[0] + count + ROUNDINGS)
    needed = 0.0
    for i in range(count):
        needed += numbers[COVERED] * _stock(i, near) * UNITS_OF_MASS + padding + 1.0
    if not needed < WHOLE * (1.0 - 1.0e-9):
        return False
    rest = WHOLE
    for i in range(count):
        channel.units[BASE, i] = int(numbers[COVERED] * _stock(i, near) * UNITS_OF_MASS) + 1 + int(padding)
        rest -= channel.units[BASE, i]
    channel.size[REST] = rest
    return True


@kernel
def _stock(i: int, near: Nearby) -> int:
    stock = 0
    for lot in range(near.figures[LOTS]):
        stock += near.kept[lot, i]
    return stock


@kernel
def _share_out(lot: int, near: Nearby, channel: Channel) -> None:
    count, rare, mass = near.figures[KEPT_PLACES], near.figures[KEPT_RARE], near.mass[lot]
    rest = channel.size[REST]
    heir, left = NONE, rest
    for i in range(count):
        part = near.kept[lot, i]
        near.shipped[lot, i] = _proportion(rest, part, mass) if part > 0 else 0
        left -= near.shipped[lot, i]
        if i == rare:
            continue
        if mass == 0:
            if heir == NONE or near.asked[lot, near.kept_place[i]] < near.asked[lot, near.kept_place[heir]]:
                heir = i
        elif heir == NONE and part > 0:
            heir = i
    near.shipped[lot, heir] += left


@kernel
def _proportion(rest: int, part: int, mass: int) -> int:
    """rest * part / mass rounded down, without ever holding the product: the digits of the quotient, one by one.

    part/mass in binary is worked out digit by digit; instead of a fraction, each digit of `rest` is carried through.
    """
    if part == mass:
        return rest
    quotient = remainder = 0
    for digit in range(61, -1, -1):
        quotient, remainder = quotient << 1, remainder << 1
        if rest & (1 << digit):
            remainder += part
        while remainder >= mass:
            remainder -= mass
            quotient += 1
    return quotient


@kernel
def _released(i: int, numbers: Floats, near: Nearby) -> int:
    """The value of the lot at a place from which what it serves is served most cheaply, the first of equals."""
    lot = near.kept_place[i]
    chosen, least = near.deputy[lot], UNIT_MASS
    for member in range(near.first[lot], near.first[lot] + near.size[lot]):
        value = near.members[member]
        if near.size[lot] > 1:
            blind = blind_error(value, near)
            asked = 0
            for each in range(near.figures[LOTS]):
                asked += (near.kept[each, i] >> 30) * price(error(each, value, near), blind, numbers)
            if asked < least:
                chosen, least = value, asked
    return int(chosen)
