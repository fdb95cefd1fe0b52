from __future__ import annotations

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.laws.components import components_of, joined, side_by_side
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.tree import TreeLaw

BITS = np.array([0.0, 1.0])
STICKY = np.array([[[0.9, 0.1], [0.2, 0.8]]])
EVEN = np.array([[0.5, 0.5]])


def random_forest(generator: np.random.Generator, size: int, values: int) -> TreeLaw:
    """Parents may come behind their children; some chances are 0."""
    place, parents = generator.permutation(size), np.full(size, -1)
    for one in range(1, size):
        if generator.random() < 0.85:
            parents[place[one]] = place[generator.integers(one)]
    kernels = generator.dirichlet(np.ones(values), size=(3, values))
    kernels[0, generator.integers(values)] = np.eye(values)[0]
    rows = int((parents < 0).sum()) if generator.random() < 0.5 else 1
    roots = generator.dirichlet(np.ones(values), size=rows)
    roots[0] = np.eye(values)[-1] if generator.random() < 0.2 else roots[0]
    return TreeLaw(parents, roots, kernels, generator.integers(0, 3, size), np.arange(float(values)))


def given(pair: np.ndarray) -> np.ndarray:
    """The law of the second given the first, by definition."""
    sums = pair.sum(axis=1, keepdims=True)
    return np.divide(pair, sums, out=np.zeros_like(pair), where=sums > 0.0)


@pytest.mark.parametrize(("size", "values"), [(1, 3), (4, 3), (6, 3), (9, 2)])
def test_both_ways_are_what_the_table_of_all_values_says(size: int, values: int) -> None:
    generator, edges = np.random.default_rng(size), 0
    for _ in range(30):
        law = random_forest(generator, size, values)
        joint, ways = law.table().joint, law.both_ways()
        for child, parent in enumerate(law.parents.tolist()):
            single = joint.sum(axis=tuple(each for each in range(size) if each != child))
            assert ways.marginals[ways.marginal_of[child]] == pytest.approx(single, rel=1e-12, abs=1e-300)
            if parent < 0:
                assert ways.edge_of[child] == -1
                continue
            pair = joint.sum(axis=tuple(each for each in range(size) if each not in (child, parent)))
            pair = pair if parent < child else pair.T
            assert ways.down[ways.edge_of[child]] == pytest.approx(given(pair), rel=1e-12, abs=1e-300)
            assert ways.up[ways.edge_of[child]] == pytest.approx(given(pair.T), rel=1e-12, abs=1e-300)
            edges += 1
    assert edges > 30 or size == 1


def test_a_chain_is_a_tree_without_branches() -> None:
    chain = MarkovLaw(STICKY[0], np.array([0.3, 0.7]), BITS, 5)
    tree = TreeLaw(np.arange(-1, 4), np.array([[0.3, 0.7]]), STICKY, np.zeros(5, dtype=np.int64), BITS)
    assert tree.table().joint == pytest.approx(chain.table().joint, rel=1e-15)


def test_a_hundred_thousand_attributes_have_every_own_law_once() -> None:
    generator, size = np.random.default_rng(4), 100_000
    parents = np.concatenate([[-1], (generator.random(size - 1) * np.arange(1, size)).astype(np.int64)])
    kernels = generator.dirichlet(np.ones(2), size=(3, 2))
    law = TreeLaw(parents, np.array([[0.3, 0.7]]), kernels, generator.integers(0, 3, size), BITS)
    ways = law.both_ways()
    own = np.empty((size, 2))
    for one, parent in enumerate(parents.tolist()):
        own[one] = (0.3, 0.7) if parent < 0 else (own[parent][:, None] * kernels[law.kernel_of[one]]).sum(axis=0)
    assert np.abs(ways.marginals[ways.marginal_of] / own - 1.0).max() < 1e-13
    assert len(np.unique(ways.marginals, axis=0)) == len(ways.marginals)
    keys = np.stack([law.kernel_of[1:], ways.marginal_of[parents[1:]]], axis=1)
    assert len(np.unique(keys, axis=0)) == len(ways.down) == len(np.unique(ways.edge_of[1:]))
    pair = own[parents][:, :, None] * kernels[law.kernel_of]
    assert np.abs(ways.up[ways.edge_of[1:]] - (np.swapaxes(pair, 1, 2) / own[:, :, None])[1:]).max() < 1e-12


def test_a_chain_that_forgets_has_few_different_edges() -> None:
    size = 200_000
    law = TreeLaw(np.arange(-1, size - 1), EVEN, STICKY, np.zeros(size, dtype=np.int64), BITS)
    ways = law.both_ways()
    assert len(ways.down) < 200
    assert ways.marginals[ways.marginal_of[-1]] == pytest.approx([2 / 3, 1 / 3], rel=1e-14)
    assert law.components().largest == size


def test_what_may_occur_never_becomes_zero() -> None:
    tiny = np.array([[[1.0, 5e-324], [0.5, 0.5]]])
    ways = TreeLaw(np.array([-1, 0]), np.array([[1e-200, 1.0]]), tiny, np.array([0, 0]), BITS).both_ways()
    assert ways.down[0, 0, 1] > 0.0
    assert ways.up[0, 1, 0] > 0.0


@pytest.mark.parametrize(
    ("changed", "field", "says"),
    [
        ({"parents": np.array([-1.0, 0.0, 1.0])}, "parents", "whole numbers"),
        ({"parents": np.zeros(0, dtype=np.int64)}, "parents", "at least one"),
        ({"parents": np.array([-1, 0, 3])}, "parents", "entry 2 is 3; attributes are 0 to 2"),
        ({"parents": np.array([-2, 0, 1])}, "parents", "entry 0 is -2"),
        ({"parents": np.array([-1, 2, 1])}, "parents", "entry 1 is its own ancestor"),
        ({"parents": np.array([-1, 1, 1])}, "parents", "entry 1 is its own ancestor"),
        ({"roots": np.array([[0.5, 0.6]])}, "roots", "row 0 sums to 1.1"),
        ({"roots": np.array([[0.5, 0.5], [0.5, 0.5]])}, "roots", "has 2 rows; one for all, or one for each of 1"),
        ({"roots": np.array([0.5, 0.5])}, "roots", "rows of 2 entries"),
        ({"kernels": np.array([[[0.9, 0.1], [1.2, -0.2]]])}, "kernels", "entry 0 row 1 entry 1 is negative"),
        ({"kernels": np.array([[[0.9, 0.1], [np.nan, 0.2]]])}, "kernels", "entry 0 row 1 entry 0 must be a finite"),
        ({"kernels": np.eye(3)[None]}, "kernels", "tables of 2 rows"),
        ({"kernel_of": np.array([0, 0, 1])}, "kernel_of", "entry 2 is 1, but there are 1 kernels"),
        ({"kernel_of": np.array([0, -1, 0])}, "kernel_of", "entry 1 is -1"),
        ({"kernel_of": np.array([0, 0])}, "kernel_of", "must be 3 whole numbers"),
        ({"domain": np.array([1.0, 0.0])}, "domain", "entry 1 is not above"),
        ({"domain": np.zeros((2, 2))}, "domain", "must be a list"),
    ],
)
def test_a_wrong_tree_is_refused_with_its_wrong_entry(changed: dict[str, np.ndarray], field: str, says: str) -> None:
    right = {
        "parents": np.array([-1, 0, 1]),
        "roots": EVEN,
        "kernels": STICKY,
        "kernel_of": np.array([-1, 0, 0]),
        "domain": BITS,
    }
    assert TreeLaw(**right).size == 3
    with pytest.raises(Invalid, match=field) as refused:
        TreeLaw(**{**right, **changed})
    assert refused.value.field == field
    assert says in refused.value.reason


def test_values_that_are_too_rare_to_compute_with_are_refused() -> None:
    rare = np.array([[[1.0, 1e-140], [1.0, 1e-140]]])
    law = TreeLaw(np.array([-1, 0]), np.array([[1.0, 0.0]]), rare * np.array([1.0, 1e-140]), np.array([0, 0]), BITS)
    with pytest.raises(Invalid, match="kernels: give attribute 1 a value of a chance below"):
        law.both_ways()
    law = TreeLaw(np.array([-1, 0]), np.array([[1.0, 1e-280]]), STICKY, np.array([0, 0]), BITS)
    with pytest.raises(Invalid, match="roots: give attribute 0"):
        law.both_ways()


def test_a_large_tree_is_no_table() -> None:
    law = TreeLaw(np.arange(-1, 39), EVEN, STICKY, np.zeros(40, dtype=np.int64), BITS)
    with pytest.raises(Invalid, match="combinations"):
        law.table()


def test_components_are_those_of_a_plain_search() -> None:
    generator = np.random.default_rng(8)
    for _ in range(50):
        size = int(generator.integers(1, 30))
        ties = generator.integers(0, size, size=(int(generator.integers(0, size)), 2))
        found = components_of(size, ties)
        label = list(range(size))
        for _ in range(size):
            for one, two in ties.tolist():
                label[one] = label[two] = min(label[one], label[two])
        numbers = {each: place for place, each in enumerate(sorted(set(label)))}
        assert found.of.tolist() == [numbers[each] for each in label]
        assert found.sizes().tolist() == [label.count(each) for each in sorted(set(label))]
        assert found.largest == max(map(label.count, label))
        assert found.members(0) == [place for place, each in enumerate(label) if each == 0]


def test_components_beside_and_upon_each_other() -> None:
    one, two = components_of(4, np.array([[0, 2]])), components_of(4, np.array([[3, 2]]))
    assert side_by_side([one, two]).of.tolist() == [0, 1, 0, 2, 3, 4, 5, 5]
    assert joined([one, two]).of.tolist() == [0, 1, 0, 0]
