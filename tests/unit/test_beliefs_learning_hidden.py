"""Chains learnt from releases alone, against all paths written out, and against chains that are known."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from chains import first_order
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from beliefs.learning.hidden import Heard, closed_form, expect, learn_hidden, spread_of, told_by

Matrix = NDArray[np.float64]


def expectation(heard: Heard, start: Matrix, matrix: Matrix) -> tuple[float, Matrix, Matrix]:
    n, longest = heard.values, int(np.diff(heard.begins).max())
    expected, firsts = np.zeros((n, n)), np.zeros(n)
    work = (np.zeros((longest, n)), np.zeros(longest), np.zeros((2, n)))
    told = expect(heard.columns, heard.which, heard.begins, start, matrix, *work, expected, firsts)
    return float(told), expected, firsts


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 3), st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 10_000))
def test_the_expectation_is_the_sum_over_all_paths(values: int, lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns, start = rng.random((4, values)) + 0.01, rng.dirichlet(np.ones(values))
    matrix = rng.dirichlet(np.ones(values), values)
    begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    heard = Heard(columns, rng.integers(0, 4, begins[-1]), begins)
    if begins[-1] == 0:
        return
    told, expected, firsts = expectation(heard, start, matrix)
    whole, of_pairs, of_firsts = 0.0, np.zeros((values, values)), np.zeros(values)
    for user, length in enumerate(lengths):
        if not length:
            continue
        seen = columns[heard.which[begins[user] : begins[user + 1]]]
        paths = {}
        for path in product(range(values), repeat=length):
            chance = start[path[0]] * math.prod(matrix[x, y] for x, y in pairwise(path))
            paths[path] = chance * math.prod(seen[t][x] for t, x in enumerate(path))
        total = sum(paths.values())
        whole += math.log(total)
        for path, chance in paths.items():
            of_firsts[path[0]] += chance / total
            for x, y in pairwise(path):
                of_pairs[x, y] += chance / total
    assert told == pytest.approx(whole, rel=1e-9)
    assert expected == pytest.approx(of_pairs, abs=1e-9)
    assert firsts == pytest.approx(of_firsts, abs=1e-9)


def released(values: NDArray[np.int64], n: int, epsilon: float, rng: Generator) -> tuple[Heard, Matrix, float, float]:
    """Values through randomised response: what was heard, pairs of releases, and the two probabilities."""
    keep = math.exp(epsilon) / (math.exp(epsilon) + n - 1)
    other = (1 - keep) / (n - 1)
    shown = np.where(rng.random(values.shape) < keep - other, values, rng.integers(0, n, values.shape))
    pairs = np.zeros((n, n))
    np.add.at(pairs, (shown[:, :-1].ravel(), shown[:, 1:].ravel()), 1.0)
    columns = np.full((n, n), other) + np.eye(n) * (keep - other)
    begins = np.arange(len(values) + 1) * values.shape[1]
    return Heard(columns, shown.ravel().astype(np.int64), begins.astype(np.int64)), pairs, keep, other


def worst_row(learnt: Matrix, true: Matrix) -> float:
    return float(np.abs(learnt - true).sum(axis=1).max()) / 2


def test_every_round_ends_no_lower_than_it_began() -> None:
    rng = np.random.default_rng(2)
    values = first_order(rng.dirichlet(np.ones(3), 3), 60, 12, rng)
    heard, *_ = released(values, 3, 1.0, rng)
    seen: list[float] = []
    learn_hidden(heard, np.full(3, 1 / 3), rng.dirichlet(np.ones(3), 3), lambda _, told: seen.append(told))
    assert len(seen) > 5
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise(seen))


def test_a_chain_is_learnt_from_releases_better_than_by_the_closed_form() -> None:
    """Four values, twenty events a user, epsilon 1; a chain that stays with .7."""
    true = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
    by_users: dict[int, list[tuple[float, float]]] = {200: [], 2000: [], 20_000: []}
    for users, found in by_users.items():
        for seed in range(4 if users < 20_000 else 2):
            rng = np.random.default_rng(seed)
            heard, pairs, keep, other = released(first_order(true, users, 20, rng), 4, 1.0, rng)
            start, rough = closed_form(pairs, keep, other)
            hidden = learn_hidden(heard, start, rough)
            found.append((worst_row(rough, true), worst_row(hidden.matrix, true)))
            assert told_by(heard, hidden.start, hidden.matrix) == pytest.approx(hidden.told, rel=1e-12)
            assert hidden.told > told_by(heard, start, np.full((4, 4), 0.25))
    closed, learnt = (
        {users: float(np.mean([pair[which] for pair in found])) for users, found in by_users.items()}
        for which in (0, 1)
    )
    assert all(learnt[users] < closed[users] for users in by_users)
    assert learnt[200] < 0.22 and learnt[2000] < 0.077 and learnt[20_000] < 0.026
    assert closed[20_000] < 0.07


def test_what_is_told_by_nobody_changes_nothing() -> None:
    matrix, start = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5])
    silent = Heard(np.ones((1, 2)), np.zeros(30, dtype=np.int64), np.array([0, 10, 30]))
    told, expected, firsts = expectation(silent, start, matrix)
    assert told == pytest.approx(0.0, abs=1e-12)
    assert firsts == pytest.approx([1.0, 1.0])
    assert expected.sum() == pytest.approx(28.0)


def test_the_spread_is_about_as_large_as_the_error() -> None:
    true, ratios = np.array([[0.8, 0.2], [0.3, 0.7]]), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        heard, pairs, keep, other = released(first_order(true, 400, 15, rng), 2, 1.0, rng)
        hidden = learn_hidden(heard, *closed_form(pairs, keep, other))
        spread = spread_of(heard, np.arange(400) % 8, hidden)
        ratios.append(np.abs(hidden.matrix - true) / spread[1:])
    typical = float(np.sqrt((np.array(ratios) ** 2).mean()))
    assert 0.5 < typical < 2.0


def test_users_can_be_taken_apart_again() -> None:
    heard = Heard(np.ones((5, 2)), np.array([0, 1, 2, 3, 4]), np.array([0, 2, 2, 5]))
    some = heard.of_users(np.array([2, 0]))
    assert (some.which.tolist(), some.begins.tolist(), some.users) == ([2, 3, 4, 0, 1], [0, 3, 5], 2)
