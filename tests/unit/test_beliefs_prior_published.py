from __future__ import annotations

import itertools

import numpy as np
import prior_oracles as oracles
import pytest

from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.published import (
    Edge,
    chain_rule,
    correlation_of_values,
    fast_search,
    full_search,
    increments,
    influences,
    pair_table,
)
from beliefs.prior.sound_chain import chain_bounds

BITS = np.array([0.0, 1.0])


def bits(joint: object) -> TableLaw:
    table = np.array(joint, dtype=float)
    return TableLaw(table / table.sum(), (BITS,) * table.ndim)


def leak(law: TableLaw, attacked: int = 0, known: tuple[int, ...] = (), scale: float = 1.0) -> float:
    return Seen.by(law, Query.of(law), attacked, known).leak(scale)


def twins(copies: int) -> TableLaw:
    joint = np.zeros((2,) * (copies + 1))
    joint[(0,) * (copies + 1)] = joint[(1,) * (copies + 1)] = 0.495
    joint[(1, *(0,) * copies)] = joint[(0, *(1,) * copies)] = 0.005
    return bits(joint)


def test_the_right_tail_is_not_seen() -> None:
    law = bits([[0.5, 0.0], [0.25, 0.25]])
    assert chain_rule(law, 1.0, 0, ()) == pytest.approx(1.0 + np.log(2.0 / (1.0 + np.exp(-1.0))))
    assert leak(law) == pytest.approx(1.0 + np.log((1.0 + np.e) / 2.0))


def test_the_inside_is_not_seen_either() -> None:
    law = TableLaw(np.array([[0.005, 0.495], [0.495, 0.005]]), (BITS, np.array([0.0, 5.0])))
    seen = Seen.by(law, Query.of(law), 0, ())
    assert seen.tails(1.0) == pytest.approx(3.08412825976067)
    assert seen.spread(1.0).nats == pytest.approx(3.81534587531226)
    assert seen.atoms.points[seen.spread(1.0).atom] in (1.0, 5.0)
    assert chain_rule(law, 1.0, 0, ()) < 3.1


def test_the_largest_leak_and_the_largest_increment_are_of_different_pairs() -> None:
    law = TableLaw(
        np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]) / 3.0, (np.array([0.0, 1.0, 3.0]), np.array([0.0, 5.0]))
    )
    assert leak(law) == pytest.approx(4.0)
    assert chain_rule(law, 1.0, 0, ()) == pytest.approx(3.0)


def test_copies_are_seen_once() -> None:
    for copies, truth in zip(range(2, 7), (2.93, 3.82, 4.56, 5.08, 5.38), strict=True):
        assert chain_rule(twins(copies), 1.0, 0, ()) == pytest.approx(1.976622, abs=1e-6)
        assert leak(twins(copies)) == pytest.approx(truth, abs=0.005)


def test_how_often_the_printed_rule_is_too_low() -> None:
    generator = np.random.default_rng(1)
    for size, least, most in ((2, 0.4, 0.6), (3, 0.15, 0.45), (4, 0.0, 0.3)):
        low = []
        for _ in range(200):
            law = bits(generator.dirichlet(np.ones(2**size)).reshape((2,) * size))
            printed, truth = chain_rule(law, 1.0, 0, ()), leak(law)
            low.append(printed < truth - 1e-9)
            assert size > 2 or printed <= truth + 1e-9, "of two bits it is never above"
        assert least < np.mean(low) < most


def test_the_repaired_rule_is_never_below_the_truth() -> None:
    generator = np.random.default_rng(2)
    tight = 0
    for number in range(150):
        law = oracles.some_table(generator, int(generator.integers(1, 5)))
        query, scale = (
            Query.of(law, oracles.some_weights(generator, law.size)),
            float(generator.choice([0.05, 0.5, 2.0])),
        )
        for (attacked, known), bound in chain_bounds(law, query, scale).items():
            truth = Seen.by(law, query, attacked, known).leak(scale)
            assert truth <= bound + 1e-11 * max(1.0, bound), number
            tight += len(known) < law.size - 1 and truth > 0.999 * bound
    assert tight > 100
    for law in (bits([[0.5, 0.0], [0.25, 0.25]]), twins(4)):
        assert chain_bounds(law, Query.of(law), 1.0)[0, ()] == pytest.approx(leak(law), abs=1e-9)


def test_positive_increments_do_not_make_the_weakest_the_worst() -> None:
    weights = [[[2.0, 4.0], [1.0, 16.0]], [[1.0, 18.0], [4.0, 85.0]]]
    law = TableLaw(np.array(weights) / 131.0, (BITS, np.array([0.0, 5.0]), BITS))
    gains = [
        gain
        for attacked, removed in itertools.permutations(range(3), 2)
        for known in ((), tuple({0, 1, 2} - {attacked, removed}))
        for gain in increments(law, 1.0, attacked, removed, known, {})
    ]
    assert len(gains) == 18
    assert min(gains) > 0.0
    assert leak(law, 1, (2,)) > max(leak(law, each) for each in range(3))


def test_the_sign_of_an_influence_is_not_that_of_the_correlation() -> None:
    table, three = np.array([[0.0, 0.5, 0.0], [0.245, 0.0, 0.255]]), np.arange(3.0)
    assert correlation_of_values(table, BITS, three) > 0.0
    assert influences(table, three, 4.0)[0][2] < 0.0
    generator = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        table = generator.dirichlet(np.ones(2 * 3)).reshape(2, 3)
        scale = float(generator.uniform(2.1, 20.0))
        rows = table / table.sum(axis=1, keepdims=True)
        gap = float(rows[1] @ three - rows[0] @ three)
        if abs(gap) > 4.0 / (8.0 * scale):  # range squared over 8 scales: then the sign holds
            assert np.sign(influences(table, three, scale)[0][2]) == np.sign(gap)
            held += 1
    assert held > 250


def test_two_bits_where_signs_agree_and_influence_is_at_most_the_range() -> None:
    generator = np.random.default_rng(4)
    for _ in range(200):
        table = generator.dirichlet(np.ones(4)).reshape(2, 2)
        gain = influences(table, np.array([0.0, 2.0]), 0.5)[0][2]
        assert np.sign(gain) == np.sign(correlation_of_values(table, BITS, BITS))
        assert abs(gain) <= 4.0 + 1e-12
    independent = np.outer([0.3, 0.7], [0.2, 0.5, 0.3])
    assert abs(influences(independent, np.arange(3.0), 1.0)[0][2]) < 1e-15
    assert correlation_of_values(np.array([[0.5, 0.5]]), np.array([1.0]), BITS) == 0.0


def test_known_values_choose_the_context() -> None:
    generator = np.random.default_rng(5)
    law = bits(generator.dirichlet(np.ones(8)).reshape(2, 2, 2))
    assert np.allclose(pair_table(law, 0, 2, (1,), (1,)), law.joint[:, 1])
    ways = [chain_rule(law, 1.0, 0, (1,), (value,)) for value in (0, 1)]
    assert chain_rule(law, 1.0, 0, (1,)) == max(ways)
    assert chain_rule(law, 1.0, 0, (1, 2)) == 1.0
    huge = TableLaw(law.joint, (BITS, BITS, np.array([0.0, 20_000.0])))
    assert np.isfinite(chain_rule(huge, 1.0, 0, ()))


def naive(
    ranges: list[float], scale: float, weights: dict[Edge, float], default: float
) -> tuple[list[float], int, int]:
    """Algorithm 1, node by node."""
    count, edges = len(ranges), 0
    everyone = frozenset(range(count))
    nodes = {(one, everyone - {one}): extent / scale for one, extent in enumerate(ranges)}
    layers = [max(nodes.values())]
    for size in range(count - 2, -1, -1):
        layer = {}
        for one in range(count):
            for known in map(frozenset, itertools.combinations(sorted(everyone - {one}), size)):
                steps = [
                    abs(nodes[one, known | {gone}] + weights.get((one, gone, known), default))
                    for gone in everyone - known - {one}
                ]
                edges += len(steps)
                layer[one, known] = min(steps)
        nodes |= layer
        layers.append(max(layer.values()))
    return layers, len(nodes), edges


def test_the_full_search_is_algorithm_1() -> None:
    generator = np.random.default_rng(6)
    for _ in range(40):
        count = int(generator.integers(1, 6))
        weights: dict[Edge, float] = {}
        for one, gone in itertools.permutations(range(count), 2):
            for size in range(count - 1):
                for known in itertools.combinations([each for each in range(count) if each not in (one, gone)], size):
                    if generator.random() < 0.7:
                        weights[one, gone, frozenset(known)] = float(generator.normal())
        ranges = generator.random(count).tolist()
        layers, nodes, edges = naive(ranges, 2.0, weights, -0.2)
        found = full_search(ranges, 2.0, weights, -0.2)
        assert np.allclose(found.layers, layers)
        assert (found.epsilon, found.nodes, found.edges) == (pytest.approx(max(layers)), nodes, edges)
        quick = fast_search(ranges, 2.0, weights, -0.2)
        assert quick.layers[: 2 if count > 1 else 1] == pytest.approx(layers[:2])
        assert (quick.nodes, quick.edges) == (nodes, edges)


def test_the_fast_search_may_drop_what_leads_to_the_top() -> None:
    edges: dict[Edge, float] = {
        (0, 2, frozenset({1})): 0.5,
        (0, 1, frozenset({2})): 0.5,
        (1, 2, frozenset({0})): 0.5,
        (1, 0, frozenset({2})): 0.4,
        (2, 1, frozenset({0})): 0.4,
        (2, 0, frozenset({1})): 0.4,
        (2, 0, frozenset()): 0.9,
        (2, 1, frozenset()): 0.9,
    }
    assert full_search([1.0] * 3, 1.0, edges, 0.1).layers == pytest.approx([1.0, 1.5, 2.3])
    assert fast_search([1.0] * 3, 1.0, edges, 0.1).layers == pytest.approx([1.0, 1.5, 1.6])
