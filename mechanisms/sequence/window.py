"""A window of values released under one bound, with one private coin. Proof: window.md.

The coin says whose values go through the channels: the user's own, or those of a stranger who is drawn from the model
for this window. Everything after that is the same for both, so nobody can tell by what is released.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, localcontext
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from beliefs.native import kernel
from mechanisms.coins import pick
from mechanisms.contract import TOTAL, Floats, Integers, Workspace
from mechanisms.sequence.forecast import draw_from_belief
from mechanisms.sequence.window_beliefs import Room, Tools, begin, look_back, look_forth, meet, values_of
from mechanisms.sequence.window_channel import best_to_show, column, describe
from mechanisms.sequence.window_order import bisected
from mechanisms.sequence.window_steps import step_masses

Coins = npt.NDArray[np.uint64]

LEAST_CAP = 1.0 + 2.0**-20
"""Below it nothing is left to tell: the position releases what is likeliest."""
LENGTH_MAX = 64
_OUTWARD = 1.0 + 2.0**-50
NOTHING_DRAWN = -1

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


def plan_of(epsilon: float, length: int, states: int, steps: int = 1) -> Plan:
    """The coin leans towards the stranger and the first cap downwards, both by more than all errors on the way.

    `steps` is the most that the model may go on between two values.
    """
    with localcontext() as context:
        context.prec = 60  # `decimal` rounds exp correctly, so every machine gets the same doubles
        most = 1.0 + float(Decimal(epsilon).exp())
        shave = shave_of(length, states, most, steps)
        covered = Decimal(TOTAL) * (-Decimal(epsilon)).exp() * (1 + Decimal(shave))
        units = int(covered.to_integral_value(rounding=ROUND_CEILING))
    return Plan(min(units, TOTAL), most * (1.0 - shave), shave, np.array(list(bisected(length)), dtype=np.int64))


def shave_of(length: int, states: int, most: float, steps: int = 1) -> float:
    """By how much coin and cap lean: for the roundings of each position, and because a stranger is drawn in whole
    units of 2^-62 (window.md).
    """
    rounded = max(1.0, length * steps / 16.0)
    return length * ((states + 32) * 2.0**-48 * rounded + most * states * 2.0**-60)


def ratios_of(plan: Plan, highest: float, lowest: float) -> tuple[float, float]:
    """The largest P(o|x)/P(o) and the largest P(o)/P(o|x) when the product of K/p lies in between; rounded outward."""
    covered, lean = plan.covered / TOTAL, 1.0 + plan.shave
    upper = covered + (1.0 - covered) * highest * lean
    lower = (covered + (1.0 - covered) * lowest) / lean
    return upper * _OUTWARD, _OUTWARD / lower


def coins_needed(length: int) -> int:
    return 1 + WORDS_OF_POSITION * length


@kernel
def release_window(
    plan: Plan, tools: Tools, start: Floats, values: Integers, coins: Coins, room: Room, shown: Integers
) -> tuple[float, float]:
    """Write what is shown for each position; `start` is the belief about the first value, over states.

    Answers the largest and the smallest product of K/p over all values: with e and c of the coin, the window told
    log(e + c largest) upward and -log(e + c smallest) downward.
    """
    length, symbol_of = values.shape[0], tools.chain.symbol_of
    _whose_values(plan, tools, start, values, coins, room)
    begin(tools, start, length, room)
    cap, highest, lowest = plan.cap, 1.0, 1.0
    before, behind = 0, length - 1  # forth[:before] and back[behind:] are right
    for step in range(length):
        position = plan.order[step]
        room.drawn[position] = NOTHING_DRAWN
        if cap >= LEAST_CAP:
            look_forth(tools, start, before, position, room)
            look_back(tools, behind, position, length, room)
            meet(position, length, room)
            before = behind = position
            coin = coins[WORDS_OF_POSITION * position + 2]
            belief, factors = values_of(room.beliefs[position], symbol_of, room.law), room.factors[position]
            drawn, most, least = release_one(tools.work, room, belief, room.values[position], cap, coin, factors)
            room.drawn[position] = drawn
            cap /= most
            highest *= most
            lowest *= least
    look_forth(tools, start, before, length - 1, room)
    look_back(tools, behind, 0, length, room)
    for position in range(length):
        meet(position, length, room)
        mix(plan, room.priors[position], room.beliefs[position], room.moved)
        shown[position] = best_to_show(values_of(room.moved, symbol_of, room.law), tools.work)
    return highest, lowest


@kernel
def law_after(state: int, tools: Tools, steps: int, room: Room, law: Floats) -> None:
    """The law of the state so many steps after this one."""
    for s in range(law.shape[0]):
        room.moved[s] = 0.0
    room.moved[state] = 1.0
    step_masses(room.moved, tools.chain, steps, room.later, law)


@kernel
def draw_state(law: Floats, work: Workspace, coin: int) -> int:
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
    """Values of a stranger from the model, into `room.values`; it is his states that are drawn."""
    law = room.belief
    for s in range(start.shape[0]):
        law[s] = start[s]
    for i in range(length):
        drawn = draw_state(law, tools.stranger, coins[WORDS_OF_POSITION * i + 1])
        room.values[i] = tools.chain.symbol_of[drawn]
        if i + 1 < length:
            law_after(drawn, tools, room.steps[i + 1], room, law)


@kernel
def release_one(
    work: Workspace, room: Room, belief: Floats, value: int, cap: float, coin: int, factors: Floats
) -> tuple[int, float, float]:
    """One position through the channel of this cap; what it told becomes evidence. Answers what came out and
    the extremes of K/p.
    """
    describe(cap, value, belief, room.constants, work)
    chosen = pick(work.row, work.size[0], coin)
    column(chosen, belief, work)
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
