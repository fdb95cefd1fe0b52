"""Laws of the step, held against an adversary who computes in exact fractions."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from step_help import Run, column_of, events_of, part, policy_of, sticky_chain

from beliefs import belief as definition
from beliefs.chain import Chain
from beliefs.distance import absolute
from beliefs.rounding import INFINITE, UNITS_PER_NAT, budget_units
from mechanisms import registry
from mechanisms.contract import DRIFT_UNKNOWN
from stream.policy import FORECAST, RELEASED, REPLAYED, SPENT_DRAW, SPENT_FORECAST, SPENT_STOP, SPENT_SUPPRESS
from stream.state import Word, decode_belief, drift_of, is_stopped

BOUNDED = [name for name, entry in registry.MECHANISMS.items() if entry.holds_epsilon]


def log_units(ratio: Fraction) -> Decimal:
    """The exact logarithm in units, to 50 digits."""
    with localcontext() as context:
        context.prec = 60
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln() * UNITS_PER_NAT


class Exact:
    """An adversary who knows the model and the channel and makes no rounding."""

    def __init__(self, chain: Chain) -> None:
        self.rows = [[(y, Fraction(p)) for y, p in row] for row in definition.rows_of(chain)]
        for x, row in enumerate(self.rows):
            total = sum(p for _, p in row)
            self.rows[x] = [(y, p / total) for y, p in row]
        start = [Fraction(float(mass)) for mass in chain.start]
        self.belief = [mass / sum(start) for mass in start]
        self.seen = False

    def predict(self) -> None:
        if self.seen:
            self.belief = definition.predict(self.belief, self.rows)
        self.seen = True

    def learn(self, column: list[Fraction]) -> tuple[Fraction, Fraction]:
        """Update the belief; max a/p and max p/a of the release, over every x."""
        marginal = sum(b * a for b, a in zip(self.belief, column, strict=True))
        self.belief = definition.condition(self.belief, column)
        return max(column) / marginal, marginal / min(column)


CHAINS = {
    "sticky": lambda: sticky_chain(4, 0.9),
    "mixing": lambda: sticky_chain(3, 0.1),
    "cycle": lambda: Chain.from_dense([1, 0, 0, 0], [[0, 1, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.1, 0.9], [1, 0, 0, 0]]),
    "vanishing": lambda: Chain.from_dense([1, 0, 0], [[1 - 1e-20, 1e-20, 0], [0, 1 - 1e-20, 1e-20], [0, 0, 1]]),
}


@pytest.mark.parametrize("chain_name", CHAINS)
@pytest.mark.parametrize("mechanism", [*BOUNDED, "near on a line"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_ledger_covers_what_an_exact_adversary_learns(mechanism: str, chain_name: str, epsilon: float) -> None:
    """Each charge is at least its release's true leak and at most epsilon; the stored belief is within its drift."""
    name, _, line = mechanism.partition(" ")
    chain = CHAINS[chain_name]()
    distance = absolute(range(chain.size)) if line else None
    run = Run(policy_of(name, epsilon), chain, users=1, distance=distance)
    adversary = Exact(run.chain)
    events = events_of(60, 1, run.chain.size, seed=3)
    for i in range(60):
        releases = run.block(part(events, i, i + 1))
        adversary.predict()
        if releases.outcome[0] != RELEASED:
            assert releases.upper[0] == releases.lower[0] == 0
            continue
        upper, lower = adversary.learn(column_of(run, int(releases.symbol[0])))
        assert log_units(upper) <= int(releases.upper[0]) <= run.policy.epsilon
        assert log_units(lower) <= int(releases.lower[0]) <= run.policy.epsilon
        assert_within_drift(run, adversary.belief)


def assert_within_drift(run: Run, exact: list[Fraction]) -> None:
    drift = int(drift_of(run.heads)[0])
    stored = np.zeros(run.chain.size)
    decode_belief(run.codes[0], stored.view(np.int64))
    ratios = []
    for mass, truth in zip(stored.tolist(), exact, strict=True):
        assert (mass == 0) == (truth == 0)
        if truth:
            ratios.append(Fraction(mass) / truth)
    if drift != DRIFT_UNKNOWN:
        assert log_units(max(ratios) / min(ratios)) <= drift * (UNITS_PER_NAT >> 32)


def test_a_belief_too_small_for_its_code_is_marked_and_half_of_epsilon_is_used() -> None:
    run = Run(policy_of("optimal", 1.0), CHAINS["vanishing"](), users=1)
    for i in range(4):
        run.block(events_of(1, 1, 3, first_offset=i))
    assert drift_of(run.heads)[0] == DRIFT_UNKNOWN
    releases = run.block(events_of(200, 1, 3, first_offset=4))
    assert (releases.outcome == RELEASED).all()
    assert max(releases.upper.max(), releases.lower.max()) <= run.policy.epsilon


@given(cuts=st.lists(st.integers(1, 199), max_size=12), seed=st.integers(0, 100))
@settings(max_examples=25)
def test_the_result_does_not_depend_on_how_a_partition_is_cut_into_blocks(cuts: list[int], seed: int) -> None:
    policy = policy_of(budget=budget_units(6.0), window=500)
    whole, cut = (Run(policy, sticky_chain(5), users=7) for _ in range(2))
    events = events_of(200, 7, 5, seed)
    expected = whole.block(events)
    edges = [0, *sorted(set(cuts)), 200]
    parts = [cut.block(part(events, a, b)) for a, b in pairwise(edges)]
    for name in ("symbol", "outcome", "upper", "lower", "step"):
        joined = np.concatenate([getattr(releases, name) for releases in parts])
        assert joined.tolist() == getattr(expected, name).tolist()
    assert whole.heads.tobytes() == cut.heads.tobytes()
    assert whole.codes.tobytes() == cut.codes.tobytes()


def test_an_offset_below_the_watermark_changes_nothing() -> None:
    run = Run(policy_of(), sticky_chain(3), users=2)
    events = events_of(50, 2, 3)
    run.block(events)
    heads, codes = run.heads.copy(), run.codes.copy()
    again = run.block(events)
    assert (again.outcome == REPLAYED).all() and (again.symbol == -1).all()
    assert run.heads.tobytes() == heads.tobytes() and run.codes.tobytes() == codes.tobytes()


@pytest.mark.parametrize("when_spent", [SPENT_FORECAST, SPENT_DRAW, SPENT_SUPPRESS, SPENT_STOP])
@pytest.mark.parametrize("window", [0, 400])
def test_a_budget_is_never_exceeded_in_any_window(when_spent: int, window: int) -> None:
    budget = budget_units(3.5)
    run = Run(policy_of(budget=budget, window=window, when_spent=when_spent), sticky_chain(4), users=1)
    events = events_of(300, 1, 4)
    releases = run.block(events)
    assert FORECAST in releases.outcome if when_spent <= SPENT_DRAW else FORECAST not in releases.outcome
    for index in np.unique(events.time // window if window else np.zeros(300, dtype=np.int64)):
        inside = (events.time // window == index) if window else np.ones(300, dtype=bool)
        assert releases.upper[inside].sum() <= budget
        assert releases.lower[inside].sum() <= budget
        if when_spent != SPENT_STOP:
            assert max(releases.upper[inside].sum(), releases.lower[inside].sum()) > budget - run.policy.epsilon
    assert run.heads[0, Word.UPPER] == releases.upper.sum()
    assert run.heads[0, Word.LOWER] == releases.lower.sum()
    assert is_stopped(run.heads)[0] == (when_spent == SPENT_STOP)


def test_a_stopped_user_stays_stopped_in_the_next_window() -> None:
    run = Run(policy_of(budget=budget_units(1.0), window=100, when_spent=SPENT_STOP), sticky_chain(3), users=1)
    releases = run.block(events_of(100, 1, 3))
    after = np.flatnonzero(releases.outcome != RELEASED)
    assert len(after) > 90 and (releases.outcome[after[0] :] != RELEASED).all()


def test_a_late_event_is_charged_to_the_window_that_its_user_has_reached() -> None:
    run = Run(policy_of(budget=budget_units(1.0), window=100), sticky_chain(3), users=1)
    late = events_of(4, 1, 3)._replace(time=np.array([1050, 50, 950, 1150], dtype=np.int64))
    releases = run.block(late)
    assert releases.outcome.tolist() == [RELEASED, FORECAST, FORECAST, RELEASED]
    assert run.heads[0, Word.WINDOW_AND_DRIFT] & 0xFFFFFFFF == 11


def test_nothing_is_drawn_from_a_forecast() -> None:
    """A spent budget releases a function of the belief: other values and other coins give the same bytes."""
    runs = [Run(policy_of(budget=0), sticky_chain(4), users=3) for _ in range(2)]
    events = events_of(100, 3, 4, seed=1)
    other = events._replace(symbol=(events.symbol + 1) % 4)
    one, two = runs[0].block(events), runs[1].block(other)
    assert one.symbol.tolist() == two.symbol.tolist()
    assert (one.outcome == FORECAST).all() and not one.upper.any() and not one.lower.any()


def test_an_unbounded_mechanism_is_charged_what_it_leaks() -> None:
    run = Run(policy_of("published_crr", 1.0), sticky_chain(10, 0.1), users=1)
    releases = run.block(events_of(300, 1, 10))
    assert releases.upper.max() > run.policy.epsilon
    bounded = Run(policy_of("published_crr", 1.0, budget=budget_units(1.2)), sticky_chain(10, 0.1), users=1)
    assert (bounded.block(events_of(300, 1, 10)).outcome == FORECAST).all()


def test_an_impossible_value_under_an_unbounded_mechanism_needs_an_unlimited_budget() -> None:
    chain = Chain.from_dense([0.5, 0.5, 0], [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])
    limited = Run(policy_of("published_crr", 1.0, budget=INFINITE - 1), chain, users=1)
    assert (limited.block(events_of(20, 1, 3)).outcome == FORECAST).all()


def test_after_an_impossible_value_the_release_alone_is_believed() -> None:
    chain = Chain.from_dense([0.5, 0.5, 0], [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])
    run = Run(policy_of("published_crr", 1.0), chain, users=1)
    releases = run.block(events_of(60, 1, 3)._replace(symbol=np.full(60, 2)))
    first = int(np.flatnonzero(releases.symbol == 2)[0])
    assert releases.upper[first] == releases.lower[first] == INFINITE
    assert drift_of(run.heads)[0] == DRIFT_UNKNOWN
    belief = np.zeros(3)
    decode_belief(run.codes[0], belief.view(np.int64))
    assert np.isfinite(belief).all()
    assert belief.sum() == pytest.approx(1.0)
