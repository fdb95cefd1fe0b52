"""The window mechanism, against every string of values in fractions, and against what is known of small windows."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from context_models import law_of, random_contexts
from hypothesis import given, settings
from hypothesis import strategies as st
from tail_models import zipf_chain

from beliefs.chain import Chain
from beliefs.checks import Invalid, InvariantBroken
from beliefs.contexts import chain_of
from mechanisms.contract import new_workspace
from mechanisms.sequence import window_value as windows
from mechanisms.sequence.optimal_value import optimal_accuracy
from mechanisms.sequence.window_order import bisected
from mechanisms.sequence.window_value import window_value

# Agreement of the window at epsilon 1 on chains that stay with .9 and else move evenly, from an even start: values,
# length, at the window's end, and at once; found before by another program.
KNOWN = [(2, 5, 0.7453, 0.7191), (3, 4, 0.6939, 0.6691), (4, 3, 0.6414, 0.6248)]


def sticky(symbols: int, stay: float = 0.9) -> Chain:
    rows = np.full((symbols, symbols), (1 - stay) / (symbols - 1))
    np.fill_diagonal(rows, stay)
    return Chain.from_dense(np.full(symbols, 1 / symbols), rows)


def exp(power: float) -> Fraction:
    with localcontext() as context:
        context.prec = 50
        return Fraction(Decimal(power).exp())


@pytest.mark.parametrize(("symbols", "length", "late", "at_once"), KNOWN)
def test_known_windows(symbols: int, length: int, late: float, at_once: float) -> None:
    chain = sticky(symbols)
    assert window_value(chain, length, 1.0, delay=True).agreement == pytest.approx(late, abs=6e-5)
    assert window_value(chain, length, 1.0, delay=False).agreement == pytest.approx(at_once, abs=6e-5)


def test_a_window_of_one_is_no_better_than_the_optimum_and_not_far_below() -> None:
    chain = Chain.from_dense([0.5, 0.3, 0.2], np.eye(3))
    for epsilon in (0.5, 1.0, 3.0):
        best = optimal_accuracy(chain.start, epsilon, epsilon)
        found = window_value(chain, 1, epsilon, delay=True)
        assert found.agreement <= best + 1e-9
        assert found.agreement >= 0.9 * best


def strings(chain: Chain, order: list[int], cap: float) -> Iterator[list[tuple[int, list[Fraction]]]]:
    """Every string that can be released, at every prefix, as positions with what each value's chance was."""
    evidence, work = windows._Evidence(chain, len(order)), new_workspace(chain.size)

    def visit(steps: list[tuple[int, list[Fraction]]], cap: float) -> Iterator[list[tuple[int, list[Fraction]]]]:
        if steps:
            yield steps
        if len(steps) == len(order):
            return
        position = order[len(steps)]
        for answer in windows._answers(evidence.beliefs()[position], cap, work):
            factor = answer.likelihood / answer.chance
            evidence.put(position, factor)
            step = (position, [Fraction(each) for each in answer.likelihood.tolist()])
            yield from visit([*steps, step], cap / float(factor.max()))
        evidence.put(position, np.ones(chain.size))

    yield from visit([], cap)


@settings(max_examples=40, deadline=None)
@given(
    symbols=st.integers(1, 3),
    length=st.integers(1, 3),
    epsilon=st.floats(0.01, 4.0),
    seed=st.integers(0, 10_000),
    delay=st.booleans(),
    spread=st.sampled_from([1.0, 0.2]),
)
def test_every_string_and_prefix_keeps_the_bound(
    symbols: int, length: int, epsilon: float, seed: int, delay: bool, spread: float
) -> None:
    """P(o|x)/P(o) = e + c K(o|x)/p(o), where p(o) is the sum over all paths, exactly."""
    random = np.random.default_rng(seed)
    chain = Chain.from_dense(
        random.dirichlet(np.full(symbols, spread)), random.dirichlet(np.full(symbols, spread), symbols)
    )
    start = [Fraction(mass) for mass in chain.start.tolist()]
    rows = [[Fraction(mass) for mass in row] for row in windows._Evidence(chain, 1)._matrix.tolist()]
    order = list(bisected(length)) if delay else list(range(length))
    shave = length * (symbols + 32) * 2.0**-48
    highest = exp(epsilon)
    covered = 1 / highest
    for steps in strings(chain, order, (1 + math.exp(epsilon)) * (1 - shave)):
        told = dict(steps)
        law, products = Fraction(0), []
        for path in itertools.product(range(symbols), repeat=length):
            chance = start[path[0]] / sum(start)
            for before, now in itertools.pairwise(path):
                chance *= rows[before][now] / sum(rows[before])
            product = Fraction(1)
            for position, likelihood in told.items():
                product *= likelihood[path[position]]
            law += chance * product
            products.append(product)
        assert law > 0
        for product in products:
            assert covered <= covered + (1 - covered) * product / law <= highest


@pytest.mark.parametrize("delay", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 1.0, 6.0])
def test_leaks_are_within_epsilon_and_what_can_be_told_is_told(epsilon: float, delay: bool) -> None:
    found = window_value(sticky(3), 3, epsilon, delay=delay)
    assert 0.0 <= found.upper <= epsilon
    assert 0.0 <= found.lower <= epsilon
    if epsilon >= 1.0:
        assert max(found.upper, found.lower) > 0.9 * epsilon
    if epsilon == 0.0:
        assert found.agreement == pytest.approx(1 / 3)


def test_a_budget_without_measure_shows_everything() -> None:
    found = window_value(sticky(3), 3, 2_000.0, delay=False)
    assert found.agreement == pytest.approx(1.0)
    assert found.upper <= 2_000.0


def test_a_known_value_costs_nothing() -> None:
    certain = Chain.from_dense([0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]])
    assert window_value(certain, 4, 0.5, delay=True) == (1.0, 0.0, 0.0)


def test_the_middle_of_the_largest_gap_comes_first() -> None:
    assert list(bisected(1)) == [0]
    assert list(bisected(5)) == [2, 0, 3, 1, 4]
    assert sorted(bisected(37)) == list(range(37))


def test_windows_that_cannot_be_visited_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows, "STRINGS_MAX", 3)
    with pytest.raises(Invalid, match="too long"):
        window_value(sticky(4), 8, 3.0, delay=True)
    with pytest.raises(Invalid, match="1 or more"):
        window_value(sticky(2), 0, 1.0, delay=True)


def test_chains_of_which_it_knows_nothing_are_refused() -> None:
    """Their states are not their values, or they lead to more states than they name: its numbers would be others'."""
    start, laws = random_contexts(random.Random(2), 2, 3, 0.1)
    remembering = chain_of(start, {**laws, (0, 0, 1): law_of([0.5, 0.5])})
    for chain in (remembering, zipf_chain(3)):
        with pytest.raises(InvariantBroken):
            window_value(chain, 2, 1.0, delay=True)
