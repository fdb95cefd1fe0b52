"""Laws and noise at the ends of what may be declared: nearly certain values, very many people, very wide noise."""

from __future__ import annotations

import math
from fractions import Fraction

import crowd_account_oracles as oracles
import numpy as np
import pytest

from beliefs.crowd.account import CrowdAccount, Present
from beliefs.crowd.households import Household
from beliefs.crowd.noise import LADDER
from beliefs.crowd.smooth import Smooth
from beliefs.crowd.sums import law as law_of
from beliefs.simplex import Vector, normalised

TINY = math.ulp(0.0)


@pytest.mark.parametrize("tiny", [1e-16, 1e-18, 1e-300, TINY])
def test_a_value_that_nearly_everybody_of_one_type_has(tiny: float) -> None:
    """Its share beside a nearly impossible value is the double 1."""
    laws = [np.array([1.0, tiny]), np.array([tiny, 1.0]), np.array([0.4, 0.6])]
    account = CrowdAccount("histogram", laws, epsilon=0.5, delta=0.1)
    blocks = [oracles.single(law) for law in laws for _ in range(2)]
    want = oracles.worst(blocks, oracles.counts_of, 0, oracles.apart(Fraction(math.exp(0.5))))
    assert want <= Fraction(account.worst(Present((2, 2, 2)))) <= 1


def test_a_hundred_thousand_people_lack_no_chance() -> None:
    """Six doubles rarely add up to 1; what they lack would be lacking a hundred thousand times."""
    generator = np.random.default_rng(27)
    for _ in range(20):
        mass = normalised(generator.dirichlet(np.ones(12)))
        found = Smooth([law_of(mass)]).summed((100_000,))
        assert found is not None
        assert abs(math.fsum(found.mass.tolist()) - 1.0) <= found.blur < 1e-11


@pytest.mark.parametrize("release", ["sum", "histogram"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 1e-3), (1e-7, 1e-9), (0.01, 1e-6)])
def test_wide_noise_is_bounded_and_the_least_of_it_is_found(release: str, epsilon: float, delta: float) -> None:
    """Noise by itself is a way out, at epsilon 0, too; and nobody waits for a million places."""
    account, crowd = CrowdAccount(release, [np.array([0.5, 0.1, 0.4])], epsilon=epsilon, delta=delta), Present((50,))
    scale = account.noise_for(crowd)
    assert scale is not None
    assert account.worst(crowd, scale) <= delta < account.worst(crowd, LADDER[LADDER.index(scale) - 1])
    assert scale <= 2 * math.ceil(2 / max(epsilon, 2 * delta))
    assert account.told(crowd, LADDER[-40])[0].method == "sound"


def test_an_upper_bound_is_not_called_exact() -> None:
    thrice = [np.array([0.4, 0.3, 0.3])]
    noisy = CrowdAccount("histogram", thrice, epsilon=0.5, delta=0.1).told(Present((3,)), LADDER[10])[0]
    joint = noise_in_three_cells(thrice[0], 3, math.exp(0.5), LADDER[10])
    assert noisy.delta > joint * 1.001
    assert noisy.method == "sound"
    seldom = np.zeros(4_096)
    seldom[[0, -1]] = 1.0 - 1e-7, 1e-7
    wide = CrowdAccount("sum", [seldom], epsilon=1.0, delta=0.1).told(Present((200_000,)))[0]
    assert (wide.delta, wide.method) == (1.0, "sound")


def noise_in_three_cells(law: Vector, users: int, factor: float, scale: Fraction) -> float:
    """Every combination of the others, and every place of the noise up to 24 away."""
    q, places, tables = math.exp(-1 / scale), np.arange(-24, 28), []
    for own in range(3):
        table = np.zeros((places.size,) * 3)
        for cell in np.ndindex(*(3,) * (users - 1)):
            counts = np.bincount([own, *cell], minlength=3)
            first, second, third = (q ** np.abs(places - count) for count in counts)
            table += math.prod(float(law[value]) for value in cell) * np.einsum("i,j,k", first, second, third)
        tables.append(table * ((1 - q) / (1 + q)) ** 3)
    return max(float(np.maximum(one - factor * two, 0.0).sum()) for one in tables for two in tables)


def test_no_epsilon_is_told_that_was_not_looked_at() -> None:
    """Close to the largest one that is told, it was taken for granted."""
    account = CrowdAccount("sum", [np.array([0.5, 0.5])], epsilon=1.0, delta=0.25)

    class Rough:
        noisy = blurs_known = False

        def told(self, *asked: object, roughly: bool = False) -> float:
            return 0.0 if roughly and float(str(asked[2])) >= 63.9 else 1.0

        def method(self, *_: object) -> str:
            return "sound"

    account._seen = Rough()  # type: ignore[assignment]
    assert account.told(Present((3,)))[0].epsilon == math.inf


def test_the_sum_of_a_household_is_right_up_to_what_it_says() -> None:
    generator = np.random.default_rng(28)
    for members, size in ((16, 1), (16, 15), (12, 5)):
        each = generator.dirichlet(np.ones(members + 1))
        ones = np.array([bin(cell).count("1") for cell in range(1 << members)])
        chance = each[ones] / np.array([math.comb(members, k) for k in range(members + 1)])[ones]
        joint = chance.reshape((2,) * members)
        found = Household(joint, size).summed()
        exact = [Fraction(0)] * (size + 1)
        for cell, its in enumerate(chance.tolist()):
            exact[(cell >> (members - size)).bit_count()] += Fraction(its)
        whole = sum(exact, Fraction(0))
        for its, want in zip(found.mass.tolist(), exact, strict=True):
            assert abs(Fraction(its) - want / whole) <= Fraction(found.error) * Fraction(its)
