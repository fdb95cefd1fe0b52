"""What other levels would make of the declared fields: which levels there are, and what reports are worth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from fields_world import SEX, settings_of

from beliefs.rounding import units_up
from mechanisms.local.registry import drawn
from stream.planning.fields import FACTORS, POINT, FieldOutlook, outlooks

AGE = "age: {path: $.age, values: [young, middle, old], mechanism: grr, epsilon: 1, cap: 40}"


def only(field: str, per_day: int = 20, factor: int = 1) -> FieldOutlook:
    (found,) = (each for each in outlooks(settings_of(field), None, per_day) if each.factor == factor)
    return found.fields[0]


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "factors"),
    [
        ("grr", 1.0, FACTORS),
        ("olh", 4.0, FACTORS[:-1]),
        ("she", 0.03, FACTORS[1:]),
        ("she", 6.0, FACTORS[:-1]),
        ("grr", 2e-6, FACTORS[1:]),
        ("grr", 16.0, (*FACTORS[:3], Fraction(2))),
    ],
)
def test_levels_that_cannot_be_drawn_are_left_out(
    mechanism: str, epsilon: float, factors: tuple[Fraction, ...]
) -> None:
    field = AGE.replace("grr", mechanism).replace("epsilon: 1", f"epsilon: {epsilon}").replace("cap: 40", "cap: 400")
    assert tuple(each.factor for each in outlooks(settings_of(field), None, 20)) == factors


def test_levels_that_are_lowered_count_among_those_to_be_drawn() -> None:
    field = AGE.replace("grr", "she").replace("cap: 40", "cap: 40, beyond: lower").replace("epsilon: 1", "epsilon: 0.1")
    assert tuple(each.factor for each in outlooks(settings_of(field), None, 20)) == FACTORS[2:]


def people(samples: np.ndarray) -> float:
    """As many leave a standard error of one point, of each person's own mean of these rows."""
    return float(samples.var(axis=0).mean()) / POINT**2


def test_people_are_those_whose_reports_scatter_by_a_point() -> None:
    """Twenty reports each, of all values alike, drawn."""
    source = np.random.default_rng(3)
    values = np.repeat(np.arange(3), 20_000)
    found = drawn("grr", 3, 1.0)
    shares = np.zeros((values.size, 3))
    for _ in range(20):
        reports = found.draw(values, source.integers(1 << 63, size=(values.size, 1)).astype(np.uint64) << np.uint64(1))
        shares += np.eye(3)[reports] / 20
    own, other = 1.0 / (1.0 + 2.0 / np.e), 1.0 / (np.e + 2.0)
    within = np.concatenate([(shares[values == value] - shares[values == value].mean(axis=0)) for value in range(3)])
    assert only(AGE).people == pytest.approx(people(within / (own - other)), rel=0.03)


def test_more_reports_of_kept_bits_do_not_lessen_their_noise() -> None:
    """From a thousand reports each of a person what is left is what the kept bits themselves scatter."""
    told = "{name: rappor, report_zero: 0.25, report_one: 0.75}"
    field = SEX.replace("grr", told).replace("epsilon: 0.5", "epsilon: 1").replace("cap: 3", "cap: 30")
    kept = drawn("sue", 2, 1.0)
    off = kept.other / 2**62  # type: ignore[attr-defined]
    least = off * (1 - off) / (1 - 2 * off) ** 2 / POINT**2
    assert only(field, 1000).people == pytest.approx(least, rel=0.02)
    assert only(field, 1).people > 3 * least
    assert only(field, 1000).reports["full"] == 1000
    assert units_up(only(field, 1000).total) <= units_up(1.0)
