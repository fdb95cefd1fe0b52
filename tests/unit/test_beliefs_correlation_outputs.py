from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from correlation_oracles import bound_by_sets, joint_by_outputs, leak_by_outputs, response, sets_of, some_conditionals

from beliefs.correlation.bound import bound
from beliefs.correlation.joint import channels_leak, group_bound, joint_leak
from beliefs.correlation.outputs import (
    ANY,
    SINGLETONS,
    SIZED,
    Sets,
    channel_leak,
    level_of,
    repeated_leak,
    response_leak,
    sets_leak,
)
from beliefs.correlation.published import algorithm_1, algorithm_3, equation_6, relaxation
from beliefs.correlation.tables import given

XOR = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])


def of_sets(sets: list[list[int]], size: int, epsilon: float) -> np.ndarray:
    """Outputs that are e^epsilon times likelier for the values of a set; each column's own scale does not matter."""
    return np.array([[math.exp(epsilon) if u in chosen else 1.0 for chosen in sets] for u in range(size)])


def test_a_mechanism_leaks_what_its_outputs_leak() -> None:
    generator = np.random.default_rng(11)
    for laws in some_conditionals(generator, 400):
        size, epsilon = laws.shape[1], float(generator.choice([0.2, 1.0, 3.0]))
        singles = leak_by_outputs(laws, of_sets([[u] for u in range(size)], size, epsilon))
        assert sets_leak(laws, Sets(SINGLETONS), epsilon) == pytest.approx(singles, abs=1e-12)
        assert response_leak(laws, epsilon) == pytest.approx(leak_by_outputs(laws, response(size, epsilon)), abs=1e-12)
        every = leak_by_outputs(laws, of_sets(list(sets_of(size)), size, epsilon))
        assert sets_leak(laws, Sets(ANY), epsilon) == pytest.approx(every, abs=1e-12)
        for count in range(1, size):
            some = [list(each) for each in itertools.combinations(range(size), count)]
            sized = leak_by_outputs(laws, of_sets(some, size, epsilon))
            assert sized - 1e-15 <= sets_leak(laws, Sets(SIZED, count), epsilon) <= sized + 1e-12


def test_sets_of_one_size_at_huge_budgets() -> None:
    laws = np.array([[0.4, 0.6, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.25, 0.25, 0.25, 0.25]])
    assert sets_leak(laws, Sets(SIZED, 2), 2_000.0) == 2_000.0
    assert sets_leak(laws, Sets(SIZED, 3), 2_000.0) == pytest.approx(math.log(1.0 / 0.4), abs=1e-11)
    assert sets_leak(laws, Sets(SINGLETONS), 2_000.0) == pytest.approx(2_000.0 + math.log(0.6), abs=1e-11)


def test_a_channel_leaks_along_its_columns() -> None:
    generator = np.random.default_rng(12)
    for laws in some_conditionals(generator, 200):
        channel = generator.dirichlet(np.ones(3), laws.shape[1])
        assert channel_leak(laws, channel) == pytest.approx(leak_by_outputs(laws, channel), abs=1e-12)
        assert channel_leak(laws, channel) <= bound(laws, level_of(channel)).epsilon + 1e-12
    sure = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert level_of(sure) == math.inf
    assert channel_leak(np.array([[0.5, 0.5], [0.5, 0.5]]), sure) == 0.0


def test_one_value_reported_again_leaks_as_one_report_of_all_budgets() -> None:
    generator = np.random.default_rng(13)
    for laws in some_conditionals(generator, 60, size_max=4):
        for times in (1, 2, 3):
            once = response(laws.shape[1], 0.7)
            rows = [list(itertools.product(row, repeat=times)) for row in once]
            together = np.array([[math.prod(each) for each in row] for row in rows])
            want = leak_by_outputs(laws, together)
            assert repeated_leak(laws, 0.7, times) == pytest.approx(want, abs=1e-12)
            assert want <= bound(laws, 0.7 * times).epsilon + 1e-12


def test_neighbours_that_report_again_leak_as_once_at_the_sums_of_their_budgets() -> None:
    """Two neighbours, two reports each, no two budgets alike: every combination of the four reports."""
    generator = np.random.default_rng(15)
    for number in range(40):
        shape = [(3, 2, 3), (2, 3, 3), (4, 2, 2)][number % 3]
        laws = given(generator.gamma(0.4, size=shape), 0)
        budgets = generator.choice([0.2, 0.7, 1.1, 1.9], (2, 2))
        channels = []
        for size, pair in zip(shape[1:], budgets.tolist(), strict=True):
            one, other = response(size, pair[0]), response(size, pair[1])
            channels.append(np.array([np.outer(a, b).ravel() for a, b in zip(one, other, strict=True)]))
            alone = laws.sum(axis=2 if len(channels) == 1 else 1)
            want = leak_by_outputs(alone, channels[-1])
            assert response_leak(alone, sum(pair)) == pytest.approx(want, abs=1e-12)
        want = joint_by_outputs(laws, channels)
        assert want - 1e-14 <= joint_leak(laws, budgets.sum(axis=1).tolist()) <= want + 1e-12


def test_a_joint_leak_is_that_of_all_outputs_together() -> None:
    generator = np.random.default_rng(14)
    for number in range(120):
        shape = [(3, 2, 3), (2, 3, 2, 2), (4, 5), (2, 2, 2, 2)][number % 4]
        weights = generator.gamma(0.3, size=shape)
        epsilons = generator.choice([0.0, 0.3, 1.0, 2.5], len(shape) - 1).tolist()
        laws = given(weights, 0)
        channels = [response(size, epsilon) for size, epsilon in zip(shape[1:], epsilons, strict=True)]
        want = joint_by_outputs(laws, channels)
        found = joint_leak(laws, epsilons)
        assert want - 1e-14 <= found <= want + 1e-12
        assert channels_leak(laws, channels) == pytest.approx(want, abs=1e-12)
        assert want <= group_bound(laws, sum(epsilons)) + 1e-12
        flat = laws.reshape(laws.shape[0], -1)
        assert group_bound(laws, sum(epsilons)) == pytest.approx(bound_by_sets(flat, sum(epsilons)), abs=1e-11)


def test_two_fair_bits_and_their_exclusive_or() -> None:
    for epsilon in (0.3, 1.0, 2.0):
        assert joint_leak(given(XOR, 0), [epsilon] * 2) == pytest.approx(math.log(math.cosh(epsilon)), abs=1e-13)
        assert equation_6(XOR, [epsilon] * 2) <= 1e-13
    # Both answers are told apart by e^2000 + 1 against 2 e^1000.
    assert joint_leak(given(XOR, 0), [1_000.0] * 2) == pytest.approx(1_000.0 - math.log(2.0), abs=1e-9)
    assert joint_leak(given(XOR, 0), [2_000.0] * 2) == pytest.approx(2_000.0 - math.log(2.0), abs=1e-9)


def test_what_was_published_fails_as_described() -> None:
    laws, channel = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.95, 0.05], [0.4, 0.6]])
    assert algorithm_1(laws, channel) == pytest.approx(math.log(0.86 / 0.23))
    assert algorithm_1(laws, channel) < channel_leak(laws, channel) == pytest.approx(math.log(0.49 / 0.105))
    one_field = np.array([3.0, 1.0])
    assert algorithm_3(one_field, response_leak, 1.0, 0.01) == pytest.approx(1.01)
    # Equal ratios are all taken: the chance of the greedy's set is 1/2 + 1/3, where 1/2 is enough for nothing less.
    tied = np.array([[0.5, 0.25, 0.25], [0.2, 0.4, 0.4]])
    assert relaxation(tied, 1.0, 0.1) == pytest.approx(0.1 * max(0.5, 0.5))
    assert relaxation(np.array([[0.5, 0.5], [0.5, 0.5]]), 1.0, 0.1) is None
