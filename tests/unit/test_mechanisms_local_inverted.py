"""What one report says of every value, against all reports and their chances; and weighted sums of that."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from report_laws import ENUMERATED, HASHED, made, reports_about

from mechanisms.contract import TOTAL
from mechanisms.local.coins import field_key, report_coins
from mechanisms.local.histogram import DrawnHistogram
from mechanisms.local.inverted import cells_of, features_of, inverted, part_of, reports_in, sums_of
from mechanisms.local.measured import Measured
from mechanisms.local.pooled import noise_of_sum
from mechanisms.local.rappor import DrawnRappor
from mechanisms.local.registry import drawn
from mechanisms.local.top_k import DrawnTop
from mechanisms.local.top_k import cells_of as cells_of_values

VALUES, EPSILON = 4, 1.3
WEIGHTS = np.array([2.0, -1.0, 0.5, 3.0])


def own_cell(found: object, value: int) -> int:
    return int(cells_of_values(found.values, found.top)[value]) if isinstance(found, DrawnTop) else value


@pytest.mark.parametrize("name", ENUMERATED)
def test_rows_are_on_average_the_value_with_the_stated_scatter(name: str) -> None:
    found = made(name, VALUES, EPSILON)
    of, cells = inverted(found), cells_of(found)
    for value in range(VALUES):
        told = [(of.rows(features_of(found, report))[0], float(p)) for report, p in reports_about(found, value)]
        mean = sum(p * row for row, p in told)
        scatter = sum(p * (row - mean) ** 2 for row, p in told)
        own = np.arange(cells) == own_cell(found, value)
        assert mean == pytest.approx(own.astype(float), abs=1e-9)
        assert scatter == pytest.approx(np.where(own, of.own, of.others), rel=1e-9)


@pytest.mark.parametrize("name", ENUMERATED)
def test_the_scatter_of_a_weighted_sum_is_that_of_all_reports(name: str) -> None:
    found = made(name, VALUES, EPSILON)
    of, weights = inverted(found), WEIGHTS[: cells_of(found)]
    stated = noise_of_sum(of, weights)
    for value in range(VALUES):
        told = [
            (float((of.rows(features_of(found, report))[0] * weights).sum()), float(p))
            for report, p in reports_about(found, value)
        ]
        mean = sum(p * each for each, p in told)
        assert sum(p * (each - mean) ** 2 for each, p in told) == pytest.approx(
            stated[own_cell(found, value)], rel=1e-9
        )


def test_cells_are_put_right_and_scatter_as_their_row_does() -> None:
    found = drawn("she", VALUES, EPSILON)
    assert isinstance(found, DrawnHistogram)
    of = inverted(found)
    for row, wanted in ((found.other, 0.0), (found.other[::-1], 1.0)):
        steps = [Fraction(found.first + place) for place in range(len(row))]
        chances = [Fraction(units, TOTAL) for units in row]
        mean = sum(step * chance for step, chance in zip(steps, chances, strict=True))
        scatter = sum((step - mean) ** 2 * chance for step, chance in zip(steps, chances, strict=True))
        assert (float(mean) - of.low) / of.span == pytest.approx(wanted, abs=1e-12)
        assert float(scatter) / of.span**2 == pytest.approx(of.own, rel=1e-12)
    assert of.own == of.others
    assert noise_of_sum(of, WEIGHTS) == pytest.approx(np.full(VALUES, of.own * (WEIGHTS**2).sum()))


@pytest.mark.parametrize("name", HASHED)
def test_hashes_are_inverted_as_supports_and_sums_of_them_are_measured(name: str) -> None:
    """Hashes are independent in pairs only: with more than two of them, groups of neighbours scatter more."""
    found, count = drawn(name, 8, 2.0), 60_000
    of, weights = inverted(found), (np.arange(8) < 4).astype(float)
    people = np.full(count, 3, dtype=np.int64)
    reports = found.draw(people, report_coins(field_key(bytes(32), "hashes"), 0, count, found.words))
    rows = of.rows(features_of(found, reports))
    error = np.sqrt(np.where(np.arange(8) == 3, of.own, of.others) / count)
    assert (np.abs(rows.mean(axis=0) - (np.arange(8) == 3)) < 4.5 * error).all()
    assert rows.var(axis=0) == pytest.approx(error**2 * count, rel=0.05)
    measured = Measured(found, weights[None])
    for start in range(0, count, 7_000):
        measured.add(part_of(reports, slice(start, start + 7_000)))
    assert measured.squares[0] == pytest.approx(((rows * weights).sum(axis=1) ** 2).sum())
    scatter = measured.squares[0] / count - weights[3] ** 2
    apart = noise_of_sum(of, weights)[3]
    assert scatter == pytest.approx(apart, rel=0.05) if name == "blh" else scatter > 1.1 * apart


def test_reports_are_counted_and_added_up_in_their_own_form() -> None:
    for name in ("grr", "olh", "she"):
        found = drawn(name, VALUES, EPSILON)
        people = np.array([0, 1, 1, 3, 2])
        reports = found.draw(people, report_coins(field_key(bytes(32), "few"), 0, 5, found.words))
        assert reports_in(reports) == 5
        assert reports_in(part_of(reports, np.array([True, False, True, True, False]))) == 3
        assert sums_of(found, reports).tolist() == features_of(found, reports).sum(axis=0).tolist()


def test_of_kept_bits_a_part_of_the_scatter_comes_again() -> None:
    found = drawn("rappor", 3, 2.0)
    assert isinstance(found, DrawnRappor)
    of, flipped = inverted(found), Fraction(found.permanent.other, TOTAL)
    told = [Fraction(found.if_zero, TOTAL), Fraction(found.if_one, TOTAL)]
    mean = flipped * told[1] + (1 - flipped) * told[0]
    scatter = flipped * (told[1] - mean) ** 2 + (1 - flipped) * (told[0] - mean) ** 2
    assert of.kept == pytest.approx(float(scatter) / of.span**2, rel=1e-12)
    assert 0.0 < of.kept < of.others
    assert inverted(drawn("sue", 3, 2.0)).kept == 0.0
