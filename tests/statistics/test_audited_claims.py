"""Noisy sums of dependent people, audited by draws: what is shown for certain stays below what is claimed, and noise
that forgets dependence is caught.

Sums are whole numbers and so is the noise, which leaks exactly as Laplace noise does; keys are fixed, so the answer is
always the same. A true claim would be accused once in a million keys.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from beliefs.dependence.scale import sufficient_scale
from beliefs.laws.markov import MarkovLaw
from beliefs.laws.table import TableLaw
from beliefs.prior.adversary import Query
from beliefs.prior.calibration import WEAKEST, WORST, chain_scale, table_scale
from stream.social.draws import Draws
from stream.social.group import noise
from stream.social.measured import least_leak
from stream.social.world import Integers

DRAWS = 40_000
BITS = np.array([0.0, 1.0])


def table(weights: object) -> TableLaw:
    joint = np.array(weights, dtype=float)
    return TableLaw(joint / joint.sum(), (BITS,) * joint.ndim)


def copies(count: int, wrong: float) -> TableLaw:
    joint = np.zeros((2,) * count)
    joint[(0,) * count] = joint[(1,) * count] = (1 - wrong) / 2
    joint[(0, *(1,) * (count - 1))] = joint[(1, *(0,) * (count - 1))] = wrong / 2
    return TableLaw(joint, (BITS,) * count)


LAWS = {
    "two that agree": table([[3, 2], [2, 3]]),
    "four copies": copies(5, 0.05),
    "an even number of ones": table([[[1, 0], [0, 1]], [[0, 1], [1, 0]]]),
    "one of three rarely alone": table([[[2, 4], [1, 16]], [[1, 18], [4, 85]]]),
}
CHAIN = MarkovLaw(np.array([[0.9, 0.1], [0.1, 0.9]]), np.full(2, 0.5), BITS, 10)


def shown(law: TableLaw, attacked: int, scale: float, seed: int) -> float:
    """The leak about an attribute, to somebody who knows nobody, that draws of the noisy sum show for certain."""
    drawn = Draws.of(seed)
    return least_leak(*(_outputs(drawn, law, attacked, value, scale) for value in (0, 1)))


def _outputs(drawn: Draws, law: TableLaw, attacked: int, value: int, scale: float) -> Integers:
    weights = np.take(law.joint, value, axis=attacked).ravel()
    cells = np.searchsorted(np.cumsum(weights) / weights.sum(), drawn.even(f"cells {value}", DRAWS))
    sums = value + np.indices((2,) * (law.size - 1)).sum(axis=0).ravel()[cells]
    found: Integers = sums + noise(drawn, f"noise {value}", DRAWS, scale)
    return found


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("name", LAWS)
def test_calibrated_noise_keeps_its_claim(name: str, epsilon: float) -> None:
    law = LAWS[name]
    query = Query.of(law)
    scales = [table_scale(law, query, epsilon, adversary).scale for adversary in (WORST, WEAKEST)]
    scales += [sufficient_scale(law, query, epsilon, method) for method in ("jensen", "farthest", "group")]
    for number, scale in enumerate(scales):
        for attacked in range(law.size):
            assert shown(law, attacked, scale, 100 * number + attacked) <= epsilon


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_calibrated_noise_of_a_chain_keeps_its_claim(epsilon: float) -> None:
    for number, adversary in enumerate((WORST, WEAKEST)):
        scale = chain_scale(CHAIN, epsilon, adversary).scale
        for attacked in (0, 4, 9):
            assert shown(CHAIN.table(), attacked, scale, 10 * number + attacked) <= epsilon


def test_noise_for_independent_people_is_caught() -> None:
    """Each with Lap(1), which claims one nat; what is shown comes near the truth and never beyond."""
    truth = {"four copies": 1 + math.log((0.95 + 0.05 * math.e**-4) / (0.05 + 0.95 * math.e**-4))}
    truth["an even number of ones"] = math.log((1 + math.e**2) / 2)
    for name, exact in truth.items():
        found = shown(LAWS[name], 0, 1.0, 7)
        assert 1.0 < found <= exact and found > 0.6 * exact
    assert shown(CHAIN.table(), 4, 1.0, 8) > 3.0


def test_a_little_too_little_noise_is_caught_where_draws_are_many() -> None:
    law = LAWS["four copies"]
    enough = table_scale(law, Query.of(law), 1.0, WEAKEST).scale
    assert shown(law, 0, enough, 9) <= 1.0 < shown(law, 0, enough / 1.6, 9)
