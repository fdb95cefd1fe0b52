"""Figures 7 and 9: traces of gaze and how far releases are from them, on a grid of 100 by 100 cells.

Epsilon is for a second of 50 samples, shared evenly: a single release has a fiftieth of it, a window of w values w
fiftieths. One person's stretch of a thousandth of the stream is released, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from paper_gaze import RATE, distance_of, first_order, middles, second_order, streams
from paper_releases import Floats, Integers, constants_for, events_of_users, in_windows, released_from, singly
from step_help import KEY

from beliefs.chain import Chain
from beliefs.distance import Distance
from mechanisms.coins import coins_of
from mechanisms.contract import new_workspace
from stream.policy import Events

ORDERS: Final = (1, 2)
SHOWN_AT: Final = 10.0
RAW, RAW_DOUBLE = "temporal LDP from raw values (no LDP)", "temporal LDP from raw, 2 epsilon (no LDP)"
LOCAL, DOUBLE = "temporal LDP (from releases)", "temporal LDP, 2 epsilon (from releases)"
PUBLISHED, BOUNDED, NEAR = "published CRR (claims SIP)", "optimal (SIP)", "near (SIP)"
FIVE, TEN = "near, windows of 5 (SIP)", "near, windows of 10 (SIP)"


class Study(NamedTuple):
    """Streams of all people, the models of order 1 and 2 learnt from them, and how far cells are from each other."""

    side: int
    sequences: list[Integers]
    chains: dict[int, Chain]
    distance: Distance


def study(samples: int, side: int, count: int, states: int) -> Study:
    sequences = streams(samples, side, count)
    chains = {1: first_order(sequences, side), 2: second_order(sequences, side, states)}
    return Study(side, sequences, chains, distance_of(side))


def from_raw(chain: Chain, sequences: Sequence[Integers], epsilon: float) -> Integers:
    """Temporal LDP as the paper runs it: randomised response on what may follow the TRUE values before."""
    work, constants, found, first = new_workspace(chain.symbols), constants_for(epsilon), [], 0
    follows = [dict[int, int]() for _ in range(chain.size)]
    for sequence in sequences:
        coins = coins_of(KEY, np.arange(first, first + sequence.size, dtype=np.int64))[:, 0]
        belief, state = np.full(chain.symbols, 1.0 / chain.symbols), -1
        for place, value in enumerate(sequence.tolist()):
            if state >= 0:
                columns, masses = chain.row(state)
                belief = np.zeros(chain.symbols)
                np.add.at(belief, chain.symbol_of[columns], masses)
            found.append(released_from("temporal_ldp", belief, constants, value, coins, place, work))
            state = _next_state(chain, follows, state, value)
        first += sequence.size
    return np.array(found, dtype=np.int64)


def _next_state(chain: Chain, follows: list[dict[int, int]], state: int, value: int) -> int:
    if state < 0:
        return value
    if not follows[state]:
        columns, _ = chain.row(state)
        follows[state] = dict(zip(chain.symbol_of[columns].tolist(), columns.tolist(), strict=True))
    return follows[state].get(value, value)


Work = Callable[[Chain, Events, list[Integers], float, Distance], tuple[Integers, Floats]]


def _single(mechanism: str, times: float = 1.0) -> Work:
    def work(
        chain: Chain, events: Events, _: list[Integers], epsilon: float, distance: Distance
    ) -> tuple[Integers, Floats]:
        return singly(mechanism, times * epsilon / RATE, chain, events, distance if mechanism == "near" else None)

    return work


def _window(length: int) -> Work:
    def work(
        chain: Chain, events: Events, _: list[Integers], epsilon: float, distance: Distance
    ) -> tuple[Integers, Floats]:
        return in_windows(length, length * epsilon / RATE, chain, events, distance)

    return work


def _raw(times: float) -> Work:
    def work(
        chain: Chain, events: Events, sequences: list[Integers], epsilon: float, _: Distance
    ) -> tuple[Integers, Floats]:
        return from_raw(chain, sequences, times * epsilon / RATE), np.full(events.slot.size, np.inf)

    return work


WORKS: Final[dict[str, Work]] = {
    LOCAL: _single("temporal_ldp"),
    DOUBLE: _single("temporal_ldp", 2.0),
    RAW: _raw(1.0),
    RAW_DOUBLE: _raw(2.0),
    PUBLISHED: _single("published_crr"),
    BOUNDED: _single("optimal"),
    NEAR: _single("near"),
    FIVE: _window(5),
    TEN: _window(10),
}


def mean_distance(side: int, true: Integers, shown: Integers) -> float:
    places = middles(side)
    return float(np.sqrt(((places[true] - places[shown]) ** 2).sum(axis=1)).mean())


class Told(NamedTuple):
    distance: float
    most: float
    usual: float
    symbols: Integers

    @property
    def numbers(self) -> tuple[float, float, float]:
        return self.distance, self.most, self.usual


def look(what: Study, stretch: list[Integers], order: int, epsilon: float, name: str) -> Told:
    events = events_of_users(stretch)
    symbols, told = WORKS[name](what.chains[order], events, stretch, epsilon, what.distance)
    some = told[told > 0]
    usual = float(np.median(some)) if some.size else 0.0
    return Told(mean_distance(what.side, events.symbol, symbols), float(told.max()), usual, symbols)
