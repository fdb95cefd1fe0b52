"""A window of values released under one bound, with one private coin. Proof: window.md.

The coin says whose values go through the channels: the user's own, or those of a stranger who is drawn from the model
for this window. Everything after that is the same for both, so nobody can tell by what is released.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beliefs.forward import ChainArrays, normalise, push_into
from beliefs.native import kernel
from mechanisms.coins import pick
from mechanisms.contract import TOTAL, Constant, Floats, Integers, Workspace, new_workspace
from mechanisms.sequence import optimal
from mechanisms.sequence.forecast import draw_from_belief, most_likely
from mechanisms.sequence.window_order import bisected

Coins = npt.NDArray[np.uint64]

LEAST_CAP = 1.0 + 2.0**-20
"""Below it nothing is left to tell: the position releases what is likeliest."""
EPSILON_MAX = 32.0
LOWER, REVEAL, UPPER, CAP, FLOOR, PAD = (int(place) for place in Constant)


class Plan(NamedTuple):
    """What is fixed for all windows: the coin in units of 2^-62, the first cap, and the order of the positions."""

    covered: int
    cap: float
    order: Integers
    delay: bool


class Room(NamedTuple):
    """Scratch arrays of one caller; `priors` and `beliefs` hold a row for each position when a window is done."""

    factors: Floats
    priors: Floats
    beliefs: Floats
    belief: Floats
    moved: Floats
    later: Floats
    constants: Floats
    values: Integers


def plan_of(epsilon: float, length: int, symbols: int, *, delay: bool) -> Plan:
    """The coin is rounded towards the stranger, the cap downwards by more than all roundings on the way."""
    with localcontext() as context:
        context.prec = 60
        covered = int((Decimal(TOTAL) * (-Decimal(epsilon)).exp()).to_integral_value(rounding=ROUND_CEILING))
    most = 1.0 + math.exp(epsilon)
    order = list(bisected(length)) if delay else list(range(length))
    return Plan(covered, most * (1.0 - shave_of(length, symbols, most)), np.array(order, dtype=np.int64), delay)


def shave_of(length: int, symbols: int, most: float) -> float:
    """By how much the first cap is lowered: for the roundings of each position, and because a stranger is drawn in
    whole units of 2^-62 (window.md).
    """
    return length * ((symbols + 32) * 2.0**-48 + most * symbols * 2.0**-60)


def new_room(length: int, symbols: int) -> Room:
    def table() -> Floats:
        return np.zeros((length, symbols))

    return Room(
        factors=table(),
        priors=table(),
        beliefs=table(),
        belief=np.zeros(symbols),
        moved=np.zeros(symbols),
        later=np.zeros(symbols),
        constants=np.zeros(len(Constant)),
        values=np.zeros(length, dtype=np.int64),
    )


class Tools(NamedTuple):
    """The model of one pipeline, forward and backward, and two workspaces."""

    chain: ChainArrays
    back: ChainArrays
    work: Workspace
    stranger: Workspace


def new_tools(chain: ChainArrays, back: ChainArrays) -> Tools:
    symbols = chain.start.shape[0]
    return Tools(chain, back, new_workspace(symbols), new_workspace(symbols))


def coins_needed(length: int) -> int:
    return 2 * length + 1


@kernel
def release_window(
    plan: Plan, tools: Tools, start: Floats, values: Integers, coins: Coins, room: Room, shown: Integers
) -> tuple[float, float]:
    """Write what is shown for each position; `start` is the belief about the first value.

    Answers the largest and the smallest product of K/p over all values: with e and c of the coin, the window told
    log(e + c largest) upward and -log(e + c smallest) downward.
    """
    length = values.shape[0]
    _whose_values(plan, tools, start, values, coins, room)
    _begin(tools, start, room)
    cap, highest, lowest = plan.cap, 1.0, 1.0
    for step in range(length):
        position = plan.order[step]
        _believe(tools, start, position, length, plan.delay, room)
        if cap >= LEAST_CAP:
            most, least = _release_one(tools.work, room, position, cap, coins[1 + length + step])
            cap /= most
            highest *= most
            lowest *= least
        if not plan.delay:
            _believe(tools, start, position, length, False, room)
            _show(plan, room, position, shown)
    if plan.delay:
        for position in range(length):
            _believe(tools, start, position, length, True, room)
            _show(plan, room, position, shown)
    return highest, lowest


@kernel
def _whose_values(plan: Plan, tools: Tools, start: Floats, values: Integers, coins: Coins, room: Room) -> None:
    """The user's values, or a stranger's from the model. The stranger is drawn either way: the same work for both."""
    length = values.shape[0]
    heads = np.int64(coins[0] >> np.uint64(2)) < plan.covered
    law = room.belief
    for x in range(start.shape[0]):
        law[x] = start[x]
    for i in range(length):
        draw_from_belief(law, tools.stranger)
        size = tools.stranger.size[0]
        drawn = tools.stranger.head[pick(tools.stranger.base, size, coins[1 + i])]
        room.values[i] = drawn if heads else values[i]
        for x in range(start.shape[0]):
            room.moved[x] = 0.0
        room.moved[drawn] = 1.0
        push_into(room.moved, tools.chain, law)


@kernel
def _begin(tools: Tools, start: Floats, room: Room) -> None:
    """No evidence yet; the law of each position before the window."""
    length = room.factors.shape[0]
    for i in range(length):
        for x in range(start.shape[0]):
            room.factors[i, x] = 1.0
        if i == 0:
            for x in range(start.shape[0]):
                room.priors[0, x] = start[x]
        else:
            push_into(room.priors[i - 1], tools.chain, room.priors[i])
        normalise(room.priors[i])


@kernel
def _believe(tools: Tools, start: Floats, position: int, length: int, ahead: bool, room: Room) -> None:
    """The belief about a position in the world where the user's own values are released, into `room.beliefs`."""
    belief, moved, later = room.belief, room.moved, room.later
    symbols = start.shape[0]
    for x in range(symbols):
        belief[x] = start[x] * room.factors[0, x]
    for i in range(1, position + 1):
        push_into(belief, tools.chain, moved)
        for x in range(symbols):
            belief[x] = moved[x] * room.factors[i, x]
        normalise(belief)
    if ahead and position + 1 < length:
        for x in range(symbols):
            later[x] = room.factors[length - 1, x]
        for i in range(length - 2, position, -1):
            push_into(later, tools.back, moved)
            for x in range(symbols):
                later[x] = moved[x] * room.factors[i, x]
            normalise(later)
        push_into(later, tools.back, moved)
        for x in range(symbols):
            belief[x] *= moved[x]
    normalise(belief)
    for x in range(symbols):
        room.beliefs[position, x] = belief[x]


@kernel
def _release_one(work: Workspace, room: Room, position: int, cap: float, coin: int) -> tuple[float, float]:
    """One position through the optimal channel of this cap; what it told becomes evidence. Answers its extremes."""
    belief, constants = room.beliefs[position], room.constants
    constants[LOWER], constants[REVEAL] = 0.0, 1.0
    constants[UPPER], constants[CAP], constants[FLOOR] = cap, cap, 1.0 / cap
    constants[PAD] = np.ceil((2.0 * cap + 1.0) / (cap - 1.0)) + 1.0
    optimal.prepare(belief, constants, work)
    optimal.row(room.values[position], belief, work)
    chosen = pick(work.row, work.size[0], coin)
    optimal.column(chosen, belief, work)
    chance = 0.0
    for x in range(belief.shape[0]):
        chance += belief[x] * work.likelihood[x]
    most, least = 0.0, np.inf
    for x in range(belief.shape[0]):
        factor = work.likelihood[x] / chance
        room.factors[position, x] = factor
        most, least = max(most, factor), min(least, factor)
    return most, least


@kernel
def _show(plan: Plan, room: Room, position: int, shown: Integers) -> None:
    """The likeliest value: with the coin's chance nothing was learnt, otherwise what the beliefs say."""
    covered = plan.covered / TOTAL
    for x in range(room.moved.shape[0]):
        room.moved[x] = covered * room.priors[position, x] + (1.0 - covered) * room.beliefs[position, x]
    shown[position] = most_likely(room.moved)
