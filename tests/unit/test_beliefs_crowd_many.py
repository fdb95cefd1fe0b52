from __future__ import annotations

import math
from fractions import Fraction

import crowd_oracles as oracles
import numpy as np
import pytest

from beliefs.checks import Invalid
from beliefs.crowd import many
from beliefs.crowd.many import many_delta
from beliefs.crowd.members import Group, kinds_of
from beliefs.crowd.worst import largest_delta


@pytest.mark.parametrize("blocks", [1, 2, 256])
def test_the_worst_of_random_members_lies_between(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "BLOCKS", blocks)
    generator = np.random.default_rng(41)
    for number in range(120):
        laws = np.array([oracles.some_law(generator, 3) for _ in range(int(generator.integers(1, 7)))])
        epsilon = float(generator.choice([0.0, 0.4, 1.5]))
        members = [oracles.fractions_of(law) for law in laws]
        want = oracles.delta_of(members, Fraction(math.exp(epsilon)), range(len(members)))
        found = many_delta(laws, epsilon)
        assert Fraction(found.least) <= want + Fraction(1, 10**15), number
        assert want <= Fraction(found.most) + Fraction(1, 10**15), number
        if blocks == 256:
            assert found.most - found.least < 1e-11


def test_many_different_people_are_told_apart_to_a_thousandth() -> None:
    chances = np.random.default_rng(42).uniform(0.1, 0.6, 2_000)
    laws = np.stack([1.0 - chances, chances], axis=1)
    found = many_delta(laws, 0.2)
    assert found.most < found.least * 1.001
    few = laws[:300]
    exact = largest_delta(kinds_of([Group(law) for law in few]), 0.4)
    assert many_delta(few, 0.4).least <= exact <= many_delta(few, 0.4).most * (1.0 + 1e-11)
    with pytest.raises(Invalid, match="members"):
        many_delta(np.ones((many.MEMBERS_MAX + 1, 1)), 1.0)
