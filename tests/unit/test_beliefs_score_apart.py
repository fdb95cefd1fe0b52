"""Evidence against every chain within an error: no belief that is so near makes a bet worth more than was staked."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from beliefs.score import BETS, evidence, new_score, observe
from beliefs.score_apart import lay_bets, most_worth, observe_apart


def channel(symbols: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    source = np.random.default_rng(seed)
    belief, rows = source.dirichlet(np.ones(symbols)), source.dirichlet(np.full(symbols, 0.5), size=symbols)
    return belief, rows  # rows[x, y]


def bets_on(belief: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The law, the bets' laws, and what each bet is worth given each value."""
    law, bets = belief @ rows, np.zeros((BETS, rows.shape[1]))
    lay_bets(law, law.shape[0], bets)
    return law, bets, np.array([rows @ (bets[j] / law) for j in range(BETS)])


def vertices(belief: np.ndarray, apart: float) -> list[np.ndarray]:
    """All that a ball of Hilbert's metric is spanned by: a factor of exp(apart) on some of the values."""
    found = []
    for chosen in itertools.product([0.0, apart], repeat=belief.shape[0]):
        near = belief * np.exp(chosen)
        found.append(near / near.sum())
    return found


@pytest.mark.parametrize("apart", [0.0, 0.01, 0.4, 3.0])
@pytest.mark.parametrize("symbols", [2, 3, 5])
def test_the_odds_are_those_of_the_worst_belief_within_the_distance(symbols: int, apart: float) -> None:
    for seed in range(20):
        belief, rows = channel(symbols, seed)
        _, _, worth = bets_on(belief, rows)
        for j in range(BETS):
            worst = max(float(near @ worth[j]) for near in vertices(belief, apart))
            assert most_worth(belief, worth[j], apart) == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("apart", [0.05, 1.0])
def test_no_bet_gains_under_any_belief_within_the_distance(apart: float) -> None:
    for seed in range(10):
        belief, rows = channel(3, seed)
        law, bets, worth = bets_on(belief, rows)
        odds = np.array([most_worth(belief, worth[j], apart) for j in range(BETS)])
        for near in vertices(belief, apart):
            scores = []
            for released in range(3):
                score = new_score()
                observe(score, np.array([0.5, 0.3, 0.2]), 3, 1)
                observe_apart(score, law, bets, odds, released, 1.0)
                scores.append(score)
            before = new_score()
            observe(before, np.array([0.5, 0.3, 0.2]), 3, 1)
            mean = math.fsum(float(near @ rows[:, y]) * evidence(scores[y]) for y in range(3))
            assert mean <= evidence(before) * (1 + 1e-12)


def test_a_distance_of_nothing_is_the_plain_evidence() -> None:
    belief, rows = channel(4, 3)
    law, bets, worth = bets_on(belief, rows)
    odds = np.array([most_worth(belief, worth[j], 0.0) for j in range(BETS)])
    assert odds == pytest.approx(np.ones(BETS), rel=1e-12)
    plain, apart = new_score(), new_score()
    for released in (0, 3, 2, 2, 1):
        observe(plain, law.copy(), 4, released)
        observe_apart(apart, law, bets, odds, released, 1.0)
    assert evidence(apart) == pytest.approx(evidence(plain), rel=1e-9)


def test_a_change_beyond_the_distance_is_noticed_and_one_within_it_is_not() -> None:
    """Two values of .7 and .3 within .4 of what is believed, seen through a channel that keeps .95."""
    rows, belief = np.array([[0.95, 0.05], [0.05, 0.95]]), np.array([0.7, 0.3])
    law, bets, worth = bets_on(belief, rows)
    odds = np.array([most_worth(belief, worth[j], 0.4) for j in range(BETS)])
    for first, noticed in ((0.3, True), (0.65, False), (0.75, False)):
        seen = np.random.default_rng(5).random(3_000) < np.array([first, 1 - first]) @ rows[:, 0]
        score, most = new_score(), 0.0
        for hit in seen:
            observe_apart(score, law, bets, odds, int(not hit), 1.0)
            most = max(most, evidence(score))
        assert (most >= 1000) == noticed, (first, most)
