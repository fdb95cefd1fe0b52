"""Laws of the step for models with a longer memory and for models by the clock, held against an exact adversary."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from context_models import DETOUR, law_of
from hypothesis import given, settings
from hypothesis import strategies as st
from step_help import Run, column_of, events_of, part, policy_of, sticky_chain
from test_step_laws import BOUNDED, log_units

from beliefs import belief as definition
from beliefs.chain import Chain
from beliefs.checks import InvariantBroken
from beliefs.clock import LEAST_MASS, carry_over
from beliefs.contexts import chain_of
from beliefs.forward import predict_into
from beliefs.rounding import UNITS_PER_NAT, budget_units
from mechanisms.contract import DRIFT_UNKNOWN
from stream import drift as drifts
from stream.policy import RELEASED, Events, new_bench
from stream.state import CLOCK_HEAD_WORDS, Word, decode_belief, drift_of, encode_belief, new_users
from stream.step import advance

EVEN = np.array([0.5, 0.5])
THREE = {(): law_of([0.25, 0.375, 0.375]), (2,): law_of([0.25, 0.25, 0.5]), (0, 1, 2): law_of([0.375, 0.25, 0.375])}
CHAINS = {
    "bursts": lambda: chain_of(
        EVEN, {(): law_of([0.5, 0.5]), (0, 0): law_of([0.9, 0.1]), (1, 1, 1): law_of([0.75, 0.25])}
    ),
    "turns": lambda: chain_of(EVEN, {(): law_of([0.5, 0.5]), (0, 1): law_of([1.0, 0.0]), (1, 0): law_of([0.25, 0.75])}),
    "three": lambda: chain_of(np.array([0.5, 0.25, 0.25]), THREE),
    "first order": lambda: sticky_chain(3, 0.6),
}
TIMES = np.array([0, 0, 400, 1000, 999, 1000, 6500, 6400, 7000, 30_000, 30_001, 31_000, 90_000, 90_500, 92_000])


class Exact:
    """An adversary who knows the model, the channel and the times, and makes no rounding."""

    def __init__(self, chain: Chain, interval: int, most: int) -> None:
        self.rows = [[(y, Fraction(p)) for y, p in row] for row in definition.rows_of(chain)]
        for s, row in enumerate(self.rows):
            total = sum(p for _, p in row)
            self.rows[s] = [(y, p / total) for y, p in row]
        start = [Fraction(float(mass)) for mass in chain.start]
        self.belief = [mass / sum(start) for mass in start]
        self.symbol_of = chain.symbol_of.tolist()
        self.interval, self.most = interval, most
        self.reached: int | None = None

    def move_on(self, time: int) -> None:
        now = time // self.interval if self.interval else (0 if self.reached is None else self.reached + 1)
        steps = 0 if self.reached is None else max(0, now - self.reached)
        for _ in range(min(steps, self.most)):
            self.belief = definition.predict(self.belief, self.rows)
        self.reached = now if self.reached is None else max(self.reached, now)

    def learn(self, column: list[Fraction]) -> tuple[Fraction, Fraction]:
        law = definition.marginal(self.belief, self.symbol_of)
        chance = sum(b * a for b, a in zip(law, column, strict=True))
        self.belief = definition.condition(self.belief, definition.lifted(column, self.symbol_of))
        return max(column) / chance, chance / min(column)


def assert_within_drift(run: Run, exact: list[Fraction]) -> None:
    drift = int(drift_of(run.heads)[0])
    assert drift < DRIFT_UNKNOWN
    stored = np.zeros(run.chain.size)
    decode_belief(run.codes[0], stored.view(np.int64))
    assert [mass == 0 for mass in stored] == [truth == 0 for truth in exact]
    ratios = [Fraction(mass) / truth for mass, truth in zip(stored.tolist(), exact, strict=True) if truth]
    assert log_units(max(ratios) / min(ratios)) <= drift * (UNITS_PER_NAT >> 32)


@pytest.mark.parametrize("interval", [0, 1000])
@pytest.mark.parametrize("chain_name", CHAINS)
@pytest.mark.parametrize("mechanism", BOUNDED)
def test_the_ledger_covers_what_an_exact_adversary_learns(mechanism: str, chain_name: str, interval: int) -> None:
    run = Run(policy_of(mechanism, 1.0, interval=interval, most_steps=20), CHAINS[chain_name](), users=1)
    assert_covered(run, Exact(run.chain, interval, 20))


def assert_covered(run: Run, adversary: Exact) -> None:
    """Each release tells an exact adversary at most what is charged, and what is kept is within its drift of theirs."""
    events = events_of(len(TIMES), 1, run.chain.symbols, seed=3)._replace(time=TIMES)
    for i, time in enumerate(TIMES.tolist()):
        releases = run.block(part(events, i, i + 1))
        adversary.move_on(time)
        assert releases.outcome[0] == RELEASED
        upper, lower = adversary.learn(column_of(run, int(releases.symbol[0])))
        assert log_units(upper) <= int(releases.upper[0]) <= run.policy.epsilon
        assert log_units(lower) <= int(releases.lower[0]) <= run.policy.epsilon
        assert_within_drift(run, adversary.belief)
        law = definition.marginal(adversary.belief, adversary.symbol_of)
        assert sum(law) == 1 and all(mass >= 0 for mass in law)


def test_drift_stays_bounded_where_every_value_is_possible_after_every_state() -> None:
    """The drift of an order above 1 contracts once a span; without that, 3,000 events would make it 390,000 units."""
    run = Run(policy_of("optimal", 1.0), CHAINS["three"](), users=1)
    assert run.chain.span == 3
    largest = 0
    for i in range(60):
        run.block(events_of(50, 1, 3, seed=i, first_offset=50 * i))
        largest = max(largest, int(drift_of(run.heads)[0]))
    tau = run.chain.contraction / 2**32
    assert 3 * drifts.OF_EVENT < largest < 1 + 2 / (1 - tau) * 3 * drifts.OF_EVENT < 390_000


def test_drift_grows_where_a_value_is_impossible_after_some_state() -> None:
    run = Run(policy_of("optimal", 1.0), CHAINS["turns"](), users=1)
    run.block(events_of(100, 1, 2))
    assert drift_of(run.heads)[0] == 100 * drifts.OF_EVENT - 1  # the start is not a prediction


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 7, 1000])
@pytest.mark.parametrize("span", [1, 3])
def test_drift_after_steps_is_what_each_span_leaves(steps: int, span: int) -> None:
    contraction, drift = 3 << 30, 10**6
    for _ in range(steps // span):
        drift = -(-drift * contraction // 2**32) + span
    assert drifts.after_steps(10**6, steps, contraction, span) == drift + (steps % span if steps else 1)
    assert drifts.after_steps(DRIFT_UNKNOWN, steps, contraction, span) == DRIFT_UNKNOWN
    assert drifts.after_steps(DRIFT_UNKNOWN - 1, steps, 1 << 32, span) == DRIFT_UNKNOWN


@pytest.mark.parametrize("drift", [0, 1, 10**6, DRIFT_UNKNOWN - 1])
def test_drift_after_an_event_looks_back_only_when_a_span_is_complete(drift: int) -> None:
    contraction = 1 << 31
    assert drifts.after_an_event(drift, 4, contraction, 3) == min(drift + 1, DRIFT_UNKNOWN)
    kept = min(drift, -(-drift // 2) + 3 * drifts.OF_EVENT)
    assert drifts.after_an_event(drift, 6, contraction, 3) == min(kept + 1, DRIFT_UNKNOWN)
    assert drifts.after_an_event(drift, 6, contraction, 1) == -(-drift // 2) + 1


@given(cuts=st.lists(st.integers(1, 199), max_size=12), seed=st.integers(0, 100), interval=st.sampled_from([0, 70]))
@settings(max_examples=25)
def test_the_result_does_not_depend_on_how_a_partition_is_cut(cuts: list[int], seed: int, interval: int) -> None:
    policy = policy_of(budget=budget_units(6.0), window=500, interval=interval, most_steps=3)
    whole, cut = (Run(policy, CHAINS["bursts"](), users=7) for _ in range(2))
    events = events_of(200, 7, 2, seed)
    expected = whole.block(events)
    edges = [0, *sorted(set(cuts)), 200]
    parts = [cut.block(part(events, a, b)) for a, b in pairwise(edges)]
    for name in ("symbol", "outcome", "upper", "lower", "step"):
        joined = np.concatenate([getattr(releases, name) for releases in parts])
        assert joined.tolist() == getattr(expected, name).tolist()
    assert whole.heads.tobytes() == cut.heads.tobytes()
    assert whole.codes.tobytes() == cut.codes.tobytes()


def test_states_that_nothing_depends_on_change_nothing() -> None:
    """A chain of first order with two states more, which have the law of their last value: the path for contexts."""
    chain = sticky_chain(4)
    alike = chain_of(chain.start, {(x,): chain.row(x) for x in range(4)} | {(): chain.row(0), (0, 1, 0): chain.row(0)})
    assert alike.size == 6
    one, other = Run(policy_of(), chain, users=1), Run(policy_of(), alike, users=1)
    events = events_of(100, 1, 4)
    assert one.block(events).symbol.tolist() == other.block(events).symbol.tolist()
    law = np.bincount(alike.symbol_of, weights=decoded(other))
    assert law == pytest.approx(decoded(one), rel=200 * drifts.OF_EVENT / 2**32)


def decoded(run: Run) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    belief = np.zeros(run.chain.size)
    decode_belief(run.codes[0], belief.view(np.int64))
    return belief


def at(*times: int) -> Events:
    count = len(times)
    return Events(*(np.array(column, dtype=np.int64) for column in ([0] * count, range(count), times, [1] * count)))


def by_clock(*times: int, most: int = 5) -> Run:
    """Nothing is ever told, so the belief is a function of the times alone."""
    run = Run(policy_of(budget=0, interval=1000, most_steps=most), sticky_chain(3), users=1)
    run.block(at(*times))
    return run


def test_the_clock_counts_intervals_that_have_begun() -> None:
    chain = sticky_chain(3)
    expected = chain.start.tolist()
    rows = definition.rows_of(chain)
    for _ in range(3):
        expected = definition.predict(expected, rows)
    assert decoded(by_clock(999, 1000, 3999)) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(
    ("times", "reached"), [((0,), 0), ((2500,), 2), ((2500, 2999), 2), ((2500, 1000, 2600), 2), ((2500, 99_000), 99)]
)
def test_the_row_holds_the_step_that_was_reached(times: tuple[int, ...], reached: int) -> None:
    assert by_clock(*times).heads[0, Word.CLOCK] == reached


def test_nothing_is_predicted_within_a_step_or_for_a_late_event() -> None:
    once, again = by_clock(5000), by_clock(5000, 5999, 100, 5500)
    assert decoded(again) == pytest.approx(decoded(once), rel=1e-7)
    assert again.heads[0, Word.STEPS] == 4


def test_a_silence_moves_the_belief_on_by_at_most_the_bound() -> None:
    assert by_clock(0, 5000).codes.tolist() == by_clock(0, 10**12).codes.tolist()
    assert by_clock(0, 4999).codes.tolist() != by_clock(0, 5000).codes.tolist()
    assert by_clock(0, 10**12, most=6).codes.tolist() == by_clock(0, 6000, most=7).codes.tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("stay", [0.1, 0.8])
def test_a_long_silence_gives_the_bits_of_every_single_step(stay: float, seed: int) -> None:
    """Some of these come to rest long before, some go round in circles of a few doubles for ever."""
    run = Run(policy_of(budget=0, interval=1000, most_steps=2000), sticky_chain(10, stay, seed), users=1)
    run.block(at(0))
    belief, following, codes = decoded(run), np.zeros(10), np.zeros(10, dtype=np.uint32)
    for _ in range(2000):
        predict_into(belief, run.arrays, following)
        belief, following = following, belief
    encode_belief(belief, belief.view(np.int64), codes)
    run.block(at(0, 10**9))
    assert run.bench.belief.tobytes() == belief.tobytes()
    assert run.codes[0].tolist() == codes.tolist()


VANISHING = Chain.from_sparse(
    [1.0] + [0.0] * 39, [([s, s + 1], [1 - 1e-20, 1e-20]) if s < 39 else ([39], [1.0]) for s in range(40)]
)


@pytest.mark.parametrize(("steps", "unknown"), [(1, False), (7, True), (25, True), (39, True), (1000, True)])
def test_what_is_possible_is_never_lost_as_a_zero(steps: int, unknown: bool) -> None:
    """After 39 steps the last state has 10^-780: no double is so small, and 0 would call it impossible."""
    run = Run(policy_of(budget=0, interval=1000, most_steps=1000), VANISHING, users=1)
    run.block(at(0, 1000 * steps))
    assert (run.codes[0] > 0).tolist() == [s <= steps for s in range(40)]
    assert (drift_of(run.heads)[0] == DRIFT_UNKNOWN) == unknown


def test_what_was_too_small_on_the_way_makes_the_drift_unknown() -> None:
    run = Run(policy_of(budget=0, interval=1000), DETOUR, users=1)
    run.block(at(0, 3000))
    assert decoded(run).tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert drift_of(run.heads)[0] == DRIFT_UNKNOWN


def test_between_two_steps_a_mass_may_be_small_without_being_raised() -> None:
    """1e-20 to the seventh is below the smallest code, which is what is kept, but far above 2^-512."""
    ahead, belief = np.array([0.0, 2.0**-511, 2.0**-513, 1.0]), np.zeros(4)
    assert not carry_over(ahead, belief)
    assert belief.tolist() == [0.0, 2.0**-511, LEAST_MASS, 1.0]
    assert carry_over(ahead[[0, 1, 3]], belief[:3])


def test_one_event_in_each_interval_is_one_step_for_each_event() -> None:
    chain = CHAINS["turns"]()
    events = events_of(80, 1, 2, every_ms=1000)
    clock, plain = (Run(policy_of(interval=interval), chain, users=1) for interval in (1000, 0))
    one, other = clock.block(events), plain.block(events)
    for name in ("symbol", "upper", "lower"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    assert clock.codes.tobytes() == plain.codes.tobytes()
    assert (clock.heads[:, 1:8] == plain.heads[:, 1:]).all()


def test_a_replayed_event_does_not_move_the_clock() -> None:
    run = by_clock(5000)
    run.block(at(99_000))
    assert run.heads[0, Word.CLOCK] == 5


@pytest.mark.parametrize("interval", [0, 1000])
def test_rows_of_the_other_layout_are_not_touched(interval: int) -> None:
    heads, codes = new_users(1, 3, 8 if interval else CLOCK_HEAD_WORDS)
    run = Run(policy_of(interval=interval), sticky_chain(3), users=1)
    with pytest.raises(InvariantBroken, match="words for the clock"):
        advance(run.policy, run.arrays, new_bench(3), heads, codes, at(0), np.zeros((1, 8), dtype=np.uint64))
