"""The belief that is kept after each window, against one that is kept exactly: their distance is within the drift."""

from __future__ import annotations

import numpy as np
import pytest
from context_models import law_of
from numpy.typing import NDArray
from step_help import KEY, policy_of, sticky_chain
from tail_models import zipf_chain

from beliefs.chain import Chain
from beliefs.contexts import chain_of
from beliefs.forward import chain_arrays, reversed_arrays
from mechanisms.coins import coins_of
from mechanisms.contract import DRIFT_UNKNOWN, TOTAL
from stream.policy import RELEASED, new_bench
from stream.state import (
    CLOCK_HEAD_WORDS,
    HEAD_WORDS,
    codes_of,
    decode_belief,
    decode_listed,
    drift_of,
    new_users,
)
from stream.windows.step import WindowStep

Floats = NDArray[np.float64]
MIXING = {
    (): law_of([0.25, 0.375, 0.375]),
    (2,): law_of([0.25, 0.25, 0.5]),
    (0, 1, 2): law_of([0.375, 0.25, 0.375]),
    (1, 1): law_of([0.375, 0.375, 0.25]),
}
KINDS = {
    "order 1": (sticky_chain(3, 0.6), 0, 0),
    "order 3": (chain_of(np.array([0.5, 0.25, 0.25]), MIXING), 0, 0),
    "clock": (sticky_chain(3, 0.6), 1000, 0),
    "order 3 by the clock": (chain_of(np.array([0.5, 0.25, 0.25]), MIXING), 1000, 0),
    "tail": (zipf_chain(8, reach=4, left=0.5), 0, 0),
    "listed": (zipf_chain(8, reach=4, left=0.5), 0, 5),
}


def matrix_of(chain: Chain) -> Floats:
    matrix = np.zeros((chain.size, chain.size))
    for state in range(chain.size):
        following, chances = chain.row(state)
        matrix[state, following] = chances
    return matrix / matrix.sum(axis=1, keepdims=True)


class Exact:
    """A reader who rounds nothing, to speak of: doubles lose 10^-14 where a kept belief loses 10^-8."""

    def __init__(self, chain: Chain, interval: int, most: int) -> None:
        self.matrix, self.belief = matrix_of(chain), chain.start / chain.start.sum()
        self.symbol_of, self.interval, self.most = chain.symbol_of, interval, most
        self.reached: int | None = None

    def steps_to(self, time: int) -> int:
        now = time // self.interval if self.interval else (0 if self.reached is None else self.reached + 1)
        steps = 0 if self.reached is None else min(max(now - self.reached, 0), self.most)
        self.reached = now if self.reached is None else max(now, self.reached)
        return steps

    def learn(self, times: list[int], factors: Floats, covered: float) -> None:
        """A window: what the coin hides, and what the channels have said of each value."""
        blind = own = self.belief
        for time, factor in zip(times, factors, strict=True):
            move = np.linalg.matrix_power(self.matrix, self.steps_to(time))
            blind, own = blind @ move, (own @ move) * factor[self.symbol_of]
        mixed = covered * blind + (1 - covered) * own
        self.belief = mixed / mixed.sum()


def distance(one: Floats, other: Floats) -> float:
    assert ((one == 0) == (other == 0)).all()
    ratios = np.log(one[one > 0] / other[one > 0])
    return float(ratios.max() - ratios.min())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("longest", [1, 2, 7])
def test_what_is_kept_is_within_the_drift(kind: str, longest: int) -> None:
    (chain, interval, listed), windows = KINDS[kind], 150
    policy = policy_of("optimal", 1.5, interval=interval, most_steps=20, listed=listed)
    bench = new_bench(chain.size, chain.symbols, listed=listed > 0)
    step = WindowStep(policy, chain_arrays(chain), reversed_arrays(chain), bench)
    words = CLOCK_HEAD_WORDS if interval else HEAD_WORDS
    head, codes = (rows[0] for rows in new_users(1, codes_of(chain.size, listed), words))
    exact, source = Exact(chain, interval, 20), np.random.default_rng(longest)
    stored, events, time, largest = np.zeros(chain.size), 0, 0, 0
    for _ in range(windows):
        length = int(source.integers(1, longest + 1))
        offsets = np.arange(events, events + length)
        times = time + np.cumsum(source.integers(0, 3000, size=length)) - source.integers(0, 2000, size=length)
        values = source.integers(chain.symbols, size=length)
        copies = head.copy(), codes.copy()
        units = step._units(step._begin(*copies, int(times[0]), int(times.max())))
        told = step.close(head, codes, times, values, coins_of(KEY, offsets))
        assert told.outcome == RELEASED
        covered = step._plan(units, length).covered / TOTAL
        exact.learn(times.tolist(), step._room.factors[:length], covered)
        if listed:
            decode_listed(codes, chain.tail, bench.listing, stored, stored.view(np.int64))
        else:
            decode_belief(codes, stored.view(np.int64))
        drift = int(drift_of(head[None, :])[0])
        assert drift < DRIFT_UNKNOWN
        assert distance(stored, exact.belief) <= drift / 2**32 + 1e-12
        events, time, largest = events + length, int(times.max()), max(largest, drift)
    assert largest > 130
    if kind == "order 3":  # and without looking back upon spans it would have grown with every window
        assert largest < 1 + 2 * (3 * 131 + 64 + 3 * 140) / (1 - chain.contraction / 2**32) < 130 * windows
