from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.checks import Invalid
from beliefs.simplex import TOLERANCE, normalised, on_the_simplex, plain_sum, probabilities


@pytest.mark.parametrize(
    "values",
    [
        [1],
        [1.0, 0.0],
        [0.5, 0.5],
        (0.25, 0.75),
        [1 / 3] * 3,
        [0.1] * 10,
        [1e-12, 1 - 1e-12],
        [1e-300, 1.0],
        [0.5, 0.5 + 0.9e-9],
        np.array([0.5, 0.5]),
        np.array([1, 0]),
        [np.float64(0.5), 0.5],
    ],
)
def test_laws_are_accepted_as_they_are(values: object) -> None:
    law = probabilities(values, "prior")
    assert law.dtype == np.float64
    assert law.tolist() == [float(value) for value in values]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "is empty"),
        (np.array([]), "is empty"),
        ([0.5, 0.4], "sums to 0.9"),
        ([0.5, 0.5 + 2e-9], "sums to 1.000000002"),
        ([0.0, 0.0], "sums to 0"),
        ([1.5, -0.5], "entry 1 is negative"),
        ([1e308, 1e308], "sums to inf"),
        ([0.5, True], "entry 1 must be a number, found a truth value"),
        ([0.5, "0.5"], "entry 1 must be a number, found a text"),
        ([0.5, None], "entry 1 must be a number, found null"),
        ([[1.0]], "entry 0 must be a number, found a list"),
        ([math.nan, 1.0], "entry 0 must be a finite number"),
        ([1.0, math.inf], "entry 1 must be a finite number"),
        ([10**400], "entry 0 must be a finite number"),
        (np.array([math.nan, 1.0]), "entry 0 must be a finite number"),
        (np.array([[1.0]]), "one-dimensional"),
        (np.array([True, False]), "one-dimensional array of numbers"),
        ("1", "found a text"),
        (None, "found null"),
        (1.0, "found a number"),
        ({"a": 1.0}, "found an object"),
    ],
)
def test_everything_else_is_refused_with_its_entry(values: object, reason: str) -> None:
    with pytest.raises(Invalid) as caught:
        probabilities(values, "prior")
    assert caught.value.field == "prior"
    assert reason in caught.value.reason


def test_the_tolerance_is_on_the_exact_sum() -> None:
    tiny = 1e-10 / 100_000
    assert probabilities([1.0] + [tiny] * 100_000, "prior").size == 100_001
    with pytest.raises(Invalid):
        probabilities([1.0] + [tiny * 20] * 100_000, "prior")
    assert TOLERANCE == 1e-9


def test_a_negative_zero_becomes_a_zero() -> None:
    assert [math.copysign(1.0, entry) for entry in probabilities([-0.0, 1.0], "prior")] == [1.0, 1.0]
    assert math.copysign(1.0, probabilities(np.array([-0.0, 1.0]), "prior")[0]) == 1.0


@given(st.lists(st.floats(0, 1), max_size=200))
def test_the_plain_sum_adds_from_left_to_right(values: list[float]) -> None:
    total = 0.0
    for value in values:
        total = total + value
    assert plain_sum(np.array(values)) == total


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=40).filter(any))
def test_normalised_divides_by_the_plain_sum(weights: list[int]) -> None:
    law = np.array(weights) / sum(weights)
    total = plain_sum(law)
    assert normalised(law).tolist() == [entry / total for entry in law.tolist()]


def test_the_nearest_law() -> None:
    generator = np.random.default_rng(42)
    for _ in range(200):
        rough = generator.normal(0.3, 0.4, 4)
        law = on_the_simplex(rough)
        assert law.min() >= 0.0
        assert law.sum() == pytest.approx(1.0)
        for other in generator.dirichlet(np.ones(4), 20):
            assert ((law - rough) ** 2).sum() <= ((other - rough) ** 2).sum() + 1e-12
    assert on_the_simplex(np.array([0.2, 0.8])).tolist() == pytest.approx([0.2, 0.8])
    assert on_the_simplex(np.array([1e17, 1e17 - 64.0, 3.0])).tolist() == [1.0, 0.0, 0.0]
