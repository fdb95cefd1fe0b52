"""The whole life of a partition that learns its model, and a reader who knows the true one, at every event.

The partition is the product's own: its step, its pairs, its learner and its choice. The reader is not: they carry the
exact belief under the true chain from what was released, and from nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from step_help import KEY, Run, policy_of

from beliefs.chain import Chain
from beliefs.forward import ChainArrays, chain_arrays
from beliefs.learning.online import Learnt, Setup, learn, next_checkpoint
from beliefs.native import kernel
from beliefs.rounding import UNITS_PER_NAT, budget_units
from mechanisms import registry
from mechanisms.coins import Coins, coins_of
from mechanisms.contract import Floats, Integers
from stream.epochs import adopt, blind_chain, blind_policy, informed_policy
from stream.learning.choice import Choice, choose
from stream.learning.pairs import count_pairs, last_releases, new_counts
from stream.policy import RELEASED, Bench, Events, Policy, Releases, new_bench, new_releases
from stream.state import Codes, new_users, seal, unsettled
from stream.step import carry_out_one


@kernel
def follow(
    policy: Policy,
    arrays: ChainArrays,
    bench: Bench,
    heads: Integers,
    codes: Codes,
    events: Events,
    coins: Coins,
    releases: Releases,
    rows: Floats,
    ahead: Floats,
    known: Floats,
    told: Floats,
    worst: Floats,
    left: Integers,
) -> None:
    """Of each event: `told`, both sides of what its release says; `worst`, the most that any output could have."""
    n = ahead.shape[1]
    for i in range(events.slot.shape[0]):
        carry_out_one(policy, arrays, bench, heads, codes, events, coins, releases, i)
        user = events.slot[i]
        left[i] = unsettled(heads[user])
        for x in range(n):
            known[x] = ahead[user, x]
        if releases.outcome[i] == RELEASED:
            for place in range(bench.work.size[0]):
                registry.column(policy.mechanism, place, bench.belief, bench.work)
                most, least, chance = 0.0, np.inf, 0.0
                for x in range(n):
                    most = max(most, bench.work.likelihood[x])
                    least = min(least, bench.work.likelihood[x])
                    chance += ahead[user, x] * bench.work.likelihood[x]
                worst[i] = max(worst[i], most / chance, chance / least)
                if bench.work.head[place] == releases.symbol[i]:
                    told[i, 0], told[i, 1] = chance / least, most / chance
                    for x in range(n):
                        known[x] = ahead[user, x] * bench.work.likelihood[x] / chance
        for y in range(n):
            ahead[user, y] = 0.0
            for x in range(n):
                ahead[user, y] += known[x] * rows[x, y]


@kernel
def walk(slot: Integers, points: Floats, cumulated: Floats, start: Floats, now: Integers, symbol: Integers) -> None:
    """Each user's values follow the chain; `now` is -1 before the first."""
    for i in range(slot.shape[0]):
        user = slot[i]
        row = start if now[user] < 0 else cumulated[now[user]]
        x = 0
        while x < start.shape[0] - 1 and points[i] >= row[x]:
            x += 1
        now[user] = x
        symbol[i] = x


def dense(chain: Chain) -> Floats:
    rows = np.zeros((chain.size, chain.size))
    for state in range(chain.size):
        following, chances = chain.row(state)
        rows[state, following] = chances
    return rows


def traffic(chain: Chain, users: int, early: int, count: int, late_from: int, seed: int) -> Events:
    """Events of users who take turns by chance; those beyond `early` come only after `late_from` events."""
    source = np.random.default_rng(seed)
    slot = np.concatenate([source.integers(0, early, late_from), source.integers(0, users, count - late_from)])
    symbol, offset = np.zeros(count, dtype=np.int64), np.arange(count, dtype=np.int64)
    cumulated = np.cumsum(dense(chain), axis=1)
    start = np.cumsum(chain.start / chain.start.sum())
    walk(slot, source.random(count), cumulated, start, np.full(users, -1, dtype=np.int64), symbol)
    return Events(slot, offset, offset * 10, symbol)


@dataclass
class Told:
    """Of each event in order; leakages in nats, against the reader who knows the true chain."""

    worst: Floats
    told: Floats
    releases: Releases
    left: Integers

    def same(self, events: Events) -> Floats:
        return (self.releases.symbol == events.symbol).astype(np.float64)


@dataclass
class Life:
    """One partition from its first event on. `switched` is the number of the event that the informed epoch began at."""

    chain: Chain
    setup: Setup
    users: int
    key: bytes = KEY
    withholds: bool = True
    settles: bool = True
    policy: Policy = field(init=False)
    counts: Integers = field(init=False)
    switched: int | None = None
    learnt: Learnt | None = None
    choices: list[Choice] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = self.setup.symbols
        self._promise = policy_of("optimal", 1.0)._replace(epsilon=self.setup.epsilon_units)
        self.policy = blind_policy(self._promise, 1)
        self._arrays, self._bench = chain_arrays(blind_chain(n)), new_bench(n)
        self.heads, self.codes = new_users(self.users, n)
        self.counts = new_counts(n)
        self._ahead = np.tile(self.chain.start / self.chain.start.sum(), (self.users, 1))

    def run(self, events: Events) -> Told:
        count, at, number = events.slot.shape[0], 0, 0
        releases, worst, told = new_releases(count), np.ones(count), np.ones((count, 2))
        left = np.zeros(count, dtype=np.int64)
        while at < count:
            end = count if self.switched is not None else min(count, next_checkpoint(at))
            block = Events(*(column[at:end] for column in events))
            its = Releases(*(column[at:end] for column in releases[:5]), releases.uncertified)
            self._block(block, its, told[at:end], worst[at:end], left[at:end])
            at, number = end, number + 1
            if self.switched is None and end < count:
                self._look(number, at)
        return Told(np.log(worst), np.log(told), releases, left)

    def _block(self, events: Events, releases: Releases, told: Floats, worst: Floats, left: Integers) -> None:
        adopt(self.heads, self.codes, self.policy)
        last = last_releases(self.codes) if self.switched is None else None
        kept = (self._arrays, self._bench, self.heads, self.codes)
        reader = (dense(self.chain), self._ahead, np.zeros(self.setup.symbols))
        follow(self.policy, *kept, events, coins_of(self.key, events.offset), releases, *reader, told, worst, left)
        if last is not None:
            count_pairs(last, events.slot, releases, self.counts)

    def _look(self, number: int, at: int) -> None:
        learnt = learn(self.setup, self.counts, number)
        self.choices.append(choose(self.setup, learnt))
        if self.choices[-1].switch:
            if not self.withholds:
                learnt = Learnt(learnt.chain, 0.0, 0, learnt.pairs, number)
            self.learnt, self.switched = learnt, at
            self.policy = informed_policy(self._promise, learnt, 2)
            if not self.settles:
                self._trust_rows()
            self._arrays = chain_arrays(learnt.chain)

    def _trust_rows(self) -> None:
        """A fault: what the blind epoch stored is taken for what a reader believes."""
        self.policy = self.policy._replace(settle=None)
        for head, codes in zip(self.heads, self.codes, strict=True):
            if head[0] != 0:
                seal(head, codes, 0, self.policy.model_tag)


def informed_alone(chain: Chain, epsilon: float, users: int, events: Events) -> Floats:
    """Which values are kept by the mechanism that was given the true chain, with the same values and coins."""
    run = Run(policy_of("optimal", epsilon), chain, users)
    return (run.block(events).symbol == events.symbol).astype(np.float64)


def setup_of(symbols: int, epsilon: float, withheld: float = 0.1) -> Setup:
    return Setup(symbols, budget_units(epsilon), withheld=withheld)


def charged(releases: Releases) -> Floats:
    """In nats, lower and upper beside each other, as `Told.told`."""
    return np.stack([releases.lower, releases.upper], axis=1) / UNITS_PER_NAT


def gap(kept: Floats, reference: Floats) -> float:
    """How much less is kept, as a share."""
    return float(1.0 - kept.mean() / reference.mean())
