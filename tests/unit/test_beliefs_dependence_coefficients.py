from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.dependence.coefficients import Coefficients, coefficients
from beliefs.laws.friends import FriendsLaw, city_blocks


def some_rows(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    values, size = int(generator.integers(1, 5)), int(generator.integers(1, 7))
    rows = generator.dirichlet(np.full(size, generator.choice([0.3, 1.0, 5.0])), values)
    if generator.random() < 0.4:
        rows = np.where(generator.random(rows.shape) < 0.4, 0.0, rows) + 1e-3 * np.eye(values, size)
        rows[:, 0] += 1e-9
    support = np.sort(generator.choice(np.arange(-8, 9), size, replace=False)) * float(generator.choice([1.0, 0.1]))
    return rows / rows.sum(axis=1, keepdims=True), support


def by_definition(rows: np.ndarray, support: np.ndarray, scale: float) -> Coefficients:
    """Means over the law at every output of a fine grid, and plans between every two rows in fractions."""
    reach = support[-1] - support[0]
    if reach == 0.0:
        return Coefficients(0.0, 0.0, 0.0, 0.0, 0.0)
    grid = np.concatenate([np.linspace(support[0] - 2.0, support[-1] + 2.0, 400), support])
    shown = np.log((rows[:, None] * np.exp(-np.abs(grid[:, None] - support) / scale)).sum(axis=2))
    farther = np.abs(support[:, None] - support).max(axis=1)
    means = [(rows * np.exp(away / scale)).sum(axis=1).max() for away in (farther, support - support[0])]
    means.append((rows * np.exp((support[-1] - support) / scale)).sum(axis=1).max())
    plan = max(plan_between(one, two, support) for one in rows for two in rows)
    return Coefficients(
        scale / reach * float((shown.max(axis=0) - shown.min(axis=0)).max()),
        scale / reach * math.log(means[0]),
        scale / reach * math.log(max(means[1:])),
        float((rows * farther).sum(axis=1).max()) / reach,
        plan / reach,
    )


def plan_between(one: np.ndarray, two: np.ndarray, support: np.ndarray) -> float:
    """The largest distance of values at one level of both distribution functions; levels that print alike are one."""
    sums = [np.cumsum([Fraction(float(mass)) for mass in law]) for law in (one, two)]
    levels = sorted({float(level) for each in sums for level in each})
    found = 0.0
    for low, high in zip([0.0, *levels], levels, strict=False):
        if high - low > 1e-11:
            middle = 0.5 * (low + high)
            places = [min(int(np.searchsorted(each.astype(float), middle)), support.size - 1) for each in sums]
            found = max(found, abs(support[places[0]] - support[places[1]]))
    return found


def test_every_coefficient_is_what_its_definition_says() -> None:
    generator = np.random.default_rng(1)
    for _ in range(300):
        rows, support = some_rows(generator)
        scale = float(generator.choice([0.05, 0.5, 1.0, 7.0, 60.0]))
        found, wanted = coefficients(rows, support, scale), by_definition(rows, support, scale)
        for got, want in zip(found, wanted, strict=True):
            assert want - 1e-12 <= got <= want + 1e-9


def test_one_bounds_the_other_and_exact_is_never_below_an_output() -> None:
    generator = np.random.default_rng(2)
    for _ in range(200):
        rows, support = some_rows(generator)
        found = coefficients(rows, support, float(generator.choice([1e-3, 0.3, 2.0, 1e3, 1e9])))
        assert 0.0 <= found.exact <= found.wasserstein + 1e-12
        assert found.exact <= found.jensen + 1e-9 <= found.farthest + 2e-9
        assert found.farthest_end <= found.farthest <= 1.0
        if support.size > 1:
            assert found.jensen >= 0.5 - 1e-12, "also where the attribute does not depend on the other at all"


@pytest.mark.parametrize("scale", [1e-300, 1e-15, 1e-6, 1e6, 1e12, 1e300])
def test_scales_at_the_ends_of_the_doubles_lose_no_digits(scale: float) -> None:
    """Very narrow noise sees how far the supports are apart, very wide noise the means' difference at an end."""
    rows, support = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.5, 0.5, 0.0]]), np.array([0.0, 1.0, 4.0])
    found = coefficients(rows, support, scale)
    wide = scale > 1.0
    exact = (3.0 - 0.5) / 4.0 if wide else 3.0 / 4.0
    farthest = (0.1 * 4.0 + 0.2 * 3.0 + 0.7 * 4.0) / 4.0 if wide else 1.0
    assert found.exact == pytest.approx(exact, rel=1e-4 if scale in (1e-6, 1e6) else 1e-9)
    assert found.farthest == pytest.approx(farthest, rel=1e-4 if scale in (1e-6, 1e6) else 1e-9)
    assert found.jensen == pytest.approx(0.95)


def test_known_cases() -> None:
    bits = np.array([0.0, 1.0])
    copy, stranger = np.eye(2), np.array([[0.3, 0.7], [0.3, 0.7]])
    assert coefficients(copy, bits, 0.4) == Coefficients(1.0, 1.0, 1.0, 1.0, 1.0)
    assert coefficients(stranger, bits, 0.4)[:2] == (0.0, 1.0), "Eq. 18 is 1 for every bit, tied or not"
    assert coefficients(stranger[:1], bits, 0.4).wasserstein == 0.0
    assert coefficients(np.ones((3, 1)), np.array([5.0]), 0.4) == Coefficients(0.0, 0.0, 0.0, 0.0, 0.0)
    halves = np.eye(3, 5), np.linspace(0.0, 1.0, 5)
    assert coefficients(*halves, 1.0).exact == pytest.approx(0.5), "determined, and yet half of it"
    both = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    assert coefficients(both, np.array([0.0, 0.5, 1.0]), 1.0).exact == pytest.approx(0.5), "D_j = D_i/2 + X/2"
    assert round(coefficients(both, np.array([0.0, 0.5, 1.0]), 1.0).farthest, 2) == 0.78
    fine = np.linspace(0.0, 1.0, 4_001)
    uniform = np.stack([fine <= 0.5, fine >= 0.5]).astype(float) / 2_001.0
    example = coefficients(uniform, fine, 1.0)
    assert (round(example.exact, 3), round(example.farthest, 3)) == (0.5, 0.76), "X is uniform from 0 to 1"


def test_friends_and_what_does_not_fit() -> None:
    places = np.linspace(0.0, 1.0, 20)
    law = FriendsLaw(1, np.zeros((0, 2), dtype=np.int64), city_blocks(places[:, None]), 0.196, 1.05)
    assert coefficients(law.kernel(), places, 5.0).exact == pytest.approx(0.339566118288725)
    rows = np.array([[0.5, 0.5]])
    for support, field in (
        (np.array([0.0, 0.0]), "support"),
        (np.array([0.0, 1.0, 2.0]), "conditional"),
        (np.array([-1e308, 1e308]), "support"),
    ):
        with pytest.raises(Invalid) as refused:
            coefficients(rows, support, 1.0)
        assert refused.value.field == field


def test_noise_beside_which_the_range_vanishes_still_moves_all_of_it() -> None:
    for support, scale in (([0.0, 1e-200], 1e200), ([0.0, 5e-324], 1e308), ([0.0, 1e-20], 1e280)):
        assert coefficients(np.eye(2), np.array(support), scale).exact == pytest.approx(1.0)
        assert coefficients(np.full((2, 2), 0.5), np.array(support), scale).exact == 0.0
