from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from beliefs.leakage.sequence import channel_leak, exact_law, extreme_ratios
from beliefs.simplex import Vector
from mechanisms.sequence.repair import repair


def random_case(source: np.random.Generator) -> tuple[Vector, list[Vector], float]:
    size, outputs = int(source.integers(1, 6)), int(source.integers(1, 6))
    prior = source.dirichlet(np.full(size, 0.5))
    if size > 2 and source.random() < 0.3:
        prior[int(source.integers(size))] = 0.0
        prior /= prior.sum()
    channel = source.dirichlet(np.full(outputs, source.choice([0.05, 1.0])), size)
    return prior, list(channel), float(np.exp(source.uniform(-4, 3)))


def test_the_repaired_channel_keeps_its_bound_for_every_row() -> None:
    source = np.random.default_rng(1)
    diluted = 0
    for _ in range(2000):
        prior, channel, epsilon = random_case(source)
        repaired = repair(prior, channel, epsilon)
        rows = [exact_law(row.tolist()) for row in repaired.channel]
        law = exact_law(prior.tolist())
        for y in range(len(rows[0])):
            column = [row[y] for row in rows]
            marginal = sum(mass * p for mass, p in zip(law, column, strict=True))
            if marginal:
                assert float(max(column) / marginal) <= math.exp(epsilon) * (1 + 1e-12)
                assert float(min(column) / marginal) >= math.exp(-epsilon) * (1 - 1e-12)
            else:
                assert not any(column)
        assert 0.0 <= repaired.dilution <= 1.0
        diluted += repaired.dilution > 0
        assert all(row.sum() == pytest.approx(1.0, abs=1e-12) for row in repaired.channel)
    assert 200 < diluted < 1800


def test_no_more_is_diluted_than_needed() -> None:
    prior, channel = np.array([0.1, 0.1, 0.1, 0.1, 0.6]), list(np.eye(5))
    repaired = repair(prior, channel, 1.0)
    leak = channel_leak(prior.tolist(), [row.tolist() for row in repaired.channel])
    assert leak.upper == pytest.approx(1.0, abs=1e-12)
    assert repaired.dilution == pytest.approx((10 - 1 - math.e) / 9, rel=1e-12)


def test_the_law_of_the_release_stays() -> None:
    source = np.random.default_rng(2)
    for _ in range(200):
        prior, channel, epsilon = random_case(source)
        before = sum(mass * row for mass, row in zip(prior, channel, strict=True))
        after = sum(mass * row for mass, row in zip(prior, repair(prior, channel, epsilon).channel, strict=True))
        assert after == pytest.approx(before, abs=1e-14)


def test_the_ends_of_the_range() -> None:
    prior, identity = np.array([0.25, 0.75]), list(np.eye(2))
    nothing = repair(prior, identity, 0.0)
    assert [row.tolist() for row in nothing.channel] == [[0.25, 0.75], [0.25, 0.75]]
    everything = repair(prior, identity, 2000.0)
    assert [row.tolist() for row in everything.channel] == [[1.0, 0.0], [0.0, 1.0]]
    assert everything.dilution == 0.0
    constant = repair(prior, [np.array([0.3, 0.7])] * 2, 0.5)
    assert constant.dilution == 0.0
    assert constant.channel[0] == pytest.approx([0.3, 0.7], abs=1e-15)


def test_an_impossible_value_with_a_release_of_its_own_is_covered_too() -> None:
    prior = np.array([1.0, 0.0])
    repaired = repair(prior, list(np.eye(2)), 1.0)
    assert repaired.dilution == 1.0
    assert [row.tolist() for row in repaired.channel] == [[1.0, 0.0], [1.0, 0.0]]


def test_the_published_mechanism_is_the_identity_repaired_where_its_promise_holds() -> None:
    prior = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    repaired = repair(np.array([0.5, 0.25, 0.25]), list(np.eye(3)), math.log(3.0) + 1e-9)
    assert repaired.dilution == 0.0
    largest, smallest = extreme_ratios(prior, [Fraction(row[1]) for row in repaired.channel])
    assert float(largest) == pytest.approx(3.0, rel=1e-8)
    assert float(smallest) == pytest.approx(1 / 3, rel=1e-8)
