"""Channels of `near` that are kept for beliefs that come again, because looking for one takes so long.

What a channel is depends on the belief, the constants and the distance, and a workspace has one distance. A place of
`work.kept` holds one channel with all numbers of its belief and its constants, and is used only where every one of
these is the same; so results are the same, bit for bit, with and without. Which place a belief has is decided by a sum
of its masses, which may coincide: then it is looked up for nothing, never wrongly.

A channel is kept when its belief comes a second time before any other that is not kept there, so that beliefs that do
not repeat cost one pass over their masses and drive out nothing.
"""

from __future__ import annotations

import numpy as np

from beliefs.native import kernel
from mechanisms.contract import KEPT_HEAD, KEPT_SITES, Constant, Floats, Integers, NearWorkspace
from mechanisms.sequence.sites import CUT_SHORT
from mechanisms.sequence.transport import CELLS, EFFORT, FLOW

COUNT = 0
CONSTANTS = len(Constant)
LOWER = int(Constant.LOWER)

# Words of a place: the mark of what is kept, 0 for nothing, and of what came last and was not kept; then what `near`
# leaves in work.size, its ratios, and the constants. Doubles stand in it as integers of the same bits.
MARK, CAME, SITES_THERE, CELLS_THERE, CUT_THERE, EFFORT_THERE, RATIOS = range(7)
FIXED = RATIOS + 3
# Behind them, beginning at KEPT_HEAD: the belief; the cell of each value, where there are fewer cells than values; and
# by site its value, its base, its marginal and what each cell has above the base.


@kernel
def mark_of(belief: Floats, constants: Floats) -> int:
    """Never 0. Four sums side by side, because one would wait for its own last addition each time."""
    one, two, three, four = constants[LOWER], 0.0, 0.0, 0.0
    whole = belief.shape[0] - belief.shape[0] % 4
    for x in range(0, whole, 4):
        one += belief[x] * _weight(x)
        two += belief[x + 1] * _weight(x + 1)
        three += belief[x + 2] * _weight(x + 2)
        four += belief[x + 3] * _weight(x + 3)
    for x in range(whole, belief.shape[0]):
        one += belief[x] * _weight(x)
    return int(np.float64((one + two) + (three + four)).view(np.int64))


@kernel
def _weight(x: int) -> int:
    """Unlike that of any value nearby."""
    return ((x * 40503) & 0xFFFF) + 1


@kernel
def _place_of(mark: int, work: NearWorkspace) -> int:
    return int((mark ^ (mark >> 32)) % work.kept.shape[0])


@kernel
def is_kept(mark: int, belief: Floats, constants: Floats, work: NearWorkspace) -> bool:
    """Whether this very belief's channel is there."""
    if work.kept.shape[0] == 0:
        return False
    there = work.kept[_place_of(mark, work)]
    if there[MARK] != mark:
        return False
    return _same(constants, there[FIXED:]) and _same(belief, there[KEPT_HEAD:])


@kernel
def _same(numbers: Floats, there: Integers) -> bool:
    for each in range(numbers.shape[0]):  # noqa: SIM110 - compiled code knows no generators
        if there[each] != np.float64(numbers[each]).view(np.int64):
            return False
    return True


@kernel
def recall(mark: int, symbols: int, work: NearWorkspace) -> tuple[float, float, float]:
    """Lay the channel out as the search left it."""
    there = work.kept[_place_of(mark, work)]
    sites, cells, few = there[SITES_THERE], there[CELLS_THERE], symbols <= work.tables.shape[1]
    work.size[COUNT], work.size[CELLS] = sites, cells
    work.size[CUT_SHORT], work.size[EFFORT] = there[CUT_THERE], there[EFFORT_THERE]
    place = KEPT_HEAD + symbols
    for x in range(symbols):
        work.order[x] = x if few else there[place + x]
    place += 0 if few else symbols
    for site in range(sites):
        work.head[site], work.base[site] = there[place], there[place + 1]
        work.scratch[site] = np.int64(there[place + 2]).view(np.float64)
        for cell in range(cells):
            work.tables[FLOW, cell, site] = there[place + 3 + cell]
        place += 3 + cells
    return (
        np.int64(there[RATIOS]).view(np.float64),
        np.int64(there[RATIOS + 1]).view(np.float64),
        np.int64(there[RATIOS + 2]).view(np.float64),
    )


@kernel
def keep(mark: int, belief: Floats, constants: Floats, ratios: tuple[float, float, float], work: NearWorkspace) -> None:
    """Take the channel down that was just found, if it came before and its sites fit."""
    sites, cells, symbols = work.size[COUNT], work.size[CELLS], belief.shape[0]
    if work.kept.shape[0] == 0 or sites > KEPT_SITES:
        return
    there = work.kept[_place_of(mark, work)]
    if there[CAME] != mark:
        there[CAME] = mark
        return
    few = symbols <= work.tables.shape[1]
    there[MARK] = mark
    there[SITES_THERE], there[CELLS_THERE] = sites, cells
    there[CUT_THERE], there[EFFORT_THERE] = work.size[CUT_SHORT], work.size[EFFORT]
    for each in range(3):
        there[RATIOS + each] = np.float64(ratios[each]).view(np.int64)
    for each in range(CONSTANTS):
        there[FIXED + each] = np.float64(constants[each]).view(np.int64)
    for x in range(symbols):
        there[KEPT_HEAD + x] = np.float64(belief[x]).view(np.int64)
    place = KEPT_HEAD + symbols
    if not few:
        for x in range(symbols):
            there[place + x] = work.order[x]
        place += symbols
    for site in range(sites):
        there[place], there[place + 1] = work.head[site], work.base[site]
        there[place + 2] = np.float64(work.scratch[site]).view(np.int64)
        for cell in range(cells):
            there[place + 3 + cell] = work.tables[FLOW, cell, site]
        place += 3 + cells
