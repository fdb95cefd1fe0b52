"""What a whole sequence of releases tells, against every path in fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.chain import Chain
from beliefs.checks import Invalid
from beliefs.leakage.whole import Accounts, follow

ROOM = 1e-9


@st.composite
def laws(draw: st.DrawFn, size: int) -> list[float]:
    weights = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any))
    return [weight / sum(weights) for weight in weights]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Chain, list[np.ndarray]]:
    size, times = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    chain = Chain.from_dense(draw(laws(size)), [draw(laws(size)) for _ in range(size)])
    parts = st.lists(st.sampled_from([0.0, 1e-9, 0.125, 0.5, 0.75, 1.0]), min_size=size, max_size=size)
    return chain, [np.array(draw(parts)) for _ in range(times)]


class Enumerated:
    """The definition: every possible path, its probability, and the probability of the releases along it."""

    def __init__(self, chain: Chain, likelihoods: Sequence[np.ndarray]) -> None:
        start = exact(chain.start.tolist())
        rows = [exact(dense(chain, x)) for x in range(chain.size)]
        self.paths: list[tuple[tuple[int, ...], Fraction, Fraction]] = []
        for path in itertools.product(range(chain.size), repeat=len(likelihoods)):
            weight, told = start[path[0]], Fraction(1)
            for before, now in itertools.pairwise(path):
                weight *= rows[before][now]
            for value, likelihood in zip(path, likelihoods, strict=True):
                told *= Fraction(float(likelihood[value]))
            if weight:
                self.paths.append((path, weight, told))
        self.chance = sum(weight * told for _, weight, told in self.paths)

    @property
    def whole(self) -> tuple[float, float]:
        told = [told for _, _, told in self.paths]
        return log(max(told) / self.chance), -log(min(told) / self.chance)

    def single(self, place: int) -> tuple[float, float]:
        ratios = []
        for value in {path[place] for path, _, _ in self.paths}:
            through = [(weight, told) for path, weight, told in self.paths if path[place] == value]
            prior = sum(weight for weight, _ in through)
            ratios.append(log(sum(weight * told for weight, told in through) / self.chance / prior))
        return max(ratios), -min(ratios)


def exact(law: Sequence[float]) -> list[Fraction]:
    fractions = [Fraction(mass) for mass in law]
    return [mass / sum(fractions) for mass in fractions]


def dense(chain: Chain, state: int) -> list[float]:
    row = [0.0] * chain.size
    states, values = chain.row(state)
    for to, value in zip(states.tolist(), values.tolist(), strict=True):
        row[to] = value
    return row


def log(ratio: Fraction) -> float:
    return math.log(ratio) if ratio else -math.inf


def assert_up(found: float, wanted: float) -> None:
    """Rounded up, and hardly."""
    assert found >= wanted - 1e-15
    assert found == wanted or found <= wanted + ROOM


@given(cases())
def test_the_accounts_are_the_definition(case: tuple[Chain, list[np.ndarray]]) -> None:
    chain, likelihoods = case
    wanted = Enumerated(chain, likelihoods)
    if not wanted.chance:
        with pytest.raises(Invalid):
            follow(chain, likelihoods)
        return
    found = follow(chain, likelihoods)
    for got, want in zip(found.whole, wanted.whole, strict=True):
        assert_up(got, want)
    for place, leak in enumerate(found.single):
        for got, want in zip(leak, wanted.single(place), strict=True):
            assert_up(got, want)
    assert_never_above(found)


def assert_never_above(found: Accounts) -> None:
    for whole, counter in zip(found.whole, found.counters, strict=True):
        assert whole <= counter + ROOM
    for leak in found.single:
        assert leak.upper <= found.whole.upper + ROOM
        assert leak.lower <= found.whole.lower + ROOM
    assert found.counters.epsilon <= found.total + ROOM


def test_where_everything_is_possible_the_counters_are_exact() -> None:
    random = np.random.default_rng(3)
    chain = Chain.from_dense(random.dirichlet(np.ones(4)), random.dirichlet(np.ones(4), 4))
    found = follow(chain, list(random.uniform(0.1, 1.0, (60, 4))))
    assert found.whole.upper == pytest.approx(found.counters.upper, abs=1e-9)
    assert found.whole.lower == pytest.approx(found.counters.lower, abs=1e-9)


def test_on_a_ring_the_whole_is_well_below_the_counters() -> None:
    """Twelve values, each followed by itself or its neighbour: the worst of each release cannot meet on one path."""
    ring = 0.5 * np.eye(12) + 0.5 * np.roll(np.eye(12), 1, axis=1)
    random = np.random.default_rng(4)
    likelihoods = [np.where(np.arange(12) == random.integers(12), 0.9, 0.3) for _ in range(50)]
    found = follow(Chain.from_dense([1 / 12] * 12, ring), likelihoods)
    assert found.whole.epsilon < 0.9 * found.counters.epsilon
    assert max(leak.epsilon for leak in found.single) < found.whole.epsilon
    assert_never_above(found)


def test_a_release_that_cannot_have_happened_is_refused() -> None:
    chain = Chain.from_dense([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(Invalid, match="cannot have happened"):
        follow(chain, [np.array([0.0, 1.0])])
    with pytest.raises(Invalid, match="3 entries"):
        follow(chain, [np.ones(3)])


def test_a_thousand_steps_of_a_hundred_values_stay_within_their_rounding() -> None:
    random = np.random.default_rng(5)
    chain = Chain.from_dense(np.full(100, 0.01), random.dirichlet(np.ones(100), 100))
    found = follow(chain, list(random.uniform(0.2, 1.0, (1_000, 100))))
    assert math.isfinite(found.whole.epsilon)
    assert found.whole.upper == pytest.approx(found.counters.upper, rel=1e-9)
