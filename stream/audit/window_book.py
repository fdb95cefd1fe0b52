"""What the auditor keeps to follow windows, beside the book of single releases: three more columns of an event, more
that can be wrong, and the windows that are open.

A window's values are told under one bound. With `natural` each is shown when it comes, and the window is open in
between; otherwise all are shown together when the window ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stream.audit.amounts import Floats, Integers
from stream.audit.law import Law

LONGEST = 64
"""No window holds more values."""

# Columns of the events' table after those of single releases: which value of its window, of how many (-1 = not said),
# and what came out of the channel (-1 = nothing).
NTH, LENGTH, DRAWN = 5, 6, 7
NOTHING_DRAWN = -1

# What else may be wrong with an event; the bits of single releases are below these.
TOO_LONG, MISPLACED, OTHER_STRETCH, WRONG_SHOWN = 1 << 20, 1 << 21, 1 << 22, 1 << 23
WAITS = 1 << 30
"""Not wrong: the rest of its window has not been read yet."""

# Columns of the plans: the coin's share, the first cap, by how much both lean to the safe side.
SHARE, FIRST_CAP, LEAN = range(3)

# Columns of the open windows: values so far (0 = none is open), time of the first, level and drift that it was built
# for, what it told, whether it opened a window of the budget, how often its laws may have rounded; then the cap that is
# left and the extremes.
COUNT, FIRST_TIME, LEVEL, DRIFT_BEFORE, TOLD_UPPER, TOLD_LOWER, ROLLED, ROUNDED = range(8)
CAP_LEFT, HIGHEST, LOWEST = range(3)


class Cut(NamedTuple):
    """How the settings cut windows; a stretch of 0 is none, otherwise milliseconds. With `dual` a window's values go
    through one channel for their sequence.
    """

    events: int
    stretch: int
    natural: bool
    dual: bool = False


class Windows(NamedTuple):
    """All that is public about the windows. `after[first[x]:first[x + 1]]` are the states that may follow x, ascending,
    and `chance` their probabilities; beside a tail, those that the rows name. `units` are what a window is built for at
    each level of drift, `plans` its numbers by level and length, `orders` the order of its positions by length.
    `near`: errors cost what the distance says.
    """

    cut: Cut
    law: Law
    first: Integers
    after: Integers
    chance: Floats
    units: Integers
    plans: Floats
    orders: Integers
    near: bool = False


class Strip(NamedTuple):
    """Scratch space for one window. Rows are positions: what the release of a position tells about its value; its law
    before the window; what comes from the positions before it; from those behind it; and what it passes on to those
    before: all these over states. `shown` is over values; so is `asked`, the law that the last channel was worked out
    for. `plan` is that of the last window that was told at once. `steps` lie before each position but the first.
    """

    told: Floats
    blind: Floats
    forth: Floats
    back: Floats
    tail: Floats
    own: Floats
    mixed: Floats
    row: Floats
    spare: Floats
    shown: Floats
    asked: Floats
    numbers: Floats
    plan: Floats
    rows: Integers
    steps: Integers


class Opened(NamedTuple):
    """The open windows, a row a user: marks, amounts, and the last state's law before the window and with what its
    channels said.
    """

    marks: Integers
    amounts: Floats
    blind: Floats
    own: Floats


def new_strip(states: int, symbols: int) -> Strip:
    told = np.zeros((LONGEST, symbols))
    blind, forth, back, tail = (np.zeros((LONGEST, states)) for _ in range(4))
    own, mixed, row, spare = (np.zeros(states) for _ in range(4))
    rows, steps = np.zeros(LONGEST, dtype=np.int64), np.ones(LONGEST, dtype=np.int64)
    shown, asked, numbers, plan = np.zeros(symbols), np.zeros(symbols), np.zeros(6), np.zeros(3)
    return Strip(told, blind, forth, back, tail, own, mixed, row, spare, shown, asked, numbers, plan, rows, steps)


def new_opened(users: int, states: int) -> Opened:
    marks = np.zeros((users, 8), dtype=np.int64)
    return Opened(marks, np.zeros((users, 3)), np.zeros((users, states)), np.zeros((users, states)))


def grown_opened(opened: Opened, users: int) -> Opened:
    more = new_opened(users - opened.marks.shape[0], opened.own.shape[1])
    return Opened(*(np.concatenate(pair) for pair in zip(opened, more, strict=True)))
