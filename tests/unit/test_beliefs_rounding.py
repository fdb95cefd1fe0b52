"""Outward rounding: never below the truth, never far above it."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs import rounding
from beliefs.checks import InvariantBroken


def exact_units(ratio: float) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return Decimal(ratio).ln() * rounding.UNITS_PER_NAT


@given(st.floats(min_value=1.0, max_value=1e300, exclude_min=True))
def test_a_logarithm_is_never_rounded_down_and_at_most_two_units_up(ratio: float) -> None:
    excess = Decimal(rounding.log_units_up(ratio)) - exact_units(ratio)
    assert 0 < excess <= 2


@pytest.mark.parametrize("exponent", range(1, 53))
def test_logarithms_close_to_one_are_covered(exponent: int) -> None:
    ratio = 1.0 + 2.0**-exponent
    assert 0 < Decimal(rounding.log_units_up(ratio)) - exact_units(ratio) <= 2


def test_a_ratio_of_at_most_one_costs_nothing() -> None:
    assert rounding.log_units_up(1.0) == 0
    assert rounding.log_units_up(0.25) == 0


def test_what_is_no_finite_ratio_costs_everything() -> None:
    assert rounding.log_units_up(math.inf) == rounding.INFINITE
    assert rounding.log_units_up(math.nan) == rounding.INFINITE


@given(st.integers(0, rounding.INFINITE), st.integers(0, rounding.INFINITE))
def test_sums_stay_at_infinity(spent: int, charge: int) -> None:
    assert rounding.add_units(spent, charge) == min(spent + charge, rounding.INFINITE)


@given(st.floats(min_value=0, max_value=1e6))
def test_a_budget_is_rounded_down_by_less_than_a_unit(nats: float) -> None:
    assert 0 <= Fraction(nats) * rounding.UNITS_PER_NAT - rounding.budget_units(nats) < 1


def test_an_unlimited_budget_is_infinite_and_a_negative_one_is_a_fault() -> None:
    assert rounding.budget_units(math.inf) == rounding.INFINITE
    with pytest.raises(InvariantBroken):
        rounding.budget_units(-1.0)


@given(st.integers(0, rounding.INFINITE - 1))
def test_units_are_shown_rounded_up(units: int) -> None:
    assert Fraction(rounding.nats(units)) * rounding.UNITS_PER_NAT >= units


@given(st.integers(1, 745 * rounding.UNITS_PER_NAT))
def test_a_power_is_the_nearest_double_below(units: int) -> None:
    value = rounding.fading_down(units)
    with localcontext() as context:
        context.prec = 90
        power = (-Decimal(units) / rounding.UNITS_PER_NAT).exp()
    assert Decimal(value) < power < Decimal(math.nextafter(value, 1.0))


def test_powers_at_the_ends() -> None:
    assert rounding.fading_down(0) == 1.0
    assert rounding.fading_down(1) == 1.0 - 2.0**-40
    for units in (746 * rounding.UNITS_PER_NAT, rounding.INFINITE):
        assert rounding.fading_down(units) == 0.0
    with pytest.raises(InvariantBroken):
        rounding.fading_down(-1)


@given(st.lists(st.integers(0, rounding.INFINITE)))
def test_sums_of_many_stay_at_infinity(amounts: list[int]) -> None:
    assert rounding.sum_units(amounts) == min(sum(amounts), rounding.INFINITE)
