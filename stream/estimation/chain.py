"""A chain learnt from one window's releases, and how far it may be off: the model-based way to transitions.

It supposes that users follow one chain of order 1, independently of each other (beliefs/learning/hidden.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from beliefs.learning.hidden import Heard, learn_hidden, occupancy, without_each
from beliefs.learning.hidden_windows import HeardSequences, HeardWindows
from stream.audit.amounts import Floats, Integers
from stream.estimation.jackknife import CHAIN_GROUPS, LEAST_GROUPS, spread_without

USERS_LEAST: Final = 16
EVENTS_MOST: Final = 5_000_000
_STAYS: Final = 0.5


class Kept(NamedTuple):
    """Events of a block: their users, the users' groups, their steps, and the columns of their channels; their places
    in their windows, counted from 0, and the shares of heads of these windows' coins, 0 without one.

    Where a window has one channel, a row is a window of so many values, its step is that of the first one, and its
    column has a number for each sequence of them.
    """

    users: Integers
    groups: Integers
    steps: Integers
    columns: Floats
    nth: Integers
    shares: Floats
    lengths: Integers

    def only(self, which: Integers) -> Kept:
        users, groups, steps = self.users[which], self.groups[which], self.steps[which]
        said = self.columns[which], self.nth[which], self.shares[which], self.lengths[which]
        return Kept(users, groups, steps, *said)


class LearntChain(NamedTuple):
    """Shares of values among all events, rows of the chain, and the variances of both, where they are known."""

    shares: Floats
    rows: Floats
    share_variances: Floats | None
    row_variances: Floats | None
    groups: int
    users: int


def learn_chain(kept: Sequence[Kept], symbols: int) -> LearntChain | None:
    """None where there is too little, or where too many events without a release would have to be filled in."""
    if not kept:
        return None
    parts = Kept(*(np.concatenate(parts) for parts in zip(*kept, strict=True)))
    groups = parts.groups
    numbers, first = np.unique(parts.users, return_index=True)
    if numbers.shape[0] < USERS_LEAST:
        return None
    heard = _in_a_row(parts, symbols)
    if heard is None:
        return None
    whole = learn_hidden(heard, *_first_guess(heard))
    of_users = groups[first] % CHAIN_GROUPS
    there = np.unique(of_users).tolist()
    shares = rows = None
    if len(there) >= LEAST_GROUPS:
        rest = without_each(heard, of_users, whole)
        others = [heard.of_users(np.flatnonzero(of_users != group)) for group in there]
        shares = spread_without([occupancy(part, one) for part, one in zip(others, rest, strict=True)])
        rows = spread_without([one.matrix for one in rest])
    return LearntChain(occupancy(heard, whole), whole.matrix, shares, rows, len(there), numbers.shape[0])


def _in_a_row(kept: Kept, symbols: int) -> Heard | None:
    """Each user's events in their order; one between two of them of which nothing is known has a column of ones."""
    kept = kept.only(np.lexsort((kept.steps, kept.users)))
    count, same = kept.users.shape[0], kept.users[1:] == kept.users[:-1]
    ends = kept.steps + kept.lengths
    missing = np.concatenate([[0], np.where(same, kept.steps[1:] - ends[:-1], 0)])
    if int(kept.lengths.sum() + missing.sum()) > EVENTS_MOST:
        return None
    places = np.arange(count) + np.cumsum(missing)
    total = int(places[-1]) + 1
    which, opens = np.full(total, count, dtype=np.int64), np.ones(total, dtype=np.int64)
    which[places], opens[places] = np.arange(count), kept.nth == 0
    begins = np.append(places[np.flatnonzero(np.concatenate([[True], ~same]))], total).astype(np.int64)
    columns = np.concatenate([kept.columns, np.ones((1, kept.columns.shape[1]))])
    if kept.columns.shape[1] != symbols:
        lengths = np.ones(total, dtype=np.int64)
        lengths[places] = kept.lengths
        return HeardSequences(columns, which, begins, lengths, symbols)
    if not kept.shares.any():
        return Heard(columns, which, begins)
    shares = np.zeros(total)
    shares[places] = kept.shares
    return HeardWindows(columns, which, begins, opens, shares)


def _first_guess(heard: Heard) -> tuple[Floats, Floats]:
    """Half of all stay, the others go anywhere."""
    size = heard.values
    rows = np.full((size, size), (1.0 - _STAYS) / size) + _STAYS * np.eye(size)
    return np.full(size, 1.0 / size), rows
