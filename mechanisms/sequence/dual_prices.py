"""Prices of sequences that climb the dual, and the mean of the answers to them, which is nearly a channel.

All sums are over whole numbers, so that their order does not matter. Definition and units: dual.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from mechanisms.contract import Constant, Floats, Integers
from mechanisms.sequence.dual_sequences import Wrong, wrong_places

LOWER, CAP = int(Constant.LOWER), int(Constant.CAP)

# Rows of `DualRoom.lists`. By sequence x: its mass; what one answer may take of it; its price, and the price that the
# next answers are asked for. By release y: what its blind error costs, what its answer costs, and a bound below that;
# its weight; where its answer ends: the reduced cost and the sequence that is taken in part, and that part.
MASS, ROOM, PRICE, ASKED, BLIND, REDUCED, BELOW, WEIGHT, EDGE, LAST, PART, TAKEN, ORDER, BEST = range(14)
_LISTS = 14

MASSES = 1 << 32
WORTH = 1 << 24
"""The largest cost; prices and costs are in its units."""
SHARE = 1 << 20
ROUNDS = 40
"""So the work on a window is bounded, whatever its belief: ROUNDS times an answer for each sequence."""
_NEVER = 1 << 60
_NOTHING = -1


class DualRoom(NamedTuple):
    """Scratch space for windows of one length; `channel[y, x]` is what release y takes of sequence x."""

    length: int
    wrong: Wrong
    channel: Floats
    shells: NDArray[np.int32]  # sequences by their distance from one release
    counts: Integers  # how many there are in each shell, and how many of them are taken
    step: Integers  # what it costs to be wrong in so many places, revealed
    lists: Integers
    head: Integers
    base: Integers
    row: Integers
    law: Floats
    sums: Floats
    likelihood: Floats


def new_rooms(symbols: int, longest: int) -> list[DualRoom]:
    """One for each length up to the longest. Their channels share their memory: only one can be used at a time."""
    most = symbols**longest
    channel = np.zeros(most * most)
    shells = np.zeros((longest + 1) * most, dtype=np.int32)
    rooms = []
    for length in range(1, longest + 1):
        count = symbols**length
        rooms.append(
            DualRoom(
                length=length,
                wrong=wrong_places(symbols, length),
                channel=channel[: count * count].reshape(count, count),
                shells=shells[: (length + 1) * count].reshape(length + 1, count),
                counts=np.zeros(2 * (length + 1), dtype=np.int64),
                step=np.zeros(length + 1, dtype=np.int64),
                lists=np.zeros((_LISTS, count), dtype=np.int64),
                head=np.zeros(count, dtype=np.int64),
                base=np.zeros(count, dtype=np.int64),
                row=np.zeros(count, dtype=np.int64),
                law=np.zeros(count),
                sums=np.zeros(count),
                likelihood=np.zeros(count),
            )
        )
    return rooms


@kernel
def climb(belief: Floats, constants: Floats, room: DualRoom) -> None:
    """Leave the weighted sum of the answers in `room.channel`, and the best prices in their list."""
    _begin(belief, constants, room)
    best = -_NEVER
    for turn in range(1, ROUNDS + 1):
        softness = WORTH // (50 + 5 * turn)
        _sort(room)
        least = _ask(softness, room)
        value = least + _worth(room)
        if value > best:
            best = value
            for x in range(belief.shape[0]):
                room.lists[BEST, x] = room.lists[ASKED, x]
        _take(float(turn * turn), _weigh(least, softness, room), room)
        _move(turn, softness, room)


@kernel
def _begin(belief: Floats, constants: Floats, room: DualRoom) -> None:
    lists, count = room.lists, belief.shape[0]
    covered = int(constants[LOWER] * SHARE)
    place = WORTH // room.length
    for wrong in range(room.length + 1):
        room.step[wrong] = ((SHARE - covered) * (wrong * place)) >> 20
    for x in range(count):
        lists[MASS, x] = int(belief[x] * MASSES)
        most = lists[MASS, x] * constants[CAP]
        lists[ROOM, x] = MASSES if most >= MASSES else int(most)
        lists[PRICE, x] = lists[ASKED, x] = 0
        lists[BELOW, x] = -_NEVER
        lists[ORDER, x] = x
    for y in range(count):
        blind = 0
        for x in range(count):
            blind += lists[MASS, x] * room.wrong[y, x]
            room.channel[y, x] = 0.0
        lists[BLIND, y] = (covered * ((blind * place) >> 32)) >> 20


@kernel
def _sort(room: DualRoom) -> None:
    """Sequences by the price that is asked, the highest first, then by number (Shell's sort)."""
    order, asked, count = room.lists[ORDER], room.lists[ASKED], room.lists.shape[1]
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            x, j = order[i], i
            while j >= gap and (
                asked[order[j - gap]] < asked[x] or (asked[order[j - gap]] == asked[x] and order[j - gap] > x)
            ):
                order[j] = order[j - gap]
                j -= gap
            order[j] = x
        gap //= 3


@kernel
def _ask(softness: int, room: DualRoom) -> int:
    """The reduced cost of each release that may be needed; the least of all.

    An answer whose bound is out of reach of the least so far is not worked out: its weight would be 0.
    """
    lists = room.lists
    least = _NEVER
    for y in range(lists.shape[1]):
        lists[WEIGHT, y] = _NOTHING
        if lists[BELOW, y] <= least + 16 * softness:
            lists[REDUCED, y] = lists[BELOW, y] = lists[BLIND, y] + _answer(y, room)
            lists[WEIGHT, y] = 0
            least = min(least, lists[REDUCED, y])
    return least


@kernel
def _answer(y: int, room: DualRoom) -> int:
    """The cheapest law below M times the belief for a release, its mean of cost less price; where it ends is noted.

    Within a shell the dearest come first, so that only the shells' heads are compared; equals go by number.
    """
    lists, shells, counts, step = room.lists, room.shells, room.counts, room.step
    width = room.length + 1
    counts[:] = 0
    for i in range(lists.shape[1]):
        x = lists[ORDER, i]
        if lists[ROOM, x] > 0:
            shell = room.wrong[y, x]
            shells[shell, counts[shell]] = x
            counts[shell] += 1
    left, total = MASSES, 0
    while left > 0:
        edge, chosen, last = _NEVER, 0, 0
        for shell in range(width):
            place = counts[width + shell]
            if place < counts[shell]:
                x = shells[shell, place]
                reduced = step[shell] - lists[ASKED, x]
                if reduced < edge or (reduced == edge and x < last):
                    edge, chosen, last = reduced, shell, x
        counts[width + chosen] += 1
        part = min(left, lists[ROOM, last])
        left -= part
        total += part * edge
        lists[EDGE, y], lists[LAST, y], lists[PART, y] = edge, last, part
    return total >> 32


@kernel
def _worth(room: DualRoom) -> int:
    total = 0
    for x in range(room.lists.shape[1]):
        total += room.lists[MASS, x] * room.lists[ASKED, x]
    return total >> 32


@kernel
def _weigh(least: int, softness: int, room: DualRoom) -> int:
    """A weight that falls like exp(-(reduced - least) / softness), (1 - ./16)^16; the sum of all."""
    lists, total = room.lists, 0
    for y in range(lists.shape[1]):
        if lists[WEIGHT, y] == 0:
            weight = (1 << 15) - ((lists[REDUCED, y] - least) << 11) // softness
            if weight > 0:
                for _ in range(4):
                    weight = (weight * weight) >> 15
                lists[WEIGHT, y] = weight
                total += weight
    return total


@kernel
def _take(late: float, total: int, room: DualRoom) -> None:
    """Add the answers to the channel, each with its weight; `TAKEN` is what all of them take together."""
    lists, step = room.lists, room.step
    lists[TAKEN, :] = 0
    for y in range(lists.shape[1]):
        weight = lists[WEIGHT, y]
        if weight <= 0:
            continue
        edge, last = lists[EDGE, y], lists[LAST, y]
        for x in range(lists.shape[1]):
            reduced = step[room.wrong[y, x]] - lists[ASKED, x]
            if reduced < edge or (reduced == edge and x <= last):
                part = lists[PART, y] if x == last else lists[ROOM, x]
                lists[TAKEN, x] += weight * part
                room.channel[y, x] += late * (float(weight * part) / float(total))
    for x in range(lists.shape[1]):
        lists[TAKEN, x] //= total


@kernel
def _move(turn: int, softness: int, room: DualRoom) -> None:
    """Raise the prices of what is taken too rarely; each step is carried on by a part of the one before."""
    lists, count = room.lists, room.lists.shape[1]
    fewest = MASSES // (8 * count)
    most = -_NEVER
    for x in range(count):
        following = lists[ASKED, x] + softness * (lists[MASS, x] - lists[TAKEN, x]) // max(lists[MASS, x], fewest)
        asked = following + (turn - 1) * (following - lists[PRICE, x]) // (turn + 2)
        most = max(most, asked - lists[ASKED, x])
        lists[PRICE, x], lists[ASKED, x] = following, asked
    for y in range(count):
        lists[BELOW, y] -= max(most, 0) + 1
