"""Epsilon 0: the most likely value, or a draw from the belief; the secret value plays no part."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.contract import TOTAL, Workspace, constants_of, new_workspace
from mechanisms.sequence import forecast

CONSTANTS = np.array(constants_of(0))


def prepared(belief: list[float], draw: int) -> Workspace:
    work = new_workspace(len(belief))
    work.size[forecast.DRAW] = draw
    assert forecast.prepare(np.array(belief), CONSTANTS, work) == (1.0, 1.0, 1.0)
    return work


def rows_of(belief: list[float], work: Workspace) -> list[dict[int, int]]:
    rows = []
    for x in range(len(belief)):
        forecast.row(x, np.array(belief), work)
        count = work.size[forecast.COUNT]
        rows.append(dict(zip(work.head[:count].tolist(), work.row[:count].tolist(), strict=True)))
    return rows


@pytest.mark.parametrize(
    ("belief", "most"), [([0.2, 0.5, 0.3], 1), ([0.25, 0.25, 0.25, 0.25], 0), ([0.0, 0.5, 0.5], 1)]
)
def test_the_most_likely_value_ties_by_index(belief: list[float], most: int) -> None:
    assert rows_of(belief, prepared(belief, draw=0)) == [{most: TOTAL}] * len(belief)


def test_a_draw_follows_the_belief_and_leaves_out_the_impossible() -> None:
    belief = [0.5, 0.0, 0.25, 0.25]
    expected = {0: TOTAL // 2, 2: TOTAL // 4, 3: TOTAL // 4}
    assert rows_of(belief, prepared(belief, draw=1)) == [expected] * 4


def test_what_rounding_leaves_goes_to_the_most_likely() -> None:
    belief = [0.1, 0.7, 0.2]
    (row, *_) = rows_of(belief, prepared(belief, draw=1))
    assert sum(row.values()) == TOTAL
    assert row[0] == int(0.1 * TOTAL)
    assert row[2] == int(0.2 * TOTAL)


def test_a_mass_below_one_unit_is_not_released() -> None:
    assert set(rows_of([1.0, 1e-30], prepared([1.0, 1e-30], draw=1))[0]) == {0}


def test_a_belief_a_little_above_one_still_fits() -> None:
    belief = np.nextafter([0.5, 0.5], 1.0).tolist()
    assert sum(rows_of(belief, prepared(belief, draw=1))[0].values()) == TOTAL


def test_a_release_carries_the_same_likelihood_for_every_value() -> None:
    belief = [0.5, 0.3, 0.2]
    work = prepared(belief, draw=1)
    for i in range(3):
        assert forecast.column(i, np.array(belief), work) == (1.0, 1.0, 1.0)
        assert len(set(work.likelihood.tolist())) == 1
