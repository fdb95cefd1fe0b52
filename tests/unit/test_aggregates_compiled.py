"""What is read, held and drawn of a declared aggregate, and what one user's contribution can change at most."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import pytest
from aggregate_world import ALL, JOB, PACE, PEOPLE, PLACES, STEPS, aggregate_settings

from beliefs.rounding import UNITS_PER_NAT, budget_units
from mechanisms.aggregate.geometric import slimmed
from stream.aggregates.compiled import queries_of, query_of
from stream.aggregates.ledger import MOST_NOISE
from stream.aggregates.query import Query
from stream.errors import ConfigurationRefused
from stream.names import FIELD_MISSING, FIELD_TYPE, OUTSIDE_ALPHABET
from stream.records.fields import fields_reader
from stream.records.shapes import Rejected


def compiled(*texts: str) -> tuple[Query, ...]:
    declared = aggregate_settings(*texts).aggregate
    assert declared is not None
    return queries_of(declared)


def test_every_kind_is_compiled() -> None:
    people, steps, pace, job, places = compiled(*ALL)
    assert [query.name for query in (people, steps, pace, job, places)] == ["people", "steps", "pace", "job", "places"]
    assert [query.cells for query in (people, steps, pace, job, places)] == [1, 1, 2, 3, 10]
    assert people.form is None
    assert people.grid == 1
    assert [5 < noise.scale < Fraction("5.00000001") for noise in people.noise] == [True]
    assert (steps.least, steps.most, steps.centre, steps.grid) == (0, 80, 0, Decimal("0.5"))
    assert (pace.least, pace.most, pace.centre, pace.take) == (0, 120, 60, "first")
    assert (job.labels, job.shown) == (("clerk", "nurse", "pilot"), None)
    assert (places.labels, places.shown) == (tuple(range(10)), 2)


def contributions(query: Query) -> list[tuple[int, ...]]:
    """Everything that a user may add to the cells of a window, nothing among it."""
    units = range(query.least, query.most + 1)
    none = (0,) * query.cells
    if query.kind == "count":
        return [none, (1,)]
    if query.kind == "sum":
        return [none, *((unit,) for unit in units)]
    if query.kind == "mean":
        return [none, *((unit - query.centre, 1) for unit in units)]
    return [none, *(tuple(int(cell == unit) for cell in range(query.cells)) for unit in units)]


@pytest.mark.parametrize(
    "text",
    [
        *ALL,
        STEPS.replace("low: 0, high: 40", "low: -7.5, high: 3"),
        STEPS.replace("low: 0, high: 40", "low: 2, high: 3"),
        PACE.replace("high: 12", "high: 0.3"),
        PACE.replace("low: 0, high: 12", "low: -1.1, high: 0.2"),
        PEOPLE.replace("0.2", "1e-6"),
    ],
)
def test_no_exchange_of_contributions_tells_more_than_the_loss(text: str) -> None:
    (query,) = compiled(text)
    noise = query.noise if query.kind == "mean" else query.noise * query.cells
    worst = Fraction(0)
    for one, other in itertools.product(contributions(query), repeat=2):
        told = sum(
            (Fraction(abs(a - b)) / each.scale for a, b, each in zip(one, other, noise, strict=True)), Fraction(0)
        )
        worst = max(worst, told)
    assert query.loss - 2 < worst * UNITS_PER_NAT <= query.loss
    declared = aggregate_settings(text).aggregate
    assert declared is not None
    assert query.loss <= budget_units(declared.each[query.name].epsilon)


def test_what_an_event_says_is_read_as_steps_and_cells() -> None:
    forms = [query.form for query in compiled(STEPS, PACE, JOB, PLACES) if query.form is not None]
    read = fields_reader(forms)
    assert read({"steps": 3.3, "pace": 5, "job": "nurse", "cell": 7, "more": 1}) == (7, 50, 1, 7)
    assert read({"steps": -1, "pace": 1e300, "job": "clerk", "cell": 0}) == (0, 120, 0, 0)
    assert read({"steps": 0.25, "pace": 0.75, "job": "pilot", "cell": 9})[:2] == (0, 8)
    wrong: list[tuple[dict[str, object], str, str]] = [
        ({"steps": "3"}, FIELD_TYPE, "$.steps"),
        ({"steps": True}, FIELD_TYPE, "$.steps"),
        ({"steps": [3]}, FIELD_TYPE, "$.steps"),
        ({"steps": None}, FIELD_TYPE, "$.steps"),
        ({"job": "baker"}, OUTSIDE_ALPHABET, "$.job"),
        ({"cell": 10}, OUTSIDE_ALPHABET, "$.cell"),
    ]
    good: dict[str, object] = {"steps": 3.3, "pace": 5, "job": "nurse", "cell": 7}
    for change, reason, path in wrong:
        assert read({**good, **change}) == Rejected(reason, path)
    assert read({"steps": 1}) == Rejected(FIELD_MISSING, "$.pace")


def test_what_is_declared_by_halves_is_not_compiled() -> None:
    declared = aggregate_settings(STEPS).aggregate
    assert declared is not None
    with pytest.raises(ValueError, match="neither values nor low"):
        query_of("steps", declared.each["steps"].model_copy(update={"low": None}))


def test_the_widest_noise_can_still_be_topped_up() -> None:
    """A window that would need more than can be drawn must be refused here, and not when its time has come."""
    widest = "a: {sum: $.a, low: 0, high: 1000000000, grid: 1, epsilon: 0.00091}"
    (noise,) = compiled(widest)[0].noise
    assert slimmed(noise, Fraction(MOST_NOISE)).scale >= MOST_NOISE * noise.scale
    with pytest.raises(ConfigurationRefused, match=r"0\.0009 over 1000000000 steps of the grid"):
        aggregate_settings(widest.replace("91", "90"))
