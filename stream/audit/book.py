"""What the auditor keeps about each user while it follows the releases, and what it can find wrong with an event.

`MOST` and `LEAST` are two accounts of what the present window has spent. They differ only after suppressed events whose
time may have opened a new window unseen: `MOST` supposes that none did, `LEAST` that one did as late as possible.

Tables have one row a user or an event, and named columns: compiled code takes few large arrays faster than many small
ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.distance import Distance
from stream.audit.amounts import Floats, Integers
from stream.audit.channel import Channel, new_channel
from stream.audit.listing import Tray, new_tray, words_of
from stream.audit.lots import Nearby, new_nearby
from stream.audit.rising import NO_LEVELS, NOT_RAISED

OPTIMAL, MARGINAL_PRESERVING, PUBLISHED, TOP_K, RESPONSE, DOUBLE_RESPONSE, TEMPORAL, NEAR = range(8)
MECHANISMS = {
    "optimal": OPTIMAL,
    "marginal_preserving": MARGINAL_PRESERVING,
    "published_crr": PUBLISHED,
    "top_k_grr": TOP_K,
    "randomised_response": RESPONSE,
    "randomised_response_double": DOUBLE_RESPONSE,
    "temporal_ldp": TEMPORAL,
    "near": NEAR,
    "two_budget": OPTIMAL,  # with levels: see Rules
}
BEYOND_EPSILON = (PUBLISHED, DOUBLE_RESPONSE)
"""What promises no epsilon, and is charged what it tells."""
SPENT_FORECAST, SPENT_DRAW, SPENT_SUPPRESS, SPENT_STOP = 0, 1, 2, 3
WHEN_SPENT = {"forecast": SPENT_FORECAST, "forecast_draw": SPENT_DRAW, "suppress": SPENT_SUPPRESS, "stop": SPENT_STOP}

# Columns of the users' table.
STEPS, MARKS, WINDOW, DRIFT, UPPER, LOWER, MOST_UPPER, MOST_LOWER, LEAST_UPPER, LEAST_LOWER, HIDDEN, CLOCK = range(12)
UNSETTLED = 12  # how many predictions are left until it is known how far the belief may be off; see Rules
_COLUMNS = 13
"""After these, where any N events in a row have a budget: N upper charges of the user's last events, then N lower ones,
that of step s in column (s - 1) mod N."""
# Marks of a user: stopped; unsure of the window; adrift, which is a user who can no longer be followed.
STOPPED, UNSURE, ADRIFT = 1, 2, 4

# Columns of the events' table: number of the user, step, time of the record in milliseconds, value, outcome.
USER, STEP, TIME, SYMBOL, OUTCOME = range(5)
# Outcomes. The last stands for events of which nothing was seen, up to and including the given step.
RELEASE, FORECAST, NOTHING = 0, 1, 2

# Columns of the verdicts' table: what is wrong, how many events are missing before this one, and what it cost.
WRONG, LOST, COST_UPPER, COST_LOWER = range(4)
# What may be wrong with a released event; several may hold at once.
OUT_OF_ORDER = 1
LOST_BEFORE = 2
NEEDLESS_FORECAST = 4
OVER_BUDGET = 8
NOT_LIKELIEST = 16
ABOVE_EPSILON = 32
IMPOSSIBLE_VALUE = 64
AFTER_STOP = 128
NOT_CERTIFIED = 256
NOT_FOLLOWED = 512


NEVER = -1


class Rules(NamedTuple):
    """What was promised, in units and milliseconds; `numbers` is one row of constants for each level of drift.

    `interval` is the length of the model's step by the clock, at most `most_steps` between two events; 0: one for each
    event. `shift` is what every release costs besides, for readers who believe something else than the model.
    With `sliding` the budget is that of any so many events of a user in a row; 0: it is that of a window.
    `levels`, if any, are what a release may tell upwards, the first of them epsilon; `raised` has the constants of the
    others.
    Where nobody's first belief is known, it is after `settle` predictions that a belief is within `settled` drift steps
    of what a reader believes, wherever it began; NEVER where first beliefs are known.
    """

    mechanism: int
    keeps_epsilon: bool
    numbers: Floats
    epsilon: int
    budget: int
    window: int
    when_spent: int
    interval: int
    most_steps: int
    shift: int = 0
    sliding: int = 0
    levels: Integers = NO_LEVELS
    raised: Floats = NOT_RAISED
    settle: int = NEVER
    settled: int = 0


class Book(NamedTuple):
    """`beliefs` holds what is believed after each user's last event, state by state, as it is kept; `words` how a row
    writes that, where it lists some states only, and nothing elsewhere.
    """

    users: Integers
    beliefs: Floats
    words: NDArray[np.uint32]

    def column(self, name: int) -> Integers:
        return self.users[:, name]

    def latest_charges(self) -> tuple[Integers, Integers]:
        """Upper and lower charges of the last events, where a budget slides over them."""
        charges = self.users[:, _COLUMNS:]
        return charges[:, : charges.shape[1] // 2], charges[:, charges.shape[1] // 2 :]


class Desk(NamedTuple):
    """Scratch space; nothing on it outlives one event. `states` is the belief over states, `ahead` that over values."""

    states: Floats
    ahead: Floats
    channel: Channel
    nearby: Nearby
    tray: Tray


def new_desk(states: int, symbols: int, distance: Distance) -> Desk:
    channel, nearby = new_channel(symbols), new_nearby(symbols, distance)
    return Desk(np.zeros(states), np.zeros(symbols), channel, nearby, new_tray(states))


def new_book(users: int, states: int, listed: int = 0, sliding: int = 0) -> Book:
    table: NDArray[np.int64] = np.zeros((users, _COLUMNS + 2 * sliding), dtype=np.int64)
    table[:, WINDOW] = -1  # none yet
    words = np.zeros((users, words_of(states, listed) if listed else 0), dtype=np.uint32)
    return Book(table, np.zeros((users, states)), words)


def grown(book: Book, users: int) -> Book:
    """The same book with room for so many users."""
    listed = max(book.words.shape[1] // 2 - 1, 0)
    sliding = (book.users.shape[1] - _COLUMNS) // 2
    more = new_book(users - book.users.shape[0], book.beliefs.shape[1], listed, sliding)
    return Book(
        np.concatenate([book.users, more.users]),
        np.concatenate([book.beliefs, more.beliefs]),
        np.concatenate([book.words, more.words]),
    )


def events_of(*columns: Integers) -> Integers:
    """A table of events from its five columns."""
    return np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int64))


def new_verdicts(events: int) -> Integers:
    return np.zeros((events, 4), dtype=np.int64)
