"""Every erratum of the paper as a number that can be checked. What is found beside each claim is in the findings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from correlation_oracles import bound_by_sets, leak_by_outputs
from cpl_adult_figure import TOGETHER
from cpl_benchmark_figure import CBP, GENERIC, GRF_LOW, GRF_PARTS, ITS, REPORTED, score_all
from cpl_data import adult
from cpl_estimates import bias, false_alarms
from cpl_heart_figure import PRINTED, both_ways
from cpl_leaks import Pairs, exact_leak, guess_rows
from cpl_printed import TABLE_3, TABLE_3_EPSILONS
from cpl_spread_figure import all_pairs
from cpl_theorems import (
    EXAMPLE,
    RARE,
    THREE,
    budgets,
    cells,
    every_output,
    exclusive_or,
    halves,
    largest_loss,
    leaky,
    optimum,
    pointwise,
    relaxed,
    rows_and_columns,
    sums_of_pairs,
    twice,
)
from mechanism_outputs import channel

from beliefs.correlation.bound import bound
from beliefs.correlation.calibration import PairwiseMeter, equal_budgets
from beliefs.correlation.joint import joint_leak
from beliefs.correlation.outputs import response_leak, sets_leak
from beliefs.correlation.published import algorithm_3, equation_6, relaxation
from beliefs.correlation.sampled import sampled_leak
from beliefs.correlation.tables import conditional_of, correlation_of, given
from mechanisms.local.rappor import rappor
from mechanisms.local.registry import drawn, local
from mechanisms.local.subset import subset_selection


def test_the_core_is_right() -> None:
    """Theorem IV.6 and Algorithm 2 against all sets, a linear program, and a mechanism that loses exactly that."""
    found = optimum(300)
    assert found.sets < 1e-12 and found.program < 1e-7 and found.attained < 1e-12


def test_e1_algorithm_1_compares_rows_where_columns_belong() -> None:
    printed, true = rows_and_columns()
    assert printed == pytest.approx(1.318853, abs=5e-7) and true == pytest.approx(1.540445, abs=5e-7)
    harmless = rows_and_columns(guess_rows("grr", 2, 1.0))
    assert harmless[0] == pytest.approx(harmless[1], abs=1e-12)
    assert local("oue", 4, 1.0).worst_sets().family == "any"  # 16 outputs of 4 values: no square to read a row from


@pytest.mark.parametrize("bits", [2, 3, 4])
def test_e2_pairs_of_an_exclusive_or_tell_nothing_and_all_together_do(bits: int) -> None:
    weights = exclusive_or(bits)
    for epsilon in (1.0, 2.0):
        together = joint_leak(given(weights, 0), [epsilon] * bits)
        assert together == pytest.approx(2 * math.atanh(math.tanh(epsilon / 2) ** bits), abs=1e-12)
        assert equation_6(weights, [epsilon] * bits) < 1e-12
    assert joint_leak(given(exclusive_or(2), 0), [1.0, 1.0]) == pytest.approx(0.433781, abs=5e-7)


def test_e2_sums_of_pairs_are_no_bound_on_random_tables_nor_on_adult() -> None:
    found = sums_of_pairs()
    assert found.broken > 0.75 * found.tables and found.independent < 1e-12
    data = adult()
    weights = data.table(*(data.axis(name) for name in TOGETHER))
    assert joint_leak(given(weights, 0), [1.0, 1.0]) == pytest.approx(1.426947, abs=5e-7)
    assert equation_6(weights, [1.0, 1.0]) == pytest.approx(1.279648, abs=5e-7)


def test_e2_one_neighbour_reported_twice_tells_more_than_twice() -> None:
    exact, added = twice()
    assert exact == pytest.approx(0.061933, abs=5e-7) and added == pytest.approx(0.034074, abs=5e-7)
    assert exact <= bound(RARE, 2.0).epsilon  # the repair: one report of the summed budget


def test_e2_with_independent_neighbours_the_sum_for_one_pair_of_secrets_is_exact() -> None:
    source = np.random.default_rng(81)
    for _ in range(20):
        one, two = source.dirichlet(np.ones(3), 4), source.dirichlet(np.ones(2), 4)
        together = joint_leak(one[:, :, None] * two[:, None, :], [1.0, 1.0])
        each = [_one_way(one[x], one[other]) + _one_way(two[x], two[other]) for x in range(4) for other in range(4)]
        assert together == pytest.approx(max(each), abs=1e-12)


def _one_way(first: np.ndarray, second: np.ndarray) -> float:
    weight = math.expm1(1.0)
    return float(np.log((1 + weight * first) / (1 + weight * second)).max())


def test_e3_what_a_guess_loses_is_not_what_a_report_loses() -> None:
    """Disjoint halves of eight values at epsilon 1: ITS, the attacked OUE, the real one."""
    named = {each.name: each for each in every_output()}
    oue = named["OUE"]
    assert oue.response == pytest.approx(0.357374, abs=5e-7)
    assert oue.guessed == pytest.approx(0.218945, abs=5e-7)
    for each in named.values():
        assert each.real == pytest.approx(1.0, abs=1e-12) and each.guessed < 0.4
    for low, high in ((0.0, 1.0), (-1.0, 2.0), (-30.0, 40.0)):
        assert cells(8, 1.0, low, high) == pytest.approx(1.0, abs=1e-12)


def test_e3_five_mechanisms_lose_the_bound_on_adult_and_grr_does_not() -> None:
    pairs = Pairs(adult())
    told = pairs.bound(1.0)
    for mechanism in ("sue", "oue", "blh", "olh", "she"):
        assert pairs.exact(mechanism, 1.0) == pytest.approx(told, abs=1e-12)
    place = pairs.place("gender", "occupation")
    assert pairs.exact("grr", 1.0)[place] == pytest.approx(0.2471, abs=5e-5)
    assert told[place] == pytest.approx(0.4001, abs=5e-5)
    assert told[place] == pytest.approx(bound_by_sets(pairs.laws[place], 1.0), abs=1e-12)


def test_e4_the_constants_of_rappor_fix_its_level() -> None:
    bits = rappor(10, 0.5, 0.5, 0.75)
    assert (bits.p, bits.q) == (0.6875, 0.5625)
    assert bits.level == pytest.approx(0.537143, abs=5e-7)
    assert bits.named["longitudinal"] == pytest.approx(2.197225, abs=5e-7)
    told = [exact_leak(THREE, "sue", epsilon) for epsilon in (1.0, 3.0)]
    assert told[1] > told[0] + 0.5  # as Table II varies with epsilon, what was run was SUE


def test_e5_the_relaxation_is_loose_unset_at_times_and_depends_on_ties() -> None:
    found = relaxed()
    assert found.below == 0 and found.loosest > 15
    assert found.printed == pytest.approx(0.025) and found.tight == pytest.approx(0.0170673, abs=5e-8)
    assert found.unset is None and found.lost == pytest.approx(0.02)
    # A value whose ratio is that of the set so far changes no leak, but it changes f* by its chance.
    weight = math.expm1(1.0)
    chance = 0.1 * (1 + 0.4 * weight) / (1 + 0.1 * weight)
    told = []
    for moved in (1e-9, -1e-9):
        laws = np.array([[0.4, chance + moved, 0.6 - chance - moved], [0.1, 0.1, 0.8]])
        loose = relaxation(laws, 1.0, 0.05)
        assert loose is not None
        told.append((bound(laws, 1.0).epsilon, loose))
    assert told[0][0] == pytest.approx(told[1][0], abs=1e-8)
    assert told[0][1] - told[1][1] == pytest.approx(0.05 * chance, abs=1e-8)


def test_e6_algorithm_3_leaves_the_limit() -> None:
    found = budgets()
    assert found.beyond == found.tables == 40 and found.alone == pytest.approx(1.01)
    weights = np.array([[29330.0, 3799.0, 1892.0], [23055.0, 5750.0, 6174.0]])
    printed, right = algorithm_3(weights, response_leak, 2.0, 0.01), equal_budgets(PairwiseMeter(weights), 2.0)
    assert printed == pytest.approx(1.53) and PairwiseMeter(weights).totals(np.full(2, printed)).max() > 2.0
    assert PairwiseMeter(weights).totals(np.full(2, right)).max() <= 2.0


def test_e7_the_theoretical_column_of_table_3_is_not_that_of_equation_28() -> None:
    exact = [response_leak(conditional_of(EXAMPLE.T).laws, epsilon) for epsilon in TABLE_3_EPSILONS]
    assert exact == pytest.approx([0.280930, 0.620115, 1.433781], abs=5e-7)
    assert exact == pytest.approx([math.log1p(math.expm1(epsilon) / 2) for epsilon in TABLE_3_EPSILONS], abs=1e-12)
    printed = TABLE_3["secret to neighbour"]["theoretical"]
    assert [f"{each:.4f}" for each in exact] != [f"{each:.4f}" for each in printed]
    metrics = correlation_of(EXAMPLE)
    assert (round(metrics.normalised, 3), round(metrics.pearson, 3)) == (0.165, 0.357)


def test_e8_the_exponential_mechanism_spends_half() -> None:
    assert local("exp", 10, 1.0).level == 0.5 and drawn("exp", 10, 1.0).level <= 0.5
    assert exact_leak(THREE, "exp", 2.0) == exact_leak(THREE, "grr", 1.0)


def test_e9_sets_rounded_down_or_to_the_nearest_are_two_mechanisms() -> None:
    down, nearest = local("ss", 14, 1.0), subset_selection(14, 1.0, round(14 / (math.e + 1)))
    assert down.extras()["subset_size"] == 3 and nearest.size == 4
    laws = halves(14)
    told = [sets_leak(laws, each.worst_sets(), 1.0) for each in (down, nearest)]
    assert told == pytest.approx([math.log1p(math.expm1(1.0) * size / 7) for size in (3, 4)], abs=1e-12)
    # And its leak need not grow with epsilon.
    sizes = [sets_leak(halves(8), local("ss", 8, epsilon).worst_sets(), epsilon) for epsilon in (0.9, 1.1, 1.3)]
    assert sizes[1] < sizes[2] < sizes[0]


def test_e10_what_is_not_said_does_not_decide_the_regions() -> None:
    """Pairs or parts for GRF; ordered pairs or not; p-values of a test that never says 0."""
    found = [pairs for pairs in all_pairs() if pairs.data.name in ("CelebA", "DSS")]
    told = score_all(found, (1.0,), lambda share: None)
    for data in ("CelebA", "DSS"):
        assert told[GENERIC, data, GRF_LOW, 1.0].region == told[GENERIC, data, GRF_PARTS, 1.0].region == "R3"
    assert told[GENERIC, "CelebA", CBP, 1.0].region == "R1"
    assert [told[REPORTED, data, ITS, 1.0].region for data in ("CelebA", "DSS")] == ["P1", "R1"]
    people = np.tile([0, 1], 200)
    certain = sampled_leak(
        people, people, 2, lambda values: values, np.random.default_rng(82).permutation, copies=1, times=19
    )
    assert certain.p_value == 1 / 20 and certain.epsilon == math.inf


def test_copies_make_no_people() -> None:
    assert false_alarms(1, 100) < 0.12 and false_alarms(50, 100) > 0.4
    assert bias(Pairs(adult()), 350, 60) > 0.05


def test_delta_is_about_sets_of_outputs_and_hides_the_ratio() -> None:
    told, most = leaky(0.01)
    assert told == pytest.approx(most, abs=1e-9) == pytest.approx(math.log(5))
    single, together = pointwise(0.01, 10)
    assert (single, together) == pytest.approx((0.01, 0.1))


def test_disjoint_values_lose_epsilon_only_where_outputs_stand_for_sets() -> None:
    any_mechanism, response = largest_loss(8, 1.0)
    assert any_mechanism == pytest.approx(1.0)
    assert response == pytest.approx(math.log1p(math.expm1(1.0) / 4))
    assert leak_by_outputs(halves(2), guess_rows("grr", 2, 1.0)) == pytest.approx(1.0)


@pytest.mark.parametrize("mechanism", ["oue", "sue", "blh", "olh", "exp"])
def test_of_two_values_every_mechanism_is_a_coarsening_of_grr(mechanism: str) -> None:
    """So what GRR loses in all fields together, no mechanisms of that epsilon exceed (Figure 8)."""
    rows = channel(mechanism, 2, 1.0)
    coarser = np.linalg.solve(guess_rows("grr", 2, 1.0), rows)
    assert coarser.min() >= -1e-12 and coarser.sum(axis=1) == pytest.approx(np.ones(2))


def test_the_asymmetry_of_cvd_turns_with_the_budget() -> None:
    assert both_ways(1.0) == pytest.approx((0.335345, 0.176119), abs=5e-7)
    assert both_ways(3.0) == pytest.approx((0.757859, 0.765895), abs=5e-7)
    assert both_ways(1.0) == pytest.approx(PRINTED, abs=0.003)
