"""Every stretch of events keeps the budget, and the ring is what a plain list says."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from beliefs.rounding import INFINITE
from beliefs.sliding import fits_sliding, still_counted, turn


def new_rings(events: int) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(events, dtype=np.int64), np.zeros(events, dtype=np.int64)


@pytest.mark.parametrize("events", [1, 2, 5, 20])
def test_every_stretch_keeps_the_budget(events: int) -> None:
    """Charges are at most their reserves; some events release nothing."""
    rng = np.random.default_rng(events)
    upper, lower = new_rings(events)
    told: list[tuple[int, int]] = []
    for step in range(2_000):
        reserve = rng.integers(1, 40, 2)
        charge = (0, 0)
        if fits_sliding(upper, lower, step, int(reserve[0]), int(reserve[1]), 100):
            charge = (int(rng.integers(0, reserve[0] + 1)), int(rng.integers(0, reserve[1] + 1)))
        turn(upper, step, charge[0])
        turn(lower, step, charge[1])
        told.append(charge)
    sums = [tuple(sum(side) for side in zip(*told[at : at + events], strict=True)) for at in range(2_000 - events + 1)]
    assert max(max(pair) for pair in sums) <= 100
    assert max(max(pair) for pair in sums) > 60 if events > 2 else sums
    released = sum(charge != (0, 0) for charge in told)
    assert released > 0


@pytest.mark.parametrize("events", [1, 3, 7])
def test_the_ring_is_the_last_of_a_list(events: int) -> None:
    rng = np.random.default_rng(9)
    ring, _ = new_rings(events)
    told: list[int] = []
    for step in range(100):
        assert still_counted(ring, step) == sum(told[-(events - 1) :] if events > 1 else [])
        told.append(int(rng.integers(0, 1_000)))
        turn(ring, step, told[-1])


def test_a_release_is_refused_exactly_where_one_side_does_not_fit() -> None:
    upper, lower = new_rings(3)
    turn(upper, 0, 4)
    turn(lower, 0, 7)
    assert fits_sliding(upper, lower, 1, 6, 3, 10)
    assert not fits_sliding(upper, lower, 1, 7, 3, 10)
    assert not fits_sliding(upper, lower, 1, 6, 4, 10)
    assert fits_sliding(upper, lower, 3, 10, 10, 10)  # the slot of step 0 is taken over


def test_amounts_without_bound_never_fit_and_never_overflow() -> None:
    upper, lower = new_rings(4)
    for step in range(3):
        turn(upper, step, INFINITE)
    assert still_counted(upper, 3) == INFINITE
    assert not fits_sliding(upper, lower, 3, INFINITE, 0, INFINITE - 1)
    assert fits_sliding(upper, lower, 3, INFINITE, INFINITE, INFINITE)


def test_what_a_stretch_adds_is_bounded_and_what_others_add_is_not() -> None:
    """Two values that never change, windows of two releases: every string of six releases, in fractions."""
    keep, times, events = Fraction(3, 5), 6, 2
    ratio = Fraction(3, 2)  # of two rows, so no release tells more than its logarithm
    most_about_one = Fraction(1)
    for released in itertools.product(range(2), repeat=times):
        chances = [[keep if y == x else 1 - keep for y in released] for x in range(2)]
        for end in range(events, times + 1):
            before = [np.prod([Fraction(1), *row[: end - events]]) for row in chances]
            stretch = [np.prod(row[end - events : end]) for row in chances]
            mean = sum(b * s for b, s in zip(before, stretch, strict=True)) / sum(before)
            assert all(ratio**-events <= s / mean <= ratio**events for s in stretch)
        whole = [np.prod(row) for row in chances]
        most_about_one = max(most_about_one, sum(whole) / 2 / min(whole))
    assert most_about_one > ratio**events
