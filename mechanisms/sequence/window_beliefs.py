"""What is believed about the positions of a window, given what their channels gave. Proof: window.md.

Beliefs are over the states of the model; a channel speaks of values, and what it gave is a factor for every state that
ends with a value. A belief about a position is what comes forth from the positions before it times what comes back from
those behind it. Both are kept, and only what a new factor changes is worked out anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beliefs.distance import Distance
from beliefs.forward import ChainArrays, marginal_into, normalise
from beliefs.native import kernel
from mechanisms.contract import Constant, Floats, Integers, Workspace, new_workspace
from mechanisms.sequence.window_steps import step_law, step_masses


class Room(NamedTuple):
    """Scratch arrays of one caller. `steps` says how many steps of the model lie before each position but the first,
    and belongs to the caller. When a window is done `priors` and `beliefs` hold a row of states for each position and
    `drawn` what came out of each channel; `raised` counts positions whose prior is not exact.
    """

    factors: Floats
    priors: Floats
    forth: Floats
    back: Floats
    beliefs: Floats
    belief: Floats
    moved: Floats
    later: Floats
    law: Floats
    constants: Floats
    values: Integers
    drawn: Integers
    steps: Integers
    raised: Integers


def new_room(length: int, states: int, symbols: int | None = None) -> Room:
    """For windows of at most so many values; without the last number there are as many symbols as states."""
    symbols = states if symbols is None else symbols

    def table() -> Floats:
        return np.zeros((length, states))

    return Room(
        factors=np.zeros((length, symbols)),
        priors=table(),
        forth=table(),
        back=table(),
        beliefs=table(),
        belief=np.zeros(states),
        moved=np.zeros(states),
        later=np.zeros(states),
        law=np.zeros(symbols),
        constants=np.zeros(len(Constant)),
        values=np.zeros(length, dtype=np.int64),
        drawn=np.zeros(length, dtype=np.int64),
        steps=np.ones(length, dtype=np.int64),
        raised=np.zeros(1, dtype=np.int64),
    )


class Tools(NamedTuple):
    """The model of one pipeline, forward and backward, and two workspaces: one over values, one over states."""

    chain: ChainArrays
    back: ChainArrays
    work: Workspace
    stranger: Workspace


def new_tools(chain: ChainArrays, back: ChainArrays, distance: Distance | None = None) -> Tools:
    """With a distance, errors cost what it says."""
    symbols = int(chain.symbol_of.max()) + 1
    return Tools(chain, back, new_workspace(symbols, distance), new_workspace(chain.start.shape[0]))


@kernel
def begin(tools: Tools, start: Floats, length: int, room: Room) -> None:
    """No evidence yet; the law of each position before the window."""
    room.raised[0] = 0
    for i in range(length):
        for x in range(room.factors.shape[1]):
            room.factors[i, x] = 1.0
        if i > 0:
            exact = step_law(room.priors[i - 1], tools.chain, room.steps[i], room.later, room.priors[i])
            room.raised[0] += 0 if exact else 1
        else:
            for s in range(start.shape[0]):
                room.priors[0, s] = start[s]
            normalise(room.priors[0])


@kernel
def weigh(mass: Floats, factors: Floats, symbol_of: Integers, weighed: Floats) -> None:
    """Each state with the factor of its value."""
    for s in range(mass.shape[0]):
        weighed[s] = mass[s] * factors[symbol_of[s]]


@kernel
def look_forth(tools: Tools, start: Floats, known: int, position: int, room: Room) -> None:
    """What comes forth up to this position, from the first `known` ones on, which are right already."""
    for i in range(known, position + 1):
        if i == 0:
            weigh(start, room.factors[0], tools.chain.symbol_of, room.forth[0])
        else:
            step_masses(room.forth[i - 1], tools.chain, room.steps[i], room.later, room.moved)
            weigh(room.moved, room.factors[i], tools.chain.symbol_of, room.forth[i])
            normalise(room.forth[i])


@kernel
def look_back(tools: Tools, known: int, position: int, length: int, room: Room) -> None:
    """What comes back to this position; from `known` on it is right already."""
    symbol_of = tools.chain.symbol_of
    for i in range(known - 1, position - 1, -1):
        later = room.moved
        if i + 2 == length:
            for s in range(later.shape[0]):
                later[s] = room.factors[i + 1, symbol_of[s]]
        else:
            weigh(room.back[i + 1], room.factors[i + 1], symbol_of, later)
            normalise(later)
        step_masses(later, tools.back, room.steps[i + 1], room.later, room.back[i])


@kernel
def meet(position: int, length: int, room: Room) -> None:
    """The belief about this position in the world where the user's own values are released, into `room.beliefs`."""
    belief = room.beliefs[position]
    for s in range(belief.shape[0]):
        belief[s] = room.forth[position, s]
        if position + 1 < length:
            belief[s] *= room.back[position, s]
    normalise(belief)


@kernel
def values_of(belief: Floats, symbol_of: Integers, law: Floats) -> Floats:
    """The law of the value, in `law` unless each value is one state: then it is the belief itself."""
    if belief.shape[0] == law.shape[0]:
        return belief
    marginal_into(belief, symbol_of, law)
    return law
