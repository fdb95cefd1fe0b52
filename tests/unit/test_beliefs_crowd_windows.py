from __future__ import annotations

import itertools
import math
from fractions import Fraction

import crowd_oracles as oracles
import numpy as np
import pytest

from beliefs.crowd.windows import windows_delta


def every_answer(mass: list[float], users: int, windows: int, epsilon: float) -> float:
    """The products of the laws of the sums, answer by answer."""
    laws = [oracles.fractions_of(mass)] * (users - 1)
    others = oracles.sum_law(laws)
    factor, worst = Fraction(math.exp(epsilon)), Fraction(0)
    possible = [value for value, chance in enumerate(mass) if chance > 0]
    for one, two in itertools.permutations(possible, 2):
        above, below = oracles.moved(others, one), oracles.moved(others, two)
        gained = Fraction(0)
        for answers in itertools.product(above, repeat=windows):
            high = math.prod((above[answer] for answer in answers), start=Fraction(1))
            low = math.prod((below.get(answer, Fraction(0)) for answer in answers), start=Fraction(1))
            gained += max(high - factor * low, Fraction(0))
        worst = max(worst, gained)
    return float(worst)


@pytest.mark.parametrize("windows", [1, 2, 3, 4])
@pytest.mark.parametrize(("mass", "users"), [([0.5, 0.5], 7), ([0.7, 0.2, 0.1], 4), ([0.3, 0.0, 0.7], 5)])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_products_of_small_laws(mass: list[float], users: int, windows: int, epsilon: float) -> None:
    want = every_answer(mass, users, windows, epsilon)
    found = windows_delta(np.array(mass), users, windows, epsilon)
    assert found >= want * (1.0 - 1e-12)
    assert found <= want * (1.0 + (1e-6 if windows < 3 else 1e-3)) + 1e-15


def test_more_windows_tell_more_and_nobody_else_means_everything() -> None:
    fair = np.array([0.5, 0.5])
    deltas = [windows_delta(fair, 400, windows, 1.0) for windows in (1, 2, 3, 7, 16, 100)]
    assert all(before < after for before, after in itertools.pairwise(deltas))
    assert windows_delta(fair, 1, 5, 3.0) == 1.0
    assert windows_delta(np.array([1.0]), 5, 5, 0.0) == 0.0


def test_a_thousand_windows_are_near_the_normal_law() -> None:
    """Losses of a thousand sums are nearly normal, with the deviation of a thousand times one's."""
    users, windows, epsilon = 200_000, 1000, 0.5
    found = windows_delta(np.array([0.5, 0.5]), users, windows, epsilon)
    distance = math.sqrt(windows) / (0.5 * math.sqrt(users - 1))
    low = 0.5 * math.erfc((epsilon / distance - 0.5 * distance) / math.sqrt(2.0))
    high = 0.5 * math.erfc((epsilon / distance + 0.5 * distance) / math.sqrt(2.0))
    assert found == pytest.approx(low - math.exp(epsilon) * high, rel=0.01)
