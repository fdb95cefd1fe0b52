"""The inverse of the optimal channel, in closed form: as much work as there are values. Proof: channel.md.

All rows share the base b. What is left of a row, the rest, goes from a taken value to itself; from the donor, if it
lends, to itself and to the rare value; from the rare value as `RARE` says, and from any value without an output as
`TAIL` says. So a functional is one number for all taken values but its own, one for the donor, and one for the rare.
"""

from __future__ import annotations

import math
from typing import Final

from beliefs.native import kernel
from stream.audit.amounts import WHOLE, Floats, Integers
from stream.audit.channel import BASE, PLACE, RARE, TAIL, Channel
from stream.audit.optimal import LENT, REST, TAKEN

_NOTHING: Final = 1e-9
_OFF: Final = 1e-6
"""How far from an indicator a mean may be: what values without an output add to it."""


@kernel
def invert_optimal(channel: Channel, symbol: int, functional: Floats, known: Integers) -> bool:
    """For each value whether there is a functional, and what it is at this release; False where the form is another."""
    z, rarely = channel.size[TAKEN], channel.size[0] > channel.size[TAKEN]
    donor, released, outside = z - 1, channel.units[PLACE, symbol], known.shape[0] - channel.size[0]
    rest, lent = channel.size[REST] / WHOLE, channel.size[LENT] / WHOLE if rarely else 0.0
    kept = rest - lent
    if kept <= _NOTHING * max(rest, 1.0):
        return False
    base_d, rare_d, tail_d = _shares(channel, donor, rarely)
    base_z, rare_z, tail_z = _shares(channel, z if rarely else -1, rarely)
    # Two equations for what a functional is on average under the base, and for what it is at the rare value.
    a1, b1 = (rare_z + rare_d) / rest - rare_d / kept, rare_z - rare_d * lent / kept
    a2, b2 = (1.0 - base_z - base_d) / rest + base_d / kept, base_d * lent / kept - base_z
    determinant = a1 * b2 - a2 * b1
    if rarely and abs(determinant) <= _NOTHING * (abs(a1 * b2) + abs(a2 * b1)):
        return False
    for v in range(known.shape[0]):
        place = channel.units[PLACE, v]
        of_donor, of_rare = 1.0 if place == donor else 0.0, 1.0 if rarely and place == z else 0.0
        base_v, rare_v, tail_v = _shares(channel, place if place < donor else -1, rarely)
        second = base_v / rest + base_d * of_donor / kept
        common, at_rare = second / a2, 0.0
        if rarely:
            first = of_rare - rare_v / rest - rare_d * of_donor / kept
            common = (first * b2 - second * b1) / determinant
            at_rare = (a1 * second - a2 * first) / determinant
        at_donor = (of_donor - common - lent * at_rare) / kept
        without = common + (tail_v - common * (rest - tail_z - tail_d)) / rest + tail_d * at_donor + tail_z * at_rare
        # Values without an output are alike: of two none is told of, and of all others they must say nothing.
        wanted, possible = 1.0 if place < 0 else 0.0, place >= 0 or outside == 1
        told = outside == 0 or (possible and abs(without - wanted) * math.sqrt(outside) <= _OFF)
        found = ((1.0 if released == place else 0.0) - common) / rest
        if released == donor:
            found = at_donor
        elif released > donor:
            found = at_rare
        known[v], functional[v] = (1, found) if told else (0, 0.0)
    return True


@kernel
def _shares(channel: Channel, place: int, rarely: bool) -> tuple[float, float, float]:
    """What the output at this place gets of every row, of the rare value's, and of those without an output."""
    if place < 0:
        return 0.0, 0.0, 0.0
    rare = channel.units[RARE, place] / WHOLE if rarely else 0.0
    return channel.units[BASE, place] / WHOLE, rare, channel.units[TAIL, place] / WHOLE
