"""A budget over any so many events in a row: a ring of the last charges. Proof: sliding.md.

A ring is one array of charges in units a side, all zero at first. The slot of an event is its step modulo the length,
so the slot that an event is about to take holds the charge of the event that leaves. Sums are taken anew each time: a
window has few events, and a sum that is carried on could not come back from an amount without bound.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from beliefs.native import kernel
from beliefs.rounding import INFINITE, add_units

Integers = npt.NDArray[np.int64]


@kernel
def still_counted(ring: Integers, step: int) -> int:
    """What the events before this one tell within every window that this one is in."""
    leaving = step % ring.shape[0]
    spent = 0
    for slot in range(ring.shape[0]):
        if slot != leaving:
            spent = add_units(spent, ring[slot])
    return spent


@kernel
def fits_sliding(
    upper: Integers, lower: Integers, step: int, reserve_upper: int, reserve_lower: int, budget: int
) -> bool:
    """Whether a release whose worst case is the reserve may be looked at."""
    if budget >= INFINITE:
        return True
    return (
        add_units(still_counted(upper, step), reserve_upper) <= budget
        and add_units(still_counted(lower, step), reserve_lower) <= budget
    )


@kernel
def turn(ring: Integers, step: int, charge: int) -> None:
    """Take the event's charge in; every event turns the ring, also one that told nothing."""
    ring[step % ring.shape[0]] = charge
