"""A window of values released under one bound, with one private coin. Proof: window.md.

The coin says whose values go through the channels: the user's own, or those of a stranger who is drawn from the model
for this window. Everything after that is the same for both, so nobody can tell by what is released.
"""

from __future__ import annotations

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
LENGTH_MAX = 64
_OUTWARD = 1.0 + 2.0**-50
NOTHING_DRAWN = -1
LOWER, REVEAL, UPPER, CAP, FLOOR, PAD = (int(place) for place in Constant)

# Words of a window's coins: one for the window, and for each position one for the stranger and one for the channel.
WORDS_OF_POSITION = 2


class Plan(NamedTuple):
    """What is fixed for all windows: the coin in units of 2^-62, the first cap, by how much both lean to the safe side,
    and the order of the positions.
    """

    covered: int
    cap: float
    shave: float
    order: Integers


class Room(NamedTuple):
    """Scratch arrays of one caller; `priors` and `beliefs` hold a row for each position when a window is done, and
    `drawn` what came out of each channel.
    """

    factors: Floats
    priors: Floats
    beliefs: Floats
    belief: Floats
    moved: Floats
    later: Floats
    constants: Floats
    values: Integers
    drawn: Integers


def plan_of(epsilon: float, length: int, symbols: int) -> Plan:
    """The coin leans towards the stranger and the first cap downwards, both by more than all errors on the way."""
    with localcontext() as context:
        context.prec = 60  # `decimal` rounds exp correctly, so every machine gets the same doubles
        most = 1.0 + float(Decimal(epsilon).exp())
        shave = shave_of(length, symbols, most)
        covered = Decimal(TOTAL) * (-Decimal(epsilon)).exp() * (1 + Decimal(shave))
        units = int(covered.to_integral_value(rounding=ROUND_CEILING))
    return Plan(min(units, TOTAL), most * (1.0 - shave), shave, np.array(list(bisected(length)), dtype=np.int64))


def shave_of(length: int, symbols: int, most: float) -> float:
    """By how much coin and cap lean: for the roundings of each position, and because a stranger is drawn in whole
    units of 2^-62 (window.md).
    """
    return length * ((symbols + 32) * 2.0**-48 + most * symbols * 2.0**-60)


def ratios_of(plan: Plan, highest: float, lowest: float) -> tuple[float, float]:
    """The largest P(o|x)/P(o) and the largest P(o)/P(o|x) when the product of K/p lies in between; rounded outward."""
    covered, lean = plan.covered / TOTAL, 1.0 + plan.shave
    upper = covered + (1.0 - covered) * highest * lean
    lower = (covered + (1.0 - covered) * lowest) / lean
    return upper * _OUTWARD, _OUTWARD / lower


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
        drawn=np.zeros(length, dtype=np.int64),
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
    return 1 + WORDS_OF_POSITION * length


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
    begin(tools, start, length, room)
    cap, highest, lowest = plan.cap, 1.0, 1.0
    for step in range(length):
        position = plan.order[step]
        _believe(tools, start, position, length, room)
        room.drawn[position] = NOTHING_DRAWN
        if cap >= LEAST_CAP:
            coin = coins[WORDS_OF_POSITION * position + 2]
            belief, factors = room.beliefs[position], room.factors[position]
            drawn, most, least = release_one(tools.work, room, belief, room.values[position], cap, coin, factors)
            room.drawn[position] = drawn
            cap /= most
            highest *= most
            lowest *= least
    for position in range(length):
        _believe(tools, start, position, length, room)
        mix(plan, room.priors[position], room.beliefs[position], room.moved)
        shown[position] = most_likely(room.moved)
    return highest, lowest


@kernel
def law_after(value: int, tools: Tools, room: Room, law: Floats) -> None:
    """The law of the value that follows this one."""
    for x in range(law.shape[0]):
        room.moved[x] = 0.0
    room.moved[value] = 1.0
    push_into(room.moved, tools.chain, law)


@kernel
def draw_value(law: Floats, work: Workspace, coin: int) -> int:
    draw_from_belief(law, work)
    return int(work.head[pick(work.base, work.size[0], coin)])


@kernel
def _whose_values(plan: Plan, tools: Tools, start: Floats, values: Integers, coins: Coins, room: Room) -> None:
    """The user's values, or a stranger's from the model. The stranger is drawn either way: the same work for both."""
    heads = np.int64(coins[0] >> np.uint64(2)) < plan.covered
    draw_path(tools, start, coins, values.shape[0], room)
    for i in range(values.shape[0]):
        if not heads:
            room.values[i] = values[i]


@kernel
def draw_path(tools: Tools, start: Floats, coins: Coins, length: int, room: Room) -> None:
    """Values of a stranger from the model, into `room.values`."""
    law = room.belief
    for x in range(start.shape[0]):
        law[x] = start[x]
    for i in range(length):
        drawn = draw_value(law, tools.stranger, coins[WORDS_OF_POSITION * i + 1])
        room.values[i] = drawn
        law_after(drawn, tools, room, law)


@kernel
def begin(tools: Tools, start: Floats, length: int, room: Room) -> None:
    """No evidence yet; the law of each position before the window."""
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
def _believe(tools: Tools, start: Floats, position: int, length: int, room: Room) -> None:
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
    if position + 1 < length:
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
def release_one(
    work: Workspace, room: Room, belief: Floats, value: int, cap: float, coin: int, factors: Floats
) -> tuple[int, float, float]:
    """One position through the optimal channel of this cap; what it told becomes evidence. Answers what came out and
    the extremes of K/p.
    """
    constants = room.constants
    constants[LOWER], constants[REVEAL] = 0.0, 1.0
    constants[UPPER], constants[CAP], constants[FLOOR] = cap, cap, 1.0 / cap
    constants[PAD] = np.ceil((2.0 * cap + 1.0) / (cap - 1.0)) + 1.0
    optimal.prepare(belief, constants, work)
    optimal.row(value, belief, work)
    chosen = pick(work.row, work.size[0], coin)
    optimal.column(chosen, belief, work)
    chance = 0.0
    for x in range(belief.shape[0]):
        chance += belief[x] * work.likelihood[x]
    most, least = 0.0, np.inf
    for x in range(belief.shape[0]):
        factors[x] = work.likelihood[x] / chance
        most, least = max(most, factors[x]), min(least, factors[x])
    return work.head[chosen], most, least


@kernel
def mix(plan: Plan, prior: Floats, belief: Floats, mixed: Floats) -> None:
    """What is believed all in all: with the coin's chance nothing was learnt, otherwise what the channels say."""
    covered = plan.covered / TOTAL
    for x in range(mixed.shape[0]):
        mixed[x] = covered * prior[x] + (1.0 - covered) * belief[x]
