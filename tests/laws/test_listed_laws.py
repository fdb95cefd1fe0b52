"""Laws of the step where rows list a few entries of a belief, held against an adversary who computes in fractions."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from step_help import Run, column_of, events_of, part, policy_of
from tail_models import zipf_chain

from beliefs.chain import Chain
from beliefs.checks import InvariantBroken
from beliefs.listed import entries_listed
from beliefs.rounding import UNITS_PER_NAT
from mechanisms import registry
from mechanisms.contract import DRIFT_UNKNOWN
from stream.policy import RELEASED
from stream.state import CLOCK_HEAD_WORDS, decode_listed, drift_of, from_rows, to_rows

SIZE, EVENTS = 24, 14
HOLDING = [name for name, entry in registry.MECHANISMS.items() if entry.holds_epsilon]


def log_units(ratio: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln() * UNITS_PER_NAT


class Exact:
    """An adversary who knows the model and the channel and makes no rounding."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.belief = [Fraction(p) for p in chain.start.tolist()]
        self.seen = False

    def predict(self) -> None:
        if self.seen:
            left = sum(b * Fraction(p) for b, p in zip(self.belief, self.chain.left.tolist(), strict=True))
            following = [left * Fraction(t) for t in self.chain.tail.tolist()]
            for x, mass in enumerate(self.belief):
                for y, p in zip(*(side.tolist() for side in self.chain.named(x)), strict=True):
                    following[y] += mass * Fraction(p)
            self.belief = following
        self.seen = True

    def learn(self, column: list[Fraction]) -> tuple[Fraction, Fraction]:
        marginal = sum(b * a for b, a in zip(self.belief, column, strict=True)) / sum(self.belief)
        self.belief = [b * a for b, a in zip(self.belief, column, strict=True)]
        return max(column) / marginal, marginal / min(column)


def distance_to(run: Run, exact: list[Fraction]) -> Decimal:
    """Of the stored belief, in units of drift."""
    stored = np.zeros(run.chain.size)
    decode_listed(run.codes[0], run.arrays.tail, run.bench.listing, stored, stored.view(np.int64))
    ratios = [Fraction(mass) / truth for mass, truth in zip(stored.tolist(), exact, strict=True)]
    return log_units(max(ratios) / min(ratios)) / (UNITS_PER_NAT >> 32)


@pytest.mark.parametrize("mechanism", HOLDING)
@pytest.mark.parametrize(("reach", "left", "listed"), [(6, 0.3, 8), (None, 0.9, 16), (None, 0.5, 4), (None, 0.3, 1)])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_ledger_covers_what_an_exact_adversary_learns(
    mechanism: str, reach: int | None, left: float, listed: int, epsilon: float
) -> None:
    """Each charge is at least its release's true leak and at most epsilon; the stored belief is within its drift."""
    chain = zipf_chain(SIZE, named=3, reach=reach, left=left)
    run, adversary = Run(policy_of(mechanism, epsilon, listed=listed), chain, users=1), Exact(chain)
    events = events_of(EVENTS, 1, SIZE, seed=3)
    for i in range(EVENTS):
        releases = run.block(part(events, i, i + 1))
        adversary.predict()
        if releases.outcome[0] == RELEASED:
            upper, lower = adversary.learn(column_of(run, int(releases.symbol[0])))
            assert log_units(upper) <= int(releases.upper[0]) <= run.policy.epsilon
            assert log_units(lower) <= int(releases.lower[0]) <= run.policy.epsilon
        drift = int(drift_of(run.heads)[0])
        if drift != DRIFT_UNKNOWN:
            assert distance_to(run, adversary.belief) <= drift


def drifts_of(chain: Chain, listed: int, events: int = 30) -> list[int]:
    run = Run(policy_of("optimal", 1.0, listed=listed), chain, users=1)
    told = events_of(events, 1, chain.size, seed=3)
    drifts = []
    for i in range(events):
        run.block(part(told, i, i + 1))
        drifts.append(int(drift_of(run.heads)[0]))
    return drifts


def test_nothing_is_lost_where_all_that_is_reached_by_name_is_listed() -> None:
    chain = zipf_chain(300, named=3, reach=20)
    assert max(drifts_of(chain, 24)) < 30 * 140
    assert drifts_of(chain, 4)[0] < drifts_of(chain, 4)[3] > 1 << 20


def test_what_is_lost_is_lost_in_truth() -> None:
    """Listing less really moves the belief: else the laws above would hold of nothing."""
    chain = zipf_chain(SIZE, named=3, left=0.9)
    run, adversary = Run(policy_of("optimal", 1.0, listed=6), chain, users=1), Exact(chain)
    events = events_of(2, 1, SIZE, seed=3)
    for i in range(2):
        releases = run.block(part(events, i, i + 1))
        adversary.predict()
        adversary.learn(column_of(run, int(releases.symbol[0])))
    assert 1 << 24 < distance_to(run, adversary.belief) <= int(drift_of(run.heads)[0]) < DRIFT_UNKNOWN


@pytest.mark.parametrize("interval", [0, 1000])
def test_rows_do_not_depend_on_how_a_partition_is_cut_into_blocks(interval: int) -> None:
    chain = zipf_chain(300, named=4)
    policy = policy_of("optimal", 1.0, listed=12, interval=interval)
    events = events_of(120, 5, 300, every_ms=400)
    whole, cut = Run(policy, chain, users=5), Run(policy, chain, users=5)
    whole.block(events)
    for start, end in ((0, 1), (1, 50), (50, 53), (53, 120)):
        cut.block(part(events, start, end))
        words = CLOCK_HEAD_WORDS if interval else 8
        stored = to_rows(cut.heads, cut.codes)
        heads, codes, verdicts = from_rows(stored, cut.codes.shape[1], policy.model_tag, words, True)
        known = cut.heads[:, 6] > 0
        assert not verdicts[known].any()
        cut.heads[known], cut.codes[known] = heads[known], codes[known]
    assert to_rows(whole.heads, whole.codes) == to_rows(cut.heads, cut.codes)
    assert whole.heads[0, 0] & 0xFF == (5 if interval else 4)


def test_rows_of_another_width_or_without_a_tail_are_not_touched() -> None:
    chain = zipf_chain(40)
    run = Run(policy_of(listed=5), chain, users=1)
    run.codes = run.codes[:, :-1].copy()
    with pytest.raises(InvariantBroken, match="list as many entries"):
        run.block(events_of(1, 1, 40))
    bare = Run(policy_of(listed=5), Chain.from_dense([0.5, 0.5], [[0.5, 0.5]] * 2), users=1)
    with pytest.raises(InvariantBroken, match="beside a tail"):
        bare.block(events_of(1, 1, 2))


class LongDoubles:
    """The exact belief up to 64 binary digits, for alphabets that fractions take too long for."""

    def __init__(self, chain: Chain) -> None:
        self.rows = np.repeat(np.arange(chain.size), np.diff(chain.indptr))
        self.columns, self.named = chain.indices, chain.data.astype(np.longdouble)
        self.tail, self.left = chain.tail.astype(np.longdouble), chain.left.astype(np.longdouble)
        self.belief = chain.start.astype(np.longdouble)

    def predict(self) -> None:
        following = (self.belief * self.left).sum() * self.tail
        np.add.at(following, self.columns, self.belief[self.rows] * self.named)
        self.belief = following / following.sum()


@pytest.mark.parametrize(("reach", "events"), [(1_500, 25), (41_270, 3)])
def test_41270_values_take_16_kib_and_keep_every_bound(reach: int, events: int) -> None:
    chain = zipf_chain(41_270, named=4, reach=reach, left=0.5 if reach < 41_270 else 0.98)
    listed = entries_listed(None, chain.size, chain.has_tail)
    run, exact = Run(policy_of("optimal", 1.0, listed=listed), chain, users=1), LongDoubles(chain)
    told = events_of(events, 1, chain.size, seed=3)
    for i in range(events):
        releases = run.block(part(told, i, i + 1))
        if i > 0:
            exact.predict()
        assert releases.outcome[0] == RELEASED
        assert max(int(releases.upper[0]), int(releases.lower[0])) <= run.policy.epsilon
        exact.belief *= run.bench.work.likelihood
        drift = int(drift_of(run.heads)[0])
        assert drift < DRIFT_UNKNOWN
        stored = np.zeros(chain.size)
        decode_listed(run.codes[0], run.arrays.tail, run.bench.listing, stored, stored.view(np.int64))
        ratios = np.log(stored / exact.belief)
        assert float(ratios.max() - ratios.min()) <= drift / 2**32
    assert len(to_rows(run.heads, run.codes)[0]) <= 16 * 1024
    assert (drift > 1 << 28) == (reach == 41_270)
