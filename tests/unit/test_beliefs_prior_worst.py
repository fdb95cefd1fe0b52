from __future__ import annotations

import math

import numpy as np
import prior_oracles as oracles
import pytest

from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.prior import pruning
from beliefs.prior import worst as search
from beliefs.prior.adversary import Query, Seen
from beliefs.prior.influence import influence_bound, passed_on, passed_on_by
from beliefs.prior.structure import components, structure_of
from beliefs.prior.worst import EXACT, SOUND, worst_of_table

BITS = np.array([0.0, 1.0])


def every_one(law: TableLaw, query: Query, scale: float, most: int | None = None) -> tuple[float, int, tuple[int, ...]]:
    best = (-1.0, 0, ())
    for attacked, known in oracles.adversaries(law.size, most):
        leak = Seen.by(law, query, attacked, known).leak(scale)
        if leak > best[0] + 1e-11 * max(1.0, best[0]):
            best = leak, attacked, known
    return best


def ising(ties: np.ndarray, fields: np.ndarray) -> TableLaw:
    count = fields.size
    spins = ((np.arange(2**count)[:, None] >> np.arange(count)[::-1]) & 1) * 2 - 1
    energy = spins @ fields + sum(ties[i, j] * spins[:, i] * spins[:, j] for i in range(count) for j in range(i))
    joint = np.exp(energy - energy.max())
    return TableLaw((joint / joint.sum()).reshape((2,) * count), (BITS,) * count)


def trees(generator: np.random.Generator, count: int) -> np.ndarray:
    ties = np.zeros((count, count))
    for node in range(1, count):
        ties[node, generator.integers(node)] = generator.uniform(-0.8, 0.8)
    return ties


@pytest.mark.parametrize("structured", [False, True])
def test_the_search_finds_whom_looking_at_everybody_finds(structured: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "EVERY_SET_UP_TO", 0 if structured else 8)
    generator = np.random.default_rng(1)
    for number in range(120):
        law = oracles.some_table(generator)
        query = Query.of(law, oracles.some_weights(generator, law.size))
        scale = float(generator.choice([0.004, 0.3, 1.0, 5.0]))
        most = int(generator.integers(law.size)) if number % 4 == 0 else law.size - 1
        leak, attacked, known = every_one(law, query, scale, most)
        found = worst_of_table(law, query, scale, most)
        assert found.method == EXACT
        assert leak - 1e-11 * max(1.0, leak) <= found.epsilon <= leak + 1e-9 * max(1.0, leak), number
        assert found.weakest == max(Seen.by(law, query, each, ()).leak(scale) for each in range(law.size))
        told = Seen.by(law, query, found.attacked, found.known).leak(scale)
        assert told == pytest.approx(found.epsilon, rel=1e-9, abs=1e-9), "whom it names learns that much"
        if not structured:
            assert (found.attacked, found.known) == (attacked, known)


def test_trees_blocks_and_exchangeable_tables_are_searched_by_their_structure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "EVERY_SET_UP_TO", 0)
    generator = np.random.default_rng(2)
    for number in range(36):
        count = 6
        ties = trees(generator, count) if number % 3 == 0 else np.zeros((count, count))
        if number % 3 == 1:
            ties[1, 0], ties[3, 2], ties[5, 4] = generator.normal(size=3)
        law = ising(ties, generator.normal(size=count) * 0.3)
        if number % 3 == 2:
            law = ising(np.tril(np.full((count, count), generator.normal() * 0.3), -1), np.full(count, 0.2))
        query, scale = Query.of(law), float(generator.choice([0.3, 1.0, 4.0]))
        leak, _, _ = every_one(law, query, scale)
        found = worst_of_table(law, query, scale)
        assert found.method == EXACT
        assert found.epsilon == pytest.approx(leak, rel=1e-9)
        only = worst_of_table(law, query, scale, only=3)
        mine = max(Seen.by(law, query, 3, known).leak(scale) for one, known in oracles.adversaries(count) if one == 3)
        assert only.epsilon == pytest.approx(mine, rel=1e-9)
        assert only.attacked == 3


def test_zeros_do_not_hide_that_attributes_are_tied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "EVERY_SET_UP_TO", 0)
    generator = np.random.default_rng(3)
    xor = np.zeros((2, 2, 2))
    xor[0, 0, 0] = xor[0, 1, 1] = xor[1, 0, 1] = xor[1, 1, 0] = 0.25
    copies = np.zeros((2, 2, 2))
    copies[0, 0, 0], copies[1, 1, 1] = 0.3, 0.7
    walk = np.array([[0.7, 0.3, 0.0], [0.2, 0.6, 0.2], [0.0, 0.4, 0.6]])
    chain = MarkovLaw(walk, np.array([0.5, 0.5, 0.0]), np.arange(3.0), 4).table()
    halves = np.multiply.outer(copies, generator.dirichlet(np.ones(4)).reshape(2, 2))
    for joint in (xor, copies, chain.joint, halves, np.multiply.outer(xor, np.array([0.4, 0.6]))):
        domains = tuple(np.arange(float(length)) for length in joint.shape)
        law = TableLaw(joint, domains)
        for scale in (0.3, 2.0):
            leak, _, _ = every_one(law, Query.of(law), scale)
            assert worst_of_table(law, Query.of(law), scale).epsilon == pytest.approx(leak, rel=1e-9)


def test_ties_are_found_where_they_are() -> None:
    chain = MarkovLaw(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.3, 0.7]), BITS, 5).table()
    ties = structure_of(chain.joint)
    assert (ties.couplings > 0).sum() == 8
    assert ties.couplings[1, 2] == pytest.approx(math.log(0.9 * 0.8 / 0.1 / 0.2))
    assert ties.left_out < 1e-12
    with_zeros = MarkovLaw(np.array([[1.0, 0.0], [0.2, 0.8]]), np.array([0.3, 0.7]), BITS, 5).table()
    assert (structure_of(with_zeros.joint).couplings == math.inf).sum() == 8
    xor = np.zeros((2, 2, 2))
    xor[0, 0, 0] = xor[0, 1, 1] = xor[1, 0, 1] = xor[1, 1, 0] = 0.25
    assert (structure_of(xor).couplings == math.inf).sum() == 6
    beside = structure_of(np.multiply.outer(xor, np.array([[0.4, 0.1], [0.2, 0.3]]))).couplings
    assert (beside[:3, 3:] == 0.0).all()
    assert beside[3, 4] == pytest.approx(math.log(6.0))
    assert components(beside > 0.0) == [[0, 1, 2], [3, 4]]


def test_no_adversary_is_above_what_influence_allows() -> None:
    generator = np.random.default_rng(4)
    tight = 0
    for _ in range(150):
        law = oracles.some_table(generator)
        if not (law.joint > 0.0).all():
            continue
        query, scale = Query.of(law), float(generator.choice([0.1, 1.0, 5.0]))
        ranges = np.array([float(each) / scale for each in query.ranges])
        ties = structure_of(law.joint).couplings
        for attacked, known in oracles.adversaries(law.size):
            unknown = tuple(each for each in range(law.size) if each != attacked and each not in known)
            leak, bound = (
                Seen.by(law, query, attacked, known).leak(scale),
                influence_bound(ties, ranges, attacked, unknown),
            )
            assert leak <= bound + 1e-11 * max(1.0, bound)
            tight += bool(unknown) and leak > 0.99 * bound
    assert tight > 20


def test_what_is_passed_on_is_the_best_that_a_function_can_do() -> None:
    generator = np.random.default_rng(5)
    for _ in range(200):
        laws = generator.dirichlet(np.full(4, 0.7), 2)
        loss = float(generator.choice([0.1, 1.0, 6.0]))
        corners = np.exp(loss * ((np.arange(16)[:, None] >> np.arange(4)) & 1))
        want = float(np.log((corners @ laws[0]) / (corners @ laws[1])).max())
        found = passed_on_by(np.log(laws)[None], np.array([loss]))[0]
        assert want - 1e-13 <= found[0, 1] <= want + 1e-10
        odds = np.log(laws[0] / laws[1])
        assert found[0, 1] <= passed_on(float(odds.max() - odds.min()), loss) + 1e-11
        tried = generator.uniform(0.0, loss, (200, 4))
        assert float(np.log((np.exp(tried) @ laws[0]) / (np.exp(tried) @ laws[1])).max()) <= found[0, 1]
    assert passed_on(math.inf, 3.0) == passed_on(3.0, math.inf) == 3.0
    assert passed_on(0.0, 3.0) == passed_on(3.0, 0.0) == 0.0
    assert passed_on(2_000.0, 1_500.0) == pytest.approx(1_500.0)


def test_a_search_that_gives_up_says_so_and_bounds_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(6)
    monkeypatch.setattr(search, "WORK_MAX", 0)
    gave_up = 0
    for _ in range(25):
        law = oracles.some_table(generator, size=4)
        query = Query.of(law)
        leak, _, _ = every_one(law, query, 1.0)
        found = worst_of_table(law, query, 1.0)
        assert found.epsilon >= leak - 1e-11
        assert found.attained <= leak + 1e-9
        gave_up += found.method == SOUND
        assert (found.method == SOUND) == (found.epsilon > found.attained)
    assert gave_up > 15


def test_knowing_more_can_tell_more_although_all_correlations_are_positive() -> None:
    weights = np.array([[[2.0, 4.0], [1.0, 16.0]], [[1.0, 18.0], [4.0, 85.0]]]) / 131.0
    law = TableLaw(weights, (BITS, np.array([0.0, 5.0]), BITS))
    found = worst_of_table(law, Query.of(law), 1.0)
    assert (found.attacked, found.known) == (1, (2,))
    assert found.epsilon == pytest.approx(5.46798798626867, abs=1e-9)
    assert worst_of_table(law, Query.of(law), 1.0, max_known=0).epsilon == found.weakest < found.epsilon


def test_twenty_users_in_a_chain_and_in_blocks() -> None:
    chain = MarkovLaw(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]), BITS, 20)
    found = worst_of_table(chain.table(), Query.of(chain.table()), 1.0)
    assert found.method == EXACT
    assert found.epsilon == pytest.approx(5.220732071073, abs=1e-9)
    assert found.weakest == pytest.approx(4.498857540376, abs=1e-9)
