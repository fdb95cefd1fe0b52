"""Witnesses without a broker, for the tests of the monitor and the accounts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from pipeline_help import promise_of
from step_help import Run, coins_of, policy_of

from beliefs.chain import Chain
from stream.metrics.witness import Witness
from stream.policy import Events, Policy, Releases, new_bench
from stream.protocol.ports import Loaded
from stream.watch import Following, Watch

KEY = bytes(range(1, 33))


class Watched:
    """A run whose blocks are watched. Blocks of one event test every event whose step is a multiple of 16."""

    def __init__(
        self,
        policy: Policy,
        chain: Chain,
        users: int,
        followed: int = 0,
        kept: int = 50,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.run = Run(policy, chain, users)
        following = Following(followed)
        self.watch = Watch(following, 0, policy, chain.symbols)
        listed = policy.listed > 0
        bench = new_bench(chain.size, chain.symbols, listed=listed)
        self.witness = Witness(promise_of(policy=policy, chain=chain), bench, following, chain, kept, clock)
        self.following = following

    def block(self, events: Events) -> Releases:
        run, coins = self.run, coins_of(KEY, events.offset)
        users, slot = np.unique(events.slot, return_inverse=True)
        rows = Loaded(run.heads[users], run.codes[users], np.ones(users.shape[0], dtype=np.bool_))
        slots = {b"user-%d" % user: i for i, user in enumerate(users.tolist())}
        watched = self.watch.choose(slots, rows, events._replace(slot=slot), coins)
        releases = run.block(events)
        if watched is not None:
            self.witness.look(0, watched)
        return releases


def paths_of(chain: Chain, users: int, steps: int, source: np.random.Generator) -> np.ndarray:
    """A value for each user and step, as the chain says."""
    starts, rows = np.cumsum(chain.start), np.cumsum(dense(chain), axis=1)
    values = np.zeros((users, steps), dtype=np.int64)
    points = source.random((users, steps))
    values[:, 0] = np.searchsorted(starts, points[:, 0], side="right")
    for step in range(1, steps):
        values[:, step] = (points[:, step, None] > rows[values[:, step - 1]]).sum(axis=1)
    return np.minimum(values, chain.size - 1)


def dense(chain: Chain) -> np.ndarray:
    matrix = np.zeros((chain.size, chain.size))
    for state in range(chain.size):
        following, chances = chain.row(state)
        matrix[state, following] = chances
    return matrix


def events_along(values: np.ndarray, first_offset: int = 0) -> Events:
    """Every user's first value, then every user's second, and so on."""
    users, steps = values.shape
    order = np.arange(users * steps, dtype=np.int64)
    return Events(order % users, first_offset + order, 1_000 * (order // users), values.T.reshape(-1).copy())


def blocks(events: Events, size: int) -> Sequence[Events]:
    count = events.slot.shape[0]
    return [Events(*(column[at : at + size].copy() for column in events)) for at in range(0, count, size)]


def watched_users(users: int, steps: int) -> Watched:
    """So many users, all of them followed and all brought up to date."""
    chain = Chain.from_dense([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    watched = Watched(policy_of(), chain, users, followed=users)
    values = paths_of(chain, users, steps, np.random.default_rng(2))
    for block in blocks(events_along(values), users):
        watched.block(block)
    watched.witness.renew_all()
    return watched
