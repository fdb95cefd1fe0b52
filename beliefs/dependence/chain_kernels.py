"""One side of a chain, value after value towards the one that is looked at. Proof: chain.md."""

from __future__ import annotations

from beliefs.correlation.bound import Matrix, Places
from beliefs.dependence.passed import ROUNDINGS_A_UNIT, units_beside
from beliefs.native import kernel, part_of_caller
from beliefs.rounding import add_units
from beliefs.simplex import Vector

RARE = -1
RAREST = 2.0**-900
ALIKE = 2.0**-44
"""Laws whose ratios differ by less than this share are one: the leaks they bring differ by less than a unit."""


@kernel
def step_out(through: Matrix, behind: Vector, reached: Vector) -> int:
    """What lies behind one value further on; RARE where digits would be lost."""
    for value in range(behind.size):
        total = 0.0
        for before in range(behind.size):
            if through[value, before] > 0.0 and behind[before] > 0.0:
                product = through[value, before] * behind[before]
                if product < RAREST:
                    return RARE
                total += product
        reached[value] = total
    return 0


@part_of_caller
def keep(reached: Vector, behind: Vector) -> None:
    """What was reached lies behind what comes next; a power of two keeps it from fading."""
    most, factor = 0.0, 1.0
    for value in range(behind.size):
        most = max(most, reached[value])
    while 0.0 < most * factor < 0.5:
        factor *= 2.0
    for value in range(behind.size):
        behind[value] = reached[value] * factor


@kernel
def room_at(distance: int, states: int) -> int:
    """Units for the roundings of laws after so many steps."""
    return 2 + 2 * (distance + 2) * (states + 4) // ROUNDINGS_A_UNIT


@kernel
def same_everywhere(through: Matrix, order: Places, begins: Matrix, loss: int, room: Matrix, told: Places) -> int:
    """told[i] is the most that i values of one loss tell about the next one.

    Of `begins` the first is what lies behind the outermost value; each other one is a known value.
    """
    states = through.shape[0]
    behind, reached = room[0], room[1]
    for begin in range(begins.shape[0] - 1, -1, -1):
        for value in range(states):
            behind[value] = begins[begin, value]
        message = 0
        for place in range(1, told.size):
            if step_out(through, behind, reached) == RARE:
                return RARE
            if begin == 0 or place > 1:
                allowed = room_at(place, states)
                message = units_beside(through, order, behind, add_units(loss, message), allowed, reached)
            if begin > 0:  # whoever is known to be nearer leaves others out of sight
                told[place] = max(told[place - 1], told[place], message)
            else:
                told[place] = max(told[place], message)
            keep(reached, behind)
    return 0


@kernel
def alike_from(through: Matrix, known: Matrix) -> int:
    """Fills known[d, u] for every distance up to the one from which on all u lie behind alike, and returns that."""
    last, states = known.shape[0] - 1, known.shape[1]
    for distance in range(1, last + 1):
        for begin in range(states):
            if step_out(through, known[distance - 1, begin], known[distance, begin]) == RARE:
                return RARE
            keep(known[distance, begin], known[distance, begin])
        alike = True
        for begin in range(1, states):
            low = high = 0.0
            for value in range(states):
                one, two = known[distance, 0, value], known[distance, begin, value]
                if one == 0.0 or two == 0.0:
                    alike = alike and one == two
                    continue
                ratio = two / one
                low = ratio if low == 0.0 else min(low, ratio)
                high = max(high, ratio)
            alike = alike and high <= low * (1.0 + ALIKE)
        if alike:
            return distance
    return int(last)


@kernel
def each_by_itself(
    through: Matrix,
    order: Places,
    start: Vector,
    known: Matrix,
    losses: Places,
    messages: Places,
    room: Matrix,
    told: Places,
    knowing: bool,
) -> int:
    """As `same_everywhere` for losses of each value's own.

    messages[d, u] is what is told by values between one known to be u and the one looked at, d further. Known values
    further out than known[-1] reaches are all alike, and so is nobody known: they share one row of messages.
    """
    states, last = through.shape[0], known.shape[0] - 1
    behind, reached = room[0], room[1]
    for value in range(states):
        behind[value] = start[value]
    free = tail = 0
    for place in range(1, told.size):
        loss = losses[place - 1]
        if step_out(through, behind, reached) == RARE:
            return RARE
        free = units_beside(through, order, behind, add_units(loss, free), room_at(place, states), reached)
        keep(reached, behind)
        told[place] = max(free, told[place])
        if not knowing:
            continue
        if place > last:
            for begin in range(states):
                tail = max(tail, messages[last, begin])
            allowed = room_at(last + 1, states) + 1
            if step_out(through, known[last, 0], reached) == RARE:
                return RARE
            tail = units_beside(through, order, known[last, 0], add_units(loss, tail), allowed, reached)
            told[place] = max(told[place], tail)
        for distance in range(min(place, last), 1, -1):
            for begin in range(states):
                if step_out(through, known[distance - 1, begin], reached) == RARE:
                    return RARE
                allowed, before = room_at(distance, states), messages[distance - 1, begin]
                messages[distance, begin] = units_beside(
                    through, order, known[distance - 1, begin], add_units(loss, before), allowed, reached
                )
                told[place] = max(told[place], messages[distance, begin])
    return 0
