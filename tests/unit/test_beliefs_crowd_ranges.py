from __future__ import annotations

import itertools
import math
from fractions import Fraction

import crowd_oracles as oracles
import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.crowd.ranges import range_delta, range_epsilon


def every_combination(mass: list[float], users: int, epsilon: float) -> float:
    law, factor = oracles.fractions_of(mass), Fraction(math.exp(epsilon))
    possible = [value for value, chance in enumerate(law) if chance > 0]
    laws = {}
    for own in possible:
        found: dict[tuple[int, int], Fraction] = {}
        for others in itertools.product(possible, repeat=users - 1):
            ends = min((own, *others)), max((own, *others))
            found[ends] = found.get(ends, Fraction(0)) + math.prod((law[each] for each in others), start=Fraction(1))
        laws[own] = found
    return float(
        max(
            (
                sum(
                    max(chance - factor * laws[two].get(ends, Fraction(0)), Fraction(0))
                    for ends, chance in laws[one].items()
                )
                for one, two in itertools.permutations(possible, 2)
            ),
            default=0,
        )
    )


@pytest.mark.parametrize("mass", [[0.5, 0.5], [0.2, 0.3, 0.5], [0.4, 0.0, 0.35, 0.25], [1.0], [0.9, 0.05, 0.05]])
@pytest.mark.parametrize("users", [1, 2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.0])
def test_every_combination(mass: list[float], users: int, epsilon: float) -> None:
    want = every_combination(mass, users, epsilon)
    found = range_delta(np.array(mass), users, epsilon)
    assert want * (1.0 - 1e-12) <= found <= want * (1.0 + 1e-8) + 1e-15


def test_epsilon_is_the_inverse_and_may_not_be_there() -> None:
    uneven = np.array([0.6, 0.1, 0.1, 0.2])
    delta = range_delta(uneven, 3, 0.4)
    assert delta < range_delta(uneven, 3, 0.39) * (1.0 - 1e-4)
    assert range_epsilon(uneven, 3, delta) == pytest.approx(0.4, abs=1e-9)
    assert range_epsilon(np.array([0.5, 0.5]), 2, 0.1) == math.inf


def test_a_crowd_of_very_many_keeps_its_digits() -> None:
    assert 0.0 < range_delta(np.full(10, 0.1), 100_000, 1.0) < 1e-100
    with pytest.raises(Invalid, match="possible values"):
        range_delta(np.full(65, 1 / 65), 3, 1.0)
