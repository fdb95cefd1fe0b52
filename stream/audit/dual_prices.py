"""The climb of the prices, worked out a second time, in whole numbers: `dual.md`, points 1 to 5.

Each answer is found by looking for the edge up to which it takes, by halving a line of sequences, and every release is
asked in every round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from stream.audit.amounts import CAP, COVERED, Floats, Integers

MOST_SEQUENCES = 1_300
MASSES = 2**32
WORTH = 2**24
PARTS = 2**20
ROUNDS = 40
_FAR = 2**60

# Rows of `Slate.whole`. By sequence: its mass, what an answer may take of it, its price, the one that is asked, what
# was taken of it. By release: its blind error, what its answer costs, where that ends, what it takes there, its weight.
HELD, ROOM, PRICE, ASKED, TAKEN, BLIND, COST, EDGE, REST, WEIGHT = range(10)


class Slate(NamedTuple):
    """Scratch space for the longest windows; shorter ones use the beginning of each array. `share[x count + y]` is what
    y gets of x. A shorter sequence is one with leading zeros, so its row of `wrong` begins with what it needs.
    """

    symbols: int
    wrong: NDArray[np.int8]
    share: Floats
    law: Floats
    before: Floats
    chance: Floats
    column: Floats
    last: Floats
    base: Integers
    whole: Integers
    reduced: Integers
    line: Integers


def new_slate(symbols: int, longest: int) -> Slate:
    count = symbols**longest if longest else 0
    digits = np.array([np.arange(count) // symbols**place % symbols for place in range(longest)]).reshape(
        longest, count
    )
    wrong = np.zeros((count, count), dtype=np.int8)
    for digit in digits:
        wrong += digit[:, None] != digit[None, :]
    law, before, chance, column = (np.zeros(count) for _ in range(4))
    base, reduced, line = (np.zeros(count, dtype=np.int64) for _ in range(3))
    whole = np.zeros((10, count), dtype=np.int64)
    share, last = np.zeros(count * count), np.zeros(symbols)
    return Slate(symbols, wrong, share, law, before, chance, column, last, base, whole, reduced, line)


@kernel
def climb(law: Floats, numbers: Floats, length: int, slate: Slate) -> None:
    """Leave in `share` what all answers took together, the later rounds counting more."""
    whole, count, place = slate.whole, law.shape[0], WORTH // length
    for_all = int(numbers[COVERED] * PARTS)
    for x in range(count):
        whole[HELD, x] = int(law[x] * MASSES)
        whole[ROOM, x] = int(min(whole[HELD, x] * numbers[CAP], 1.0 * MASSES))
        whole[PRICE, x] = whole[ASKED, x] = 0
    for y in range(count):
        error = 0
        for x in range(count):
            error += whole[HELD, x] * slate.wrong[x, y]
        whole[BLIND, y] = (for_all * ((error * place) >> 32)) >> 20
    for i in range(count * count):
        slate.share[i] = 0.0
    for turn in range(1, ROUNDS + 1):
        softness = WORTH // (5 * turn + 50)
        for y in range(count):
            _answer(y, count, place, PARTS - for_all, slate)
        total = _weigh(count, softness, slate)
        _spread(count, place, PARTS - for_all, turn * turn, total, slate)
        _raise_prices(count, turn, softness, total, slate)


@kernel
def _reduce(y: int, count: int, place: int, revealed: int, slate: Slate) -> None:
    for x in range(count):
        slate.reduced[x] = ((revealed * (slate.wrong[x, y] * place)) >> 20) - slate.whole[ASKED, x]


@kernel
def _answer(y: int, count: int, place: int, revealed: int, slate: Slate) -> None:
    """The edge: the least reduced cost up to which there is room for all masses."""
    whole, reduced, line = slate.whole, slate.reduced, slate.line
    _reduce(y, count, place, revealed, slate)
    for i in range(count):
        line[i] = i
    low = 0
    high = count
    needed = MASSES
    edge = 0
    searching = True
    while searching:
        edge = reduced[line[(low + high) // 2]]
        below = i = low
        end = high
        room_below = room_at = 0
        while i < end:  # those below the edge to the left, those above it to the right
            x = line[i]
            if reduced[x] > edge:
                end -= 1
                line[i] = line[end]
                line[end] = x
                continue
            if reduced[x] < edge:
                line[i] = line[below]
                line[below] = x
                below += 1
                room_below += whole[ROOM, x]
            else:
                room_at += whole[ROOM, x]
            i += 1
        if needed <= room_below:
            high = below
        elif needed <= room_below + room_at:
            needed -= room_below
            searching = False
        else:
            low = end
            needed -= room_below + room_at
    total = needed * edge
    for x in range(count):
        if reduced[x] < edge:
            total += whole[ROOM, x] * reduced[x]
    whole[COST, y] = whole[BLIND, y] + (total >> 32)
    whole[EDGE, y], whole[REST, y] = edge, needed


@kernel
def _weigh(count: int, softness: int, slate: Slate) -> int:
    whole, least, total = slate.whole, _FAR, 0
    for y in range(count):
        least = min(least, whole[COST, y])
    for y in range(count):
        weight = max(2**15 - (2**11 * (whole[COST, y] - least)) // softness, 0)
        for _ in range(4):
            weight = (weight * weight) // 2**15
        whole[WEIGHT, y] = weight
        total += weight
    return total


@kernel
def _spread(count: int, place: int, revealed: int, late: int, total: int, slate: Slate) -> None:
    whole = slate.whole
    for x in range(count):
        whole[TAKEN, x] = 0
    for y in range(count):
        weight, rest = whole[WEIGHT, y], whole[REST, y]
        if weight == 0:
            continue
        _reduce(y, count, place, revealed, slate)
        for x in range(count):
            amount = 0
            if slate.reduced[x] < whole[EDGE, y]:
                amount = whole[ROOM, x]
            elif slate.reduced[x] == whole[EDGE, y]:
                amount = min(rest, whole[ROOM, x])
                rest -= amount
            if amount > 0:
                whole[TAKEN, x] += weight * amount
                slate.share[x * count + y] += float(late) * (float(weight * amount) / float(total))


@kernel
def _raise_prices(count: int, turn: int, softness: int, total: int, slate: Slate) -> None:
    whole = slate.whole
    for x in range(count):
        lacks = whole[HELD, x] - whole[TAKEN, x] // total
        price = whole[ASKED, x] + (softness * lacks) // max(whole[HELD, x], MASSES // (8 * count))
        whole[ASKED, x] = price + ((turn - 1) * (price - whole[PRICE, x])) // (turn + 2)
        whole[PRICE, x] = price
