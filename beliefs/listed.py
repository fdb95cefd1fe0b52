"""A belief over very many states in few numbers: some entries by themselves, the others as one multiple of a law.

What stands by itself is chosen so that the ratios belief(x)/base(x) of all others lie in a narrow band; to replace
these by one number moves the belief by the width of that band and no more. `base` is public. Proof: listed.md.

The order is part of the meaning: an auditor chooses in the same way and gets the same entries.
* ratio(x) = belief(x) / base(x), and `bits(x)` is that double read as an integer; larger ratios have larger bits.
* Rounds begin with all states, low and high being the smallest and the largest bits. A round divides low..high into at
  most 4,096 cells of 2^shift bits, for the smallest shift that suffices, and counts the states in each. Of the runs of
  cells outside which at most as many states lie as may still be listed, it takes the shortest; of these the one with
  most states; of these the first. The states outside are listed, and low..high becomes the run.
* Rounds end after a run of more than 64 cells, cells of at most 2^20 bits, or when no more may be listed.
* The others' multiple is the sum of their belief(x) divided by the sum of their base(x), both for x ascending, but not
  below the smallest of their ratios and not above the largest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LISTED_ABOVE = 4096
"""Beliefs over more states than this are listed, where there is a tail and nothing else is wished."""
LISTED_USUALLY = 2_000
"""Entries by themselves: a row of state is then 16,072 bytes."""
CELLS = 4096
NARROW = 64
"""A longer run could be shortened by less than one thirty-second in another round."""
FINEST = 20
"""Cells of 2^20 bits are ratios within 2^-32 of each other: finer than what a stored code loses."""


class Listing(NamedTuple):
    """Scratch arrays of one caller; `bits` are the ratios' own bytes read as integers."""

    ratio: Floats
    bits: Integers
    counts: Integers


def new_listing(states: int) -> Listing:
    ratio = np.zeros(states)
    return Listing(ratio, ratio.view(np.int64), np.zeros(CELLS, dtype=np.int64))


def entries_listed(wished: int | None, states: int, has_tail: bool) -> int:
    """How many entries of a belief are listed under this model; 0: all are written out."""
    if not has_tail:
        return 0
    usual = LISTED_USUALLY if states > LISTED_ABOVE else 0
    return min(usual if wished is None else wished, states)


@kernel
def choose(belief: Floats, base: Floats, most: int, room: Listing) -> tuple[int, int]:
    """The bits between which the ratios lie that are not listed, both included; at most `most` lie outside.

    (1, 0) if all may be listed.
    """
    states = belief.shape[0]
    for x in range(states):
        room.ratio[x] = belief[x] / base[x]
    if most >= states:
        return 1, 0
    low = high = room.bits[0]
    for x in range(states):
        low, high = min(low, room.bits[x]), max(high, room.bits[x])
    inside, free, going = states, most, True
    while going:
        shift = 0
        while (high - low) >> shift >= CELLS:
            shift += 1
        cells = int((high - low) >> shift) + 1
        _count(room, low, high, shift)
        first, length, kept = _shortest_run(room.counts, cells, inside - free)
        free -= inside - kept
        inside = kept
        high = min(high, low + ((first + length) << shift) - 1)
        low += first << shift
        going = length <= NARROW and shift > FINEST and free > 0
    return low, high


@kernel
def _count(room: Listing, low: int, high: int, shift: int) -> None:
    for cell in range(CELLS):
        room.counts[cell] = 0
    for x in range(room.bits.shape[0]):
        if low <= room.bits[x] <= high:
            room.counts[(room.bits[x] - low) >> shift] += 1


@kernel
def _shortest_run(counts: Integers, cells: int, needed: int) -> tuple[int, int, int]:
    """First cell, length and content of the shortest run of cells that holds as many as needed."""
    best, best_length, best_content = 0, CELLS + 1, 0
    content, end = 0, 0
    for first in range(cells):
        while end < cells and content < needed:
            content += counts[end]
            end += 1
        if content < needed:
            break
        length = end - first
        if length < best_length or (length == best_length and content > best_content):
            best, best_length, best_content = first, length, content
        content -= counts[first]
    return best, best_length, best_content


@kernel
def level(belief: Floats, base: Floats, low: int, high: int, room: Listing) -> tuple[float, float]:
    """The multiple of the base that stands for all that is not listed, and the largest of their ratios divided by the
    smallest: infinite if some of them are 0 and others are not.
    """
    least, most = np.inf, 0.0
    mass, share = 0.0, 0.0
    for x in range(belief.shape[0]):
        if low <= room.bits[x] <= high:
            least, most = min(least, room.ratio[x]), max(most, room.ratio[x])
            mass += belief[x]
            share += base[x]
    if most == 0.0:
        return 0.0, 1.0
    return min(max(mass / share, least), most), most / least


@kernel
def spread_out(base: Floats, multiple: float, belief: Floats) -> None:
    """The belief where nothing is listed."""
    for x in range(belief.shape[0]):
        belief[x] = multiple * base[x]
