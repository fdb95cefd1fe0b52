from __future__ import annotations

import itertools
import math

import dependence_oracles as oracles
import numpy as np
import prior_oracles
import pytest

from beliefs.checks import Invalid
from beliefs.dependence import leak as looking
from beliefs.dependence.leak import Asked, compositions
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from beliefs.prior.worst import worst_of_table

BITS = np.array([0.0, 1.0])


def on_a_grid(joint: np.ndarray, answers: np.ndarray, scale: float, times: int, *, knowing: bool) -> float:
    """The largest log ratio over outputs at all answers, between and beyond them, for every adversary."""
    law = TableLaw(joint, tuple(np.arange(float(each)) for each in joint.shape))
    ends = answers.min() - 40.0 * scale, answers.max() + 40.0 * scale
    marks = np.unique(np.concatenate([answers.ravel(), np.linspace(*ends, 9 if times > 1 else 60)]))
    outputs = np.array(list(itertools.product(marks, repeat=times)))
    chances = np.exp(-np.abs(answers[..., None, None] - outputs).sum(axis=-1) / scale)
    return oracles.largest_joint_leak(law, chances, knowing=knowing)


def some_question(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    joint = prior_oracles.some_table(generator, size=int(generator.integers(1, 4))).joint
    answers = generator.choice([0.0, 1.0, 2.5, -3.0, 0.1], joint.shape)
    return joint, answers


@pytest.mark.parametrize("times", [1, 2])
def test_the_leak_of_any_question_is_the_largest_over_all_outputs(times: int) -> None:
    generator = np.random.default_rng(times)
    for _ in range(60):
        joint, answers = some_question(generator)
        scale = float(generator.choice([0.5, 1.0, 4.0]))
        asked = Asked.of_answers(joint, answers)
        for knowing in (False, True):
            want = on_a_grid(joint, answers, scale, times, knowing=knowing)
            assert want - 1e-12 <= asked.leak(scale, times, knows_others=knowing) <= want + 1e-9 * max(1.0, want)


def test_a_sum_is_a_question_too() -> None:
    generator = np.random.default_rng(3)
    for _ in range(40):
        law = prior_oracles.some_table(generator)
        query, scale = Query.of(law, prior_oracles.some_weights(generator, law.size)), 0.7
        found, worst = Asked.of_sum(law, query), worst_of_table(law, query, scale)
        assert found.leak(scale, 1, knows_others=True) == pytest.approx(worst.epsilon, rel=1e-9, abs=1e-11)
        assert found.leak(scale, 1, knows_others=False) == pytest.approx(worst.weakest, rel=1e-9, abs=1e-11)


def test_asked_again_it_tells_more_but_never_more_than_all_ranges_together() -> None:
    generator = np.random.default_rng(4)
    for _ in range(30):
        joint, answers = some_question(generator)
        asked = Asked.of_answers(joint, answers)
        told = [asked.leak(0.8, times, knows_others=True) for times in (1, 2, 3, 5)]
        assert all(one <= two + 1e-9 for one, two in itertools.pairwise(told))
        possible = answers[joint > 0.0]
        assert told[-1] <= 5.0 * float(possible.max() - possible.min()) / 0.8 * (1.0 + 1e-12)


def test_a_parity_asked_twenty_times() -> None:
    asked = Asked.of_answers(oracles.PARITY, np.indices((2, 2, 2)).sum(axis=0).astype(float))
    scale = 1.3423898779
    assert asked.leak(scale, 1, knows_others=False) == pytest.approx(1.0, abs=1e-9)
    assert asked.leak(scale, 2, knows_others=False) == pytest.approx(2.3362, abs=5e-5)
    assert asked.leak(scale, 20, knows_others=False) == pytest.approx(29.1044553330966, rel=1e-12)
    assert asked.leak(scale, 20, knows_others=True) == pytest.approx(40.0 / scale)


def test_answers_far_apart_and_impossible_ones() -> None:
    joint = np.array([[0.5, 0.0], [0.0, 0.5]])
    far = np.array([[0.0, 1e308], [-1e308, 20_000.0]])
    asked = Asked.of_answers(joint, far)
    assert asked.leak(1.0, 1, knows_others=False) == 20_000.0, "cells of no chance count for nothing"
    assert asked.leak(1.0, 3, knows_others=False) == 60_000.0
    assert asked.leak(1e-300, 1, knows_others=False) == pytest.approx(2e304)
    assert asked.leak(1e-308, 2, knows_others=False) == math.inf
    assert Asked.of_answers(joint, np.full((2, 2), 7.0)).leak(1e-9, 4, knows_others=True) == 0.0
    assert Asked.of_answers(np.ones((1, 1)), np.zeros((1, 1))).leak(1.0, 2, knows_others=True) == 0.0


def test_what_cannot_be_looked_at_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    joint, answers = np.full((4, 4), 1.0 / 16.0), np.arange(16.0).reshape(4, 4)
    with pytest.raises(Invalid, match="answers"):
        Asked.of_answers(joint, answers[:3])
    with pytest.raises(Invalid, match="times"):
        Asked.of_answers(joint, answers).leak(1.0, 100, knows_others=False)
    monkeypatch.setattr(looking, "WORK_MAX", 100)
    with pytest.raises(Invalid, match="adversary"):
        Asked.of_answers(joint, answers).leak(1.0, 1, knows_others=True)
    assert compositions(2, 3).tolist() == [[0, 0, 2], [0, 1, 1], [0, 2, 0], [1, 0, 1], [1, 1, 0], [2, 0, 0]]
