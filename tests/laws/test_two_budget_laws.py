"""two_budget with levels above epsilon: its channels in exact integers, and every sequence of releases of short
streams, held against the counters and the budget without a tolerance.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from channels import epsilon_units, exponential_floor, extents, registered, whole, workspace_of
from oracles import accuracy_by_linear_program
from random_beliefs import belief_of
from step_help import Run, events_of, policy_of, sticky_chain
from test_step_laws import CHAINS, Exact, assert_within_drift, log_units

from beliefs.chain import Chain
from beliefs.rounding import INFINITE, UNITS_PER_NAT, budget_units, log_units_up
from mechanisms import registry
from mechanisms.contract import TOTAL
from mechanisms.sequence.two_budget import level_within, levels_of, rising_of
from stream.commands.expectation import Promised, one_day
from stream.policy import FORECAST, RELEASED, Policy, Releases
from stream.state import Word
from stream.step import advance

Told = tuple[list[Fraction], ...]
SUBJECT = registered("two_budget")


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 0.2, 1.0, 3.0, 16.0])
@pytest.mark.parametrize("upper", [1.5, 3.0, 32.0])
def test_both_sides_hold_in_the_integers(epsilon: float, upper: float) -> None:
    """Without a tolerance, for every value, impossible ones included; and what is reported is outward and fits."""
    lower, most = epsilon_units(epsilon), epsilon_units(max(epsilon, upper))
    rng = np.random.default_rng(8)
    for attempt in range(180):
        symbols = int(rng.integers(1, 9)) if attempt % 20 else 150
        belief = belief_of(attempt % 9, symbols, epsilon, rng)
        rising = rising_of(lower, most, symbols)
        level = int(rng.integers(rising.levels.shape[0]))
        told = int(rising.levels[level])
        channel = SUBJECT.describe(belief, rising.constants[level, 0], workspace_of(SUBJECT, symbols))
        assert all(sum(row) == TOTAL and min(row) >= 0 for row in channel.rows)
        assert log_units_up(channel.worst[0]) <= told
        assert log_units_up(channel.worst[1]) <= lower
        assert log_units_up(channel.worst[2]) <= told + lower
        for extent, (_, reported) in zip(extents(channel, belief), channel.columns, strict=True):
            assert extent.within(*exponential_floor(told))[0]
            assert extent.within(*exponential_floor(lower))[1]
            for said, worst, true in zip(reported, channel.worst, extent.ratios(), strict=True):
                assert true is not None and true <= Fraction(said)
                assert said <= worst


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 3.0])
def test_no_channel_within_the_two_bounds_keeps_more(epsilon: float) -> None:
    rng = np.random.default_rng(3)
    for attempt in range(60):
        symbols = int(rng.integers(2, 6))
        belief, upper = belief_of(attempt % 9, symbols, epsilon, rng), epsilon + float(rng.choice([0.2, 1.0, 4.0]))
        rising = rising_of(epsilon_units(epsilon), epsilon_units(upper), symbols)
        channel = SUBJECT.describe(belief, rising.constants[-1, 0], workspace_of(SUBJECT, symbols))
        masses = whole(belief)
        kept = sum(masses[y] * channel.rows[y][i] for i, y in enumerate(channel.released)) / (sum(masses) * TOTAL)
        assert kept == pytest.approx(accuracy_by_linear_program(belief / belief.sum(), epsilon, upper), abs=1e-8)


def test_a_flat_belief_over_many_values_is_certified_at_every_level() -> None:
    """All values are taken where the cap is large, and as many units may be left over."""
    symbols = 41_270
    rising = rising_of(epsilon_units(0.1), epsilon_units(32.0), symbols)
    belief = np.full(symbols, 1.0 / symbols)
    work = workspace_of(SUBJECT, symbols)
    for level in (3, 15):
        upper, lower, _ = registry.prepare(9, belief, rising.constants[level, 0], work)
        assert log_units_up(upper) <= rising.levels[level]
        assert log_units_up(lower) <= rising.levels[0]
        assert work.size[0] > 1000


def test_levels_are_whole_units_from_epsilon_to_upper() -> None:
    assert levels_of(100, 100) == [100]
    assert levels_of(100, 103) == [100, 101, 102, 103]
    levels = np.array(levels_of(UNITS_PER_NAT, 3 * UNITS_PER_NAT), dtype=np.int64)
    assert (levels.size, levels[0], levels[-1]) == (16, UNITS_PER_NAT, 3 * UNITS_PER_NAT)
    for left, level in ((0, 0), (levels[1] - 1, 0), (levels[1], 1), (levels[15], 15), (INFINITE, 15)):
        assert level_within(levels, left) == level


@pytest.mark.parametrize("chain_name", CHAINS)
@pytest.mark.parametrize(("epsilon", "upper", "shift"), [(0.2, 1.5, 0), (1.0, 3.0, 1 << 36), (0.1, 8.0, 1 << 33)])
def test_the_ledger_covers_what_an_exact_adversary_learns(
    chain_name: str, epsilon: float, upper: float, shift: int
) -> None:
    """Each charge is at least the true leak and within its side's bound; a shift is part of it."""
    chain = CHAINS[chain_name]()
    policy = raised(policy_of("two_budget", epsilon, budget=budget_units(20.0)), upper, chain.symbols, shift)
    run, adversary = Run(policy, chain, users=1), Exact(chain)
    assert policy.rising is not None
    for i in range(60):
        event = events_of(1, 1, chain.size, seed=i, first_offset=i)
        left = policy.budget - int(run.heads[0, Word.WINDOW_UPPER])
        releases = run.block(event)
        adversary.predict()
        assert releases.uncertified[0] == 0
        if releases.outcome[0] != RELEASED:
            continue
        work = run.bench.work
        place = work.head[: work.size[0]].tolist().index(int(releases.symbol[0]))
        column = []
        for x in range(chain.symbols):
            registry.row(policy.mechanism, x, run.bench.belief, work)
            column.append(Fraction(int(work.row[place])))
        above, below = adversary.learn(column)
        most = policy.rising.levels[level_within(policy.rising.levels, left)]
        assert log_units(above) <= int(releases.upper[0]) <= min(most, budget_units(upper))
        assert log_units(below) <= int(releases.lower[0]) <= policy.epsilon
        assert log_units(Fraction(max(column), min(column))) <= policy.epsilon + budget_units(upper)
        assert_within_drift(run, adversary.belief)


def raised(policy: Policy, upper: float, symbols: int, shift: int = 0) -> Policy:
    rising = rising_of(policy.epsilon, budget_units(upper), symbols, shift)
    return policy._replace(rising=rising, shift=shift, constants=rising.constants[0])


@pytest.mark.parametrize("shift", [UNITS_PER_NAT // 2, UNITS_PER_NAT // 2 + 1])
def test_from_half_of_epsilon_on_nothing_is_told_above_epsilon(shift: int) -> None:
    """Then it is built for half of epsilon either way, whatever the budget has left, and the spread is charged."""
    run = Run(raised(policy_of("two_budget", 1.0), 5.0, 4, shift), sticky_chain(4), users=3)
    releases = run.block(events_of(300, 3, 4))
    assert (releases.outcome == RELEASED).all()
    assert 0 < max(releases.upper.max(), releases.lower.max()) <= run.policy.epsilon


class Enumerated:
    """Every string of releases of a short stream, by the step itself: coins are chosen so that each comes up once."""

    def __init__(self, policy: Policy, chain: Chain, times: int) -> None:
        self._policy, self._chain, self._times = policy, chain, times
        self.highest = 0

    def strings(self, run: Run | None = None, told: Told = ()) -> Iterator[tuple[Run, Told]]:
        run = run or Run(self._policy, self._chain, users=1)
        if len(told) == self._times:
            yield run, told
            return
        for coin in self._coins(run):
            branch = copied(run)
            releases = self._event(branch, 0, coin)
            self.highest = max(self.highest, int(releases.upper[0]))
            if releases.outcome[0] == FORECAST:
                yield from self.strings(branch, (*told, [Fraction(1)] * self._chain.symbols))
                return
            yield from self.strings(branch, (*told, self._column(branch, int(releases.symbol[0]))))

    def _event(self, run: Run, symbol: int, coin: int) -> Releases:
        step = int(run.heads[0, Word.STEPS])
        one = events_of(1, 1, 1, first_offset=step)._replace(symbol=np.array([symbol]))
        coins = np.array([[coin, 0]], dtype=np.uint64)
        return advance(run.policy, run.arrays, run.bench, run.heads, run.codes, one, coins)

    def _coins(self, run: Run) -> list[int]:
        probe = copied(run)
        if self._event(probe, 0, 0).outcome[0] != RELEASED:
            return [0]
        work = probe.bench.work
        registry.row(self._policy.mechanism, 0, probe.bench.belief, work)
        row = work.row[: work.size[0]].tolist()
        return [4 * start for start in itertools.accumulate(row[:-1], initial=0)]

    def _column(self, run: Run, symbol: int) -> list[Fraction]:
        work = run.bench.work
        place = work.head[: work.size[0]].tolist().index(symbol)
        column = []
        for x in range(self._chain.symbols):
            registry.row(self._policy.mechanism, x, run.bench.belief, work)
            column.append(Fraction(int(work.row[place]), TOTAL))
        return column


def copied(run: Run) -> Run:
    other = Run(run.policy, run.chain, users=1)
    other.heads[:], other.codes[:] = run.heads, run.codes
    return other


@pytest.mark.parametrize(
    ("chain", "times", "epsilon", "upper", "budget"),
    [
        (Chain.from_dense([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]), 5, 0.2, 1.0, 1.0),
        (Chain.from_dense([0.5, 0.5], [[0.7, 0.3], [0.4, 0.6]]), 5, 0.4, 2.0, 1.3),
        (Chain.from_dense([0.2, 0.3, 0.5], [[0.8, 0.1, 0.1], [0.0, 0.9, 0.1], [0.3, 0.3, 0.4]]), 4, 0.25, 1.2, 1.4),
        (Chain.from_dense([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]]), 4, 0.4, 3.0, 3.5),
    ],
)
def test_every_sequence_of_values_and_releases_keeps_both_counters(
    chain: Chain, times: int, epsilon: float, upper: float, budget: float
) -> None:
    """P(y|x)/P(y) from all paths of the chain in fractions, for x impossible under the chain as well."""
    policy = raised(policy_of("two_budget", epsilon, budget=budget_units(budget)), upper, chain.symbols)
    exact, total, count = Exact(chain), Fraction(0), 0
    start = exact.belief
    rows = [dict(row) for row in exact.rows]
    paths = list(itertools.product(range(chain.symbols), repeat=times))
    weights = [
        start[path[0]]
        * math.prod((rows[a].get(b, Fraction(0)) for a, b in itertools.pairwise(path)), start=Fraction(1))
        for path in paths
    ]
    enumerated = Enumerated(policy, chain, times)
    for run, told in enumerated.strings():
        chances = [math.prod((column[x] for column, x in zip(told, path, strict=True))) for path in paths]
        chance = sum((w * c for w, c in zip(weights, chances, strict=True)), Fraction(0))
        above, below = int(run.heads[0, Word.UPPER]), int(run.heads[0, Word.LOWER])
        assert log_units(max(chances) / chance) <= above <= policy.budget
        assert log_units(chance / min(chances)) <= below <= policy.budget
        total, count = total + chance, count + 1
    assert total == 1
    assert count > times
    assert enumerated.highest > policy.epsilon


def test_rare_values_are_kept_more_often_for_the_same_budget() -> None:
    """Ten values that stay with .98, by the step itself and its fixed public coins: more than 3 standard errors."""
    matrix = np.full((10, 10), 0.02 / 9)
    np.fill_diagonal(matrix, 0.98)
    chain = Chain.from_dense([0.1] * 10, matrix)
    budget = budget_units(5.0)
    usual = one_day(Promised(policy_of("optimal", 0.5, budget=budget)), chain, 20)
    waited = one_day(Promised(policy_of("two_budget", 0.5, budget=budget, upper=2.0, symbols=10)), chain, 20)
    assert waited.agreement - usual.agreement > 3 * (waited.agreement_error + usual.agreement_error)
    assert max(waited.upper_per_user, waited.lower_per_user) <= 5.0
