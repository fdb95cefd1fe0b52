"""Reserve and settle."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from beliefs.ledger import charge_of, fits, window_of
from beliefs.rounding import INFINITE

UNITS = st.integers(0, 2**45)


@given(UNITS, UNITS, UNITS, UNITS, UNITS)
def test_a_reserve_fits_when_both_counters_stay_within_the_budget(a: int, b: int, c: int, d: int, budget: int) -> None:
    assert fits(a, b, c, d, budget) == (a + c <= budget and b + d <= budget)


def test_an_infinite_reserve_fits_an_unlimited_budget_only() -> None:
    assert fits(0, 0, INFINITE, 0, INFINITE)
    assert not fits(0, 0, INFINITE, 0, INFINITE - 1)


@given(UNITS, UNITS, st.integers(1, 2**42))
def test_a_small_drift_is_added_and_a_large_one_gives_way_to_the_spread(ratio: int, spread: int, epsilon: int) -> None:
    assert charge_of(ratio, spread, 0, epsilon) == ratio
    below_half = (epsilon - 1) // 2
    assert charge_of(ratio, spread, below_half, epsilon) == ratio + below_half
    assert charge_of(ratio, spread, (epsilon + 1) // 2, epsilon) == spread
    assert charge_of(ratio, spread, INFINITE, epsilon) == spread


def test_windows_tumble_and_forever_is_one() -> None:
    assert [window_of(time, 1000) for time in (0, 999, 1000, 5999)] == [0, 0, 1, 5]
    assert window_of(10**13, 0) == 0
