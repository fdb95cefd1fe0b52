from __future__ import annotations

import itertools

import numpy as np
import prior_oracles as oracles
import pytest

from beliefs.checks import Invalid
from beliefs.laws.blocks import BlocksLaw
from beliefs.laws.chosen import LawSet, Theta
from beliefs.laws.friends import FriendsLaw
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.laws.tree import TreeLaw
from beliefs.prior.adversary import Query, Seen, context_of
from beliefs.prior.any_law import as_table_law, leak_of_law, scale_of_law, worst_of_law
from beliefs.prior.calibration import WEAKEST, WORST, Named, table_scale
from beliefs.prior.families import (
    joint_leak_of_laws,
    leak_of_laws,
    ledger_of_laws,
    scale_of_laws,
    worst_of_laws,
)
from beliefs.prior.releases import joint_leak, ledger
from beliefs.prior.worst import EXACT, SOUND, worst_of_table

BITS = np.array([0.0, 1.0])
EVEN = np.array([0.5, 0.5])
STICKY = np.array([[0.9, 0.1], [0.1, 0.9]])
CHAIN = MarkovLaw(STICKY, EVEN, BITS, 10)
GAUSS = GaussianLaw(np.array([[1.0, 0.5], [0.5, 1.0]]), 2.0)
FOREST = TreeLaw(
    np.array([-1, 0, 0, -1, 3, 1, 4]),
    np.array([[0.3, 0.7], [0.6, 0.4]]),
    np.array([STICKY, [[0.2, 0.8], [0.2, 0.8]], [[0.5, 0.5], [0.9, 0.1]]]),
    np.array([0, 0, 2, 0, 1, 2, 0]),
    BITS,
)


def laws() -> list[tuple[Theta, TableLaw]]:
    """Laws of many kinds, each with the table of all its values, made cell by cell."""
    generator = np.random.default_rng(7)
    one, two = oracles.some_table(generator, 2), oracles.some_table(generator, 3)
    both = TableLaw(np.multiply.outer(one.joint, two.joint), (*one.domains, *two.domains))
    short = MarkovLaw(np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0.2, 0.8]), BITS, 4)
    return [(BlocksLaw((one, two)), both), (FOREST, FOREST.table()), (short, short.table()), (two, two)]


@pytest.mark.parametrize("place", range(4))
def test_every_kind_of_law_leaks_what_its_table_does(place: int) -> None:
    law, table = laws()[place]
    assert not isinstance(law, LawSet)
    for weights in (None, np.linspace(-1.0, 2.0, law.size), np.full(law.size, -2.0)):
        query = Query.of(table, weights)
        worst = worst_of_table(table, query, 1.5)
        assert worst_of_law(law, 1.5, weights) == (pytest.approx(worst.epsilon, rel=1e-9), EXACT)
        assert as_table_law(law).joint == pytest.approx(table.joint, rel=1e-12)
        for attacked in range(law.size):
            others = [each for each in range(law.size) if each != attacked]
            for known in (*itertools.combinations(others, 1), tuple(others), ()):
                found = leak_of_law(law, 1.5, Named(attacked, known), None, weights)
                assert found.epsilon == pytest.approx(Seen.by(table, query, attacked, known).leak(1.5), rel=1e-9)
            own = worst_of_table(table, query, 1.5, only=attacked).epsilon
            assert leak_of_law(law, 1.5, Named(attacked, None), None, weights).epsilon == pytest.approx(own, rel=1e-9)
        for adversary in (WORST, WEAKEST):
            scale = table_scale(table, query, 0.4, adversary).scale
            assert scale_of_law(law, 0.4, adversary, None, weights).scale == pytest.approx(scale, rel=1e-9)
        named = Named(1, (0,))
        scale = table_scale(table, query, 0.4, WORST, named).scale
        assert scale_of_law(law, 0.4, WORST, named, weights).scale == pytest.approx(scale, rel=1e-9)


def test_known_values_are_those_of_their_own_component() -> None:
    for law, table in laws():
        assert not isinstance(law, LawSet)
        query = Query.of(table)
        known, values = (0, law.size - 1), (0, 0)
        want = Seen.by(table, query, 1, known, context_of(table, known, values)).leak(2.0)
        assert leak_of_law(law, 2.0, Named(1, known), values, None).epsilon == pytest.approx(want, rel=1e-9)


def test_of_a_set_the_worst_law_counts() -> None:
    pair = TableLaw(np.array([[0.3, 0.2], [0.2, 0.3]]), (BITS, BITS))
    theta = LawSet(
        (MarkovLaw(np.array([[0.6, 0.4], [0.4, 0.6]]), EVEN, BITS, 2), MarkovLaw(STICKY, EVEN, BITS, 2), pair)
    )
    tables = [as_table_law(law) for law in theta.laws]
    queries = [Query.of(table) for table in tables]
    worst = [worst_of_table(*each, 1.0).epsilon for each in zip(tables, queries, strict=True)]
    assert worst_of_laws(theta, 1.0) == (pytest.approx(max(worst)), 1, EXACT)
    leaks = [Seen.by(*each, 0, ()).leak(1.0) for each in zip(tables, queries, strict=True)]
    assert leak_of_laws(theta, 1.0, Named(0, ())).epsilon == pytest.approx(max(leaks))
    scales = [table_scale(*each, 0.3, WORST).scale for each in zip(tables, queries, strict=True)]
    assert scale_of_laws(theta, 0.3, WORST) == (pytest.approx(max(scales)), 1, EXACT)
    rows, told = np.array([[1.0, 0.0], [1.0, 1.0]]), [1.0, 2.0]
    asked = [[Query.of(table, row) for row in rows] for table in tables]
    joint = [joint_leak(*each, told, 0) for each in zip(tables, asked, strict=True)]
    assert joint_leak_of_laws(theta, rows, told, 0).epsilon == pytest.approx(max(joint))
    fixed = joint_leak_of_laws(theta, rows, told, 0, (1,), (0,)).epsilon
    assert fixed == pytest.approx(max(joint_leak(t, a, told, 0, (1,), 0) for t, a in zip(tables, asked, strict=True)))
    accounts = [ledger(*each, told, 0, [0.5, 3.0]) for each in zip(tables, asked, strict=True)]
    found, law = ledger_of_laws(theta, rows, told, 0, [0.5, 3.0])
    assert found.total == max(each.total for each in accounts) == accounts[law].total
    assert found.realised == max(each.realised for each in accounts)


def test_a_set_of_gaussian_laws() -> None:
    closer = GaussianLaw(np.array([[1.0, 0.8], [0.8, 1.0]]), 2.0)
    theta = LawSet((GAUSS, closer))
    assert worst_of_laws(theta, 1.0).epsilon == pytest.approx(3.6)
    assert leak_of_laws(theta, 1.0, Named(0, (1,))).epsilon == pytest.approx(2.0)
    assert leak_of_laws(theta, 1.0, Named(0, None)).epsilon == pytest.approx(3.6)
    assert scale_of_laws(theta, 0.5, WORST).scale == pytest.approx(7.2)
    assert joint_leak_of_laws(theta, np.array([[1.0, 0.0], [0.0, 1.0]]), [1.0, 1.0], 0).epsilon == pytest.approx(3.6)


def test_weights_of_one_size_are_less_noise() -> None:
    assert worst_of_law(GAUSS, 1.0)[0] == pytest.approx(3.0)
    assert worst_of_law(CHAIN, 1.0, np.full(10, -2.0))[0] == pytest.approx(worst_of_law(CHAIN, 0.5)[0])
    doubled = scale_of_law(CHAIN, 0.5, WORST, None, np.full(10, -2.0)).scale
    assert doubled == pytest.approx(2.0 * scale_of_law(CHAIN, 0.5, WORST).scale)
    uneven, table = np.arange(1.0, 11.0), CHAIN.table()
    whole = worst_of_table(table, Query.of(table, uneven), 1.0).epsilon
    assert worst_of_law(CHAIN, 1.0, uneven)[0] == pytest.approx(whole)


def test_what_cannot_be_listed_has_the_bound_of_its_component() -> None:
    size = 60
    tree = TreeLaw(np.arange(-1, size - 1), EVEN[None], STICKY[None], np.zeros(size, dtype=np.int64), BITS)
    chain = MarkovLaw(STICKY, EVEN, BITS, size)
    uneven = np.linspace(1.0, 2.0, size)
    for law, weights, reach in ((tree, None, 60.0), (chain, uneven, 90.0)):
        assert worst_of_law(law, 2.0, weights) == (pytest.approx(reach / 2.0), SOUND)
        assert scale_of_law(law, 0.5, WORST, None, weights) == (pytest.approx(reach * 2.0), SOUND)
        assert leak_of_law(law, 2.0, Named(3, (1,)), None, weights) == (pytest.approx(reach / 2.0), SOUND)
    assert worst_of_law(chain, 2.0).epsilon < worst_of_law(tree, 2.0).epsilon


def test_many_equal_trees_are_one() -> None:
    count = 20_000
    starts = np.repeat(np.arange(count) * 4, 4)
    parents = np.where(np.arange(4 * count) % 4 == 0, -1, starts)
    forest = TreeLaw(parents, EVEN[None], STICKY[None], np.zeros(4 * count, dtype=np.int64), BITS)
    star = TreeLaw(parents[:4], EVEN[None], STICKY[None], np.zeros(4, dtype=np.int64), BITS)
    assert worst_of_law(forest, 1.0) == worst_of_law(star, 1.0)
    named = Named(4 * count - 1, (0, 4 * count - 2))
    alone = leak_of_law(star, 1.0, Named(3, (2,)), None, None).epsilon
    assert leak_of_law(forest, 1.0, named, None, None) == (alone, SOUND)
    only_here = np.zeros(4 * count)
    only_here[-4:] = 1.0
    assert leak_of_law(forest, 1.0, named, None, only_here) == (alone, EXACT)
    assert leak_of_law(forest, 1.0, Named(7, None), None, None) == leak_of_law(star, 1.0, Named(3, None), None, None)
    scale = scale_of_law(star, 0.5, WEAKEST)
    assert scale_of_law(forest, 0.5, WEAKEST) == (scale.scale, SOUND)
    assert scale_of_law(forest, 0.5, WORST) == scale_of_law(star, 0.5, WORST)


def test_a_component_bounds_whoever_knows_nothing_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    table, lower, whole = FOREST.table(), 0, 0
    monkeypatch.setattr("beliefs.prior.any_law.LISTED", 0.0)
    for attacked in range(FOREST.size):
        others = [each for each in range(FOREST.size) if each != attacked]
        for known in itertools.chain(itertools.combinations(others, 1), itertools.combinations(others, 4)):
            exact = Seen.by(table, Query.of(table), attacked, known).leak(1.5)
            found = leak_of_law(FOREST, 1.5, Named(attacked, known), None, None)
            assert exact <= found.epsilon * (1.0 + 1e-9)
            assert found.method == SOUND or exact == pytest.approx(found.epsilon)
            lower += exact < found.epsilon * 0.99
            whole += found.method == EXACT
    assert lower
    assert whole
    scale = scale_of_law(FOREST, 0.4, WORST, Named(2, (5,)))
    assert scale.method == SOUND
    assert Seen.by(table, Query.of(table), 2, (5,)).leak(scale.scale) < 0.39


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(Invalid, match="weights"):
        worst_of_law(GAUSS, 1.0, np.ones(3))
    pairs = FriendsLaw(2, np.array([[0, 1]]), np.array([[0.0, 1.0], [1.0, 0.0]]), 0.1, 1.0)
    with pytest.raises(Invalid, match="pairs of friends only"):
        worst_of_law(pairs, 1.0)
    assert worst_of_law(pairs.tree(), 1.0).method == EXACT
    with pytest.raises(Invalid, match="no table of values"):
        as_table_law(GAUSS)
    with pytest.raises(Invalid, match="more than"):
        as_table_law(BlocksLaw((CHAIN, CHAIN, CHAIN)))
    with pytest.raises(Invalid, match=r"laws: entry 1: law: says pairs"):
        worst_of_laws(LawSet((pairs.tree(), pairs)), 1.0)
    with pytest.raises(Invalid, match="queries"):
        ledger_of_laws(CHAIN, np.ones((1, 3)), [1.0], 0, [1.0])


@pytest.mark.parametrize(
    ("laws", "says"),
    [
        ((), "empty"),
        ((GAUSS, CHAIN), "entry 1 has 10 attributes"),
        ((CHAIN, MarkovLaw(STICKY, EVEN, BITS * 2.0, 10)), "entry 1 has other values"),
        ((GAUSS, GaussianLaw(np.eye(2), 1.0)), "entry 1 has other values"),
        ((GAUSS, MarkovLaw(STICKY, EVEN, BITS, 2)), "entry 1 has other values"),
        ((LawSet((GAUSS,)),), "entry 0 is a set itself"),
        ((BlocksLaw((CHAIN, GAUSS)), BlocksLaw((GAUSS, CHAIN))), "entry 1 has other values"),
    ],
)
def test_laws_of_a_set_are_about_the_same(laws: tuple[Theta, ...], says: str) -> None:
    with pytest.raises(Invalid, match="laws") as refused:
        LawSet(laws)  # type: ignore[arg-type]
    assert says in refused.value.reason


def test_a_set_may_hold_laws_of_many_kinds() -> None:
    blocks = BlocksLaw((MarkovLaw(STICKY, EVEN, BITS, 3), TableLaw(np.full((2,) * 7, 2.0**-7), (BITS,) * 7)))
    theta = LawSet((CHAIN, blocks, TreeLaw(np.full(10, -1), EVEN[None], STICKY[None], np.full(10, -1), BITS)))
    assert theta.size == 10
    assert theta.components().largest == 10
    assert LawSet((blocks,)).components().sizes().tolist() == [3, 7]
    assert worst_of_laws(theta, 1.0).law == 0
