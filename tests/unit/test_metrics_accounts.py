"""Exact accounts in a worker: against every path enumerated, against the counters, whatever the blocks."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from step_help import Run, events_of, part, policy_of, sticky_chain
from watching import Watched, blocks, dense, events_along, paths_of

from beliefs.chain import Chain
from beliefs.forward import start_into
from beliefs.rounding import budget_units, nats
from mechanisms import registry
from stream.metrics.witness import Account
from stream.policy import RELEASED, Policy
from stream.recall import predict_user

SPARSE = Chain.from_dense([1, 0, 0, 0], [[0, 1, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.1, 0.9], [1, 0, 0, 0]])


def enumerated(policy: Policy, chain: Chain, count: int, kept: int) -> Account:
    """The account of a user's last events from nothing but the definition: every path of values."""
    run, events = Run(policy, chain, users=1), events_of(count, 1, chain.size)
    likelihoods, charges, start = [], [], np.zeros(chain.size)
    start_into(run.arrays, start)
    for i in range(count):
        if i == count - kept:
            predict_user(policy, run.arrays, run.bench, run.heads[0].copy(), run.codes[0], 0)
            start = run.bench.ahead.copy()
        releases = run.block(part(events, i, i + 1))
        told = releases.outcome[0] == RELEASED
        likelihoods.append(run.bench.work.likelihood.copy() if told else np.ones(chain.size))
        charges.append((int(releases.upper[0]), int(releases.lower[0])))
    likelihoods, charges = likelihoods[-kept:], charges[-kept:]
    matrix = dense(chain)
    paths = {}
    for path in itertools.product(range(chain.size), repeat=len(likelihoods)):
        prior = start[path[0]] / start.sum() * math.prod(matrix[x, y] for x, y in itertools.pairwise(path))
        if prior > 0:
            paths[path] = (prior, math.prod(column[x] for column, x in zip(likelihoods, path, strict=True)))
    evidence = sum(prior * chance for prior, chance in paths.values())
    ratios = [chance / evidence for _, chance in paths.values()]
    single = 0.0
    for at in range(len(likelihoods)):
        for x in range(chain.size):
            through = [pair for path, pair in paths.items() if path[at] == x]
            if through:
                prior = sum(pair[0] for pair in through)
                single = max(single, abs(math.log(sum(p * c for p, c in through) / evidence / prior)))
    upper, lower = (nats(sum(side)) for side in zip(*charges, strict=True))
    exact = max(math.log(max(ratios)), -math.log(min(ratios)))
    return Account(exact, single, max(upper, lower), nats(sum(max(pair) for pair in charges)))


def worked_out(policy: Policy, chain: Chain, count: int, kept: int, sizes: tuple[int, ...]) -> Account:
    watched = Watched(policy, chain, users=1, followed=1, kept=kept)
    events, at = events_of(count, 1, chain.size), 0
    for size in itertools.cycle(sizes):
        if at >= count:
            break
        watched.block(part(events, at, min(at + size, count)))
        at += size
    watched.witness.renew_all()
    (found,) = watched.witness.accounts()
    return found


@pytest.mark.parametrize("chain", [sticky_chain(3), sticky_chain(2, 0.99), SPARSE], ids=["3", "2", "sparse"])
@pytest.mark.parametrize("mechanism", [name for name in registry.MECHANISMS if name not in ("near", "forecast")])
@pytest.mark.parametrize(("count", "kept"), [(1, 5), (5, 5), (11, 5)])
def test_an_account_is_the_definition_enumerated(mechanism: str, chain: Chain, count: int, kept: int) -> None:
    policy = policy_of(mechanism, 1.0)
    found = worked_out(policy, chain, count, kept, (3,))
    wanted = enumerated(policy, chain, count, kept)
    if found.exact < found.counters:
        assert found.exact == pytest.approx(wanted.exact, abs=1e-6)
        assert found.single_value == pytest.approx(wanted.single_value, abs=1e-6)
    assert found.exact >= wanted.exact - 1e-15 and found.single_value >= wanted.single_value - 1e-15
    assert found.single_value <= found.exact <= found.counters <= found.sum
    assert (found.counters, found.sum) == pytest.approx((wanted.counters, wanted.sum), abs=1e-9)


def test_what_a_chain_cannot_do_is_less_than_the_counters_say() -> None:
    found = worked_out(policy_of(), SPARSE, 40, 50, (7,))
    assert found.exact < 0.95 * found.counters
    assert found.single_value < 0.5 * found.exact


@pytest.mark.parametrize("budget", [None, 3.5])
def test_how_a_partition_is_cut_into_blocks_changes_no_account(budget: float | None) -> None:
    """Forecasts are among the events where there is a budget."""
    changes = {} if budget is None else {"budget": budget_units(budget), "sliding": 7}
    policy, chain = policy_of(**changes), sticky_chain(4)
    found = {worked_out(policy, chain, 70, 20, sizes) for sizes in [(1,), (70,), (3, 11, 1), (64,)]}
    assert len(found) == 1
    assert found.pop().counters <= (math.inf if budget is None else 3.5 * 3)


def test_the_accounts_of_those_who_are_followed_are_their_own() -> None:
    policy, chain = policy_of(), sticky_chain(3)
    values = paths_of(chain, 30, 12, np.random.default_rng(5))
    watched = Watched(policy, chain, users=30, followed=6, kept=12)
    charged = {}
    run = Run(policy, chain, users=30)
    for block in blocks(events_along(values), 90):
        watched.block(block)
        releases = run.block(block)
        for user in range(30):
            mine = block.slot == user
            sums = charged.get(user, (0, 0))
            charged[user] = (sums[0] + int(releases.upper[mine].sum()), sums[1] + int(releases.lower[mine].sum()))
    watched.witness.renew_all()
    found = sorted(account.counters for account in watched.witness.accounts())
    followed = [user for user in range(30) if watched.following.place_of(0, b"user-%d" % user) is not None]
    assert found == sorted(nats(max(charged[user])) for user in followed)
    assert len(found) == 6
    watched.witness.lost(0)
    assert watched.witness.accounts() == []


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.01
        return self.now


def test_accounts_are_renewed_for_a_fiftieth_of_the_time_at_most() -> None:
    clock = Clock()
    watched = Watched(policy_of(), sticky_chain(3), users=8, followed=8, clock=clock)
    renewed, renew = [], watched.witness._renew
    watched.witness._renew = lambda place: (renewed.append(place), renew(place))  # type: ignore[method-assign]
    for block in blocks(events_of(4_000, 8, 3), 5):
        watched.block(block)
    assert set(renewed) == set(range(8))
    assert 0.01 * len(renewed) * 50 <= clock.now + 0.51 <= 0.01 * len(renewed) * 60 + 1


def test_an_unknown_drift_leaves_the_counters() -> None:
    chain = Chain.from_dense([1, 0, 0], [[1 - 1e-20, 1e-20, 0], [0, 1 - 1e-20, 1e-20], [0, 0, 1]])
    found = worked_out(policy_of(), chain, 40, 10, (5,))
    assert found.exact == found.single_value == found.counters
