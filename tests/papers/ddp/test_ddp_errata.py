"""Every erratum of the paper as a number that can be checked. What is found beside each claim is in the findings."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from ddp_accuracy_figure import COORDINATES, most_covered, needed, within
from ddp_attack_figures import EVERYBODY, ONE_PERSON, told, world
from ddp_example_figure import QUERIES, closed_form, separation
from ddp_noise import coverage
from ddp_theorems import (
    BITS,
    PARITY,
    TOGETHER,
    by_points,
    common_bit,
    copies_in_a_row,
    degree_histogram,
    example_coefficients,
    exclusive_or,
    friend_coefficients,
    friend_rows,
    half,
    independent,
    mixtures,
    moved_centroids,
    of_answers,
    of_sum,
    pairs_are_safe,
    parity_again,
    square,
    theorem_9,
    threshold,
    two_cells,
    window,
)
from ddp_uses_figure import affinities, classification
from ddp_world_figures import PRINTED, SUMS, kilometres

from beliefs.dependence.accuracy import SUM, chance_beyond, margin_of
from beliefs.dependence.coefficients import coefficients
from beliefs.dependence.information import information_bound
from beliefs.dependence.parallel import told_together
from beliefs.dependence.published import by_correlation
from beliefs.dependence.scale import sufficient_scale
from beliefs.dependence.underestimate import kept
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from stream.social.attacker import ALONE, FRIENDS, PRODUCT


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
def test_example_1_and_figure_6(query: str, epsilon: float) -> None:
    assert separation(query, epsilon) == pytest.approx(closed_form(query, epsilon), abs=3e-3)
    assert closed_form("sum", 1.0) == 1.5 and closed_form("multiplication", 1.0) < 1.0


def test_definition_4_without_known_tuples_is_weaker_than_dp() -> None:
    assert exclusive_or() == pytest.approx((0.0, 1.0))


def test_theorem_2_bounds_what_is_learnt_by_one_who_knows_all_others() -> None:
    common = common_bit()
    assert common.knowing_nobody == pytest.approx(0.411601802632831, abs=1e-9)
    assert common.knowing_everybody == pytest.approx(0.0051, abs=5e-5)
    assert information_bound(0.5) == pytest.approx(0.0311420922611559)
    assert common.knowing_everybody < information_bound(0.5) < min(0.5, 0.5**2 / 8) < common.knowing_nobody


def test_theorem_3_leaks_of_ddp_releases_do_not_add_up() -> None:
    again = parity_again()
    assert [again[times] for times in (1, 2, 20)] == pytest.approx([1.0, 2.3362, 29.1044553], abs=1e-4)
    # D_i xor D_j tells 0 about D_i, D_j tells 0, both tell it.
    even = np.full((2, 2), 0.25)
    parity, other = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    assert of_answers(even, parity, 0.01) == 0.0
    assert of_answers(even, parity + 2.0 * other, 0.01) > 50.0


def test_theorem_4_cells_that_depend_on_each_other_add_up() -> None:
    assert two_cells(0.0) == pytest.approx(2.0) and two_cells(0.1) == pytest.approx(1.7761365853)
    assert two_cells(0.5) == pytest.approx(1.0)
    told_of_both = told_together(np.ones(2), np.array([[1.0, 0.7761365853], [0.7761365853, 1.0]]))
    assert told_of_both.epsilon == pytest.approx(1.7761365853)


def test_theorems_5_and_6_hold() -> None:
    assert mixtures(50) <= 1e-12
    assert of_sum(PARITY, 2.0) < of_sum(PARITY, 1.0)


def test_theorem_7_needs_the_size_of_the_component() -> None:
    assert copies_in_a_row() == (3, pytest.approx(4.0), 1.0)


def test_theorem_9_fails_for_three_and_holds_for_two() -> None:
    assert of_sum(PARITY, 1.0) == pytest.approx(math.log((1 + math.e**2) / 2))
    assert of_sum(PARITY, 1.0, knows_others=True) == pytest.approx(2.0)
    law = TableLaw(PARITY, (BITS,) * 3)
    assert sufficient_scale(law, Query.of(law), 1.0, "exact") == pytest.approx(1.0)
    assert sufficient_scale(law, Query.of(law), 1.0, "farthest") == pytest.approx(3.0)
    found = theorem_9(60)
    assert found.above >= 5 and found.worst > 1.05 and found.jensen <= 1.0
    assert pairs_are_safe(30) == pytest.approx(1.0, abs=1e-9)


def test_theorem_9_needs_coefficients_of_what_is_added() -> None:
    assert threshold(0.1) == pytest.approx(1 / 0.55) and threshold(0.55) == pytest.approx(1.290, abs=5e-4)
    assert threshold(1.0) == pytest.approx(1.0)
    assert coefficients(TOGETHER * 2, BITS, 1.0).exact == pytest.approx(1.0)  # of 1[D_j >= .5], as a share of 1


def test_the_coefficient_is_how_far_the_other_one_moves() -> None:
    assert (half().exact, half().wasserstein) == pytest.approx((0.5, 0.5))
    assert independent().exact == 0.0 == independent().wasserstein


def test_equation_18_is_a_loose_bound() -> None:
    assert 0.5 < independent().farthest < 1.0
    assert example_coefficients().farthest == pytest.approx(0.760, abs=1e-3)
    assert example_coefficients().exact == pytest.approx(0.5, abs=1e-6)
    for rows in ([[1.0, 0.0], [0.0, 1.0]], [[0.3, 0.7], [0.6, 0.4]]):
        assert coefficients(np.array(rows), BITS, 1.0).farthest == pytest.approx(1.0)
    source = np.random.default_rng(95)
    for _ in range(60):
        support = np.sort(source.random(5))
        each = coefficients(source.dirichlet(np.ones(5), 3), support, float(source.uniform(0.2, 3.0)))
        assert each.exact <= each.wasserstein + 1e-12 and each.jensen <= each.farthest + 1e-12
        assert each.exact <= each.farthest + 1e-12 and each.jensen >= 0.5 - 1e-12
    # So Eq. 18 asks for at least (L + 1)/2 where the baseline asks for L.
    assert all(size / ((size + 1) / 2) < 2 for size in (2, 10, 6969))


def test_correlations_are_no_coefficients() -> None:
    correlation, found = square()
    assert correlation == 0.0 and found.exact == pytest.approx(1.0)
    apart = by_correlation(np.array([[1.0, correlation], [correlation, 1.0]]), np.ones(2), 0.1, 1.0)
    assert apart.scale == 1.0  # as if independent


def test_equation_26_is_no_law_before_its_rows_are_divided() -> None:
    least, most = friend_rows()
    assert (least, most) == pytest.approx((0.80, 1.25), abs=0.01)
    assert friend_coefficients().farthest == pytest.approx(0.81, abs=0.01)
    assert friend_coefficients().exact == pytest.approx(0.34, abs=0.01)


def test_theorem_10_is_about_one_number() -> None:
    assert chance_beyond(5 / 3.5, 1, SUM) == pytest.approx(math.exp(-5 / 3.5)) == pytest.approx(0.239651036441776)
    assert chance_beyond(5 / 3.5, COORDINATES, SUM) > 0.999
    assert 8 * margin_of(0.05, COORDINATES, SUM) == pytest.approx(901.315119060295)


def test_lemma_2_lacks_the_sensitivity() -> None:
    def of_dpm(dependent: float) -> float:
        return -dependent * math.log(0.05) / 5.0

    assert of_dpm(3.5) == pytest.approx(2.09701259148779)
    assert of_dpm(2 * 3.5) > -5 * math.log(0.05) / 5.0  # DeltaQ = 2, L = 5: above the printed bound


def test_definition_6_asks_nothing_of_densities() -> None:
    single, together = by_points()
    assert single < 1e-4 and together > 0.99


def test_underestimates_cost_what_they_leave_out() -> None:
    told_of = kept(5.0, 1.0, 0.8, 1.0)
    assert (told_of.epsilon, told_of.delta) == pytest.approx((1.19047619047619, 0.0908435571232869))
    assert kept(5.0, 1.0, 1.0, 1.0).epsilon == 1.0


def test_a_sticky_window_and_the_budget_for_any_releases() -> None:
    ten, fifty = window(10), window(50)
    assert (ten.told, fifty.told) == pytest.approx((4.4013, 4.4995), abs=5e-5)
    assert (ten.scale, fifty.scale) == pytest.approx((5.976, 8.621), abs=5e-4)
    assert (ten.influence, fifty.influence) == pytest.approx((ten.told, fifty.told), abs=1e-9)


def test_centroids_and_degrees_move_further_than_by_one() -> None:
    assert moved_centroids(600) > 1.5
    assert degree_histogram() == (4, 2, 10)


def test_equation_11_counts_what_friends_tell() -> None:
    """Fig. 5(b) and 10(a): with so much noise that the release tells nothing the leaked information stays."""
    least, wide = Fraction(1, 10), Fraction(coverage(world()).eq_18)
    lpm, dpm = (told(PRODUCT, EVERYBODY, least, noise, 25) for noise in (ONE_PERSON, wide))
    assert lpm.leaked > 2.0 and abs(lpm.of_release) < 0.01 and lpm.most <= 0.1
    assert dpm.leaked == pytest.approx(lpm.leaked, abs=0.01)
    one, two = (told(kind, EVERYBODY, least, ONE_PERSON, 25) for kind in (ALONE, FRIENDS))
    assert two.error < one.error and abs(one.leaked) < 0.05 < two.leaked


def test_figure_8_is_possible_for_one_number_and_not_for_96() -> None:
    assert within(6969, 1.0, 1) == pytest.approx(0.134, abs=5e-4)
    assert most_covered(0.01, 1) == pytest.approx(217, abs=0.5)
    assert most_covered(0.05, COORDINATES) < 9.0 and (most_covered(0.01, COORDINATES) - 1) / 0.5 < 15
    assert within(coverage(world()).eq_18, 1.0, 1) > 0.99 > 0.01 > within(coverage(world()).eq_18, 1.0, COORDINATES)
    assert needed(100.0, 0.05, 1) == pytest.approx(100 * math.log(20) / 1000)


def test_figure_9_b_has_no_edges_and_noise_alone_is_right_in_half() -> None:
    printed, cosine = affinities(500)
    assert printed < 0.15 and cosine > 0.5
    found, noiseless, larger = classification({"none": 1.0, "much": 1e6}, [0.9], 200)
    assert noiseless > larger and found["none"][0] > larger
    assert found["much"][0] == pytest.approx(0.5, abs=0.06)  # acc(w) + acc(-w) = 1


def test_table_1_adds_up_and_the_earth_is_round() -> None:
    assert tuple(sum(column) for column in zip(*PRINTED, strict=True)) == SUMS == (6969, 98802, 17770)
    new_york, los_angeles = np.array([40.71, -73.95]), np.array([34.02, -118.25])
    assert float(kilometres(new_york, los_angeles)) == pytest.approx(3943, rel=0.01)
    assert float(kilometres(new_york, new_york + np.array([1.0, 0.0]))) == pytest.approx(111.195, abs=0.01)
