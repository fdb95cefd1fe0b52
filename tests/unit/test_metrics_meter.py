"""The meter's numbers after blocks, takeovers and losses, against a recount from scratch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metering import a_block, heads_of, meter_settings

from beliefs.checks import InvariantBroken
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from stream.metrics import Meter
from stream.metrics.standing import full_share, standing
from stream.metrics.users import Shares, UserBins
from stream.state import STOPPED, Word

NAT = UNITS_PER_NAT


def bins_of(heads: np.ndarray, shares: Shares | None) -> UserBins:
    bins = UserBins()
    bins.add(heads, shares)
    return bins


def assert_same(found: UserBins, expected: UserBins) -> None:
    assert (found.tracked, found.stopped) == (expected.tracked, expected.stopped)
    assert found.shares.tolist() == expected.shares.tolist()
    assert found.lifetime_upper.tolist() == expected.lifetime_upper.tolist()
    assert found.lifetime_lower.tolist() == expected.lifetime_lower.tolist()


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from([(10 * NAT, 10 * NAT), (10 * NAT, 3 * NAT), (INFINITE, 5 * NAT)]))
def test_moving_users_block_by_block_equals_counting_them_once(seed: int, budgets: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    meter = Meter(meter_settings(upper_budget=budgets[0], lower_budget=budgets[1]))
    shares = Shares(*budgets)
    users = np.zeros((40, 8), np.int64)
    for _ in range(6):
        rows = rng.permutation(40)[: rng.integers(0, 41)]
        after = users[rows].copy()
        after[:, Word.UPPER : Word.WINDOW_LOWER + 1] += rng.integers(0, 4 * NAT, (len(rows), 4))
        after[:, Word.MARKS] = np.where(rng.random(len(rows)) < 0.2, STOPPED << 8, 0) | 1
        after[:, Word.STEPS] += rng.integers(0, 2, len(rows))  # first events may wait for their window's end
        meter.users(0, users[rows], after)
        users[rows] = after
    assert_same(meter.all_users(), bins_of(users[users[:, Word.STEPS] > 0], shares))


def test_the_worse_side_counts_against_its_own_budget() -> None:
    heads = heads_of([(2 * NAT, 2 * NAT)])
    assert int(Shares(4 * NAT, 4 * NAT).index(heads[:, 4], heads[:, 5])[0]) == 100
    assert int(Shares(4 * NAT, 2 * NAT).index(heads[:, 4], heads[:, 5])[0]) == 200
    assert int(Shares(INFINITE, 8 * NAT).index(heads[:, 4], heads[:, 5])[0]) == 50
    with pytest.raises(InvariantBroken, match="budget on one side"):
        Shares(INFINITE, INFINITE)


def test_a_lost_partition_takes_its_users_along_and_an_assigned_one_starts_empty() -> None:
    meter = Meter(meter_settings())
    for partition in (0, 1):
        meter.assigned(partition)
        meter.loaded(partition, heads_of([(NAT, NAT)] * (20 + partition)))
        meter.quarantined(partition, 2)
        meter.progress.recovered(partition)
    assert (meter.all_users().tracked, meter.quarantined_users()) == (41, 4)
    meter.lost(0)
    assert (meter.all_users().tracked, meter.quarantined_users()) == (21, 2)
    meter.assigned(1)
    assert meter.all_users().tracked == 0
    assert not meter.progress.partitions[1].recovered


def test_many_users_load_in_pieces() -> None:
    meter = Meter(meter_settings())
    heads = heads_of([(index * NAT // 1000, 0) for index in range(9_000)])
    meter.loaded(0, heads)
    assert_same(meter.all_users(), bins_of(heads, Shares(10 * NAT, 10 * NAT)))


def test_rows_before_and_after_must_match() -> None:
    with pytest.raises(InvariantBroken, match="a row before and a row after"):
        Meter(meter_settings()).users(0, heads_of([]), heads_of([(NAT, NAT)]))


def test_a_block_counts_events_leakage_and_times() -> None:
    meter = Meter(meter_settings(epsilon=NAT))
    meter.assigned(3)
    meter.block(
        3,
        a_block(
            outcomes={"released": 3, "forecast": 1, "dead_lettered": 2},
            reasons={"not_json": 2},
            upper=[NAT // 2, NAT, NAT + 1],
            lower=[0, 0, 7],
            append_ages_ms=[10, 20, -5],
            uncertified=1,
            cut_short=2,
        ),
    )
    assert dict(meter.outcomes) == {"released": 3, "forecast": 1, "suppressed": 0, "replayed": 0, "dead_lettered": 2}
    assert meter.dead_letters == {"not_json": 2}
    assert meter.leakage["upper"].sum_exact == NAT // 2 + NAT + NAT + 1
    assert meter.leakage["lower"].sum_exact == 7
    assert meter.above_epsilon == {"upper": 1, "lower": 0}
    assert (meter.block_events.count, meter.block_events.sum_exact) == (1, 6)
    assert meter.latency.sum_exact == 30  # a clock that runs ahead counts as 0
    assert (meter.uncertified_fallbacks, meter.near_cut_short) == (1, 2)


def test_what_is_shown_of_few_users_is_nothing() -> None:
    meter = Meter(meter_settings(small_count_floor=10))
    meter.loaded(0, heads_of([(10 * NAT, 10 * NAT)] * 9))
    shown = standing(meter)
    assert (shown.tracked, shown.near, shown.at_budget, shown.state_bytes) == (0, 0, 0, 0)
    assert shown.spent is not None
    assert (shown.spent.maximum, shown.spent.percentiles, shown.spent.sum) == (None, {}, 0.0)
    assert {bucket.cumulative for bucket in shown.spent.buckets} == {0}
    meter.loaded(0, heads_of([(0, 0)]))
    shown = standing(meter)
    assert (shown.tracked, shown.near, shown.state_bytes) == (10, 0, 1040)
    assert shown.spent is not None
    assert shown.spent.maximum == 1.0
    assert shown.lifetime["upper"].maximum is not None


def test_near_and_at_budget_count_from_their_shares_on() -> None:
    meter = Meter(meter_settings(small_count_floor=1, epsilon=NAT, near_share=0.8))
    meter.loaded(0, heads_of([(spent * NAT // 10, 0) for spent in (0, 79, 80, 90, 91, 100)]))
    shown = standing(meter)
    assert (shown.near, shown.at_budget) == (4, 2)  # with 90 of 100 spent one release of 10 still fits


def test_without_a_budget_there_are_no_shares() -> None:
    meter = Meter(meter_settings(upper_budget=INFINITE, lower_budget=INFINITE, small_count_floor=1))
    meter.loaded(0, heads_of([(5 * NAT, NAT)]))
    shown = standing(meter)
    assert shown.spent is None
    assert (shown.near, shown.at_budget) == (0, 0)
    assert full_share(meter.settings) == 1.0


def test_infinite_leakage_is_shown_as_infinite() -> None:
    meter = Meter(meter_settings(small_count_floor=1))
    meter.loaded(0, heads_of([(INFINITE, INFINITE)]))
    shown = standing(meter)
    assert shown.spent is not None
    assert (shown.spent.maximum, shown.lifetime["upper"].maximum) == (math.inf, math.inf)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": -1},
        {"upper_budget": 0},
        {"lower_budget": INFINITE + 1},
        {"near_share": 0.0},
        {"small_count_floor": 0},
        {"row_bytes": 0},
    ],
)
def test_settings_that_cannot_be_metered_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvariantBroken, match=" "):
        meter_settings(**wrong)
