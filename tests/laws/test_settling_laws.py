"""Rows whose first belief nobody knows: everything that may be released, for readers who began anywhere and know a
chain at the corners of the error; and the blind epoch, whose charge holds against everybody.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from step_help import Run, events_of, part, policy_of, sticky_chain
from test_wrong_chains import apart, law_within, matrix_of

from beliefs.chain import Chain
from beliefs.checks import InvariantBroken
from beliefs.leakage.robust import chain_error_units
from beliefs.learning.online import Learnt, uniform_chain
from beliefs.rounding import UNITS_PER_NAT
from mechanisms import registry
from mechanisms.contract import DRIFT_TO_UNITS, DRIFT_UNKNOWN
from stream.drift import OF_EVENT, PREDICTIONS_MOST, Settle, settle_of
from stream.epochs import adopt, blind_chain, blind_policy, informed_policy
from stream.policy import RELEASED, STEPS, WINDOW_AND_DRIFT, Events, Policy, Releases
from stream.state import Codes, Integers, decode_belief, drift_of, from_rows, to_rows, unsettled

FLOAT = 0.01  # units
Law = np.ndarray


def learnt_of(chain: Chain, error: float, epsilon_units: int) -> Learnt:
    half = epsilon_units // 2
    withheld = min(half, chain_error_units(error, chain.contraction, chain.span))
    return Learnt(chain, error, withheld, 0, 1)


@dataclass
class Node:
    head: Integers
    codes: Codes
    ahead: Law  # what each reader believes about the next value
    exact: Law  # the same where they know the learnt chain itself


@dataclass
class Readers:
    rows: Law  # readers x n x n
    learnt: Law

    def after(self, ahead: Law, exact: Law, column: Law) -> tuple[Law, Law]:
        """What they believe about the value after a release."""
        known, told = ahead * column, exact * column
        return known / known.sum(axis=1, keepdims=True), told / told.sum(axis=1, keepdims=True)

    def on(self, known: Law, told: Law) -> tuple[Law, Law]:
        return np.einsum("rx,rxy->ry", known, self.rows), told @ self.learnt


def corners(size: int) -> Law:
    """Beliefs of all kinds, nearly certain ones among them."""
    sure = np.full((size, size), 1e-9) + np.eye(size)
    return np.concatenate([sure / sure.sum(axis=1, keepdims=True), np.full((1, size), 1 / size)])


@dataclass
class Followed:
    """Every sequence of releases, and the most that some reader learns beyond the charge."""

    run: Run
    readers: Readers
    excess: float = -math.inf
    leak: float = 0.0
    beyond_drift: float = -math.inf
    known: int = 0

    def go(self, node: Node, events: int) -> None:
        if events == 0:
            return
        _, head, _ = self._step(node, 0, 0)
        work, count = self.run.bench.work, int(self.run.bench.work.size[0])
        weights = np.zeros((self.run.chain.size, count), dtype=np.int64)
        for x in range(self.run.chain.size):
            registry.row(self.run.policy.mechanism, x, self.run.bench.belief, work)
            weights[x] = work.row[:count]
        for place in range(count):
            value = int(np.flatnonzero(weights[:, place])[0])
            releases, head, codes = self._step(node, value, int(weights[value, :place].sum()) << 2)
            assert releases.outcome[0] == RELEASED
            column = weights[:, place].astype(float)
            self._judge(node, releases, column)
            known, told = self.readers.after(node.ahead, node.exact, column)
            self._compare(head, codes, told)
            self.go(Node(head, codes, *self.readers.on(known, told)), events - 1)

    def _step(self, node: Node, value: int, coin: int) -> tuple[Releases, Integers, Codes]:
        self.run.heads, self.run.codes = node.head[None].copy(), node.codes[None].copy()
        at = int(node.head[1]) + 1
        events = Events(*(np.array([number]) for number in (0, at, at, value)))
        coins = np.full((1, 8), coin, dtype=np.uint64)
        return self.run.block_with(events, coins), self.run.heads[0].copy(), self.run.codes[0].copy()

    def _judge(self, node: Node, releases: Releases, column: Law) -> None:
        chances = node.ahead @ column
        sides = (np.log(column.max() / chances).max(), np.log(chances / column.min()).max())
        charges = (int(releases.upper[0]), int(releases.lower[0]))
        assert max(charges) <= self.run.policy.epsilon
        self.leak = max(self.leak, *sides)
        for side, charge in zip(sides, charges, strict=True):
            self.excess = max(self.excess, float(side) * UNITS_PER_NAT - charge)

    def _compare(self, head: Integers, codes: Codes, told: Law) -> None:
        drift = int(drift_of(head[None])[0])
        if drift == DRIFT_UNKNOWN:
            return
        self.known += 1
        stored = np.zeros(codes.size)
        decode_belief(codes, stored.view(np.int64))
        off = max(apart(stored, law) for law in told)
        self.beyond_drift = max(self.beyond_drift, off * UNITS_PER_NAT - drift * DRIFT_TO_UNITS)


def followed(
    chain: Chain, error: float, seed: int, *, adopted: bool, events: int, policy: Policy | None = None
) -> Followed:
    """A user with one event in the blind epoch, or none; then these events of the informed one."""
    promise, source = policy_of("optimal", 1.5), np.random.default_rng(seed)
    policy = policy or informed_policy(promise, learnt_of(chain, error, promise.epsilon), 7)
    beliefs = corners(chain.size)
    theirs = np.array([[law_within(row, error, source) for row in matrix_of(chain)] for _ in beliefs])
    readers = Readers(theirs, matrix_of(chain))
    blind = Run(blind_policy(promise, 3), blind_chain(chain.size), users=1)
    ahead = exact = beliefs
    if adopted:
        blind.block(events_of(1, 1, chain.size, seed))
        assert adopt(blind.heads, blind.codes, policy).all()
        ahead, exact = readers.on(*readers.after(beliefs, beliefs, blind.bench.work.likelihood))
        exact = (beliefs * blind.bench.work.likelihood) @ readers.learnt
        exact = exact / exact.sum(axis=1, keepdims=True)
    law = Followed(Run(policy, chain, users=1), readers)
    law.go(Node(blind.heads[0], blind.codes[0], ahead, exact), events)
    return law


CASES = [(2, 0.3, 6), (2, 0.8, 6), (3, 0.5, 5)]


@pytest.mark.parametrize("adopted", [True, False])
@pytest.mark.parametrize("error", [1e-4, 0.02, 0.3])
@pytest.mark.parametrize(("size", "stay", "events"), CASES)
def test_nobody_learns_more_than_is_charged(size: int, stay: float, events: int, error: float, adopted: bool) -> None:
    for seed in range(2):
        law = followed(sticky_chain(size, stay, seed), error, seed, adopted=adopted, events=events)
        assert law.excess <= FLOAT
        assert law.leak <= 1.5
        assert law.beyond_drift <= FLOAT


def test_beliefs_do_settle() -> None:
    """So the law above speaks of known drifts, too."""
    law = followed(sticky_chain(2, 0.3, 0), 1e-4, 0, adopted=True, events=6)
    assert law.known > 50


def test_rows_that_are_trusted_at_once_tell_somebody_more() -> None:
    chain, promise = sticky_chain(2, 0.8, 1), policy_of("optimal", 1.5)
    trusting = informed_policy(promise, learnt_of(chain, 1e-4, promise.epsilon), 7)._replace(settle=Settle(1, 0))
    law = followed(chain, 1e-4, 1, adopted=True, events=4, policy=trusting)
    assert law.excess > 0.1 * UNITS_PER_NAT and law.beyond_drift > 0


@pytest.mark.parametrize("stay", [0.0, 0.3, 0.7, 0.9, 0.97])
@pytest.mark.parametrize("size", [2, 5])
def test_the_first_predictions_bring_any_two_beliefs_as_near_as_is_said(size: int, stay: float) -> None:
    chain = sticky_chain(size, stay, 3)
    settle = settle_of(chain.contraction)
    rows, source = matrix_of(chain), np.random.default_rng(8)
    if settle.predictions == 0:
        assert chain.contraction / 2**32 > 0.97
        return
    assert settle.drift + OF_EVENT < DRIFT_UNKNOWN
    for one, other in itertools.permutations(np.eye(size) * (1 - 1e-9) + 1e-9, 2):
        for _ in range(settle.predictions):
            said = np.exp(source.uniform(-3, 3, size))
            one, other = (one * said) @ rows, (other * said) @ rows
        assert apart(one, other) * 2**32 <= settle.drift


def test_settling_takes_one_more_prediction_for_each_nat_of_a_long_memory() -> None:
    stays = (0.5, 0.6, 0.7, 0.9, 0.999)
    chains = [Chain.from_dense([0.5, 0.5], [[stay, 1 - stay], [1 - stay, stay]]) for stay in stays]
    ways = [settle_of(chain.contraction) for chain in chains]
    assert [settle.predictions for settle in ways] == [1, 1, 2, 8, 0]
    assert ways[0].drift <= 2
    assert settle_of(1 << 32) == Settle(0, DRIFT_UNKNOWN)
    assert PREDICTIONS_MOST == 127


def test_a_belief_that_could_not_be_kept_settles_anew() -> None:
    """A row as a fault of the model leaves it: its drift is unknown although it had been known."""
    chain = sticky_chain(2, 0.6, 2)
    policy = informed_policy(policy_of("optimal", 1.0), learnt_of(chain, 1e-3, UNITS_PER_NAT), 7)
    assert policy.settle is not None
    count = policy.settle.predictions
    run = Run(policy, chain, users=1)
    events = events_of(4 * count + 9, 1, 2)
    seen = []
    for place in range(events.slot.size):
        if place == 2 * count + 3:
            run.heads[0, WINDOW_AND_DRIFT] |= np.int64(-1 << 32)
        run.block(part(events, place, place + 1))
        seen.append(unsettled(run.heads[0]))
        assert (seen[-1] > 0) == (drift_of(run.heads)[0] == DRIFT_UNKNOWN)
    again = seen[2 * count + 3 :]
    assert seen[: count + 1] == again[: count + 1] == list(range(count, -1, -1))
    assert not any(seen[count : 2 * count + 3])


def test_rows_without_learning_keep_their_bytes_and_rows_with_it_their_size() -> None:
    chain = sticky_chain(3, 0.6, 2)
    plain = Run(policy_of("optimal", 1.0), chain, users=2)
    learning = Run(informed_policy(plain.policy, learnt_of(chain, 1e-3, UNITS_PER_NAT), 7), chain, users=2)
    for run in (plain, learning):
        run.block(part(events_of(2, 1, 3), 0, 1))
        rows = to_rows(run.heads[:1], run.codes[:1])
        assert len(rows[0]) == 64 + 4 * 3
        assert rows[0][1] == (0 if run is plain else learning.policy.settle.predictions << 1)
        assert not from_rows(rows, 3, run.policy.model_tag)[2].any()


def test_longer_memories_do_not_settle() -> None:
    chain = sticky_chain(2)
    run = Run(policy_of("optimal", 1.0, interval=10)._replace(settle=Settle(1, 5)), chain, users=1)
    with pytest.raises(InvariantBroken, match="beliefs settle"):
        run.block(events_of(1, 1, 2))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("size", [2, 3, 20])
def test_a_blind_release_is_charged_epsilon_and_tells_nobody_more(size: int, epsilon: float) -> None:
    """Whatever is believed of the value, and whatever the row says of its drift."""
    run = Run(blind_policy(policy_of("optimal", epsilon), 3), uniform_chain(size), users=3)
    source, charges = np.random.default_rng(size), set()
    for place in range(40):
        if place == 20:
            run.heads[:, WINDOW_AND_DRIFT] |= np.int64(-1 << 32)
        releases = run.block(part(events_of(40, 3, size), place, place + 1))
        assert releases.outcome[0] == RELEASED
        charges |= {int(releases.upper[0]), int(releases.lower[0])}
        column = run.bench.work.likelihood
        assert column.max() / column.min() == pytest.approx(math.exp(epsilon), rel=1e-9)
        for belief in [*corners(size), *source.dirichlet(np.full(size, 0.2), 5)]:
            chance = belief @ column
            learnt = max(math.log(column.max() / chance), math.log(chance / column.min()))
            assert learnt * UNITS_PER_NAT <= min(charges) + FLOAT
    assert len(charges) == 1
    assert run.policy.epsilon - 64 - size // 2 <= max(charges) <= run.policy.epsilon
    assert (run.heads[:, STEPS] > 0).all()
