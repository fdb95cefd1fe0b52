"""A budget over any N events in a row, as the step and the windows of values keep it: every stretch of every run."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from step_help import Run, events_of, part, policy_of, sticky_chain
from tail_models import zipf_chain

from beliefs.chain import Chain
from beliefs.checks import InvariantBroken
from beliefs.forward import chain_arrays, reversed_arrays
from beliefs.rounding import budget_units
from mechanisms.coins import keystream
from mechanisms.contract import DRIFT_TO_UNITS
from stream.policy import FORECAST, RELEASED, SPENT_DRAW, SPENT_FORECAST, SPENT_STOP, SPENT_SUPPRESS, Events
from stream.promise import WindowRules
from stream.state import Word, from_rows, head_words, to_rows
from stream.windows.rehearse import rehearse

BUDGET = budget_units(3.5)
ROWS = {
    "plain": ({}, lambda: sticky_chain(4), 6),
    "clock": ({"interval": 25}, lambda: sticky_chain(4), 7),
    "listed": ({"listed": 5}, lambda: zipf_chain(12, named=3), 8),
    "listed and clock": ({"listed": 5, "interval": 25}, lambda: zipf_chain(12, named=3), 9),
}


def most_of_any_stretch(charges: np.ndarray, events: int) -> int:
    return max(int(charges[at : at + events].sum()) for at in range(charges.shape[0]))


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("events", [2, 5, 40])
def test_every_stretch_of_every_user_keeps_the_budget(kind: str, events: int) -> None:
    changes, chain, version = ROWS[kind]
    run = Run(policy_of(budget=BUDGET, sliding=events, **changes), chain(), users=3)
    happened = events_of(600, 3, run.chain.size)
    releases = run.block(happened)
    if events > 3:
        assert {RELEASED, FORECAST} == set(releases.outcome.tolist())
    for user in range(3):
        mine = happened.slot == user
        upper, lower = releases.upper[mine], releases.lower[mine]
        assert max(most_of_any_stretch(upper, events), most_of_any_stretch(lower, events)) <= BUDGET
        head = run.heads[user]
        assert head[Word.WINDOW_UPPER] == upper[-events:].sum() and head[Word.WINDOW_LOWER] == lower[-events:].sum()
        assert head[Word.UPPER] == upper.sum() and head[Word.LOWER] == lower.sum()
    rows = to_rows(run.heads, run.codes)
    assert {row[0] for row in rows} == {version}
    words = head_words("interval" in changes, events)
    heads, codes, verdicts = from_rows(rows, run.codes.shape[1], run.policy.model_tag, words, "listed" in changes)
    assert not verdicts.any() and (heads == run.heads).all() and (codes == run.codes).all()


@pytest.mark.parametrize("when_spent", [SPENT_FORECAST, SPENT_DRAW, SPENT_SUPPRESS, SPENT_STOP])
def test_an_event_is_refused_only_where_its_worst_case_does_not_fit(when_spent: int) -> None:
    """Events without a release turn the ring, too, so a user who waits is released again; one who is stopped is not."""
    run = Run(policy_of(budget=BUDGET, sliding=8, when_spent=when_spent), sticky_chain(4), users=1)
    releases = run.block(events_of(300, 1, 4))
    refused = np.flatnonzero(releases.outcome != RELEASED)
    assert refused.size
    for at in refused.tolist():
        spent = [int(side[max(0, at - 7) : at].sum()) for side in (releases.upper, releases.lower)]
        assert max(spent) + run.policy.epsilon > BUDGET or when_spent == SPENT_STOP
    again = (releases.outcome[refused[0] :] == RELEASED).sum()
    assert again == 0 if when_spent == SPENT_STOP else again > 50


@given(cuts=st.lists(st.integers(1, 199), max_size=12), seed=st.integers(0, 100))
@settings(max_examples=15)
def test_the_result_does_not_depend_on_how_a_partition_is_cut_into_blocks(cuts: list[int], seed: int) -> None:
    whole, cut = (Run(policy_of(budget=BUDGET, sliding=6), sticky_chain(5), users=4) for _ in range(2))
    events = events_of(200, 4, 5, seed)
    expected = whole.block(events)
    parts = [cut.block(part(events, a, b)) for a, b in pairwise([0, *sorted(set(cuts)), 200])]
    cut.block(events)  # all of it once more changes nothing
    assert np.concatenate([releases.symbol for releases in parts]).tolist() == expected.symbol.tolist()
    assert np.concatenate([releases.upper for releases in parts]).tolist() == expected.upper.tolist()
    assert whole.heads.tobytes() == cut.heads.tobytes() and whole.codes.tobytes() == cut.codes.tobytes()


def test_a_window_that_holds_all_events_is_a_budget_for_ever() -> None:
    """The sums, the releases and the beliefs are the same to the bit."""
    for_ever = Run(policy_of(budget=BUDGET), sticky_chain(4), users=2)
    sliding = Run(policy_of(budget=BUDGET, sliding=256), sticky_chain(4), users=2)
    events = events_of(200, 2, 4)
    one, other = for_ever.block(events), sliding.block(events)
    assert one.symbol.tolist() == other.symbol.tolist() and one.outcome.tolist() == other.outcome.tolist()
    assert (for_ever.heads[:, 1:8] == sliding.heads[:, 1:8]).all() and (for_ever.codes == sliding.codes).all()


def test_rows_of_another_length_are_not_taken() -> None:
    run = Run(policy_of(budget=BUDGET, sliding=6), sticky_chain(4), users=1)
    run.heads = run.heads[:, :-2].copy()
    with pytest.raises(InvariantBroken, match="sliding"):
        run.block(events_of(1, 1, 4))


def windows_in(outcome: list[int], events: int, *, natural: bool) -> list[tuple[int, int]]:
    """First and last event of each window of values of one user."""
    if not natural:
        return [(at, min(at + events, len(outcome)) - 1) for at in range(0, len(outcome), events)]
    windows, at = [], 0
    while at < len(outcome):
        last = min(at + events, len(outcome)) - 1 if outcome[at] == RELEASED else at
        windows.append((at, last))
        at = last + 1
    return windows


@pytest.mark.parametrize("order", ["bisect", "natural", "dual"])
@pytest.mark.parametrize(("length", "events"), [(3, 2), (3, 7), (3, 8), (4, 4), (1, 5), (5, 12)])
@pytest.mark.parametrize("when_spent", [SPENT_FORECAST, SPENT_SUPPRESS])
def test_all_windows_that_meet_any_stretch_tell_at_most_the_budget_together(
    order: str, length: int, events: int, when_spent: int
) -> None:
    """Also where the stretch begins or ends in the middle of a window."""
    chain = sticky_chain(3)
    rules = WindowRules(length, 0, order == "natural", 1 << 40, reversed_arrays(chain), order == "dual")
    policy, count = policy_of(budget=BUDGET, sliding=events, when_spent=when_spent), 200
    happened = events_of(count, 1, 3)
    releases = rehearse(policy, rules, chain_arrays(chain), happened, keystream(bytes(32), 0, count)).releases
    outcome = releases.outcome.tolist()
    met_at_most = (events + length - 2) // length + 1  # windows, by a stretch; the budget is for three and a half
    assert RELEASED in outcome and (len(set(outcome)) == 2) == (met_at_most > 3)
    windows = windows_in(outcome, length, natural=order == "natural")
    for charges in (releases.upper, releases.lower):
        told = [int(charges[first : last + 1].sum()) for first, last in windows]
        for begin in range(count - events + 1):
            met = [
                amount
                for amount, (first, last) in zip(told, windows, strict=True)
                if first < begin + events and last >= begin
            ]
            assert sum(met) <= BUDGET


def test_a_chain_of_one_value_tells_next_to_nothing_and_slides_all_the_same() -> None:
    run = Run(policy_of(budget=BUDGET, sliding=3), Chain.from_dense([1.0], [[1.0]]), users=1)
    happened = events_of(10, 1, 1)
    releases = run.block(Events(*happened))
    assert releases.upper.max() <= DRIFT_TO_UNITS  # nothing but what a prediction may round
    assert run.heads[0, Word.STEPS] == 10
