"""A window without delay: each value is released when it comes, under one bound for all of them. Proof: window.md.

Between two values it is what `Running` holds; the coins are as in `window`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.forward import normalise, push_into
from beliefs.native import kernel
from mechanisms.contract import Floats, Integers
from mechanisms.sequence.forecast import most_likely
from mechanisms.sequence.window import (
    LEAST_CAP,
    NOTHING_DRAWN,
    Coins,
    Plan,
    Room,
    Tools,
    draw_value,
    law_after,
    mix,
    release_one,
)

# `Running.amounts` and `Running.marks`.
CAP_LEFT, HIGHEST, LOWEST = 0, 1, 2
COUNT, STRANGER, HEADS = 0, 1, 2


class Running(NamedTuple):
    """A window without delay between two of its values: the law of the last value before anything was released, the
    belief about it in the world of tails, the cap that is left and the extremes of the product of K/p; how many values
    there were, the stranger's last one, and what the coin says. The last two are secrets of the user.
    """

    prior: Floats
    belief: Floats
    amounts: Floats
    marks: Integers


def new_running(symbols: int) -> Running:
    return Running(np.zeros(symbols), np.zeros(symbols), np.zeros(3), np.zeros(3, dtype=np.int64))


@kernel
def release_next(
    plan: Plan, tools: Tools, start: Floats, value: int, coins: Coins, room: Room, running: Running
) -> tuple[int, int]:
    """The next value of a window without delay; `start` counts for the first one. Answers what is shown and what came
    out of the channel.

    `coins` are the window's, the stranger's and the channel's; the window's counts for the first value alone.
    """
    law, amounts, marks = room.belief, running.amounts, running.marks
    _step_on(plan, tools, start, coins[0], room, running)
    drawn = draw_value(law, tools.stranger, coins[1])
    marks[COUNT] += 1
    marks[STRANGER] = drawn
    told = NOTHING_DRAWN
    if amounts[CAP_LEFT] >= LEAST_CAP:
        own = drawn if marks[HEADS] != 0 else value
        factors = room.factors[0]
        told, most, least = release_one(tools.work, room, running.belief, own, amounts[CAP_LEFT], coins[2], factors)
        for x in range(factors.shape[0]):
            running.belief[x] *= factors[x]
        normalise(running.belief)
        amounts[CAP_LEFT] /= most
        amounts[HIGHEST] *= most
        amounts[LOWEST] *= least
    mix(plan, running.prior, running.belief, room.moved)
    return most_likely(room.moved), told


@kernel
def _step_on(plan: Plan, tools: Tools, start: Floats, coin: int, room: Room, running: Running) -> None:
    """Prior and belief of the next value into `running`, the law of the stranger's into `room.belief`."""
    amounts, marks = running.amounts, running.marks
    if marks[COUNT] == 0:
        marks[HEADS] = 1 if np.int64(coin >> np.uint64(2)) < plan.covered else 0
        amounts[CAP_LEFT], amounts[HIGHEST], amounts[LOWEST] = plan.cap, 1.0, 1.0
        for x in range(start.shape[0]):
            running.prior[x] = running.belief[x] = room.belief[x] = start[x]
        normalise(running.prior)
        normalise(running.belief)
        return
    push_into(running.prior, tools.chain, room.moved)
    push_into(running.belief, tools.chain, room.later)
    for x in range(start.shape[0]):
        running.prior[x], running.belief[x] = room.moved[x], room.later[x]
    normalise(running.prior)
    normalise(running.belief)
    law_after(marks[STRANGER], tools, room, room.belief)
