"""A chain learnt from one window's releases, and how far it may be off: the model-based way to transitions.

It supposes that users follow one chain of order 1, independently of each other (beliefs/learning/hidden.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from beliefs.learning.hidden import Heard, learn_hidden, occupancy, without_each
from stream.audit.amounts import Floats, Integers
from stream.estimation.jackknife import CHAIN_GROUPS, LEAST_GROUPS, spread_without

USERS_LEAST: Final = 16
EVENTS_MOST: Final = 5_000_000
_STAYS: Final = 0.5


class Kept(NamedTuple):
    """Events of a block: their users, the users' groups, their steps, and the columns of their channels."""

    users: Integers
    groups: Integers
    steps: Integers
    columns: Floats


class LearntChain(NamedTuple):
    """Shares of values among all events, rows of the chain, and the variances of both, where they are known."""

    shares: Floats
    rows: Floats
    share_variances: Floats | None
    row_variances: Floats | None
    groups: int
    users: int


def learn_chain(kept: Sequence[Kept]) -> LearntChain | None:
    """None where there is too little, or where too many events without a release would have to be filled in."""
    if not kept:
        return None
    users, groups, steps, columns = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    numbers, first = np.unique(users, return_index=True)
    if numbers.shape[0] < USERS_LEAST:
        return None
    heard = _in_a_row(users, steps, columns)
    if heard is None:
        return None
    whole = learn_hidden(heard, *_first_guess(heard))
    of_users = groups[first] % CHAIN_GROUPS
    there = np.unique(of_users).tolist()
    shares = rows = None
    if len(there) >= LEAST_GROUPS:
        rest = without_each(heard, of_users, whole)
        parts = [heard.of_users(np.flatnonzero(of_users != group)) for group in there]
        shares = spread_without([occupancy(part, one) for part, one in zip(parts, rest, strict=True)])
        rows = spread_without([one.matrix for one in rest])
    return LearntChain(occupancy(heard, whole), whole.matrix, shares, rows, len(there), numbers.shape[0])


def _in_a_row(users: Integers, steps: Integers, columns: Floats) -> Heard | None:
    """Each user's events in their order; one between two of them of which nothing is known has a column of ones."""
    order = np.lexsort((steps, users))
    users, steps, columns = users[order], steps[order], columns[order]
    begins = np.flatnonzero(np.concatenate([[True], users[1:] != users[:-1]]))
    lengths = steps[np.concatenate([begins[1:] - 1, [steps.shape[0] - 1]])] - steps[begins] + 1
    if int(lengths.sum()) > EVENTS_MOST:
        return None
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    own = np.repeat(np.arange(begins.shape[0]), np.diff(np.concatenate([begins, [users.shape[0]]])))
    which = np.full(int(starts[-1]), columns.shape[0], dtype=np.int64)
    which[starts[own] + steps - steps[begins][own]] = np.arange(columns.shape[0])
    return Heard(np.concatenate([columns, np.ones((1, columns.shape[1]))]), which, starts)


def _first_guess(heard: Heard) -> tuple[Floats, Floats]:
    """Half of all stay, the others go anywhere."""
    size = heard.values
    rows = np.full((size, size), (1.0 - _STAYS) / size) + _STAYS * np.eye(size)
    return np.full(size, 1.0 / size), rows
