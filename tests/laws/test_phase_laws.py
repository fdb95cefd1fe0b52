"""A law that changes with the time: the step against an exact adversary who multiplies the tables of each step."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phase_models import alike, of_contexts, random_phases
from step_help import Run, column_of, events_of, part, policy_of, sticky_chain
from test_memory_laws import Exact, assert_covered, assert_within_drift
from test_step_laws import BOUNDED

from beliefs import belief as definition
from beliefs.chain import Chain
from beliefs.checks import Invalid
from beliefs.rounding import budget_units


class InPhases(Exact):
    """The same adversary, with the table of each step's own phase."""

    def __init__(self, chain: Chain, interval: int, most: int) -> None:
        super().__init__(
            Chain.from_rows(chain.start, [chain.row(s) for s in range(chain.size)], chain.symbol_of), interval, most
        )
        self.tables = [self._table(chain, phase) for phase in range(chain.phases)]

    @staticmethod
    def _table(chain: Chain, phase: int) -> list[list[tuple[int, Fraction]]]:
        rows = [[(y, Fraction(p)) for y, p in row] for row in definition.rows_of(chain, phase)]
        return [[(y, p / sum(weight for _, weight in row)) for y, p in row] for row in rows]

    def move_on(self, time: int) -> None:
        now = time // self.interval if self.interval else (0 if self.reached is None else self.reached + 1)
        first = now if self.reached is None else max(self.reached, now - self.most)
        for step in range(first + 1, now + 1):
            self.belief = definition.predict(self.belief, self.tables[step % len(self.tables)])
        self.reached = now if self.reached is None else max(self.reached, now)


@pytest.mark.parametrize("interval", [0, 1000])
@pytest.mark.parametrize(("symbols", "order", "phases"), [(2, 1, 2), (3, 1, 7), (3, 2, 3), (2, 3, 24)])
@pytest.mark.parametrize("mechanism", BOUNDED)
def test_the_ledger_covers_what_an_exact_adversary_learns(
    mechanism: str, symbols: int, order: int, phases: int, interval: int
) -> None:
    chain = random_phases(symbols, order, phases, 1).chain
    assert chain.phases == phases
    run = Run(policy_of(mechanism, 1.0, interval=interval, most_steps=20), chain, users=1)
    assert_covered(run, InPhases(chain, interval, 20))


def test_an_adversary_with_the_phases_in_another_order_is_not_covered() -> None:
    """So the law above can fail: beliefs that come of other tables are further away than the drift."""
    chain = random_phases(2, 1, 3, 1).chain
    run, adversary = Run(policy_of("optimal", 1.0), chain, users=1), InPhases(chain, 0, 20)
    adversary.tables = [*adversary.tables[1:], adversary.tables[0]]
    events = events_of(6, 1, 2, seed=3)
    for i in range(6):
        releases = run.block(part(events, i, i + 1))
        adversary.move_on(0)
        adversary.learn(column_of(run, int(releases.symbol[0])))
    with pytest.raises(AssertionError):
        assert_within_drift(run, adversary.belief)


@pytest.mark.parametrize("interval", [0, 70])
@pytest.mark.parametrize(
    "chain", [sticky_chain(4), sticky_chain(4, 0.0), of_contexts()], ids=["sticky", "flat", "order 2"]
)
def test_phases_that_are_all_the_same_give_the_bits_of_one(chain: Chain, interval: int) -> None:
    policy = policy_of(budget=budget_units(6.0), window=500, interval=interval, most_steps=3)
    one, five = Run(policy, chain, users=3), Run(policy, alike(chain, 5), users=3)
    events = events_of(150, 3, chain.symbols)
    first, other = one.block(events), five.block(events)
    for name in ("symbol", "outcome", "upper", "lower", "step"):
        assert getattr(first, name).tolist() == getattr(other, name).tolist()
    assert one.heads.tobytes() == five.heads.tobytes() and one.codes.tobytes() == five.codes.tobytes()


@given(cuts=st.lists(st.integers(1, 199), max_size=12), seed=st.integers(0, 100), interval=st.sampled_from([0, 70]))
@settings(max_examples=25)
def test_the_result_does_not_depend_on_how_a_partition_is_cut(cuts: list[int], seed: int, interval: int) -> None:
    chain = random_phases(3, 1, 4, 2).chain
    policy = policy_of(budget=budget_units(6.0), window=500, interval=interval, most_steps=3)
    whole, cut = (Run(policy, chain, users=7) for _ in range(2))
    events = events_of(200, 7, 3, seed)
    expected = whole.block(events)
    parts = [cut.block(part(events, a, b)) for a, b in pairwise([0, *sorted(set(cuts)), 200])]
    assert np.concatenate([releases.symbol for releases in parts]).tolist() == expected.symbol.tolist()
    assert whole.heads.tobytes() == cut.heads.tobytes()
    assert whole.codes.tobytes() == cut.codes.tobytes()


def test_the_contraction_is_that_of_the_phase_that_forgets_least() -> None:
    chains = [sticky_chain(3, stay, 1) for stay in (0.1, 0.8, 0.4)]
    assert Chain.in_phases(chains).contraction == max(chain.contraction for chain in chains)


def test_phases_of_other_states_are_refused() -> None:
    with pytest.raises(Invalid, match=r"phases\[1\]"):
        Chain.in_phases([sticky_chain(3), sticky_chain(4)])
