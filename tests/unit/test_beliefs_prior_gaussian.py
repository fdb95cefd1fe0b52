from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import prior_oracles as oracles
import pytest
from scipy.special import log_ndtr

from beliefs.checks import Invalid
from beliefs.laws.gaussian import GaussianLaw
from beliefs.prior import gaussian as room
from beliefs.prior.gaussian import Sums, gaussian_leak, weakest_gaussian, worst_gaussian
from beliefs.prior.worst import EXACT, SOUND


def plain(size: int, scale: float = 1.0) -> Sums:
    return Sums(np.ones((1, size)), np.array([scale]))


def covariance_of(generator: np.random.Generator, size: int) -> np.ndarray:
    factor = generator.normal(size=(size, size))
    found = factor @ factor.T / size + generator.choice([0.02, 0.3]) * np.eye(size)
    return 0.5 * (found + found.T)


def formula(covariance: np.ndarray, weights: np.ndarray, attacked: int, known: tuple[int, ...]) -> float:
    """|w C e_i|/C_ii by a linear solver."""
    rest = [each for each in range(len(covariance)) if each not in known]
    left = covariance[np.ix_(rest, rest)]
    if known:
        across = covariance[np.ix_(rest, list(known))]
        left = left - across @ np.linalg.solve(covariance[np.ix_(list(known), list(known))], across.T)
    place = rest.index(attacked)
    return float(abs(weights[rest] @ left[:, place]) / left[place, place])


def log_density(away: np.ndarray, spread: float, scale: float) -> np.ndarray:
    """Of Gaussian plus Laplace noise, up to a constant."""
    ratio, turned = spread / scale, away / scale
    one = turned + log_ndtr(-(turned / ratio + ratio))
    two = -turned + log_ndtr(turned / ratio - ratio)
    return np.logaddexp(one, two)


def test_the_closed_form_is_the_supremum_of_densities() -> None:
    generator = np.random.default_rng(1)
    for _ in range(60):
        size = int(generator.integers(2, 6))
        covariance, weights = covariance_of(generator, size), generator.choice([1.0, -2.0, 0.5], size)
        attacked = int(generator.integers(size))
        known = tuple(each for each in range(size) if each != attacked and generator.random() < 0.4)
        scale, extent = float(generator.choice([0.3, 1.0, 4.0])), float(generator.choice([0.5, 2.0]))
        found = gaussian_leak(GaussianLaw(covariance, extent), Sums(weights[None], np.array([scale])), attacked, known)
        assert found == pytest.approx(formula(covariance, weights, attacked, known) * extent / scale, rel=1e-9)
        rest = [each for each in range(size) if each not in known]
        unknown = [each for each in rest if each != attacked]
        inverse = np.linalg.inv(covariance)[np.ix_(unknown, unknown)]
        spread = math.sqrt(weights[unknown] @ np.linalg.inv(inverse) @ weights[unknown]) if unknown else 0.0
        if spread > 0.0:
            outputs = np.linspace(-40.0 * (scale + spread), 40.0 * (scale + spread), 4_001)
            told = np.abs(log_density(outputs - found * scale, spread, scale) - log_density(outputs, spread, scale))
            assert told.max() <= found + 1e-8
            assert told.max() >= found - 1e-6


def test_the_worst_of_all_adversaries() -> None:
    generator = np.random.default_rng(2)
    for _ in range(25):
        size = int(generator.integers(1, 6))
        covariance, weights = covariance_of(generator, size), generator.choice([1.0, -2.0, 0.5, 0.0], (2, size))
        law, scales = GaussianLaw(covariance, 2.0), np.array([0.5, 3.0])
        leaks = {
            (one, known): sum(
                2.0 * formula(covariance, row, one, known) / scale for row, scale in zip(weights, scales, strict=True)
            )
            for one, known in oracles.adversaries(size)
        }
        found = worst_gaussian(law, Sums(weights, scales))
        assert found.method == EXACT
        assert found.epsilon == pytest.approx(max(leaks.values()), rel=1e-9, abs=1e-12)
        assert leaks[found.attacked, found.known] == pytest.approx(found.epsilon, rel=1e-9, abs=1e-12)
        assert found.weakest == pytest.approx(max(leaks[one, ()] for one in range(size)), rel=1e-9, abs=1e-12)
        only = worst_gaussian(law, Sums(weights, scales), only=size - 1)
        assert only.epsilon == pytest.approx(max(leak for (one, _), leak in leaks.items() if one == size - 1), rel=1e-9)


def test_the_quick_search_finds_what_fractions_find(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    for _ in range(8):
        law = GaussianLaw(covariance_of(generator, 5), 1.0)
        sums = Sums(generator.normal(size=(1, 5)), np.ones(1))
        slow = worst_gaussian(law, sums)
        monkeypatch.setattr(room, "EXACTLY_UP_TO", 1)
        assert worst_gaussian(law, sums) == slow
        monkeypatch.undo()


def test_fourteen_and_twenty_attributes_of_equal_correlation() -> None:
    for size, tie in ((15, 0.8), (15, 0.2), (15, -0.05), (20, 0.3)):
        law = GaussianLaw(np.where(np.eye(size) > 0, 1.0, tie), 1.0)
        for known in (0, 1, 5, 14):
            want = abs(1.0 + (size - 1) * tie) / abs(1.0 + known * tie)
            assert gaussian_leak(law, plain(size), 0, tuple(range(1, known + 1))) == pytest.approx(want, rel=1e-12)
        found = worst_gaussian(law, plain(size))
        assert found.known == (() if tie > 0 else tuple(each for each in range(size) if each != found.attacked))
    layers = [
        gaussian_leak(GaussianLaw(np.where(np.eye(15) > 0, 1.0, 0.8), 1.0), plain(15), 0, tuple(range(1, k)))
        for k in (15, 11, 6, 1)
    ]
    assert [round(each, 4) for each in layers] == [1.0, 1.3556, 2.44, 12.2]


def test_many_attributes_are_bounded_or_refused() -> None:
    size = 60
    apart = np.abs(np.arange(size)[:, None] - np.arange(size))
    together = worst_gaussian(GaussianLaw(0.4**apart, 1.0), plain(size))
    assert (together.method, together.known) == (EXACT, ())
    assert together.epsilon == pytest.approx(together.weakest, rel=1e-9)
    alternating = worst_gaussian(GaussianLaw((-0.4) ** apart, 1.0), plain(size))
    assert alternating.method == SOUND
    assert alternating.weakest < 1.0 <= alternating.epsilon == pytest.approx(together.epsilon, rel=1e-9)
    signs = np.where(np.arange(size) % 2, -1.0, 1.0)
    signed = worst_gaussian(GaussianLaw((-0.4) ** apart, 1.0), Sums(signs[None], np.ones(1)))
    assert signed.method == EXACT
    generator = np.random.default_rng(4)
    factor = generator.normal(size=(size, size))
    with pytest.raises(Invalid, match="covariance"):
        worst_gaussian(GaussianLaw(factor @ factor.T, 1.0), plain(size))
    with pytest.raises(Invalid, match="covariance"):
        worst_gaussian(GaussianLaw(np.ones((size, size)), 1.0), plain(size))


def test_the_bound_for_many_is_above_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    bounded = 0
    for _ in range(40):
        ties = generator.normal(size=(4, 4)) * 0.3
        precision = np.eye(4) + 0.5 * (ties + ties.T)
        if np.linalg.eigvalsh(precision)[0] < 0.1:
            continue
        covariance = np.linalg.inv(precision)
        law = GaussianLaw(0.5 * (covariance + covariance.T), 1.0)
        sums = Sums(generator.normal(size=(2, 4)), np.array([1.0, 0.5]))
        exact = worst_gaussian(law, sums)
        monkeypatch.setattr(room, "SEARCHED_MAX", 3)
        try:
            found = worst_gaussian(law, sums)
        except Invalid:
            continue
        finally:
            monkeypatch.undo()
        assert found.epsilon >= exact.epsilon * (1.0 - 1e-12)
        bounded += 1
    assert bounded > 15


def test_positive_covariances_do_not_make_the_weakest_the_worst() -> None:
    law = GaussianLaw(np.array([[1.0, 0.95, 1.07], [0.95, 1.0, 0.1], [1.07, 0.1, 9.77]]), 1.0)
    found = worst_gaussian(law, plain(3))
    assert (found.attacked, found.known) == (0, (1,))
    assert found.epsilon == pytest.approx(11.0, rel=1e-9)
    assert found.weakest == pytest.approx(3.02)


def test_two_attributes_as_in_the_paper() -> None:
    for tie in (0.7, 0.0, -0.4):
        law = GaussianLaw(np.array([[1.0, tie], [tie, 1.0]]), 3.0)
        assert gaussian_leak(law, plain(2, 2.0), 0, ()) == pytest.approx(1.5 * abs(1.0 + tie))
        assert gaussian_leak(law, plain(2, 2.0), 0, (1,)) == 1.5


def test_what_is_known_for_certain_is_not_attacked() -> None:
    copies = GaussianLaw(np.ones((2, 2)), 1.0)
    with pytest.raises(Invalid, match="known: leaves attribute 0"):
        gaussian_leak(copies, plain(2), 0, (1,))
    assert worst_gaussian(copies, plain(2))[:3] == (pytest.approx(2.0), 0, ())
    sure = GaussianLaw(np.diag([0.0, 1.0]), 1.0)
    with pytest.raises(Invalid, match="attacked: leaves attribute 0"):
        gaussian_leak(sure, plain(2), 0, ())
    assert weakest_gaussian(sure, plain(2)) == (1.0, 1)
    with pytest.raises(Invalid, match="covariance"):
        worst_gaussian(GaussianLaw(np.zeros((2, 2)), 1.0), plain(2))


def test_leaks_are_rounded_up_from_fractions() -> None:
    law = GaussianLaw(np.array([[3.0, 1.0], [1.0, 1.0]]), 1.0)
    found = gaussian_leak(law, plain(2, 3.0), 0, ())
    assert Fraction(found) >= Fraction(4, 9)
    assert found - 4 / 9 < 1e-15
