"""What any releases tell along chains, trees and groups: against every set, every adversary and real mechanisms."""

from __future__ import annotations

import math

import dependence_oracles as oracles
import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.dependence import tree as trees
from beliefs.dependence.budget import largest_loss
from beliefs.dependence.chain import ChainInfluence, stationary_law
from beliefs.dependence.grouped import grouped_leaks
from beliefs.dependence.passed import Frontiers, units_through
from beliefs.dependence.tree import TreeInfluence
from beliefs.laws.components import Components, all_together
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.tree import TreeLaw
from beliefs.prior.worst_chain import worst_of_chain
from beliefs.rounding import INFINITE, UNITS_PER_NAT, units_up

STICKY = np.array([[0.9, 0.1], [0.1, 0.9]])
BITS = np.array([0.0, 1.0])
LOSSES = [0.0, 0.1, 1.0, 3.0, 0.5, 650.0]


def units(losses: list[float]) -> np.ndarray:
    return np.array([units_up(each) for each in losses], dtype=np.int64)


def assert_just_above(found: np.ndarray, wanted: list[float]) -> None:
    """Never below, and above by a few units for each step at most."""
    apart = found / UNITS_PER_NAT - wanted
    assert apart.min() >= -1e-12 * max(1.0, max(wanted))
    assert apart.max() <= 1e-10 * max(1.0, max(wanted))


@pytest.mark.parametrize("edges_at_once", [trees.FRONTIERS_MAX, 0])
def test_trees_are_the_recursion_over_all_sets(edges_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "FRONTIERS_MAX", edges_at_once)
    generator = np.random.default_rng(1)
    for _ in range(100):
        size = int(generator.integers(1, 6))
        law, ties = oracles.some_tree(generator, size, int(generator.integers(1, 4)) if size < 5 else 2)
        losses = generator.choice(LOSSES, size).tolist()
        found = TreeInfluence.of(law).leaks(units(losses))
        assert_just_above(found, oracles.influence(law.table(), ties, losses, ()))


def test_chains_are_the_recursion_over_all_sets_and_over_all_that_may_be_known() -> None:
    generator = np.random.default_rng(2)
    for _ in range(80):
        length = int(generator.integers(1, 6))
        law = oracles.some_chain(generator, int(generator.integers(1, 4)) if length < 5 else 2, length)
        table, ties = law.table(), [(place, place + 1) for place in range(length - 1)]
        losses = generator.choice(LOSSES, length).tolist()
        found = ChainInfluence.of(law, knowing=False).leaks(units(losses))
        assert_just_above(found, oracles.influence(table, ties, losses, ()))
        anybody = ChainInfluence.of(law, knowing=True).leaks(units(losses))
        wanted = oracles.influence_of_anybody(table, ties, losses)
        if (law.transition > 0.0).all():
            assert_just_above(anybody, wanted)
        else:  # what may be known on one side is not asked to go with what is possible on the other
            assert (anybody / UNITS_PER_NAT >= np.array(wanted) * (1.0 - 1e-12) - 1e-12).all()


def assert_no_releases_tell_more(seed: int, rounds: int) -> None:
    """Two queries, the second chosen by the first one's output, on chains and trees of random laws."""
    generator, nearest = np.random.default_rng(seed), 0.0
    for number in range(rounds):
        size = int(generator.integers(2, 6))
        states, on_chain = 3 if size < 4 else 2, number % 2 == 0
        if on_chain:
            law: MarkovLaw | TreeLaw = oracles.some_chain(generator, states, size)
        else:
            law, _ = oracles.some_tree(generator, size, states)
        table = law.table()
        chances, losses = oracles.some_releases(generator, table.joint.shape)
        if isinstance(law, MarkovLaw):
            allowed = ChainInfluence.of(law, knowing=True).worst(units(losses)).units / UNITS_PER_NAT
        else:
            allowed = TreeInfluence.of(law).worst(units(losses)).units / UNITS_PER_NAT
        told = oracles.largest_joint_leak(table, chances, knowing=on_chain)
        assert told <= allowed + 1e-12
        nearest = max(nearest, told / allowed)
    assert nearest > 0.9, "the bound is no wider than it must be"


def test_no_adaptive_releases_tell_more_than_is_accounted() -> None:
    assert_no_releases_tell_more(3, 1_000)


@pytest.mark.long
def test_no_adaptive_releases_tell_more_than_is_accounted_in_many_more_cases() -> None:
    assert_no_releases_tell_more(4, 20_000)


def test_each_attribute_may_have_lost_something_else() -> None:
    """One value of a chain was asked about often, all others never: what it tells fades with the distance."""
    law = MarkovLaw(STICKY, np.array([0.5, 0.5]), BITS, 9)
    losses = np.zeros(9, dtype=np.int64)
    losses[4] = 2 * UNITS_PER_NAT
    for knowing in (False, True):
        leaks = ChainInfluence.of(law, knowing=knowing).leaks(losses)
        assert leaks.argmax() == 4
        assert leaks[4] == losses[4]
        assert (np.diff(leaks[:5]) > 0).all()
        assert (np.diff(leaks[4:]) < 0).all()
    assert ChainInfluence.of(law, knowing=True).worst(losses) == (2 * UNITS_PER_NAT, 4)


def test_sums_of_sticky_bits_reach_the_bound() -> None:
    chain = MarkovLaw(STICKY, np.array([0.5, 0.5]), BITS, 10)
    exact = worst_of_chain(chain, 1.0)
    for knowing, told in ((True, exact.epsilon), (False, exact.weakest)):
        bound = ChainInfluence.of(chain, knowing=knowing).worst_of(UNITS_PER_NAT).units / UNITS_PER_NAT
        assert told <= bound <= told * (1.0 + 1e-9)


@pytest.mark.parametrize("knowing", [False, True])
def test_one_loss_for_all_is_the_same_by_the_quick_way(knowing: bool) -> None:
    generator = np.random.default_rng(5)
    for length in (1, 2, 3, 40, 700):
        states = int(generator.integers(1, 4))
        rows = generator.dirichlet(np.full(states, 2.0), states)
        chain = ChainInfluence.of(
            MarkovLaw(rows, stationary_law(rows), np.arange(float(states)), length), knowing=knowing
        )
        slow, quick = chain.worst(np.full(length, UNITS_PER_NAT // 3)).units, chain.worst_of(UNITS_PER_NAT // 3).units
        assert abs(slow - quick) < 100


def test_what_is_all_but_impossible_is_told_where_losses_outgrow_it() -> None:
    chance, loss = 1e-305, 2000.0
    table = Frontiers.of([np.array([[chance, 1.0], [0.0, 1.0]])])
    told = units_through(units_up(loss), 0, int(table.start[1]), table.against, table.inside, 1)
    assert units_up(loss) >= told >= units_up(loss + math.log(chance))


def test_losses_without_end_and_none() -> None:
    law = MarkovLaw(STICKY, np.array([0.5, 0.5]), BITS, 5)
    for knowing in (False, True):
        chain = ChainInfluence.of(law, knowing=knowing)
        assert (chain.leaks(np.zeros(5, dtype=np.int64)) == 0).all()
        assert (chain.leaks(np.full(5, INFINITE, dtype=np.int64)) == INFINITE).all()
        assert chain.worst_of(INFINITE).units == INFINITE
        assert chain.worst_of(0).units == 0
    tree = TreeInfluence.of(TreeLaw(np.array([-1, 0]), np.array([[0.5, 0.5]]), STICKY[None], np.zeros(2, int), BITS))
    endless, told = tree.leaks(np.array([INFINITE, 0])).tolist()
    assert endless == INFINITE
    assert told == INFINITE, "a loss without end is handed on as one: above the largest ratio, ln 9"
    huge = tree.worst(units([2_000.0, 2_000.0])).units / UNITS_PER_NAT
    assert huge == pytest.approx(2_000.0 + math.log(9.0), rel=1e-12)


def test_a_chain_keeps_one_positive_law_or_is_refused() -> None:
    rows = np.array([[0.5, 0.25, 0.25], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
    law = stationary_law(rows)
    assert (law[:, None] * rows).sum(axis=0) == pytest.approx(law.tolist())
    assert stationary_law(np.array([[0.0, 1.0], [1.0, 0.0]])).tolist() == [0.5, 0.5]
    assert stationary_law(np.ones((1, 1))).tolist() == [1.0]
    for wrong in (np.eye(2), np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.5, 0.5], [0.0, 1.0]])):
        with pytest.raises(Invalid, match="transition"):
            stationary_law(wrong)


def test_chains_too_long_too_wide_or_too_rare_are_refused_by_name() -> None:
    half = np.array([0.5, 0.5])
    for rows, length, field in (
        (STICKY, 1 << 40, "length"),
        (np.full((300, 300), 1.0 / 300.0), 5, "transition"),
        (np.array([[1.0, 1e-300], [1e-300, 1.0]]), 5, "transition"),
    ):
        start = half if len(rows) == 2 else np.full(len(rows), 1.0 / len(rows))
        law = MarkovLaw(rows, start, np.arange(float(len(rows))), length)
        with pytest.raises(Invalid) as refused:
            ChainInfluence.of(law, knowing=True).worst_of(UNITS_PER_NAT)
        assert refused.value.field == field
    slow = MarkovLaw(np.array([[1.0 - 1e-9, 1e-9], [1e-9, 1.0 - 1e-9]]), half, BITS, 100_000)
    with pytest.raises(Invalid, match="length"):
        ChainInfluence.of(slow, knowing=True).leaks(np.ones(100_000, dtype=np.int64))


def test_trees_whose_edges_all_differ_may_have_too_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "FRONTIERS_MAX", 0)
    monkeypatch.setattr(trees, "ORDERS_MAX", 1)
    law = TreeLaw(np.array([-1, 0]), np.array([[0.5, 0.5]]), STICKY[None], np.zeros(2, dtype=np.int64), BITS)
    with pytest.raises(Invalid, match="kernels"):
        TreeInfluence.of(law)


def test_groups_lose_what_all_of_them_lose() -> None:
    components = Components(np.array([0, 1, 0, 2, 1]))
    assert grouped_leaks(components, np.array([1, 2, 3, 4, 5])).tolist() == [4, 7, 4, 4, 7]
    full = grouped_leaks(components, np.array([INFINITE, 2, INFINITE, 4, 5]))
    assert full.tolist() == [INFINITE, 7, INFINITE, 4, 7]
    assert grouped_leaks(all_together(3), np.full(3, UNITS_PER_NAT)).tolist() == [3 * UNITS_PER_NAT] * 3


def test_the_largest_loss_keeps_the_target_and_a_little_more_does_not() -> None:
    law = MarkovLaw(STICKY, np.array([0.5, 0.5]), BITS, 50)
    for knowing in (False, True):
        chain = ChainInfluence.of(law, knowing=knowing)
        for target in (1, 1_000, UNITS_PER_NAT // 50, UNITS_PER_NAT, 2_000 * UNITS_PER_NAT):
            looked: list[int] = []

            def leak(loss: int, chain: ChainInfluence = chain, looked: list[int] = looked) -> int:
                looked.append(loss)
                return chain.worst_of(loss).units

            found = largest_loss(leak, target, target)
            assert leak(found) <= target
            assert found == target or leak(found + max(2, found >> 36)) > target
            assert len(looked) < 90
    assert largest_loss(lambda loss: loss, 0, 5) == 0
    assert largest_loss(lambda loss: loss, 7, 5) == 5
    assert largest_loss(lambda loss: loss + 10, 5, 5) == 0
    assert largest_loss(lambda loss: 0 if loss < 1_000_003 else INFINITE, 10, INFINITE) == 1_000_002
