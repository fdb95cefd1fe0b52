from __future__ import annotations

import math

import numpy as np
import pytest
from correlation_oracles import response

from beliefs.checks import Invalid
from beliefs.correlation.account import AccountField, Totals
from beliefs.correlation.benchmarks import scores
from beliefs.correlation.calibration import (
    AccountMeter,
    ExactMeter,
    GroupMeter,
    Meter,
    PairwiseMeter,
    equal_budgets,
    unequal_budgets,
)
from beliefs.correlation.outputs import response_leak
from beliefs.correlation.published import algorithm_3
from beliefs.correlation.sampled import sampled_leak
from beliefs.correlation.tables import conditional_of


def meters(weights: np.ndarray) -> list[Meter]:
    return [ExactMeter(weights), GroupMeter.of_table(weights), PairwiseMeter(weights)]


def test_an_equal_budget_keeps_its_limit_and_no_larger_one_does() -> None:
    generator = np.random.default_rng(31)
    for number in range(24):
        weights = generator.gamma(0.4, size=[(2, 3), (2, 2, 3), (3, 2, 2, 2)][number % 3])
        for meter in meters(weights):
            budget = equal_budgets(meter, 2.0)
            assert meter.totals(np.full(meter.fields, budget)).max() <= 2.0
            assert meter.totals(np.full(meter.fields, budget + 1e-9)).max() > 2.0 or budget == 2.0
            assert 2.0 / meter.fields - 1e-12 <= budget <= 2.0


def test_the_printed_algorithm_breaks_the_limit_that_bisection_keeps() -> None:
    generator = np.random.default_rng(32)
    for _ in range(20):
        weights = generator.gamma(0.4, size=(3, 4))
        printed = algorithm_3(weights, response_leak, 2.0, 0.01)
        assert ExactMeter(weights).totals(np.full(2, printed)).max() > 2.0
        assert printed - 0.0201 <= equal_budgets(ExactMeter(weights), 2.0) < printed


def test_one_field_may_spend_all_and_copies_share() -> None:
    for meter in meters(np.array([1.0, 2.0])):
        assert equal_budgets(meter, 3.0) == 3.0
    for meter in meters(np.eye(4)):
        assert equal_budgets(meter, 3.0) == pytest.approx(1.5, abs=1e-2 if isinstance(meter, ExactMeter) else 1e-12)
    with pytest.raises(Invalid):
        equal_budgets(ExactMeter(np.eye(2)), 0.0)


def test_the_streams_own_sums_give_the_same_budgets() -> None:
    generator = np.random.default_rng(36)
    for number in range(12):
        weights = generator.gamma(0.4, size=[(2, 3), (2, 2, 3), (3, 2, 2, 2)][number % 3]) + 1e-6
        for exact, meter in ((True, ExactMeter(weights)), (False, GroupMeter.of_table(weights))):
            fields = [
                AccountField(str(axis), axis, tuple(range(size)) if exact else None)
                for axis, size in enumerate(weights.shape)
            ]
            streams = AccountMeter(Totals(fields, weights))
            assert equal_budgets(streams, 2.0) == pytest.approx(equal_budgets(meter, 2.0), abs=1e-9)
            caps = np.linspace(0.5, 2.0, weights.ndim)
            budgets = unequal_budgets(streams, caps)
            assert (streams.totals(budgets) <= caps).all()
            lowest = equal_budgets(streams, caps)
            assert lowest <= equal_budgets(streams, 2.0)
            assert budgets.min() == lowest
    with pytest.raises(Invalid, match="1 fields, but there are 2"):
        equal_budgets(ExactMeter(np.eye(2)), np.array([1.0]))


def test_unequal_budgets_go_on_rising_where_nothing_stops_them() -> None:
    pair = np.array([[8.0, 1.0], [1.0, 6.0]])
    with_stranger = pair[:, :, None] * np.array([3.0, 1.0, 1.0])
    for meter in (ExactMeter(with_stranger), PairwiseMeter(with_stranger)):
        budgets = unequal_budgets(meter, np.array([1.0, 1.0, 1.0]))
        assert (meter.totals(budgets) <= 1.0).all()
        assert budgets[2] == pytest.approx(1.0, abs=1e-5)
        assert budgets[0] == pytest.approx(equal_budgets(ExactMeter(pair), 1.0), abs=1e-5)
        for place in range(3):
            higher = budgets.copy()
            higher[place] += 1e-4
            assert (meter.totals(higher) > 1.0).any()
    loose = unequal_budgets(ExactMeter(with_stranger), np.array([1.0, 1.0, 5.0]))
    assert loose[2] == pytest.approx(5.0, abs=1e-4)
    with pytest.raises(Invalid):
        unequal_budgets(ExactMeter(pair), np.array([1.0]))


def test_records_give_the_same_meter_as_their_table() -> None:
    generator = np.random.default_rng(33)
    records = generator.integers(0, 3, size=(40, 3))
    weights = np.zeros((3, 3, 3))
    np.add.at(weights, tuple(records.T), 1.0)
    budgets = np.array([0.3, 1.0, 2.0])
    one, other = GroupMeter.of_records(records).totals(budgets), GroupMeter.of_table(weights).totals(budgets)
    assert one.tolist() == pytest.approx(other.tolist(), abs=1e-12)


def test_the_estimate_tends_to_the_leak_and_shuffled_secrets_do_not() -> None:
    generator = np.random.default_rng(34)
    weights = np.array([[30.0, 10.0, 5.0], [10.0, 20.0, 25.0]])
    cells = generator.choice(6, size=4_000, p=(weights / weights.sum()).ravel())
    secrets, neighbours = cells // 3, cells % 3
    channel = response(3, 1.0).cumsum(axis=1)

    def perturb(values: np.ndarray) -> np.ndarray:
        return (generator.random(values.size)[:, None] > channel[values]).sum(axis=1)

    found = sampled_leak(secrets, neighbours, 3, perturb, generator.permutation, copies=20, times=99)
    assert found.epsilon == pytest.approx(response_leak(conditional_of(weights).laws, 1.0), abs=0.06)
    assert found.p_value == pytest.approx(0.01)
    alone = sampled_leak(
        secrets, generator.permutation(neighbours), 3, perturb, generator.permutation, copies=20, times=99
    )
    assert alone.p_value > 0.01
    few = sampled_leak(secrets[:2], neighbours[:2], 3, lambda values: values, lambda each: each, copies=1, times=1)
    assert (few.epsilon == math.inf and math.isfinite(few.smoothed)) or secrets[0] == secrets[1]
    with pytest.raises(Invalid):
        sampled_leak(secrets[:0], neighbours[:0], 3, perturb, generator.permutation, copies=1, times=1)


def test_scores_and_regions() -> None:
    reference = np.array([0.5, 0.2, 0.0, 0.9])
    assert scores(reference, reference, 1.0).region == "P1"
    assert scores(reference, reference + 0.1, 1.0).region == "R2"
    assert scores(reference, reference * 0.5, 1.0).region == "R1"
    found = scores(reference, np.array([0.4, 0.2, 0.3, 1.0]), 0.5)
    assert found[:2] == pytest.approx((0.05, 0.2))
    assert (found.region, found.ratio, found.squared_error) == ("R3", pytest.approx(1.1875), pytest.approx(0.1))
    assert scores(np.zeros(2), np.ones(2), 1.0)[2:] == ("R2", None, None)
