"""The optimal mechanism, worked out a second time from its definition.

Values are taken from the likeliest on, each with the whole marginal max(b, p*), while there is room and while keeping
them is worth more than releasing the likeliest instead. What room is left goes to the next value z, if that is worth
it: lent by all that is not taken where these have mass p* together, otherwise also by the last taken value, the donor;
or else to the likeliest. A row is the base of each value, which is the same for all rows, and the rest of the whole.
The rest goes from a taken value to itself, from the donor to itself and z, from z as `RARE` says, and from any other
value as `TAIL` says.
"""

from __future__ import annotations

from beliefs.native import kernel
from stream.audit.amounts import CAP, CEILING, COVERED, FULL, PAD, REVEALED, WHOLE, Floats, Integers, roundings
from stream.audit.channel import (
    BASE,
    COLUMN,
    LACK,
    PLACE,
    RARE,
    TAIL,
    VALUE,
    WEIGHT,
    Channel,
    admit,
    certain,
    empty,
    likeliest,
    rate,
)

TAKEN, LENT, REST = 1, 2, 3
LEAST_RARE = 2.0**-33
ULP = 2.0**-52


@kernel
def worth(mass: float, numbers: Floats) -> float:
    """Accuracy gained by each unit of marginal that a value of this belief gets."""
    gained: float = numbers[REVEALED] * min(1.0, numbers[CAP] * mass) + numbers[COVERED] * mass
    return gained


@kernel
def work_out(belief: Floats, numbers: Floats, channel: Channel) -> None:
    empty(channel)
    _take(belief, numbers, channel)
    taken = channel.size[0]
    channel.size[TAKEN] = taken
    z = likeliest(belief, channel)
    others = 0.0
    for x in range(belief.shape[0]):
        if channel.units[PLACE, x] < 0 and x != z:
            others += belief[x]
    outside = others + belief[z] if z >= 0 else others
    lacking = 0.0
    for i in range(taken):
        lacking += channel.reals[LACK, i]
    left = max(outside - lacking, 0.0)
    own, through, lending = _share_for_next(z, left, others, belief, numbers, channel)
    if channel.size[0] == taken:
        channel.reals[WEIGHT, 0] += left
        channel.reals[LACK, 0] += left
        others = outside
    if not _bases(numbers, channel):
        certain(channel.units[VALUE, 0], channel)
        channel.size[TAKEN] = 1
        channel.size[LENT] = channel.size[REST] = channel.units[TAIL, 0] = 0
        return
    _rows(own, through, lending, channel)
    for i in range(channel.size[0]):
        write_column(i, channel)
        rate(i, _marginal(i, belief, others, channel), belief, channel)


@kernel
def _take(belief: Floats, numbers: Floats, channel: Channel) -> None:
    """The room shrinks by one marginal after the other; a value that would fill it up to rounding is left for z."""
    first = likeliest(belief, channel)
    instead = numbers[COVERED] * belief[first]
    room = 1.0
    x = first
    while x >= 0:
        whole = max(belief[x], numbers[FULL])
        taken = channel.size[0]
        if taken > 0 and (room - whole < (taken + 4) * ULP or worth(belief[x], numbers) <= instead):
            break
        i = admit(x, channel)
        channel.reals[WEIGHT, i] = whole
        channel.reals[LACK, i] = max(numbers[FULL] - belief[x], 0.0)
        room -= whole
        x = likeliest(belief, channel)


@kernel
def _share_for_next(
    z: int, left: float, others: float, belief: Floats, numbers: Floats, channel: Channel
) -> tuple[float, float, float]:
    """Admit z if that is worth it. What of a rest goes to z from z's own row, every other row, the donor's row."""
    if z < 0 or left <= LEAST_RARE:
        return 0.0, 0.0, 0.0
    mass = belief[z]
    cap, full, ceiling = numbers[CAP], numbers[FULL], numbers[CEILING]
    instead = numbers[COVERED] * belief[channel.units[VALUE, 0]]
    if worth(mass, numbers) <= instead:
        return 0.0, 0.0, 0.0
    if mass + others >= full:
        own = min(1.0, left * min(cap, 1.0 / mass))
        through = min(max((left - mass * own) / others, 0.0), own) if others > 0.0 else 0.0
        channel.reals[WEIGHT, admit(z, channel)] = left
        return own, through, 0.0
    donor = channel.size[0] - 1
    lender = belief[channel.units[VALUE, donor]]
    moved = left * (full - (mass + others)) / (min(lender, full) + (mass + others) - full)
    lost = worth(lender, numbers) - ceiling * mass
    if ceiling * mass * left - moved * lost <= instead * left:
        return 0.0, 0.0, 0.0
    channel.reals[WEIGHT, donor] -= moved
    channel.reals[LACK, donor] *= max(1.0 - cap * moved, 0.0)
    channel.reals[WEIGHT, admit(z, channel)] = left + moved
    own = min(1.0, cap * (left + moved))
    return own, own, min(moved * min(1.0, cap * lender) / lender, 1.0)


@kernel
def _bases(numbers: Floats, channel: Channel) -> bool:
    """What every row gives to each value. False when the bases alone would not leave room."""
    needed = 0.0
    for i in range(channel.size[0]):
        needed += numbers[COVERED] * channel.reals[WEIGHT, i] * WHOLE + numbers[PAD] + 1.0
    if not needed < WHOLE * (1.0 - 1.0e-12):
        return False
    rest = WHOLE
    for i in range(channel.size[0]):
        channel.units[BASE, i] = int(numbers[COVERED] * channel.reals[WEIGHT, i] * WHOLE) + int(numbers[PAD]) + 1
        rest -= channel.units[BASE, i]
    channel.size[REST] = rest
    return True


@kernel
def _rows(own: float, through: float, lending: float, channel: Channel) -> None:
    rest, taken = channel.size[REST], channel.size[TAKEN]
    channel.size[LENT] = min(int(rest * lending), rest)
    if channel.size[0] == taken:
        _divide(rest, channel, channel.units[TAIL])
        return
    channel.units[TAIL, taken] = min(int(rest * through), rest)
    channel.units[RARE, taken] = min(int(rest * own), rest)
    _divide(rest - channel.units[TAIL, taken], channel, channel.units[TAIL])
    _divide(rest - channel.units[RARE, taken], channel, channel.units[RARE])


@kernel
def _divide(amount: int, channel: Channel, parts: Integers) -> None:
    """Among the taken values by what they lack, in two rounds; the few units that these leave go to the likeliest."""
    total = 0.0
    for i in range(channel.size[TAKEN]):
        total += channel.reals[LACK, i]
        parts[i] = 0
    total *= roundings(channel.size[TAKEN])
    left = amount
    if total > 0.0:
        for _ in range(2):
            divided = left
            for i in range(channel.size[TAKEN]):
                part = int(divided * (channel.reals[LACK, i] / total))
                parts[i] += part
                left -= part
    parts[0] += left


@kernel
def write_column(i: int, channel: Channel) -> None:
    """a(y|x) of the i-th value for every x."""
    taken, rest, lent = channel.size[TAKEN], channel.size[REST], channel.size[LENT]
    for x in range(channel.units.shape[1]):
        place = channel.units[PLACE, x]
        part = channel.units[TAIL, i]
        if 0 <= place < taken:
            part = rest if place == i else 0
            if place == taken - 1 and lent > 0:
                part += (lent if i == taken else 0) - (lent if i == place else 0)
        elif place == taken:
            part = channel.units[RARE, i]
        channel.units[COLUMN, x] = channel.units[BASE, i] + part


@kernel
def _marginal(i: int, belief: Floats, others: float, channel: Channel) -> float:
    """The sum over rows, added as: base, other rows, z's row, what the donor lends, the value's own."""
    taken, rest, lent = channel.size[TAKEN], channel.size[REST], channel.size[LENT]
    law: float = channel.units[BASE, i] + others * channel.units[TAIL, i]
    if channel.size[0] > taken:
        law += belief[channel.units[VALUE, taken]] * channel.units[RARE, i]
        if i == taken:
            law += belief[channel.units[VALUE, taken - 1]] * lent
    if i < taken:
        law += belief[channel.units[VALUE, i]] * (rest - lent if i == taken - 1 else rest)
    return law
