"""Bins never read too small, and small groups never show."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.checks import InvariantBroken
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from stream.metrics.bins import (
    LIFETIME_BINS,
    OVER_BUDGET,
    SHARES,
    Bucket,
    ShareBins,
    Tally,
    above,
    at_least,
    coarse,
    lifetime_edges,
    lifetime_index,
    quantile,
    share_edges,
    without_small_groups,
)

AMOUNTS = st.integers(0, INFINITE)


def units(*amounts: int) -> np.ndarray:
    return np.array(amounts, np.int64)


@given(st.integers(1, (1 << 54) - 1), st.lists(AMOUNTS, min_size=1, max_size=20))
def test_a_share_is_the_exact_one_rounded_up(budget: int, spent: list[int]) -> None:
    found = ShareBins(budget).index(units(*spent)).tolist()
    exact = [min(OVER_BUDGET, math.ceil(Fraction(SHARES * amount, budget))) for amount in spent]
    assert found == exact


@given(st.integers(1 << 54, INFINITE - 1), AMOUNTS)
def test_a_share_of_a_huge_budget_is_never_too_small(budget: int, spent: int) -> None:
    found = int(ShareBins(budget).index(units(spent))[0])
    exact = min(OVER_BUDGET, math.ceil(Fraction(SHARES * spent, budget)))
    assert exact <= found <= exact + 1


def test_the_whole_budget_is_not_over_it_and_one_unit_more_is() -> None:
    budget = 10 * UNITS_PER_NAT
    assert ShareBins(budget).index(units(0, 1, budget, budget + 1, INFINITE)).tolist() == [0, 1, 200, 201, 201]


@given(st.lists(AMOUNTS, min_size=1, max_size=30))
def test_a_lifetime_bin_bounds_its_amounts_within_an_eighth(amounts: list[int]) -> None:
    edges = lifetime_edges()
    for amount, index in zip(amounts, lifetime_index(units(*amounts).astype(np.float64)).tolist(), strict=True):
        exact = Fraction(amount, UNITS_PER_NAT)
        if amount == INFINITE:
            assert index == LIFETIME_BINS - 1
            continue
        if edges[index] == math.inf:  # above 2^53 units doubles are coarser than units
            assert amount >= INFINITE - (1 << 9)
            continue
        assert exact <= Fraction(edges[index])
        if index:
            assert Fraction(edges[index]) <= exact * Fraction(9, 8) + Fraction(1, 1 << 10)


def test_lifetime_edges_rise_and_close_with_infinity() -> None:
    edges = lifetime_edges()
    assert len(edges) == LIFETIME_BINS
    assert edges == sorted(set(edges))
    assert edges[-1] == math.inf


def test_a_tally_has_inclusive_edges_and_an_exact_sum() -> None:
    tally = Tally(units(10, 20), 10)
    assert tally.add(units(0, 10, 11, 20, 21)) == 21
    tally.add_one(20)
    assert [bucket.cumulative for bucket in tally.buckets()] == [2, 5, 6]
    assert [bucket.upper_edge for bucket in tally.buckets()] == [1.0, 2.0, math.inf]
    assert tally.sum_exact == 82
    assert tally.sum == 8.2
    assert tally.count == 6


def test_a_tally_adds_weights_and_ignores_nothing() -> None:
    tally = Tally(units(10), 1)
    assert tally.add(units()) == 0
    tally.add(units(4, 12), weight=3)
    assert [bucket.cumulative for bucket in tally.buckets()] == [3, 6]
    assert tally.sum_exact == 48


def test_amounts_that_would_wrap_a_sum_are_added_exactly_and_infinite_ones_make_it_infinite() -> None:
    tally = Tally(units(10), 1)
    tally.add(np.full(8, 1 << 61, np.int64))
    assert tally.sum_exact == 8 << 61
    tally.add(units(INFINITE, 5))
    assert tally.sum == math.inf
    assert tally.sum_exact == (8 << 61) + 5


@pytest.mark.parametrize("edges", [(3, 3), (4, 2)])
def test_edges_must_rise(edges: tuple[int, ...]) -> None:
    with pytest.raises(InvariantBroken, match="edges rise"):
        Tally(units(*edges), 1)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30), st.integers(1, 15))
def test_no_small_group_shows_and_users_only_move_up_by_few(groups: list[int], floor: int) -> None:
    sums = np.cumsum(groups).tolist()
    buckets = [Bucket(float(edge), count) for edge, count in enumerate(sums)]
    shown = [bucket.cumulative for bucket in without_small_groups(buckets, floor)]
    assert [bucket.upper_edge for bucket in without_small_groups(buckets, floor)] == [b.upper_edge for b in buckets]
    assert shown == sorted(shown)
    steps = [shown[0], *(after - before for before, after in pairwise(shown))]
    assert all(step == 0 or step >= floor for step in steps)
    if sums[-1] < floor:
        assert shown == [0] * len(groups)
        return
    assert shown[-1] == sums[-1]
    assert all(0 <= true - seen < 2 * floor for true, seen in zip(sums, shown, strict=True))


def test_a_floor_of_one_changes_nothing() -> None:
    buckets = [Bucket(1.0, 1), Bucket(2.0, 1), Bucket(math.inf, 3)]
    assert without_small_groups(buckets, 1) == buckets


def test_one_user_at_the_top_is_shown_as_a_whole_group() -> None:
    buckets = [Bucket(0.1, 1000), Bucket(0.9, 1000), Bucket(math.inf, 1001)]
    assert [bucket.cumulative for bucket in without_small_groups(buckets, 10)] == [991, 991, 1001]


def test_quantiles_are_upper_edges_by_rank() -> None:
    edges = share_edges()
    counts = np.zeros(len(edges), np.int64)
    counts[20], counts[100], counts[200] = 50, 49, 1
    assert [quantile(counts, edges, share) for share in (0.5, 0.9, 0.99, 1.0)] == [0.1, 0.5, 0.5, 1.0]
    with pytest.raises(InvariantBroken, match="quantiles need users"):
        quantile(np.zeros(3, np.int64), [1.0, 2.0, 3.0], 0.5)


def test_counts_from_an_edge_on_and_beyond_it() -> None:
    edges = share_edges()
    counts = np.ones(len(edges), np.int64)
    assert at_least(counts, edges, 0.8) == 42  # 160/200 ... 200/200 and over
    assert above(counts, edges, 0.8) == 41
    assert above(counts, edges, -1.0) == len(edges)


def test_coarse_buckets_add_up_the_fine_ones() -> None:
    assert coarse(units(1, 2, 3, 4), [0.0, 0.5, 1.0, math.inf], [0.5, 1.0]) == [
        Bucket(0.5, 3),
        Bucket(1.0, 6),
        Bucket(math.inf, 10),
    ]
