"""A window without delay: each value is released when it comes, under one bound for all of them. Proof: window.md.

Between two values it is what `Running` holds; the coins are as in `window`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.forward import normalise
from beliefs.native import kernel
from mechanisms.contract import DRIFT_UNKNOWN, Floats, Integers
from mechanisms.sequence.window import LEAST_CAP, NOTHING_DRAWN, Coins, Plan, draw_state, law_after, mix, release_one
from mechanisms.sequence.window_beliefs import Room, Tools, values_of, weigh
from mechanisms.sequence.window_channel import best_to_show
from mechanisms.sequence.window_steps import step_law, step_masses

# `Running.amounts` and `Running.marks`.
CAP_LEFT, HIGHEST, LOWEST = 0, 1, 2
COUNT, STRANGER, HEADS, ROUNDS = 0, 1, 2, 3


class Running(NamedTuple):
    """A window without delay between two of its values: the law of the last state before anything was released, the
    belief about it in the world of tails, the cap that is left and the extremes of the product of K/p; how many values
    there were, the stranger's last state, what the coin says, and how often a prediction may have rounded, all ones
    where that is not known. The stranger and the coin are secrets of the user.
    """

    prior: Floats
    belief: Floats
    amounts: Floats
    marks: Integers


def new_running(states: int) -> Running:
    return Running(np.zeros(states), np.zeros(states), np.zeros(3), np.zeros(4, dtype=np.int64))


@kernel
def release_next(
    plan: Plan, tools: Tools, start: Floats, value: int, coins: Coins, room: Room, running: Running
) -> tuple[int, int]:
    """The next value of a window without delay; `start` counts for the first one, and `room.steps[0]`, how far the
    model has gone on since the value before, for the others. Answers what is shown and what came out of the channel.

    `coins` are the window's, the stranger's and the channel's; the window's counts for the first value alone.
    """
    law, amounts, marks, symbol_of = room.belief, running.amounts, running.marks, tools.chain.symbol_of
    _step_on(plan, tools, start, coins[0], room, running)
    drawn = draw_state(law, tools.stranger, coins[1])
    marks[COUNT] += 1
    marks[STRANGER] = drawn
    told = NOTHING_DRAWN
    if amounts[CAP_LEFT] >= LEAST_CAP:
        own = symbol_of[drawn] if marks[HEADS] != 0 else value
        belief, factors = values_of(running.belief, symbol_of, room.law), room.factors[0]
        told, most, least = release_one(tools.work, room, belief, own, amounts[CAP_LEFT], coins[2], factors)
        weigh(running.belief, factors, symbol_of, running.belief)
        normalise(running.belief)
        amounts[CAP_LEFT] /= most
        amounts[HIGHEST] *= most
        amounts[LOWEST] *= least
    mix(plan, running.prior, running.belief, room.moved)
    return best_to_show(values_of(room.moved, symbol_of, room.law), tools.work), told


@kernel
def _step_on(plan: Plan, tools: Tools, start: Floats, coin: int, room: Room, running: Running) -> None:
    """Prior and belief of the next value into `running`, the law of the stranger's into `room.belief`."""
    amounts, marks = running.amounts, running.marks
    if marks[COUNT] == 0:
        marks[HEADS] = 1 if np.int64(coin >> np.uint64(2)) < plan.covered else 0
        marks[ROUNDS] = 1
        amounts[CAP_LEFT], amounts[HIGHEST], amounts[LOWEST] = plan.cap, 1.0, 1.0
        for s in range(start.shape[0]):
            running.prior[s] = running.belief[s] = room.belief[s] = start[s]
        normalise(running.prior)
        normalise(running.belief)
        return
    steps, moved = room.steps[0], room.moved
    exact = step_law(running.prior, tools.chain, steps, room.later, moved)
    marks[ROUNDS] = min(marks[ROUNDS] + max(steps, 1), DRIFT_UNKNOWN) if exact else DRIFT_UNKNOWN
    for s in range(start.shape[0]):
        running.prior[s] = moved[s]
    step_masses(running.belief, tools.chain, steps, room.later, moved)
    for s in range(start.shape[0]):
        running.belief[s] = moved[s]
    normalise(running.belief)
    law_after(marks[STRANGER], tools, steps, room, room.belief)
