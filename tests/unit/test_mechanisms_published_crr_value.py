from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from beliefs.leakage.sequence import channel_leak
from mechanisms.sequence.published_crr_value import published_value


def test_accuracy_and_leak_equal_those_of_the_written_out_channel() -> None:
    source = np.random.default_rng(3)
    bounded = 0
    for _ in range(500):
        size = int(source.integers(1, 6))
        prior = source.dirichlet(np.full(size, 2.0))
        if size > 2 and source.random() < 0.3:
            prior[0] = 0.0
            prior /= prior.sum()
        epsilon = float(source.uniform(0.01, 3))
        covered = math.exp(-epsilon)
        channel = covered * np.tile(prior, (size, 1)) + (1 - covered) * np.eye(size)
        value, leak = published_value(prior, epsilon), channel_leak(prior.tolist(), channel.tolist())
        assert value.accuracy == pytest.approx(float(prior @ np.diag(channel)), abs=1e-14)
        assert (value.upper, value.lower) == pytest.approx((leak.upper, leak.lower), rel=1e-12, abs=1e-13)
        assert value.bounded == (value.epsilon <= epsilon)
        bounded += value.bounded
    assert 50 < bounded < 450


@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1e-9, 0.3, 1.0, 700.0, 2000.0, 1e308])
def test_a_certain_value_leaks_nothing(epsilon: float) -> None:
    for prior in ([1.0], [0.0, 1.0, 0.0]):
        assert published_value(np.array(prior), epsilon) == (1.0, 0.0, 0.0, True)


def test_no_budget_is_a_draw_from_the_belief() -> None:
    assert published_value(np.array([0.75, 0.25]), 0.0) == (0.625, 0.0, 0.0, True)


def test_a_huge_budget_is_the_value_itself() -> None:
    value = published_value(np.array([0.75, 0.25]), 2000.0)
    assert (value.accuracy, value.lower, value.bounded) == (1.0, 2000.0, True)
    assert value.upper == pytest.approx(math.log(4), rel=1e-15)


def test_the_rarest_doubles() -> None:
    value = published_value(np.array([5e-324, 1.0]), 700.0)
    assert value.upper == pytest.approx(1074 * math.log(2), rel=1e-13)
    assert not value.bounded
    assert published_value(np.array([5e-324, 1.0]), 745.0).bounded


def test_small_budgets_keep_their_size() -> None:
    value = published_value(np.array([0.9, 0.1]), 1e-300)
    assert value.upper == pytest.approx(9e-300, rel=1e-13)
    assert not value.bounded


def test_the_edge_of_the_promise_is_decided_exactly() -> None:
    """b >= 1/(e^epsilon + 1), for b on both sides of the edge by one last place."""
    for epsilon in np.linspace(0.05, 5, 200).tolist():
        edge = 1 / (math.exp(epsilon) + 1)
        for rare in (math.nextafter(edge, 0.0), edge, math.nextafter(edge, 1.0)):
            prior = [Fraction(rare), Fraction(1.0 - rare)]
            share = prior[0] / sum(prior)
            with localcontext() as context:
                context.prec = 60
                holds = Decimal(share.numerator) * (Decimal(epsilon).exp() + 1) >= Decimal(share.denominator)
            value = published_value(np.array([rare, 1.0 - rare]), epsilon)
            assert value.bounded == holds
            assert (value.epsilon <= epsilon) == holds
