"""The monitor of a wrong model: a martingale by enumeration, few false alarms, and true ones soon."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from beliefs.score import Score, alarmed, evidence, new_score, observe

Vector = np.ndarray


def laws_of(past: tuple[int, ...]) -> Vector:
    """A predicted law that depends on everything before it."""
    return np.random.default_rng([7, len(past), *past]).dirichlet(np.full(3, 0.6))


def after(released: tuple[int, ...]) -> float:
    score = new_score()
    for at, value in enumerate(released):
        law = laws_of(released[:at])
        observe(score, law, 3, value)
    return evidence(score)


@pytest.mark.parametrize("times", [0, 1, 2, 3, 5])
def test_evidence_is_a_fair_game(times: int) -> None:
    """Its mean over what may come next, under the predicted law, is what it was; rounding only loses."""
    for past in itertools.product(range(3), repeat=times):
        law, before = laws_of(past), after(past)
        mean = math.fsum(chance * after((*past, value)) for value, chance in enumerate(law.tolist()))
        assert before * (1 - 1e-12) <= mean <= before * (1 + 1e-15)


def test_evidence_is_that_of_the_four_bets_by_definition() -> None:
    """Every start of every bet by itself, no recursion."""
    released = (0, 2, 1, 1, 0, 2, 2)
    expected = 1 / (len(released) + 1)
    for power in (0.0, 0.5, 1.5, 2.0):
        for start in range(len(released)):
            wealth = 1 / ((start + 1) * (start + 2)) / 4
            for at in range(start, len(released)):
                law = laws_of(released[:at])
                bet = law**power / (law**power).sum()
                wealth *= bet[released[at]] / law[released[at]]
            expected += wealth
    assert after(released) == pytest.approx(expected, rel=1e-12)


def test_the_sums_are_those_of_the_score() -> None:
    law = np.array([0.5, 0.25, 0.25])
    score = new_score()
    for value in (0, 1, 1):
        observe(score, 8 * law, 3, value)  # weights need not add up to 1
    entropy = -1.5 * math.log(2)
    assert score[Score.SEEN] == pytest.approx(-5 * math.log(2))
    assert score[Score.EXPECTED] == pytest.approx(3 * entropy)
    assert score[Score.VARIANCE] == pytest.approx(3 * (0.5 * 1 + 0.5 * 4 - 2.25) * math.log(2) ** 2)


def test_places_beyond_the_count_are_not_looked_at() -> None:
    one, other = new_score(), new_score()
    observe(one, np.array([0.7, 0.3]), 2, 1)
    observe(other, np.array([0.7, 0.3, np.nan]), 2, 1)
    assert one.tolist() == other.tolist()


def test_an_impossible_release_settles_it_for_good() -> None:
    score = new_score()
    observe(score, np.array([1.0, 0.0]), 2, 1)
    assert alarmed(score, 1e-9)
    assert score[Score.SEEN] == -math.inf
    for _ in range(50):
        observe(score, np.array([0.5, 0.5]), 2, 0)
        assert math.isfinite(evidence(score))
    assert alarmed(score, 1e-9)


def test_a_certain_release_is_no_evidence() -> None:
    score = new_score()
    for _ in range(100):
        observe(score, np.array([1.0, 0.0]), 2, 0)
    assert 0.99 < evidence(score) <= 1.0


KEEP = np.array([[0.8, 0.2], [0.2, 0.8]])


def first_alarm(told: float, stays: list[float], uniforms: Vector, alpha: float) -> int | None:
    """Releases of a value of two that keeps itself with `stays[k]` at step k, watched by a model that says `told`."""
    chain = np.array([[told, 1 - told], [1 - told, told]])
    score, belief, value = new_score(), np.array([0.5, 0.5]), 0
    for step, (coin, move) in enumerate(uniforms.tolist()):
        law = (belief[:, None] * KEEP).sum(axis=0)
        released = int(coin >= KEEP[value, 0])
        observe(score, law, 2, released)
        if alarmed(score, alpha):
            return step
        posterior = belief * KEEP[:, released]
        belief = ((posterior / posterior.sum())[:, None] * chain).sum(axis=0)
        value = value if move < stays[step] else 1 - value
    return None


def alarms(told: float, stays: list[float], runs: int, alpha: float, seed: int) -> list[int]:
    uniforms = np.random.default_rng(seed).random((runs, len(stays), 2))
    found = [first_alarm(told, stays, run, alpha) for run in uniforms]
    return [at for at in found if at is not None]


@pytest.mark.parametrize("told", [0.5, 0.75, 0.9, 0.98])
def test_a_right_model_is_hardly_ever_blamed(told: float) -> None:
    """At most alpha of the runs, watched at every event; 4 deviations of 400 runs allowed on top."""
    alpha, runs = 0.1, 400
    false = len(alarms(told, [told] * 400, runs, alpha, seed=1)) / runs
    assert false <= alpha + 4 * math.sqrt(alpha / runs)


@pytest.mark.parametrize(("told", "true"), [(0.9, 0.6), (0.95, 0.5), (0.6, 0.95)])
def test_a_wrong_model_is_noticed(told: float, true: float) -> None:
    found = alarms(told, [true] * 1_000, 60, 0.05, seed=2)
    assert len(found) >= 58
    assert float(np.median(found)) < 400


def test_a_model_that_goes_wrong_late_is_noticed_too() -> None:
    """Right for 2,000 events, wrong from then on: all the bets lost before cost no more than the stakes were small."""
    found = alarms(0.9, [0.9] * 2_000 + [0.55] * 800, 30, 0.01, seed=3)
    late = [at for at in found if at >= 2_000]
    assert len(late) >= 28
    assert float(np.median(late)) < 2_450
