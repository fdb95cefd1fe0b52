"""Whose sequence is it: habits and a small net, with and without the order of values."""

from __future__ import annotations

import numpy as np
import pytest

from stream.attack.ngrams import NGrams, ngram_scores
from stream.attack.recurrent import (
    Training,
    gradients,
    in_rows,
    new_weights,
    recurrent_scores,
    shuffled,
    train,
    uniform,
)
from stream.attack.reidentify import Attempt, attempt_of, attempts, halves_of
from stream.audit.amounts import Integers


def streams(kind: str, users: int = 4, length: int = 600) -> list[Integers]:
    """Users who differ in how often values come, in how they follow each other only, or not at all."""
    source = np.random.default_rng(4)
    found = []
    for user in range(users):
        if kind == "often":
            law = np.roll([0.7, 0.1, 0.1, 0.1], user)
            found.append(source.choice(4, size=length, p=law))
        elif kind == "order":
            step = [1, 3, 2, 0][user]
            moves = np.where(source.random(length) < 0.8, step, source.integers(4, size=length))
            found.append(np.cumsum(moves) % 4)
        else:
            found.append(source.integers(4, size=length))
    return found


def test_habits_are_laws_and_prefer_what_was_seen() -> None:
    habits = NGrams([0, 1, 0, 1, 0, 1, 2], 3, 3)
    for past in ((), (0,), (1, 0), (2, 2)):
        assert sum(habits.chance(past, value) for value in range(3)) == pytest.approx(1.0)
    assert habits.chance((0,), 1) > 0.7 > habits.chance((), 1)
    assert habits.score([0, 1, 0]) > habits.score([2, 2, 2])
    # By hand, order 1: value 0 three times of seven, two more seen in thirds.
    assert NGrams([0, 1, 0, 1, 0, 1, 2], 3, 1).chance((), 0) == pytest.approx((3 + 2 / 3) / 9)


def test_the_slopes_of_the_net_are_those_of_its_loss() -> None:
    how = Training(units=3, span=4)
    weights = new_weights(3, 2, how)
    values, users = np.array([[0, 1, 2, 1], [2, 2, 0, 1]]), np.array([0, 1])
    h = 0.1 * uniform((2, 3), "state", 1)
    _, slopes, _ = gradients(weights, values, users, h)
    for name, weight in weights.items():
        for place in np.ndindex(weight.shape):
            kept, either = weight[place], []
            for change in (1e-5, -1e-5):
                weight[place] = kept + change
                either.append(gradients(weights, values, users, h)[0])
            weight[place] = kept
            assert slopes[name][place] == pytest.approx((either[0] - either[1]) / 2e-5, abs=1e-8), (name, place)


def test_training_lowers_the_loss_and_the_seed_decides() -> None:
    sequences = streams("order", length=200)
    few, many = Training(units=8, rounds=1), Training(units=8, rounds=25)
    rows, users = in_rows(sequences, few.span)
    losses = [gradients(train(sequences, 4, how), rows, users, np.zeros((rows.shape[0], 8)))[0] for how in (few, many)]
    assert losses[1] < 0.6 * losses[0]
    first, again = train(sequences, 4, few), train(sequences, 4, few)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    other = train(sequences, 4, Training(units=8, rounds=1, seed=2))
    assert not np.array_equal(first["V"], other["V"])


def test_an_order_of_its_own_keeps_how_often_values_come() -> None:
    sequence = streams("order")[1]
    assert np.array_equal(np.bincount(shuffled(sequence, "a", 1)), np.bincount(sequence))
    assert not np.array_equal(shuffled(sequence, "a", 1), sequence)


@pytest.mark.parametrize("kind", ["often", "order", "alike"])
def test_users_are_named_where_they_differ_and_by_chance_where_not(kind: str) -> None:
    found = attempts(halves_of(streams(kind), 10), 4, how=Training(units=12, rounds=30))
    in_order = [found["habits, in order"], found["net, in order"]]
    without = [found["habits, without order"], found["net, without order"]]
    for each in in_order:
        assert each.chance == 0.25
        assert each.beats_chance == (kind != "alike"), (kind, each)
    for each in without:
        assert each.beats_chance == (kind == "often"), (kind, each)


def test_halves_do_not_overlap_and_pieces_know_their_owner() -> None:
    halves = halves_of([np.arange(10), np.arange(100, 111)], 2)
    assert [each.tolist() for each in halves.training] == [[0, 1, 2, 3, 4], [100, 101, 102, 103, 104]]
    assert [each.tolist() for each in halves.pieces] == [[5, 6], [7, 8], [105, 106, 107], [108, 109, 110]]
    assert halves.owners == [0, 0, 1, 1]


def test_a_tie_is_no_success() -> None:
    assert attempt_of(np.array([[1.0, 1.0], [0.0, 2.0]]), [0, 1]) == Attempt(1, 2, 2)
    low, high = Attempt(1, 2, 2).interval
    assert low < 0.5 < high


def test_scores_have_a_row_a_piece_and_a_column_a_user() -> None:
    sequences = streams("often", length=80)
    assert ngram_scores([each.tolist() for each in sequences], [[0, 1]], 4, 2).shape == (1, 4)
    assert recurrent_scores(sequences, [np.array([0, 1])], 4, Training(units=3, rounds=1)).shape == (1, 4)
