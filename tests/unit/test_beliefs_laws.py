from __future__ import annotations

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.laws.blocks import BlocksLaw
from beliefs.laws.gaussian import GaussianLaw
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw

BITS = np.array([0.0, 1.0])
PAIR = np.array([[0.3, 0.2], [0.2, 0.3]])


@pytest.mark.parametrize(
    ("joint", "domains", "field", "says"),
    [
        (np.array([[0.5, -0.1], [0.4, 0.2]]), (BITS, BITS), "joint", "entry [0, 1] is negative"),
        (np.array([[0.5, np.nan], [0.4, 0.2]]), (BITS, BITS), "joint", "entry [0, 1] is no finite number"),
        (np.array([[0.5, 0.2], [np.inf, 0.2]]), (BITS, BITS), "joint", "entry [1, 0] is no finite number"),
        (PAIR * 1.1, (BITS, BITS), "joint", "sums to 1.1"),
        (np.zeros((0, 2)), (BITS, BITS), "joint", "is empty"),
        (PAIR, (BITS,), "domains", "for 1 attributes, but joint has 2"),
        (PAIR, (BITS, np.arange(3.0)), "domains", "attribute 1"),
        (PAIR, (BITS[::-1], BITS), "domains", "of attribute 0 must ascend; entry 1"),
        (PAIR, (BITS, np.array([2.0, 2.0])), "domains", "of attribute 1 must ascend; entry 1"),
        (PAIR, (BITS, np.array([0.0, np.inf])), "domains", "entry 1 is none"),
    ],
)
def test_a_wrong_table_is_refused_with_its_wrong_entry(
    joint: np.ndarray, domains: tuple[np.ndarray, ...], field: str, says: str
) -> None:
    with pytest.raises(Invalid, match=field) as refused:
        TableLaw(joint, domains)
    assert refused.value.field == field
    assert says in refused.value.reason


@pytest.mark.parametrize(
    ("rows", "start", "domain", "length", "field", "says"),
    [
        ([[0.9, 0.1], [0.2, 0.7]], [0.5, 0.5], [0, 1], 3, "transition", "row 1 sums to 0.9"),
        ([[0.9, 0.1], [1.2, -0.2]], [0.5, 0.5], [0, 1], 3, "transition", "row 1 entry 1 is negative"),
        ([[0.9, 0.1]], [1.0], [0], 3, "transition", "square"),
        ([[0.9, 0.1], [0.2, 0.8]], [0.5, 0.6], [0, 1], 3, "start", "sums to 1.1"),
        ([[0.9, 0.1], [0.2, 0.8]], [1.0], [0, 1], 3, "start", "1 entries"),
        ([[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5], [0, 1, 2], 3, "domain", "3 values"),
        ([[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5], [1, 0], 3, "domain", "entry 1 is not above"),
        ([[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5], [0, 0.5], 3, "domain", "whole numbers"),
        ([[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5], [0, 1], 0, "length", "1 or more"),
    ],
)
def test_a_wrong_chain_is_refused(
    rows: list[list[float]], start: list[float], domain: list[float], length: int, field: str, says: str
) -> None:
    with pytest.raises(Invalid, match=field) as refused:
        MarkovLaw(np.array(rows), np.array(start), np.array(domain, dtype=float), length)
    assert refused.value.field == field
    assert says in refused.value.reason


@pytest.mark.parametrize(
    ("covariance", "says"),
    [
        ([[1.0, 0.5]], "square"),
        ([[1.0, np.nan], [np.nan, 1.0]], "entry [0, 1]"),
        ([[1.0, 0.5], [0.4, 1.0]], "is not symmetric: entries [0, 1] and [1, 0]"),
        ([[-1.0, 0.0], [0.0, 1.0]], "entry 0 of the diagonal"),
        ([[1.0, 1.1], [1.1, 1.0]], "not positive semidefinite"),
        ([[0.0, 0.1], [0.1, 1.0]], "gives attribute 0 covariances"),
        ([[1.0, -0.6, -0.6], [-0.6, 1.0, -0.6], [-0.6, -0.6, 1.0]], "not positive semidefinite"),
        (np.where(np.eye(15) > 0, 1.0, -0.08).tolist(), "not positive semidefinite"),
        ([[1.0, 1.0, 0.0], [1.0, 1.0, 0.1], [0.0, 0.1, 1.0]], "not positive semidefinite"),
    ],
)
def test_a_wrong_covariance_is_refused(covariance: list[list[float]], says: str) -> None:
    with pytest.raises(Invalid, match="covariance") as refused:
        GaussianLaw(np.array(covariance), 1.0)
    assert says in refused.value.reason


def test_covariances_at_the_edge_are_none_of_them_refused() -> None:
    for covariance in (
        np.ones((4, 4)),
        np.zeros((2, 2)),
        np.where(np.eye(3) > 0, 1.0, -0.5),
        np.where(np.eye(15) > 0, 1.0, -1.0 / 14.0),
        np.array([[1e-12, 0.0], [0.0, 1e12]]),
        np.array([[1.0, 0.5 + 1e-13], [0.5, 1.0]]),
    ):
        assert GaussianLaw(covariance, 1.0).size == covariance.shape[0]
    generator = np.random.default_rng(1)
    for _ in range(100):
        size, rank = int(generator.integers(1, 12)), int(generator.integers(1, 12))
        factor = generator.normal(size=(size, rank)) * 10.0 ** generator.integers(-3, 4, (size, 1))
        assert GaussianLaw(factor @ factor.T, 1.0).size == size
        if size > 1:
            broken = factor @ factor.T
            spread = np.sqrt(np.diagonal(broken))
            broken[0, 1] = broken[1, 0] = 1.001 * spread[0] * spread[1]
            with pytest.raises(Invalid, match="semidefinite"):
                GaussianLaw(broken, 1.0)
    for range_ in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(Invalid, match="range"):
            GaussianLaw(np.eye(2), range_)


def test_a_chain_is_the_table_of_its_combinations() -> None:
    law = MarkovLaw(np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.25, 0.75]), BITS, 3)
    table = law.table()
    assert table.joint[1, 1, 0] == pytest.approx(0.75 * 0.7 * 0.3)
    assert table.size == law.size == 3
    with pytest.raises(Invalid, match="length"):
        MarkovLaw(law.transition, law.start, BITS, 30).table()


def test_blocks_number_their_attributes_through() -> None:
    table = TableLaw(PAIR, (BITS, BITS))
    chain = MarkovLaw(np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([0.25, 0.75]), BITS, 5)
    law = BlocksLaw((table, chain, GaussianLaw(np.eye(3), 1.0)))
    assert law.size == 10
    assert law.starts() == [0, 2, 7]
    with pytest.raises(Invalid, match="blocks"):
        BlocksLaw(())


def test_every_law_says_what_hangs_together() -> None:
    table, even = TableLaw(PAIR, (BITS, BITS)), np.array([0.5, 0.5])
    chain = MarkovLaw(np.array([[0.9, 0.1], [0.2, 0.8]]), even, BITS, 3)
    coins = MarkovLaw(np.array([[0.4, 0.6], [0.4, 0.6]]), even, BITS, 2)
    gauss = GaussianLaw(np.array([[1.0, 0.0, 0.3], [0.0, 1.0, 0.0], [0.3, 0.0, 1.0]]), 1.0)
    blocks = BlocksLaw((table, coins, gauss, chain))
    assert blocks.components().of.tolist() == [0, 0, 1, 2, 3, 4, 3, 5, 5, 5]
    assert blocks.components().largest == 3
    assert [each.components().largest for each in blocks.blocks] == [2, 1, 2, 3]
