"""One block at a time without Kafka: policies, chains and events for the tests of the step."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from beliefs.chain import Chain
from beliefs.distance import Distance, equal
from beliefs.forward import ChainArrays, chain_arrays
from beliefs.rounding import INFINITE, budget_units
from mechanisms import registry
from mechanisms.coins import Coins, coins_of
from mechanisms.contract import constants_table
from mechanisms.sequence.two_budget import rising_of
from stream import state
from stream.policy import SPENT_FORECAST, Bench, Events, Policy, Releases, new_bench
from stream.step import advance

KEY = bytes(range(1, 33))
TAG = 0x5077A0CE


def policy_of(
    mechanism: str = "optimal",
    epsilon: float = 1.0,
    budget: int = INFINITE,
    window: int = 0,
    when_spent: int = SPENT_FORECAST,
    interval: int = 0,
    most_steps: int = 1000,
    listed: int = 0,
    sliding: int | None = None,
    upper: float | None = None,
    symbols: int = 10,
) -> Policy:
    """`upper` is for two_budget, whose constants look at how many symbols there are; without it, epsilon."""
    entry = registry.MECHANISMS[mechanism]
    units = budget_units(epsilon)
    table = constants_table(units)
    clock = (interval, most_steps)
    promised = (entry.code, entry.holds_epsilon, table, units, budget, window, when_spent, TAG)
    rising = rising_of(units, budget_units(upper or epsilon), symbols) if entry.rises else None
    return Policy(*promised, *clock, listed=listed, sliding=sliding, rising=rising)


def sticky_chain(size: int, stay: float = 0.8, seed: int = 1) -> Chain:
    source = np.random.default_rng(seed)
    rows = (1 - stay) * source.dirichlet(np.ones(size), size=size) + stay * np.eye(size)
    return Chain.from_dense(source.dirichlet(np.ones(size)), rows)


@dataclass
class Run:
    """Users' rows that are carried on from block to block."""

    policy: Policy
    chain: Chain
    users: int
    distance: Distance | None = None
    heads: state.Integers = field(init=False)
    codes: state.Codes = field(init=False)
    bench: Bench = field(init=False)
    arrays: ChainArrays = field(init=False)

    def __post_init__(self) -> None:
        words = state.head_words(self.policy.interval > 0, self.policy.sliding)
        width = state.codes_of(self.chain.size, self.policy.listed)
        self.heads, self.codes = state.new_users(self.users, width, words)
        distance = equal() if self.distance is None and self.policy.mechanism == registry.NEAR else self.distance
        self.bench = new_bench(self.chain.size, self.chain.symbols, distance, listed=self.policy.listed > 0)
        self.arrays = chain_arrays(self.chain)

    def block(self, events: Events) -> Releases:
        return self.block_with(events, coins_of(KEY, events.offset))

    def block_with(self, events: Events, coins: Coins) -> Releases:
        return advance(self.policy, self.arrays, self.bench, self.heads, self.codes, events, coins)


def events_of(count: int, users: int, size: int, seed: int = 0, first_offset: int = 0, every_ms: int = 10) -> Events:
    source = np.random.default_rng(seed)
    offset = np.arange(first_offset, first_offset + count, dtype=np.int64)
    return Events(
        slot=source.integers(0, users, count),
        offset=offset,
        time=offset * every_ms,
        symbol=source.integers(0, size, count),
    )


def part(events: Events, start: int, end: int) -> Events:
    return Events(*(array[start:end].copy() for array in events))


def column_of(run: Run, symbol: int) -> list[Fraction]:
    """The integers of the channel that the last event went through, read from the rows."""
    work = run.bench.work
    place = work.head[: work.size[0]].tolist().index(symbol)
    column = []
    for x in range(run.chain.symbols):
        registry.row(run.policy.mechanism, x, run.bench.belief, work)
        column.append(Fraction(int(work.row[place])))
    return column
