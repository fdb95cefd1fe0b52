"""The model's monitor: a right model is rarely called wrong, a wrong one soon is, and what it predicts is the law."""

from __future__ import annotations

import numpy as np
import pytest
from step_help import Run, coins_of, column_of, events_of, part, policy_of, sticky_chain
from watching import KEY, Watched, blocks, events_along, paths_of

from beliefs.chain import Chain
from beliefs.forward import chain_arrays
from beliefs.score import Score, alarmed, evidence, new_score, observe
from mechanisms import registry
from mechanisms.contract import DRIFT_UNKNOWN
from stream.policy import RELEASED, Policy, new_bench, new_releases
from stream.state import Word, head_words, new_users, seal
from stream.witness import NOBODY, new_pages, witness_all

MONITORED = [name for name, entry in registry.MECHANISMS.items() if name not in ("near", "forecast")]


def sticky(stay: float) -> Chain:
    return Chain.from_dense([0.5, 0.5], [[stay, 1 - stay], [1 - stay, stay]])


RUNS, TESTED_AT_ONCE = 400, 10


def scored(
    policy: Policy, model: Chain, truth: Chain, events: int, seed: int, users: int = 5
) -> tuple[list[int], float]:
    """How many events it took until 1,000, in those runs that came so far, and the share that ever came to 20;
    each event is tested, and it is looked every ten.
    """
    source, first, alarms = np.random.default_rng(seed), [], 0
    bench, arrays, pages = new_bench(model.size), chain_arrays(model), new_pages(0, 1, model.size)
    page, tested = np.full(TESTED_AT_ONCE, NOBODY), np.ones(TESTED_AT_ONCE, dtype=np.bool_)
    law, releases = np.zeros(model.size + 2), new_releases(TESTED_AT_ONCE)
    for run in range(RUNS):
        happened = events_along(paths_of(truth, users, events // users, source), 10_000_000 * (seed + 1) + 10_000 * run)
        heads, codes = new_users(users + 1, model.size, head_words(False))
        coins, score, reached = coins_of(KEY, happened.offset), new_score(), False
        for at, some in enumerate(blocks(happened, TESTED_AT_ONCE)):
            theirs = coins[at * TESTED_AT_ONCE : (at + 1) * TESTED_AT_ONCE]
            witness_all(policy, arrays, bench, heads, codes, some, theirs, tested, page, releases, law, score, pages)
            reached = reached or alarmed(score, 0.05)
            if alarmed(score, 0.001):
                first.append((at + 1) * TESTED_AT_ONCE)
                break
        alarms += reached
    return first, alarms / RUNS


@pytest.mark.parametrize("stay", [0.5, 0.8, 0.95])
def test_a_right_model_is_called_wrong_no_oftener_than_the_bound_says(stay: float) -> None:
    """Of 400 runs at .05 more than 32 alarms have a chance below .005, were the bound reached."""
    late, alarms = scored(policy_of(), sticky(stay), sticky(stay), 400, seed=1)
    assert alarms <= 0.08
    assert len(late) <= 3


@pytest.mark.parametrize(("said", "is_so"), [(0.95, 0.6), (0.6, 0.95)])
def test_a_wrong_model_is_noticed_within_a_thousand_tested_releases(said: float, is_so: float) -> None:
    policy = policy_of(epsilon=2.0)
    events, _ = scored(policy, sticky(said), sticky(is_so), 1_000, seed=2)
    assert len(events) == RUNS
    assert max(events) <= 1_000


@pytest.mark.parametrize("mechanism", MONITORED)
def test_what_is_predicted_is_the_law_of_the_channel_under_the_belief(mechanism: str) -> None:
    """Each value's chance from the integers of the rows that are drawn from, and the bets made from it."""
    policy, chain = policy_of(mechanism, 1.0), sticky_chain(5, 0.5)
    run, expected = Run(policy, chain, users=1), new_score()
    happened = events_of(60, 1, 5)
    score, law = new_score(), np.zeros(7)
    heads, codes = new_users(2, 5)
    tested, page, coins = np.ones(1, dtype=np.bool_), np.full(1, NOBODY), coins_of(KEY, happened.offset)
    for i, one in enumerate(blocks(happened, 1)):
        witness_all(
            policy, run.arrays, new_bench(5), heads, codes, one, coins[i : i + 1], tested, page,
            new_releases(1), law, score, new_pages(0, 1, 5),
        )  # fmt: skip
        drift_before = 0.0 if i == 0 else int((run.heads[0, Word.WINDOW_AND_DRIFT] >> 32) & DRIFT_UNKNOWN) / 2**32
        released = run.block(one)
        if released.outcome[0] != RELEASED or drift_before * 2**32 == DRIFT_UNKNOWN:
            continue
        work, belief = run.bench.work, run.bench.belief
        shown = work.head[: work.size[0]].tolist()
        chances = [float(sum(a * b for a, b in zip(column_of(run, y), belief.tolist(), strict=True))) for y in shown]
        observe(expected, np.array(chances), len(shown), shown.index(int(released.symbol[0])))
    assert score[Score.EVENTS] == expected[Score.EVENTS] > 0
    assert score[Score.SEEN] == pytest.approx(expected[Score.SEEN], rel=1e-9)
    assert score[Score.EXPECTED] == pytest.approx(expected[Score.EXPECTED], rel=1e-9)
    assert evidence(expected) * (1 - 1e-4) <= evidence(score) <= evidence(expected)  # drifts are paid for


def test_a_law_that_may_be_off_never_gains() -> None:
    """Against every law within exp(+-off) of the said one, the bets lose in expectation."""
    said, off = np.array([0.7, 0.2, 0.1]), 0.2
    source = np.random.default_rng(4)
    start = new_score()
    observe(start, said, 3, 1)
    for _ in range(200):
        law = said * np.exp(source.choice([-off, off], 3) * source.random())
        law /= law.sum()
        if (np.abs(np.log(law / said)) > off).any():
            continue
        after = []
        for value in range(3):
            score = start.copy()
            observe(score, said, 3, value, off)
            after.append(evidence(score))
        assert float(law @ after) <= evidence(start)


def test_releases_of_unknown_drift_are_left_out() -> None:
    watched = Watched(policy_of(), sticky_chain(3), users=2)
    events = events_along(np.zeros((2, 16), dtype=np.int64))
    watched.block(part(events, 0, 30))
    watched.run.heads[:, Word.WINDOW_AND_DRIFT] = -1 << 32
    for user in range(2):
        seal(watched.run.heads[user], watched.run.codes[user], 0, watched.run.policy.model_tag)
    watched.block(part(events, 30, 32))
    assert watched.run.heads[:, Word.STEPS].tolist() == [16, 16]
    assert watched.witness.monitor() is None


def test_a_worker_tests_a_public_sample_and_keeps_the_most_evidence() -> None:
    watched = Watched(policy_of(epsilon=2.0), sticky(0.95), users=50)
    values = paths_of(sticky(0.6), 50, 640, np.random.default_rng(8))
    seen = []
    for block in blocks(events_along(values), 50):
        watched.block(block)
        found = watched.witness.monitor()
        seen.append(0.0 if found is None else found.evidence)
    assert seen == sorted(seen) and seen[-1] > 1000
    final = watched.witness.monitor()
    assert (
        final is not None and final.releases == 40 * 32
    )  # 50 users reach each sixteenth step in one block: 32 of them
    assert final.seen < final.expected
