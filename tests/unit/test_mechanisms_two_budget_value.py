"""Unequal budgets: the best channel for them, and the filter over whole streams by enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import accuracy_by_linear_program

from beliefs.checks import Invalid
from beliefs.leakage.sequence import exact_law
from beliefs.simplex import Vector, normalised
from mechanisms.sequence.two_budget_value import TwoBudgetValue, two_budget_value

STICKY = np.array([[0.9, 0.1], [0.1, 0.9]])


def test_no_channel_within_the_two_bounds_keeps_more() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        prior = rng.dirichlet(np.full(int(rng.integers(1, 6)), 0.7))
        lower, upper = float(rng.choice([0.05, 0.2, 0.5, 1, 3])), float(rng.choice([0.05, 0.3, 1, 2, 5]))
        value = two_budget_value(prior, lower, upper)
        assert value.accuracy == pytest.approx(accuracy_by_linear_program(prior, lower, upper), abs=1e-8)
        assert value.upper <= upper
        assert value.lower <= lower
        assert math.fsum(told.chance for told in value.releases) == pytest.approx(1.0, abs=1e-12)


def test_the_leaks_are_those_of_every_row() -> None:
    """Impossible values included; in fractions of the very likelihoods that are given."""
    for prior in ([0.6, 0.3, 0.1, 0.0], [0.25, 0.25, 0.25, 0.25], [0.97, 0.01, 0.01, 0.01]):
        law = exact_law(normalised(np.array(prior)).tolist())
        for told in two_budget_value(np.array(prior), 0.3, 2.0).releases:
            column = [Fraction(share) for share in told.likelihood]
            marginal = sum(mass * share for mass, share in zip(law, column, strict=True))
            assert math.log(max(column) / marginal) == pytest.approx(told.upper, abs=1e-12)
            assert math.log(marginal / min(column)) == pytest.approx(told.lower, abs=1e-12)
            assert float(marginal) == pytest.approx(told.chance, rel=1e-12)


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (1e-12, 1.0)])
def test_without_one_of_the_budgets_the_likeliest_is_released(lower: float, upper: float) -> None:
    value = two_budget_value(np.array([0.2, 0.5, 0.3]), lower, upper)
    assert value.accuracy == pytest.approx(0.5)
    assert [(told.value, told.upper, told.lower) for told in value.releases] == [(1, 0.0, 0.0)]


@pytest.mark.parametrize("upper", [30.0, 300.0, 5_000.0, math.inf])
def test_a_large_upper_budget_is_no_trouble(upper: float) -> None:
    value = two_budget_value(np.array([0.5, 0.3, 0.2]), 0.5, upper)
    assert value.accuracy == pytest.approx(accuracy_by_linear_program(np.array([0.5, 0.3, 0.2]), 0.5, 30.0), abs=1e-8)
    assert value.upper <= upper


def test_a_negative_budget_is_refused() -> None:
    for lower, upper in ((-1.0, 1.0), (1.0, -1.0), (math.nan, 1.0)):
        with pytest.raises(Invalid):
            two_budget_value(np.array([0.5, 0.5]), lower, upper)


class Stream:
    """Every string of releases of a filter, with its chance and the likelihoods of each release."""

    def __init__(self, times: int, lower: float, upper: float, *, wait: bool) -> None:
        self._times, self._lower, self._upper, self._wait = times, lower, upper, wait
        self.agreement = 0.0
        self.strings: list[list[list[float]]] = []
        self._go(np.array([0.5, 0.5]), 1.0, upper if wait else upper / times, [])

    def _go(self, belief: Vector, chance: float, left: float, likelihoods: list[list[float]]) -> None:
        if len(likelihoods) == self._times:
            self.strings.append(likelihoods)
            return
        value: TwoBudgetValue = two_budget_value(belief, self._lower / self._times, left)
        self.agreement += chance * value.accuracy / self._times
        for told in value.releases:
            posterior = normalised(belief * np.array(told.likelihood))
            following = (posterior[:, None] * STICKY).sum(axis=0)
            after = max(0.0, left - told.upper) if self._wait else left
            self._go(following, chance * told.chance, after, [*likelihoods, told.likelihood])


def test_waiting_pays_by_the_known_figures() -> None:
    assert Stream(5, 1.0, 1.0, wait=True).agreement == pytest.approx(0.6029, abs=5e-5)
    assert Stream(5, 1.0, 1.0, wait=False).agreement == pytest.approx(0.5967, abs=5e-5)


def test_whole_streams_stay_within_both_budgets() -> None:
    """P(y|x) and P(y) of every string, from all value sequences of the chain, in fractions."""
    chain = [[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(9, 10)]]
    for likelihoods in Stream(4, 0.6, 1.4, wait=True).strings:
        exact = [[Fraction(share) for share in each] for each in likelihoods]
        told = {}
        for path in itertools.product(range(2), repeat=4):
            told[path] = Fraction(1)
            for x, likelihood in zip(path, exact, strict=True):
                told[path] *= likelihood[x]
        total = Fraction(0)
        for path, chance in told.items():
            weight = Fraction(1, 2)
            for before, now in itertools.pairwise(path):
                weight *= chain[before][now]
            total += weight * chance
        assert math.log(max(told.values()) / total) <= 1.4
        assert math.log(total / min(told.values())) <= 0.6
