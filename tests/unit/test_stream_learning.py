"""Pairs of releases as the pipeline counts them, and whether to switch."""

from __future__ import annotations

import numpy as np
import pytest
from online_life import setup_of
from step_help import Run, events_of, part, policy_of
from test_beliefs_learning_online import expected_pairs, sticky

from beliefs.learning.online import learn
from beliefs.rounding import budget_units
from stream.epochs import adopt, blind_chain, blind_policy, informed_policy, of_other_epochs
from stream.learning.choice import choose
from stream.learning.pairs import NOTHING, count_pairs, last_releases, new_counts
from stream.policy import FORECAST, RELEASED, SPENT_DRAW, SPENT_FORECAST, SPENT_STOP, SPENT_SUPPRESS, SUPPRESSED, Events
from stream.state import Word, drift_of, from_rows, is_stopped, new_users, to_rows, unsettled


def blind_run(symbols: int, users: int, epsilon: float = 1.0, **promise: int) -> Run:
    return Run(blind_policy(policy_of("optimal", epsilon, **promise), 11), blind_chain(symbols), users)


def pairs_by_hand(events: Events, symbol: np.ndarray, outcome: np.ndarray, symbols: int) -> np.ndarray:
    counts, last = np.zeros((symbols, symbols), dtype=np.int64), {}
    for user, told, how in zip(events.slot.tolist(), symbol.tolist(), outcome.tolist(), strict=True):
        if how == RELEASED and last.get(user) is not None:
            counts[last[user], told] += 1
        last[user] = told if how == RELEASED else None
    return counts


@pytest.mark.parametrize("when_spent", [SPENT_FORECAST, SPENT_DRAW, SPENT_SUPPRESS, SPENT_STOP])
@pytest.mark.parametrize("block", [1, 7, 400])
@pytest.mark.parametrize("symbols", [2, 3, 7])
def test_pairs_are_counted_from_rows_alone(symbols: int, block: int, when_spent: int) -> None:
    """However the partition is cut; a budget that lets three of every ten events through breaks many pairs."""
    run = blind_run(symbols, 5, budget=budget_units(3.0), window=500, when_spent=when_spent)
    events, counts = events_of(400, 5, symbols, seed=symbols), new_counts(symbols)
    symbol, outcome = [], []
    for start in range(0, 400, block):
        some = part(events, start, min(start + block, 400))
        last = last_releases(run.codes)
        releases = run.block(some)
        count_pairs(last, some.slot, releases, counts)
        symbol.append(releases.symbol)
        outcome.append(releases.outcome)
    outcomes = np.concatenate(outcome)
    assert set(outcomes.tolist()) == {RELEASED, FORECAST if when_spent <= SPENT_DRAW else SUPPRESSED}
    assert np.array_equal(counts, pairs_by_hand(events, np.concatenate(symbol), outcomes, symbols))
    assert counts.sum() > (5 if when_spent == SPENT_STOP else 50)


def test_a_repeated_block_counts_nothing() -> None:
    run, counts = blind_run(3, 4), new_counts(3)
    events = events_of(50, 4, 3)
    count_pairs(last_releases(run.codes), events.slot, run.block(events), counts)
    before, last = counts.copy(), last_releases(run.codes)
    count_pairs(last, events.slot, run.block(events), counts)
    assert counts.sum() > 0 and np.array_equal(before, counts)
    assert np.array_equal(last, last_releases(run.codes))


@pytest.mark.parametrize("symbols", [2, 5, 32])
@pytest.mark.parametrize("epsilon", [0.001, 0.5, 8.0])
def test_the_row_remembers_the_last_release(symbols: int, epsilon: float) -> None:
    run = blind_run(symbols, 1, epsilon)
    assert last_releases(run.codes).tolist() == [NOTHING]
    for place in range(60):
        releases = run.block(part(events_of(60, 1, symbols), place, place + 1))
        assert last_releases(run.codes).tolist() == releases.symbol.tolist()


def test_a_release_of_an_earlier_epoch_is_no_half_of_a_pair() -> None:
    run = blind_run(3, 3)
    run.block(events_of(30, 3, 3))
    assert (last_releases(run.codes) != NOTHING).all()
    changed = adopt(run.heads, run.codes, run.policy._replace(model_tag=12))
    assert changed.all() and (last_releases(run.codes) == NOTHING).all()


def test_rows_are_adopted_once_and_keep_what_was_spent() -> None:
    run = blind_run(2, 3, budget=budget_units(2.0), when_spent=SPENT_STOP)
    run.block(part(events_of(30, 2, 2), 0, 30))  # the third user has no event
    before, codes = run.heads.copy(), run.codes.copy()
    learnt = learn(setup_of(2, 1.0), expected_pairs(setup_of(2, 1.0), sticky(2, 0.7), 10**7), 1)
    policy = informed_policy(run.policy, learnt, 0xFFFFFFFE)
    assert of_other_epochs(run.heads, policy.model_tag).tolist() == [True, True, False]
    assert adopt(run.heads, run.codes, policy).tolist() == [True, True, False]
    assert not adopt(run.heads, run.codes, policy).any()
    kept = [Word.WATERMARK, Word.UPPER, Word.LOWER, Word.WINDOW_UPPER, Word.WINDOW_LOWER, Word.STEPS]
    assert np.array_equal(run.heads[:, kept], before[:, kept]) and np.array_equal(run.codes, codes)
    assert np.array_equal(is_stopped(run.heads), is_stopped(before)) and is_stopped(run.heads)[:2].all()
    assert drift_of(run.heads).tolist() == [2**32 - 1, 2**32 - 1, 0]
    assert policy.settle is not None
    assert [unsettled(head) for head in run.heads] == [policy.settle.predictions] * 2 + [0]
    heads, _, verdicts = from_rows(to_rows(run.heads[:2], run.codes[:2]), 2, 0xFFFFFFFE)
    assert not verdicts.any() and np.array_equal(heads, run.heads[:2])


def test_new_users_belong_to_no_epoch() -> None:
    heads, codes = new_users(4, 3)
    assert not adopt(heads, codes, blind_run(3, 1).policy).any()


@pytest.mark.parametrize(
    ("pairs", "withheld", "switch"), [(10**4, 0.1, False), (10**5, 0.1, False), (10**6, 0.1, True), (10**5, 0.5, True)]
)
def test_a_switch_comes_when_it_is_cheap_and_pays(pairs: int, withheld: float, switch: bool) -> None:
    setup = setup_of(2, 2.0, withheld)
    learnt = learn(setup, expected_pairs(setup, sticky(2, 0.7), pairs), 1)
    choice = choose(setup, learnt)
    assert choice == choose(setup, learnt)
    assert choice.switch == switch
    assert choice.agreement_blind == pytest.approx(np.exp(2) / (np.exp(2) + 1), abs=1e-15)
    assert choice.agreement_informed < choice.agreement_if_certain
    assert choice.agreement_if_certain == pytest.approx(0.9413, abs=0.005)  # 200,000 simulated events


def test_a_chain_that_helps_too_little_is_no_reason_to_switch() -> None:
    """With half of epsilon withheld, less is kept of values that hardly hang together."""
    setup = setup_of(2, 2.0, 0.5)
    learnt = learn(setup, expected_pairs(setup, sticky(2, 0.5), 5000), 1)
    choice = choose(setup, learnt)
    assert learnt.withheld_units == setup.epsilon_units // 2
    assert choice.agreement_informed < choice.agreement_blind and not choice.switch


def test_what_was_predicted_is_what_is_kept() -> None:
    """Of other values and coins under the same policy, users of whom nobody knew anything included."""
    setup, rows = setup_of(2, 2.0), sticky(2, 0.7)
    learnt = learn(setup, expected_pairs(setup, rows, 10**7), 1)
    run = Run(informed_policy(policy_of("optimal", 2.0), learnt, 1), learnt.chain, users=200)
    source = np.random.default_rng(4)
    values = [source.integers(0, 2, 200)]
    while len(values) < 100:
        values.append(np.where(source.random(200) < rows[0, 0], values[-1], 1 - values[-1]))
    order = np.arange(20_000, dtype=np.int64)
    events = Events(order % 200, order, order, np.concatenate(values))
    kept = float((run.block(events).symbol == events.symbol).mean())
    assert abs(kept - choose(setup, learnt).agreement_informed) < 0.01
