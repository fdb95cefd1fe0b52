"""What is promised, what happens and what comes of it, in the shapes that the compiled step reads and writes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.distance import Distance
from beliefs.listed import Listing, new_listing
from mechanisms.contract import Floats, Integers, Workspace, new_workspace
from mechanisms.sequence.two_budget import Rising
from stream.drift import Settle
from stream.state import Word

RELEASED, FORECAST, SUPPRESSED, REPLAYED = 0, 1, 2, 3
SPENT_FORECAST, SPENT_DRAW, SPENT_SUPPRESS, SPENT_STOP = 0, 1, 2, 3

WATERMARK, UPPER, LOWER, CLOCK = int(Word.WATERMARK), int(Word.UPPER), int(Word.LOWER), int(Word.CLOCK)
WINDOW_UPPER, WINDOW_LOWER = int(Word.WINDOW_UPPER), int(Word.WINDOW_LOWER)
STEPS, WINDOW_AND_DRIFT = int(Word.STEPS), int(Word.WINDOW_AND_DRIFT)


class Policy(NamedTuple):
    """What is promised, as the kernel reads it. All amounts in units of 2^-40 nat, window and interval in milliseconds.

    An interval of 0 is one step for each event. `shift` is withheld of epsilon for readers who believe something else
    than the model, and is part of every charge. `listed` is how many entries of a belief a row lists; 0: all. With
    `sliding` any so many events of a user in a row have the budget; where it is None, compiled code knows that.
    `rising` are the levels of a mechanism that may tell more upwards, where that is left; otherwise None, likewise.
    With `settle` nobody's first belief is known, as under a model that was learnt from releases; otherwise None.
    """

    mechanism: int
    holds_epsilon: bool
    constants: Floats
    epsilon: int
    budget: int
    window: int
    when_spent: int
    model_tag: int
    interval: int = 0
    most_steps: int = 1
    shift: int = 0
    listed: int = 0
    sliding: int | None = None
    rising: Rising | None = None
    settle: Settle | None = None


class Bench(NamedTuple):
    """Scratch space of one caller; nothing in it outlives one event.

    `belief` is over symbols, `ahead` and `posterior` over states; where these are the same, `ahead` is `belief`.
    `listing` is there where rows list entries; where it is not, compiled code knows that none is listed.
    """

    work: Workspace
    belief: Floats
    ahead: Floats
    posterior: Floats
    posterior_bits: Integers
    listing: Listing | None


class Events(NamedTuple):
    """Parallel arrays, in offset order; `slot` is the user's row in the states."""

    slot: Integers
    offset: Integers
    time: Integers
    symbol: Integers


class Releases(NamedTuple):
    """Parallel to the events. `symbol` is -1 where nothing is released; `step` counts the user's events."""

    symbol: Integers
    outcome: NDArray[np.int8]
    upper: Integers
    lower: Integers
    step: Integers
    uncertified: Integers


def new_releases(count: int) -> Releases:
    """Of so many events, before anything has happened."""
    return Releases(
        symbol=np.full(count, -1, dtype=np.int64),
        outcome=np.zeros(count, dtype=np.int8),
        upper=np.zeros(count, dtype=np.int64),
        lower=np.zeros(count, dtype=np.int64),
        step=np.zeros(count, dtype=np.int64),
        uncertified=np.zeros(1, dtype=np.int64),
    )


def new_bench(
    states: int, symbols: int | None = None, distance: Distance | None = None, *, listed: bool = False
) -> Bench:
    """For a model of so many states and symbols; without the second number they are the same."""
    symbols = states if symbols is None else symbols
    belief, posterior = np.zeros(symbols), np.zeros(states)
    ahead = belief if states == symbols else np.zeros(states)
    work, bits = new_workspace(symbols, distance), posterior.view(np.int64)
    return Bench(work, belief, ahead, posterior, bits, new_listing(states) if listed else None)
