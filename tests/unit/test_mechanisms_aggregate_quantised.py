"""Numbers on a grid: exact rounding, clipping, what one person can move; and the noise of a mean's parts."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.checks import Invalid
from beliefs.rounding import UNITS_PER_NAT
from mechanisms.aggregate.mean import loss_of_mean, noise_of_mean
from mechanisms.aggregate.quantised import Amounts

GRIDS = [
    Amounts(Decimal(0), Decimal(40), Decimal("0.5")),
    Amounts(Decimal("-1.3"), Decimal("2.9"), Decimal("0.1")),
    Amounts(Decimal(3), Decimal(8), Decimal(1)),
    Amounts(Decimal(-9), Decimal(-2), Decimal("0.7")),
    Amounts(Decimal("0.25"), Decimal("1e3"), Decimal("1e-3")),
]


@pytest.mark.parametrize("amounts", GRIDS)
@given(value=st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(), st.floats(-50, 50)))
def test_rounding_is_that_of_exact_fractions_clipped_before(amounts: Amounts, value: float) -> None:
    clipped = min(max(Fraction(value), Fraction(amounts.low)), Fraction(amounts.high))
    assert amounts.index_of(value) == round(clipped / Fraction(amounts.grid))


def test_middles_go_to_the_even_step() -> None:
    speed = GRIDS[0]
    assert [speed.index_of(value) for value in (0.25, 0.75, 1.25, 1.75)] == [0, 2, 2, 4]
    assert [GRIDS[2].index_of(value) for value in (3.5, 4.5, 5.5)] == [4, 4, 6]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, None, "7", [7], {"v": 7}])
def test_what_is_no_finite_number_has_no_step(value: object) -> None:
    assert GRIDS[0].index_of(value) is None


def test_integers_of_any_length_are_clipped() -> None:
    assert GRIDS[0].index_of(10**5000) == 80
    assert GRIDS[0].index_of(-(10**5000)) == 0
    assert GRIDS[0].clipped(81) == 80


@pytest.mark.parametrize("amounts", GRIDS)
def test_reach_is_what_one_person_can_move(amounts: Amounts) -> None:
    present = {amounts.low_units, amounts.high_units, 0 if amounts.low_units <= 0 <= amounts.high_units else None}
    states = [0, *(units for units in present if units is not None)]
    assert amounts.reach == max(abs(one - two) for one, two in itertools.product(states, repeat=2))
    assert amounts.low_units <= amounts.centre <= amounts.high_units
    assert amounts.half == max(amounts.high_units - amounts.centre, amounts.centre - amounts.low_units)
    assert 2 * amounts.half <= amounts.width + 2


@pytest.mark.parametrize("amounts", GRIDS)
@pytest.mark.parametrize("loss", [UNITS_PER_NAT // 7, UNITS_PER_NAT // 3, 3 * UNITS_PER_NAT])
def test_both_parts_of_a_mean_tell_no_more_than_asked(amounts: Amounts, loss: int) -> None:
    summed, counted = noise_of_mean(amounts, loss)
    units = range(amounts.low_units, amounts.high_units + 1, max(1, amounts.width // 50))
    ends = {*units, amounts.high_units, amounts.centre}
    states = [(0, 0), *((each - amounts.centre, 1) for each in ends)]
    told = max(
        Fraction(abs(one[0] - two[0])) / summed.scale + Fraction(abs(one[1] - two[1])) / counted.scale
        for one, two in itertools.product(states, repeat=2)
    )
    assert told * UNITS_PER_NAT <= loss_of_mean(amounts, summed, counted) <= loss
    assert told * UNITS_PER_NAT >= loss * (1 - Fraction(1, 1 << 20))


def test_steps_are_told_as_exact_decimals() -> None:
    assert GRIDS[1].value_at(-13) == Decimal("-1.3")
    assert Amounts(Decimal(0), Decimal(1), Decimal("1e-9")).value_at(10**30 + 1) == Decimal(
        "1000000000000000000000.000000001"
    )


@pytest.mark.parametrize(
    ("low", "high", "grid", "field"),
    [
        ("NaN", "1", "1", "low"),
        ("0", "Infinity", "1", "high"),
        ("0", "1", "sNaN", "grid"),
        ("0", "1", "0", "grid"),
        ("0", "1", "-1", "grid"),
        ("1", "1", "1", "high"),
        ("2", "1", "1", "high"),
        ("0", "1", "1e-10", "grid"),
        ("0.1", "0.2", "1", "grid"),
    ],
)
def test_what_is_no_grid_is_refused_by_its_field(low: str, high: str, grid: str, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        Amounts(Decimal(low), Decimal(high), Decimal(grid))
    assert refused.value.field == field
