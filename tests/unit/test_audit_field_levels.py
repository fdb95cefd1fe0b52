"""The auditor's whole numbers of local mechanisms are those that reports are drawn from."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefs.checks import Invalid
from beliefs.rounding import units_up
from mechanisms.local.contract import Drawn
from mechanisms.local.hashing import DrawnHashing
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.registry import REGISTRY, drawn
from mechanisms.local.subset import DrawnSubset
from stream.audit.amounts import UNBOUNDED
from stream.audit.field_levels import Numbers, in_units, numbers_of, printed
from stream.errors import CannotAudit
from stream.settings.fields import LocalMechanismSettings

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "top_k": [{"top": [0]}, {"top": [1, 0, 3]}],
    "rappor": [{}, {"report_zero": 0.1, "report_one": 0.9}, {"report_zero": 0.0, "report_one": 1.0}],
}


def named(name: str, options: dict[str, Any]) -> LocalMechanismSettings:
    return LocalMechanismSettings(name=name, **{key: tuple(v) if key == "top" else v for key, v in options.items()})  # type: ignore[arg-type]


def expected(found: Drawn) -> tuple[int, ...]:
    level = units_up(found.level)
    if isinstance(found, DrawnHashing):
        return level, UNBOUNDED, found.response.values, 0, 0
    if isinstance(found, DrawnSubset):
        return level, UNBOUNDED, found.size, 0, 0
    if isinstance(found, DrawnHistogram):
        return level, UNBOUNDED, found.per_unit, found.first, found.first + len(found.other) - 1
    return level, units_up(found.longitudinal) if isinstance(found, DrawnRappor) else UNBOUNDED, 0, 0, 0


def seen(numbers: Numbers) -> tuple[int, ...]:
    return numbers.level, numbers.together, numbers.size, numbers.first, numbers.last


@pytest.mark.parametrize("name", sorted(REGISTRY))
@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.3, 1.0, 2.7, 8.0])
@pytest.mark.parametrize("values", [4, 7, 40])
def test_they_are_worked_out_alike(name: str, epsilon: float, values: int) -> None:
    for options in OPTIONS.get(name, [{}]):
        found = drawn(name, values, epsilon, **options)
        assert seen(numbers_of(named(name, options), values, epsilon)) == expected(found)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(set(REGISTRY) - {"she", "top_k"})),
    st.integers(2, 4097),
    st.floats(min_value=1e-6, max_value=32.0),
)
def test_they_are_worked_out_alike_wherever_reports_can_be_drawn(name: str, values: int, epsilon: float) -> None:
    try:
        found = drawn(name, values, epsilon)
    except Invalid:
        with pytest.raises(CannotAudit):
            numbers_of(named(name, {}), values, epsilon)
    else:
        assert seen(numbers_of(named(name, {}), values, epsilon)) == expected(found)


@given(st.fractions(min_value=1, max_value=Fraction(10) ** 12, max_denominator=10**15))
def test_what_is_printed_is_never_below_the_logarithm_and_at_most_a_unit_above(ratio: Fraction) -> None:
    with localcontext() as context:
        context.prec = 60
        exact = (Decimal(ratio.numerator) / ratio.denominator).ln() * 2**40
    assert exact <= in_units(printed(ratio)) <= exact + 1 + Decimal("0.03")


@pytest.mark.parametrize(
    ("name", "epsilon"), [("grr", 1e-7), ("olh", 12.0), ("she", 0.009), ("she", 17.0), ("oue", 33.0)]
)
def test_what_cannot_be_drawn_cannot_be_audited(name: str, epsilon: float) -> None:
    with pytest.raises(CannotAudit):
        numbers_of(named(name, {}), 10, epsilon)
