"""What odds pass on bounds what any releases tell: tables, trees and circles, by enumeration and by doubles."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from dependence_oracles import PARITY, largest_joint_leak, some_releases, some_tree, through

from beliefs.correlation.bound import Matrix
from beliefs.dependence.corners import TableCorners
from beliefs.dependence.odds import GraphOdds, TableOdds, passed_by_odds
from beliefs.laws.table import TableLaw
from beliefs.prior.influence import passed_on
from beliefs.rounding import INFINITE, UNITS_PER_NAT, nats, units_up

SEEDS = range(30)


def test_passing_on_is_that_of_doubles_and_never_less() -> None:
    generator = np.random.default_rng(1)
    for coupling, loss in generator.exponential(3.0, (500, 2)) * 10.0 ** generator.integers(-6, 2, (500, 2)):
        exact = passed_on(coupling, loss)
        found = passed_by_odds(units_up(coupling), units_up(loss)) / UNITS_PER_NAT
        assert exact - 1e-12 <= found <= exact + 1e-11 + 1e-12 * loss
        assert passed_by_odds(units_up(coupling), units_up(loss)) <= min(units_up(coupling), units_up(loss))


def test_the_ends_of_what_is_passed_on() -> None:
    far = 5000 * UNITS_PER_NAT
    assert passed_by_odds(0, far) == passed_by_odds(far, 0) == 0
    assert passed_by_odds(INFINITE, far) == passed_by_odds(far, INFINITE) == far
    assert passed_by_odds(INFINITE, INFINITE) == INFINITE
    for coupling in (1400, 1500, 2000, 5000):
        assert passed_by_odds(coupling * UNITS_PER_NAT, far) >= (coupling - 2) * UNITS_PER_NAT
    assert passed_by_odds(far, UNITS_PER_NAT) == UNITS_PER_NAT


def field(generator: np.random.Generator, size: int, states: int, ties: list[tuple[int, int]]) -> tuple[Matrix, Matrix]:
    """A table that is a product over attributes and ties, and the log odds ratio of each tie."""
    joint, odds = np.ones((states,) * size), []
    for one, two in ties:
        factor = np.exp(generator.normal(size=(states, states)) * generator.choice([0.1, 0.5, 1.5]))
        shape = [states if axis in (one, two) else 1 for axis in range(size)]
        joint = joint * factor.reshape(shape)
        pairs = itertools.product(itertools.combinations(range(states), 2), repeat=2)
        odds.append(
            max(abs(math.log(factor[a, c] * factor[b, d] / factor[a, d] / factor[b, c])) for (a, b), (c, d) in pairs)
        )
    for axis in range(size):
        single = generator.dirichlet(np.full(states, 2.0)) + 0.01
        joint = joint * single.reshape([states if each == axis else 1 for each in range(size)])
    return joint / joint.sum(), np.array(odds)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_release_of_a_circle_tells_more_than_its_graph_says(seed: int) -> None:
    generator = np.random.default_rng(seed)
    size, states = (4, 2) if seed % 2 else (3, 3)
    ties = [(k, (k + 1) % size) for k in range(size)] + ([(0, 2)] if size == 4 and seed % 4 == 1 else [])
    ties = sorted({(min(pair), max(pair)) for pair in ties})
    joint, odds = field(generator, size, states, ties)
    chances, losses = some_releases(generator, joint.shape)
    graph = GraphOdds.of(np.arange(size), np.array(ties), np.array([units_up(each) for each in odds]))
    law = TableLaw(joint, (np.arange(float(states)),) * size)
    told = largest_joint_leak(law, chances, knowing=True)
    bounds = graph.leaks(np.array([units_up(each) for each in losses]))
    assert told <= nats(int(bounds.max())) + 1e-12
    assert told <= nats(TableOdds.of(joint).worst_of(units_up(max(losses)))) + 1e-12
    assert nats(int(bounds.max())) <= size * max(losses) * (1 + 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_release_along_trees_tells_more_whoever_is_known(seed: int) -> None:
    generator = np.random.default_rng(100 + seed)
    law, _ = some_tree(generator, int(generator.integers(2, 5)), int(generator.integers(2, 4)))
    table = law.table()
    chances, losses = some_releases(generator, table.joint.shape)
    bounds = GraphOdds.of_tree(law).leaks(np.array([units_up(each) for each in losses]))
    assert largest_joint_leak(table, chances, knowing=True) <= nats(int(bounds.max())) + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_no_release_of_a_table_tells_more_whoever_is_known(seed: int) -> None:
    generator = np.random.default_rng(200 + seed)
    shape = (2,) * int(generator.integers(2, 5)) if seed % 2 else (3,) * int(generator.integers(2, 4))
    joint = generator.dirichlet(np.full(math.prod(shape), generator.choice([0.3, 1.0, 5.0]))).reshape(shape)
    if seed % 3 == 0:
        joint = np.where(generator.random(shape) < 0.3, 0.0, joint)
        joint /= joint.sum()
    chances, losses = some_releases(generator, shape)
    law = TableLaw(joint, tuple(np.arange(float(length)) for length in shape))
    told = largest_joint_leak(law, chances, knowing=True)
    corners = TableCorners.of(joint)
    assert corners is not None
    for bound in (TableOdds.of(joint), corners):
        assert told <= nats(bound.worst_of(units_up(max(losses)))) + 1e-12


def test_members_who_may_change_places_stand_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.array([5.0, 1.0, 0.25, 2.0, 0.5, 0.0, 3.0])[np.indices((3, 3, 3)).sum(axis=0)]
    joint = weights / weights.sum()
    quick = TableCorners.of(joint)
    monkeypatch.setattr(np, "array_equal", lambda one, two: False)
    slow = TableCorners.of(joint)
    assert quick is not None
    assert slow is not None
    assert [len(laws.start) for laws in slow.by_unknown] > [len(laws.start) for laws in quick.by_unknown]
    for loss in (UNITS_PER_NAT // 20, UNITS_PER_NAT, 40 * UNITS_PER_NAT):
        assert quick.worst_of(loss) == pytest.approx(slow.worst_of(loss), rel=1e-9)


def test_two_users_have_the_bound_of_the_best_set_of_values() -> None:
    joint = np.array([[0.3, 0.1, 0.05], [0.05, 0.2, 0.3]])
    corners = TableCorners.of(joint)
    assert corners is not None
    rows = [each / each.sum(axis=1, keepdims=True) for each in (joint, joint.T)]
    for loss in (0.1, 1.0, 5.0):
        best = loss + max(through(each, loss) for each in rows)
        assert nats(corners.worst_of(units_up(loss))) == pytest.approx(best, abs=1e-9)


def test_tables_of_too_many_adversaries_are_left_to_odds() -> None:
    generator = np.random.default_rng(1)
    assert TableCorners.of(generator.dirichlet(np.ones(1 << 8)).reshape((2,) * 8)) is None
    assert TableCorners.of(np.full((2,) * 8, 2.0**-8)) is not None


def test_three_bits_whose_sum_is_even_are_one_user_to_whoever_knows_one() -> None:
    assert TableOdds.of(PARITY).worst_of(UNITS_PER_NAT) == 3 * UNITS_PER_NAT


def test_independent_users_tell_nothing_of_each_other() -> None:
    single = np.array([0.3, 0.7])
    found = TableOdds.of(single[:, None, None] * single[:, None] * single)
    assert (found.couplings == 0).all()
    assert UNITS_PER_NAT <= found.worst_of(UNITS_PER_NAT) <= UNITS_PER_NAT + (1 << 12)
    assert found.worst_of(0) == 0


def test_where_messages_rise_without_end_the_group_is_what_is_said() -> None:
    everybody = np.array(list(itertools.combinations(range(12), 2)))
    ties = GraphOdds.of(np.arange(12), everybody, np.full(len(everybody), units_up(8.0)))
    assert ties.worst_of(UNITS_PER_NAT // 100) == 12 * (UNITS_PER_NAT // 100)
    assert ties.worst_of(INFINITE) == INFINITE


def test_weak_ties_of_many_friends_stay_far_below_the_group() -> None:
    generator = np.random.default_rng(3)
    pairs = np.unique(np.sort(generator.integers(0, 400, (1600, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    ties = GraphOdds.of(np.arange(400), pairs, np.full(len(pairs), units_up(0.2)))
    loss = UNITS_PER_NAT // 1000
    assert loss < ties.worst_of(loss) < 10 * loss


def test_each_component_has_its_own_cap() -> None:
    ties = GraphOdds.of(np.arange(4), np.array([[2, 3]]), np.array([INFINITE]))
    assert ties.leaks(np.full(4, 7, dtype=np.int64)).tolist() == [7, 7, 14, 14]
    assert GraphOdds.of(np.arange(2), np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64)).worst_of(5) == 5
