"""Products of what two releases in a row say of their values: an unbiased count of transitions. Proof: channel.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beliefs.native import kernel
from stream.audit.amounts import Floats, Integers
from stream.audit.book import STEP, USER
from stream.estimation.functionals import TOLD

Truths = NDArray[np.bool_]


class Latest:
    """Of each user the last release that says something of every value: its step, and its functionals."""

    def __init__(self, symbols: int) -> None:
        self.steps: Integers = np.zeros(0, dtype=np.int64)
        self.functionals: Floats = np.zeros((0, symbols))

    def make_room(self, users: int) -> None:
        more = users - self.steps.shape[0]
        if more > 0:
            self.steps = np.concatenate([self.steps, np.zeros(more, dtype=np.int64)])
            self.functionals = np.concatenate([self.functionals, np.zeros((more, self.functionals.shape[1]))])


@kernel
def add_pairs(
    events: Integers,
    kind: Integers,
    functionals: Floats,
    known: Integers,
    places: Integers,
    groups: Integers,
    steps: Integers,
    latest: Floats,
    products: Floats,
    counts: Integers,
) -> None:
    """`places` says in which of the windows `products` an event belongs, -1: in none; `groups` in which part of it. The
    window of a pair is that of its second event.
    """
    values = functionals.shape[1]
    for i in range(events.shape[0]):
        user, full = events[i, USER], kind[i] == TOLD
        for v in range(values):
            full = full and known[i, v] == 1
        if not full:
            continue
        if places[i] >= 0 and steps[user] > 0 and steps[user] == events[i, STEP] - 1:
            counts[places[i], groups[i]] += 1
            for u in range(values):
                for v in range(values):
                    products[places[i], groups[i], u, v] += latest[user, u] * functionals[i, v]
        steps[user] = events[i, STEP]
        for v in range(values):
            latest[user, v] = functionals[i, v]
