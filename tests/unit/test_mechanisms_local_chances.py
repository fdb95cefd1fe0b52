"""Estimates use the chances of the whole numbers that are drawn, not those of the design."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechanisms.contract import TOTAL
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.registry import DRAWN, drawn, local


def chances(name: str, values: int, epsilon: float) -> tuple[Fraction, Fraction]:
    """How likely a report supports the own value and another one, from the drawn numbers by definition."""
    found: Any = drawn(name, values, epsilon)
    if name in ("grr", "exp"):
        return Fraction(found.high, TOTAL), Fraction(found.low, TOTAL)
    if name == "rappor":
        ones = [
            Fraction(bit * found.if_one + (TOTAL - bit) * found.if_zero, TOTAL**2)
            for bit in (found.permanent.one, found.permanent.other)
        ]
        return ones[0], ones[1]
    if name in ("oue", "sue", "the"):
        return Fraction(found.one, TOTAL), Fraction(found.other, TOTAL)
    if name == "ss":
        own = Fraction(found.own, TOTAL)
        return own, (own * (found.size - 1) + (1 - own) * found.size) / (values - 1)
    response = found.response
    own, missed = Fraction(response.high, TOTAL), Fraction(response.low, TOTAL)
    same = Fraction(1, response.values)
    return own, own * same + missed * (response.values - 1) * same


@pytest.mark.parametrize("name", [name for name in DRAWN if name != "she"])
@pytest.mark.parametrize(("values", "epsilon"), [(4, 1.0), (7, 3.0), (50, 0.2), (65_536, 1e-6)])
def test_expected_counts_are_turned_back_into_the_frequencies(name: str, values: int, epsilon: float) -> None:
    own, other = (float(chance) for chance in chances(name, values, epsilon))
    law = np.zeros(values)
    law[:3] = 0.5, 0.3, 0.2
    counts = 1_000 * (law * own + (1.0 - law) * other)
    found = drawn(name, values, epsilon).estimate(counts, 1_000)
    assert found.frequencies == pytest.approx(law, abs=1e-7)
    noise = law * own * (1.0 - own) + (1.0 - law) * other * (1.0 - other)
    assert found.variances == pytest.approx(noise / 1_000 / (own - other) ** 2, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 16.0])
def test_cells_that_are_their_rows_mean_are_turned_back_and_have_their_rows_variance(epsilon: float) -> None:
    found = drawn("she", 3, epsilon)
    assert isinstance(found, DrawnHistogram)
    steps = (np.arange(len(found.other)) + found.first) / found.per_unit
    shares = np.array([units / TOTAL for units in found.other])
    means = np.array([(steps * row).sum() for row in (shares, shares[::-1])])
    kept = means[1] - means[0]
    for row, mean in zip((shares, shares[::-1]), means, strict=True):
        assert found.variance == pytest.approx(float(((steps - mean) ** 2 * row).sum()) / kept**2, rel=1e-9)
    law = np.array([0.6, 0.4, 0.0])
    sums = found.put_right(10 * found.per_unit * (law * means[1] + (1.0 - law) * means[0]), 10)
    one = found.estimate(sums, 10)
    assert one.frequencies == pytest.approx(law, abs=1e-9)
    assert one.variances == pytest.approx(np.full(3, found.variance / 10))
    assert found.variance == pytest.approx(8.0 / epsilon**2, rel=0.02)


def test_the_design_and_what_is_drawn_agree_where_units_are_fine() -> None:
    for name in DRAWN:
        counts = np.array([300.0, 260.0, 250.0, 280.0])
        one, other = drawn(name, 4, 1.0).estimate(counts, 1_000), local(name, 4, 1.0).estimate(counts, 1_000)
        assert one.frequencies == pytest.approx(other.frequencies, abs=1e-9)
        assert one.variances == pytest.approx(other.variances, rel=0.02 if name == "she" else 1e-9)
