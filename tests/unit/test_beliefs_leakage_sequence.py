from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.checks import Invalid, InvariantBroken
from beliefs.leakage.sequence import channel_leak, extreme_ratios, log_up, release_leak


def test_ratios_in_fractions_are_exact() -> None:
    prior = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), Fraction(0)]
    likelihood = [Fraction(1, 2), Fraction(1, 8), Fraction(1, 4), Fraction(1)]
    assert extreme_ratios(prior, likelihood) == (Fraction(16, 11), Fraction(4, 11))


def test_impossible_values_do_not_count_here() -> None:
    leak = release_leak([0.5, 0.5, 0.0], [0.25, 0.25, 1.0])
    assert leak == (0.0, 0.0)


def test_a_value_that_is_ruled_out_leaks_without_bound_below() -> None:
    leak = release_leak([0.25, 0.75], [1.0, 0.0])
    assert leak.lower == math.inf
    assert leak.upper == pytest.approx(math.log(4), rel=1e-15)
    assert leak.epsilon == math.inf


def test_masses_whose_product_no_double_holds() -> None:
    leak = channel_leak([1e-300, 1.0], [[1e-300, 1.0], [0.0, 1.0]])
    assert leak.upper == pytest.approx(300 * math.log(10), rel=1e-13)
    assert leak.lower == math.inf
    smallest = channel_leak([5e-324, 1.0], [[1.0, 0.0], [5e-324, 1.0]])
    assert smallest.upper == pytest.approx(1074 * math.log(2) - math.log(2), rel=1e-13)


def test_outputs_that_never_happen_are_left_out() -> None:
    assert channel_leak([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]) == (0.0, 0.0)


def test_an_impossible_release_is_refused() -> None:
    with pytest.raises(Invalid):
        release_leak([1.0, 0.0], [0.0, 1.0])
    with pytest.raises(InvariantBroken):
        extreme_ratios([1.0], [0.5, 0.5])


weights = st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any)


@given(weights, st.lists(weights, min_size=3, max_size=3))
def test_the_worst_case_is_the_worst_release(prior: list[int], rows: list[list[int]]) -> None:
    law = [weight / sum(prior) for weight in prior]
    channel = [[weight / sum(row) for weight in row] for row in rows]
    worst = channel_leak(law, channel)
    columns = [[row[y] for row in channel] for y in range(3)]
    happens = [c for c in columns if any(mass and p for mass, p in zip(law, c, strict=True))]
    leaks = [release_leak(law, column) for column in happens]
    assert worst.upper == pytest.approx(max(leak.upper for leak in leaks), rel=1e-12, abs=1e-12)
    assert worst.lower == pytest.approx(max(leak.lower for leak in leaks), rel=1e-12, abs=1e-12)
    assert min(worst) >= 0


def series_log(ratio: Fraction) -> Fraction:
    """A lower bound of ln(ratio), tight below 2: the artanh series with all its terms positive, cut off."""
    s = (ratio - 1) / (ratio + 1)
    return 2 * sum((s ** (2 * k + 1) / (2 * k + 1) for k in range(40)), Fraction(0))


@given(st.integers(1, 10**9), st.integers(0, 10**9))
def test_the_logarithm_is_rounded_up_by_little(denominator: int, more: int) -> None:
    ratio = 1 + Fraction(more, denominator)
    nats = log_up(ratio)
    halvings = 0
    while ratio > 2:
        ratio, halvings = ratio / 2, halvings + 1
    true = series_log(ratio) + halvings * series_log(Fraction(2))
    assert Fraction(nats) >= true
    assert Fraction(nats) <= true * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize("exponent", [-1000, -300, -60, -1])
def test_small_leaks_keep_their_size(exponent: int) -> None:
    tiny = Fraction(2) ** exponent
    nats = log_up(1 + tiny)
    assert Fraction(nats) >= tiny - tiny * tiny / 2
    assert nats <= float(tiny) * (1 + 1e-14)


@pytest.mark.parametrize(
    "ratio", [Fraction(3, 2), Fraction(2**61 + 5, 2**60 - 3), 1 + Fraction(1, 2**63), Fraction(7**900)]
)
def test_a_logarithm_is_the_next_double_that_is_not_below_it(ratio: Fraction) -> None:
    found = log_up(ratio)
    with localcontext(Context(prec=400)):
        exact = (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()
        assert Decimal(math.nextafter(found, 0.0)) < exact <= Decimal(found)


def test_the_logarithm_of_next_to_nothing_is_above_it() -> None:
    for bits in (65, 300, 1000):
        beyond = Fraction(1, 2**bits)
        assert beyond - beyond**2 / 2 < log_up(1 + beyond) <= beyond
