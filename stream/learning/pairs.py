"""Pairs of consecutive releases of one user, from the rows of a blind epoch and what was released since.

Under a uniform chain the belief before each event is uniform, so a row's stored belief is largest exactly at the value
that was released last, and flat if nothing was: the last release needs no place of its own. Proof:
beliefs/learning/online.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from mechanisms.contract import Integers
from stream.policy import RELEASED, REPLAYED, Releases
from stream.state import Codes

NOTHING = -1

Counts = NDArray[np.int64]


def new_counts(symbols: int) -> Counts:
    return np.zeros((symbols, symbols), dtype=np.int64)


def last_releases(codes: Codes) -> Integers:
    """The value that was released at each user's last event in the epoch, or NOTHING; from rows as they were BEFORE a
    block, and after rows of other epochs were adopted.
    """
    last = np.full(codes.shape[0], NOTHING, dtype=np.int64)
    _read_last(codes, last)
    return last


def count_pairs(last: Integers, slot: Integers, releases: Releases, counts: Counts) -> None:
    """Add the pairs that a block's releases complete, events in the order of their offsets. `last` is carried on."""
    _count(last, slot, releases.symbol, releases.outcome, counts)


@kernel
def _read_last(codes: Codes, last: Integers) -> None:
    for user in range(codes.shape[0]):
        row = codes[user]
        largest, times = 0, 0
        for x in range(row.shape[0]):
            if row[x] > row[largest]:
                largest = x
        for x in range(row.shape[0]):
            if row[x] == row[largest]:
                times += 1
        if times == 1:
            last[user] = largest


@kernel
def _count(last: Integers, slot: Integers, symbol: Integers, outcome: NDArray[np.int8], counts: Counts) -> None:
    for i in range(slot.shape[0]):
        user = slot[i]
        if outcome[i] == REPLAYED:
            continue
        if outcome[i] == RELEASED:
            if last[user] != NOTHING:
                counts[last[user], symbol[i]] += 1
            last[user] = symbol[i]
        else:
            last[user] = NOTHING
