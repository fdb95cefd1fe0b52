"""How a belief over very many states is kept: some masses by themselves, the others as one multiple of the tail.

The rule, in words. A state's quotient is its mass divided by its tail's; quotients are compared as the integers that
their bytes spell. A pass looks at the quotients from `low` to `high`, at first all of them, and lays at most 4,096 bins
over this stretch, each 2^k wide for the least such k. It seeks the fewest neighbouring bins that leave out no more
states than may still be listed; among equals those with most states in them, then those that begin lowest; and keeps
these bins only. It was the last pass if they are more than 64, if k is 20 or less, or if no more states may be listed.

What was left out is listed. The rest's multiple is the quotient of their masses' sum and their tails' sum, added up
ascending, brought within their quotients. A row holds the multiple divided by 2^32, the number of states that are
listed, these ascending, and their masses; numbers are kept short as in every row.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from stream.audit.amounts import DRIFT_STEP_UNITS, DRIFT_UNKNOWN, Floats, Integers, log_units

Words = NDArray[np.uint32]
BINS, FEW, FINE = 4096, 64, 20
LISTED_ABOVE, LISTED_USUALLY = 4096, 2000
_LEAST, _MOST = 2.0**-126, 2.0 - 2.0**-25
_UNIT = 2.0**32


class Tray(NamedTuple):
    """Scratch space; `spelt` are the bytes of the quotients as integers, `below` how many lie below each bin."""

    quotient: Floats
    spelt: Integers
    below: Integers


def new_tray(states: int) -> Tray:
    quotient = np.zeros(states)
    return Tray(quotient, quotient.view(np.int64), np.zeros(BINS + 1, dtype=np.int64))


def listed_of(wished: int | None, states: int, tail: Floats) -> int:
    """How many states a row may list; 0 where every mass is kept."""
    if tail.shape[0] == 0:
        return 0
    if wished is None:
        return LISTED_USUALLY if states > LISTED_ABOVE else 0
    return min(wished, states)


def words_of(states: int, listed: int) -> int:
    return 2 + 2 * listed if listed else states


@kernel
def short(mass: float) -> float:
    """26 binary digits, half away from zero."""
    if mass == 0.0:
        return 0.0
    m, k = math.frexp(mass)
    return math.ldexp(math.floor(m * 67108864.0 + 0.5), k - 26)


@kernel
def word_of(kept: float) -> int:
    if kept == 0.0:
        return 0
    m, k = math.frexp(kept)
    return (k + 125) * 33554432 + int(m * 67108864.0)


@kernel
def keep_listed(tail: Floats, tray: Tray, belief: Floats, words: Words, drift: int) -> int:
    """The belief becomes what its row stands for; answers how far it may be off then, apart from being kept short, or
    `DRIFT_UNKNOWN` also where a number was too small or too large.
    """
    room = (words.shape[0] - 2) // 2
    low, high = _middle(tail, tray, belief, room)
    multiple, extent = _multiple(tail, tray, belief, low, high)
    for place in range(words.shape[0]):
        words[place] = 0
    kept = short(multiple / _UNIT)
    fine = kept == 0.0 or _LEAST <= kept < 2.0
    kept = min(max(kept, _LEAST), _MOST) if kept != 0.0 else 0.0
    words[0] = np.uint32(word_of(kept))
    listed = 0
    for x in range(belief.shape[0]):
        if low <= tray.spelt[x] <= high:
            belief[x] = kept * _UNIT * tail[x]
            continue
        mass = short(belief[x])
        if 0.0 < mass < _LEAST:
            mass, fine = _LEAST, False
        words[2 + listed] = np.uint32(x)
        words[2 + room + listed] = np.uint32(word_of(mass))
        belief[x] = mass
        listed += 1
    words[1] = np.uint32(listed)
    width = log_units(extent * (1.0 + 2.0**-50))
    if not fine or drift == DRIFT_UNKNOWN or width >= DRIFT_UNKNOWN * DRIFT_STEP_UNITS:
        return DRIFT_UNKNOWN
    return min(drift - (-width) // DRIFT_STEP_UNITS, DRIFT_UNKNOWN)


@kernel
def _middle(tail: Floats, tray: Tray, belief: Floats, room: int) -> tuple[int, int]:
    """The least and the largest quotient, as integers, of what need not be listed; (1, 0) if everything may be."""
    states = belief.shape[0]
    for x in range(states):
        tray.quotient[x] = belief[x] / tail[x]
    if room >= states:
        return 1, 0
    low = high = tray.spelt[0]
    for x in range(1, states):
        low, high = min(low, tray.spelt[x]), max(high, tray.spelt[x])
    left_out = 0
    while True:
        k = 0
        while ((high - low) >> k) > BINS - 1:
            k += 1
        bins = _fill(tray, low, high, k)
        first, last = _fewest(tray.below, bins, tray.below[bins] - (room - left_out))
        left_out += tray.below[bins] - (tray.below[last + 1] - tray.below[first])
        low, high = low + (first << k), min(high, low + ((last + 1) << k) - 1)
        if last - first >= FEW or k <= FINE or left_out >= room:
            return low, high


@kernel
def _fill(tray: Tray, low: int, high: int, k: int) -> int:
    bins = int((high - low) >> k) + 1
    for place in range(bins + 1):
        tray.below[place] = 0
    for x in range(tray.spelt.shape[0]):
        if tray.spelt[x] >= low and tray.spelt[x] <= high:
            tray.below[((tray.spelt[x] - low) >> k) + 1] += 1
    for place in range(bins):
        tray.below[place + 1] += tray.below[place]
    return bins


@kernel
def _fewest(below: Integers, bins: int, wanted: int) -> tuple[int, int]:
    """First and last of the fewest neighbouring bins with as many states as wanted in them."""
    first, last, states = 0, bins - 1, below[bins]
    end = 0
    for begin in range(bins):
        end = max(end, begin)
        while end < bins - 1 and below[end + 1] - below[begin] < wanted:
            end += 1
        inside = below[end + 1] - below[begin]
        if inside >= wanted and (end - begin < last - first or (end - begin == last - first and inside > states)):
            first, last, states = begin, end, inside
    return first, last


@kernel
def _multiple(tail: Floats, tray: Tray, belief: Floats, low: int, high: int) -> tuple[float, float]:
    """The multiple, and the largest quotient of what it stands for divided by the smallest."""
    smallest, largest, mass, share = math.inf, 0.0, 0.0, 0.0
    for x in range(belief.shape[0]):
        if low <= tray.spelt[x] <= high:
            smallest, largest = min(smallest, tray.quotient[x]), max(largest, tray.quotient[x])
            mass += belief[x]
            share += tail[x]
    if largest == 0.0:
        return 0.0, 1.0
    return max(min(mass / share, largest), smallest), largest / smallest
