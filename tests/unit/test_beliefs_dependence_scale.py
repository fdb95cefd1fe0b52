from __future__ import annotations

import dependence_oracles as oracles
import numpy as np
import prior_oracles
import pytest

from beliefs.checks import Invalid
from beliefs.dependence.leak import Asked
from beliefs.dependence.parallel import told_together
from beliefs.dependence.published import by_correlation, by_degree
from beliefs.dependence.scale import FOR_ANY_NUMBER, FOR_TWO, METHODS, sufficient_scale
from beliefs.dependence.sensitivity import dependent_sensitivity
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query

BITS = np.array([0.0, 1.0])
TIED = np.array([[1.0, 0.5, 0.0, 0.2], [0.3, 1.0, 0.8, 0.0], [0.0, 0.9, 1.0, 0.1], [0.25, 0.0, 0.6, 1.0]])


def leak(law: TableLaw, query: Query, scale: float) -> float:
    return Asked.of_sum(law, query).leak(scale, 1, knows_others=False)


def test_guaranteed_scales_keep_epsilon_for_those_who_know_nobody_and_are_as_small_as_said() -> None:
    generator = np.random.default_rng(1)
    looked_at = 0
    for _ in range(60):
        law = prior_oracles.some_table(generator, size=int(generator.integers(1, 4)))
        query, epsilon = (
            Query.of(law, prior_oracles.some_weights(generator, law.size)),
            float(generator.choice([0.1, 1.0, 6.0, 2000.0])),
        )
        for method in (*FOR_ANY_NUMBER, *(FOR_TWO if law.size <= 2 else ())):
            scale = sufficient_scale(law, query, epsilon, method)
            group = float(sum(query.ranges)) / epsilon
            assert scale <= group * (1.0 + 1e-12)
            if scale > 0.0:
                assert leak(law, query, scale) <= epsilon * (1.0 + 1e-11)
                looked_at += 1
            else:
                assert group == 0.0
    assert looked_at > 120


def test_an_own_range_alone_is_plain_noise_and_group_takes_all() -> None:
    one = TableLaw(np.array([0.25, 0.75]), (np.array([-1.0, 2.0]),))
    for method in METHODS:
        assert sufficient_scale(one, Query.of(one), 2.0, method) == pytest.approx(1.5)
    two = TableLaw(np.full((2, 2), 0.25), (BITS, np.array([0.0, 3.0])))
    assert sufficient_scale(two, Query.of(two), 0.5, "group") == pytest.approx(8.0)
    assert sufficient_scale(two, Query.of(two), 0.5, "exact") == pytest.approx(6.0), "independent: the wider one"
    assert sufficient_scale(two, Query.of(two, np.array([-1.0, 0.0])), 0.5, "jensen") == pytest.approx(2.0)
    fixed = TableLaw(np.ones((1, 1)), (np.zeros(1), np.ones(1)))
    assert sufficient_scale(fixed, Query.of(fixed), 0.5, "farthest") == 0.0


def test_the_scale_solves_its_equation() -> None:
    """Two thirds of one attribute follow the other: exact coefficients shrink as noise grows."""
    law = TableLaw(np.array([[0.4, 0.1], [0.1, 0.4]]), (BITS, np.array([0.0, 5.0])))
    query = Query.of(law)
    scale = sufficient_scale(law, query, 1.0, "exact")
    assert leak(law, query, scale) <= 1.0 + 1e-11, "both are rounded up"
    assert sufficient_scale(law, query, 1.0, "wasserstein") == pytest.approx(6.0)
    assert 5.0 < scale < 6.0


def test_dependent_sensitivity() -> None:
    found = dependent_sensitivity(TIED, np.array([1.0, 2.0, 0.5, 4.0]), 0.5)
    assert found.per_attribute == pytest.approx([2.8, 2.7, 2.7, 4.55])
    assert (found.attacked, found.components, found.size) == (3, [[0, 1, 2, 3]], 4)
    assert (found.scale, found.group_scale, found.component_scale) == pytest.approx((9.1, 32.0, 15.0))
    apart = dependent_sensitivity(np.eye(3), np.array([1.0, 2.0, 2.0]), 1.0)
    assert (apart.components, apart.attacked, apart.dependent) == ([[0], [1], [2]], 1, 2.0)
    one_way = dependent_sensitivity(np.array([[1.0, 0.0], [1e-9, 1.0]]), np.zeros(2), 1.0)
    assert (one_way.components, one_way.scale) == ([[0, 1]], 0.0)


@pytest.mark.parametrize(("entry", "value"), [((0, 0), 0.9), ((0, 1), 1.1), ((2, 1), -0.1), ((3, 3), 0.0)])
def test_wrong_coefficients_are_refused(entry: tuple[int, int], value: float) -> None:
    wrong = TIED.copy()
    wrong[entry] = value
    with pytest.raises(Invalid, match=r"coefficients") as refused:
        dependent_sensitivity(wrong, np.ones(4), 1.0)
    assert str(list(entry)) in refused.value.reason
    for call, field in (
        (lambda: dependent_sensitivity(TIED[:3], np.ones(4), 1.0), "coefficients"),
        (lambda: dependent_sensitivity(TIED, np.ones(3), 1.0), "sensitivities"),
        (lambda: by_degree(TIED, np.ones(3), 1.0), "sensitivities"),
        (lambda: by_correlation(np.array([[1.0, 1.2], [1.2, 1.0]]), np.ones(2), 0.1, 1.0), "correlations"),
        (lambda: by_correlation(np.array([[1.0, 0.2], [0.1, 1.0]]), np.ones(2), 0.1, 1.0), "correlations"),
        (lambda: by_correlation(np.array([[0.9]]), np.ones(1), 0.1, 1.0), "correlations"),
        (lambda: told_together(np.ones(2), np.ones((3, 2))), "sensitivities"),
        (lambda: told_together(np.ones(1), -np.ones((1, 2))), "sensitivities"),
    ):
        with pytest.raises(Invalid) as refused:
            call()
        assert refused.value.field == field


def test_what_parallel_releases_tell_adds_up_for_each_attribute() -> None:
    copies = told_together(np.array([1.0, 1.0]), np.ones((2, 2)))
    assert (copies.epsilon, copies.attacked) == (2.0, 0), "copies in two cells: not the maximum, 1"
    apart = told_together(np.array([1.0, 3.0, 2.0]), np.array([[2.0, 0.0], [0.0, 5.0], [0.0, 0.0]]))
    assert (apart.epsilon, apart.attacked, apart.per_attribute) == (3.0, 1, [1.0, 3.0])


def test_published_formulas_are_what_they_are() -> None:
    assert by_degree(TIED, np.array([1.0, 2.0, 0.5, 4.0]), 0.5) == (3, 24.0)
    correlations = np.array([[1.0, -0.6], [-0.6, 1.0]])
    assert by_correlation(correlations, np.ones(2), 0.7, 1.0).per_attribute == [1.0, 1.0]
    assert by_correlation(correlations, np.ones(2), 0.6, 1.0).scale == pytest.approx(1.6)


def test_degree_is_no_size_of_a_group() -> None:
    """Twelve copies in a row, each tied to its neighbours only: noise for three leaks 4 epsilon."""
    ties = np.eye(12) + np.eye(12, k=1) + np.eye(12, k=-1)
    noise = by_degree(ties, np.ones(12), 1.0)
    assert noise == (3, 3.0)
    joint = np.zeros((2,) * 12)
    joint[(0,) * 12] = joint[(1,) * 12] = 0.5
    law = TableLaw(joint, (BITS,) * 12)
    assert leak(law, Query.of(law), noise.scale) == pytest.approx(4.0)
    enough = dependent_sensitivity(ties, np.ones(12), 1.0)
    assert leak(law, Query.of(law), enough.group_scale) == pytest.approx(1.0)


def test_theorem_9_adds_nothing_for_a_parity() -> None:
    law = TableLaw(oracles.PARITY, (BITS,) * 3)
    for method in ("exact", "wasserstein"):
        assert sufficient_scale(law, Query.of(law), 1.0, method) == pytest.approx(1.0)
    assert leak(law, Query.of(law), 1.0) == pytest.approx(np.log((1.0 + np.exp(2.0)) / 2.0))
