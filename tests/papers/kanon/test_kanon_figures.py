"""The curves of the figures at the points whose values are known, and what their captions may say."""

from __future__ import annotations

import itertools

import pytest
from kanon_formulas import (
    CURVES,
    KNOWN,
    SHARES,
    as_printed,
    figure_1b,
    figure_3a,
    figure_4a_stated,
    figure_4ab,
    flat_up_to,
    least_neighbours,
    least_users,
    most_cubes,
    self_consistent,
    what_is_left,
)
from kanon_known_figures import u_shaped


@pytest.mark.parametrize(("name", "at"), [(name, at) for name, known in KNOWN.items() for at in known])
def test_the_curves_of_the_figures(name: str, at: float) -> None:
    assert CURVES[name](at) == pytest.approx(KNOWN[name][at], abs=6e-9)


def test_every_panel_has_its_curve() -> None:
    assert list(CURVES) == list(KNOWN)
    assert len(CURVES) == 11


def test_figure_1_c_is_flat_and_then_a_root() -> None:
    edge = flat_up_to()
    assert edge == pytest.approx(52.06, abs=0.005)
    curve = CURVES["fig1c"]
    assert curve(1) == curve(52) < curve(53) == pytest.approx((0.1 * 53.5) ** 0.5 / 50)
    assert self_consistent(200) == pytest.approx(200.5 / 2_500)


def test_figures_1_b_and_3_a_cannot_have_their_sums() -> None:
    assert least_users(2_500, 100) == 1_562_500
    assert all(100 * share > most_cubes(10 * share) for share in SHARES)
    few, many = (figure_1b(10, users) / figure_1b(1, users) for users in (100, 1_562_500))
    assert few == pytest.approx(1.04, abs=0.005) and many == pytest.approx(1.49, abs=0.005)
    assert least_neighbours(2_500, 2_000, 1) == pytest.approx(55.9, abs=0.05)


def test_figures_3_and_4_turn_round_with_what_is_left() -> None:
    for curve in (figure_3a, lambda share, mass: figure_4ab(0.1, share, mass)):
        right = [curve(share, what_is_left) for share in SHARES]
        assert all(one < two for one, two in itertools.pairwise(right))
    assert figure_3a(0.9, as_printed) < figure_3a(0.1, as_printed)


def test_figure_4_a_has_its_shape_by_equation_36_alone() -> None:
    assert u_shaped() == (492, 10_322)
    stated = [figure_4a_stated(share) for share in SHARES]
    assert all(one < two for one, two in itertools.pairwise(stated))
