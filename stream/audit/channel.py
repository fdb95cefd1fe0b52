"""A channel as the auditor works it out: which values may be released, the whole numbers of each column, and what each
release tells.

Extents of a column are found by looking at all of it, not by reasoning about which rows there are; the order of values
is found by looking for the likeliest that is left, again and again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.native import kernel
from stream.audit.amounts import WHOLE, Floats, Integers, roundings

# Rows of `units`: where a value stands among those that may be released, or -1; which value stands there; and whole
# numbers of it.
PLACE, VALUE, BASE, TAIL, RARE, COLUMN = range(6)
# Rows of `reals`: two that belong to the mechanism, and the ratios max a/p, max p/a and max a/a, already raised against
# rounding.
WEIGHT, LACK, ABOVE, BELOW, ACROSS = range(5)


class Channel(NamedTuple):
    """`size[0]` values may be released; the further sizes belong to the mechanism that was worked out last."""

    size: Integers
    units: Integers
    reals: Floats


def new_channel(symbols: int) -> Channel:
    return Channel(np.zeros(8, dtype=np.int64), np.zeros((6, symbols), dtype=np.int64), np.zeros((5, symbols)))


@kernel
def rate(i: int, law: float, belief: Floats, channel: Channel) -> None:
    """The ratios of the i-th value, whose column is written out and whose probability is `law`, in units of the rows'
    whole.
    """
    smallest = largest = channel.units[COLUMN, 0]
    for x in range(1, belief.shape[0]):
        smallest = min(smallest, channel.units[COLUMN, x])
        largest = max(largest, channel.units[COLUMN, x])
    channel.reals[ABOVE, i] = channel.reals[BELOW, i] = channel.reals[ACROSS, i] = 1.0
    if smallest < largest:
        raised = roundings(belief.shape[0])
        channel.reals[ABOVE, i] = largest / law * raised
        channel.reals[BELOW, i] = law / smallest * raised
        channel.reals[ACROSS, i] = largest / smallest * raised


@kernel
def worst(channel: Channel) -> tuple[float, float, float]:
    above = below = across = 1.0
    for i in range(channel.size[0]):
        above = max(above, channel.reals[ABOVE, i])
        below = max(below, channel.reals[BELOW, i])
        across = max(across, channel.reals[ACROSS, i])
    return above, below, across


@kernel
def likeliest(belief: Floats, channel: Channel) -> int:
    """The most likely value without a place, the first of equals; -1 when all have one."""
    best = -1
    for x in range(belief.shape[0]):
        if channel.units[PLACE, x] < 0 and (best < 0 or belief[x] > belief[best]):
            best = x
    return best


@kernel
def admit(x: int, channel: Channel) -> int:
    """Give x the next place."""
    i: int = channel.size[0]
    channel.units[PLACE, x] = i
    channel.units[VALUE, i] = x
    channel.size[0] = i + 1
    return i


@kernel
def empty(channel: Channel) -> None:
    channel.size[0] = 0
    for x in range(channel.units.shape[1]):
        channel.units[PLACE, x] = -1


@kernel
def certain(x: int, channel: Channel) -> None:
    """The channel that always releases x."""
    empty(channel)
    channel.units[BASE, admit(x, channel)] = WHOLE
    channel.reals[ABOVE, 0] = channel.reals[BELOW, 0] = channel.reals[ACROSS, 0] = 1.0


@kernel
def drawn(belief: Floats, channel: Channel) -> None:
    """The channel that draws from the belief, whatever the value: whole units rounded down, what is left to the
    likeliest.
    """
    empty(channel)
    likely = likeliest(belief, channel)
    left = WHOLE
    for x in range(belief.shape[0]):
        units = min(int(belief[x] * WHOLE), left)
        if units > 0 or x == likely:
            i = admit(x, channel)
            channel.units[BASE, i] = units
            channel.reals[ABOVE, i] = channel.reals[BELOW, i] = channel.reals[ACROSS, i] = 1.0
        left -= units
    channel.units[BASE, channel.units[PLACE, likely]] += left
