from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.laws.dependence import Blocks, Members
from beliefs.laws.friends import FriendsLaw, city_blocks
from beliefs.laws.learning import block_table, covariance_of, nearness_of, pair_table, window_chain


def distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).sum()) / 2.0


def test_the_law_of_a_household_lies_within_its_radius() -> None:
    generator = np.random.default_rng(3)
    for size, most in ((1, 3), (2, 2), (3, 1)):
        cells = [*itertools.product(range(most + 1), repeat=size)]
        mixtures = generator.dirichlet(np.ones(len(cells)), 3)
        truth = np.zeros((most + 1,) * size)
        for cell, chance in zip(cells, mixtures.mean(axis=0).tolist(), strict=True):
            for turned in itertools.permutations(cell):
                truth[turned] += chance / len([*itertools.permutations(cell)])
        seen = []
        for _ in range(300):
            drawn = generator.choice(len(cells), 20, p=mixtures[generator.integers(3)])
            seen.append(Counter(cells[number] for number in drawn.tolist()))
        found = block_table(seen, size, most, 0.05)
        assert distance(found.law.joint, truth) < found.radius < 0.25
        assert found.law.joint.min() > 0.0
        assert Blocks({size: found.law}, Members("field", "$.h")).component_size == size
        fewer = block_table(seen[:30], size, most, 0.05)
        assert fewer.radius > found.radius


def test_every_order_of_a_kind_has_one_share_and_nothing_is_impossible() -> None:
    found = block_table([Counter({(0, 2): 1, (2, 0): 3}), Counter({(0, 0): 5})], 2, 2, 0.05)
    kinds = {(0, 0): 1.5, (0, 1): 0.5, (0, 2): 1.5, (1, 1): 0.5, (1, 2): 0.5, (2, 2): 0.5}
    for (one, other), weight in kinds.items():
        share = weight / 5.0 / (1 if one == other else 2)
        assert found.law.joint[one, other] == found.law.joint[other, one] == pytest.approx(share)
    assert found.radius == 1.0


def test_a_chain_over_windows_lies_within_its_radii() -> None:
    generator = np.random.default_rng(4)
    rows = np.array([[0.8, 0.15, 0.05], [0.3, 0.5, 0.2], [0.1, 0.3, 0.6]])
    steps, firsts = np.zeros((3, 3)), np.zeros(3)
    for _ in range(200):
        at = int(generator.choice(3, p=[0.5, 0.3, 0.2]))
        firsts[at] += 1.0
        for _ in range(50):
            after = int(generator.choice(3, p=rows[at]))
            steps[at, after] += 1.0
            at = after
    found = window_chain(steps, firsts, 24, 0.05)
    assert found.law.length == 24
    for row, truth, radius in zip(found.law.rows, rows, found.rows.tolist(), strict=True):
        assert distance(row, truth) < radius < 0.12
    assert distance(found.law.start, np.array([0.5, 0.3, 0.2])) < found.start < 0.3
    never = window_chain(np.array([[3.0, 0.0], [0.0, 0.0]]), np.array([1.0, 0.0]), 2, 0.05)
    assert never.law.rows.tolist() == [[0.875, 0.125], [0.5, 0.5]]
    assert never.rows[1] == 1.0


def test_offset_and_exponent_are_found_again() -> None:
    generator = np.random.default_rng(5)
    distances = city_blocks(np.array([[float(x), float(y)] for x in range(6) for y in range(5)]))
    people = generator.dirichlet(np.full(30, 3.0))
    truth = FriendsLaw(2, np.array([[0, 1]]), distances, 0.4, 1.5, people)
    pairs = (truth.single()[:, None] * truth.kernel()).ravel()
    ends = np.stack(np.unravel_index(generator.choice(900, 20_000, p=pairs / pairs.sum()), (30, 30)), axis=1)
    friends = np.arange(ends.size).reshape(-1, 2)
    near = nearness_of(friends, ends.ravel(), distances)
    assert near.exponent == pytest.approx(1.5, abs=0.12)
    assert near.offset == pytest.approx(0.4, abs=0.12)
    assert near.people == pytest.approx(people, rel=0.25)
    found = FriendsLaw(2, np.array([[0, 1]]), distances, near.offset, near.exponent, near.people)
    chances = found.kernel()[np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])]
    assert near.score == pytest.approx(np.log(chances).mean())
    assert near.score >= np.log(truth.kernel()[ends[:, 0], ends[:, 1]]).mean() - 0.01
    assert max(distance(*each) for each in zip(found.kernel(), truth.kernel(), strict=True)) < 0.1


def test_pairs_go_both_ways_and_covariances_are_the_usual_ones() -> None:
    table = pair_table(np.array([[0, 1], [0, 1], [1, 1]]), 2)
    assert table.tolist() == [[0.5 / 8, 2.5 / 8], [2.5 / 8, 2.5 / 8]]
    columns = np.random.default_rng(6).normal(size=(50, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.2], [0, 0, 1]])
    assert covariance_of(columns, 2.0).covariance == pytest.approx(np.cov(columns.T), rel=1e-12)


def test_what_says_nothing_is_refused() -> None:
    line = city_blocks(np.arange(3.0)[:, None])
    with pytest.raises(Invalid, match="friends"):
        nearness_of(np.zeros((0, 2), dtype=np.int64), np.array([0, 1]), line)
    with pytest.raises(Invalid, match="all at one place"):
        nearness_of(np.array([[0, 1]]), np.array([0, 0]), np.zeros((1, 1)))
    with pytest.raises(Invalid, match="records"):
        covariance_of(np.ones((1, 2)), 1.0)
    with pytest.raises(Invalid, match="components: are none"):
        block_table([], 2, 1, 0.05)
    with pytest.raises(Invalid, match="components: of 9 members"):
        block_table([Counter({(0,) * 9: 1})], 9, 9, 0.05)
