"""Longer memories: the chain over states against every path under the law as it is stated, in fractions."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from fractions import Fraction
from math import log

import numpy as np
import pytest
from context_models import law_after, law_of, random_contexts

from beliefs.alphabet import SIZE_MAX
from beliefs.belief import condition, lifted, marginal, predict, rows_of
from beliefs.chain import CONTRACTION_ONE, Chain, Row
from beliefs.checks import Invalid
from beliefs.contexts import Context, chain_of, longest_suffix, states_of
from beliefs.simplex import Vector

Law = list[Fraction]


def exact_rows(chain: Chain) -> list[list[tuple[int, Fraction]]]:
    return [[(state, Fraction(p)) for state, p in row] for row in rows_of(chain)]


def value_by_enumeration(start: Law, laws: Mapping[Context, Row], likelihoods: list[Law]) -> Law:
    """P(last value | all releases but its own and its own), as the sum over every path of values."""
    symbols = len(start)
    weights = [Fraction(0)] * symbols
    for path in itertools.product(range(symbols), repeat=len(likelihoods)):
        weight = Fraction(1)
        for k, (value, likelihood) in enumerate(zip(path, likelihoods, strict=True)):
            law = start if k == 0 else law_after(path[:k], laws, symbols)
            weight *= law[value] * likelihood[value]
        weights[path[-1]] += weight
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("symbols", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_belief_over_states_equals_the_sum_over_all_paths(symbols: int, order: int) -> None:
    source = random.Random(f"{symbols} {order}")
    for _ in range(12):
        start, laws = random_contexts(source, symbols, order)
        chain = chain_of(start, laws)
        rows, symbol_of = exact_rows(chain), chain.symbol_of.tolist()
        first = [Fraction(mass) for mass in start.tolist()]
        belief, likelihoods = [Fraction(mass) for mass in chain.start.tolist()], []
        for _ in range(5):
            likelihoods.append([Fraction(source.randrange(1, 9), 8) for _ in range(symbols)])
            unseen = [*likelihoods[:-1], [Fraction(1)] * symbols]
            total = sum(belief)
            ahead = [mass / total for mass in marginal(belief, symbol_of)]
            assert ahead == value_by_enumeration(first, laws, unseen)
            posterior = condition(belief, lifted(likelihoods[-1], symbol_of))
            assert marginal(posterior, symbol_of) == value_by_enumeration(first, laws, likelihoods)
            belief = predict(posterior, rows)


@pytest.mark.parametrize("seed", range(20))
def test_the_state_is_the_longest_one_that_the_past_ends_with(seed: int) -> None:
    source = random.Random(seed)
    symbols = source.randrange(1, 5)
    start, laws = random_contexts(source, symbols, source.randrange(1, 5))
    chain, states = chain_of(start, laws), states_of(laws, symbols)
    for _ in range(20):
        past = tuple(source.randrange(symbols) for _ in range(source.randrange(1, 9)))
        number = past[0]
        for length in range(1, len(past)):
            following, _ = chain.row(number)
            ways = [int(state) for state in following if chain.symbol_of[state] == past[length]]
            if not ways:
                break  # the model calls this value impossible here
            (number,) = ways
            assert states[number] == longest_suffix(past[: length + 1], states)
            assert [
                p for _, p in sorted(zip(chain.symbol_of[chain.row(number)[0]], chain.row(number)[1], strict=True))
            ] == (laws[longest_suffix(past[: length + 1], laws)][1].tolist())


def test_contexts_of_one_value_are_a_chain_of_first_order() -> None:
    table = [[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.0, 0.5, 0.5]]
    laws: dict[Context, Row] = {(): law_of([1.0, 0.0, 0.0])}
    laws |= {(x,): law_of(row) for x, row in enumerate(table)}
    start = np.array([0.25, 0.25, 0.5])
    one, other = chain_of(start, laws), Chain.from_dense(start, table)
    for name in ("start", "indptr", "indices", "data", "dense", "symbol_of"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert (one.contraction, one.span) == (other.contraction, other.span)


def test_an_unlisted_beginning_uses_the_law_of_its_longest_listed_suffix() -> None:
    laws: dict[Context, Row] = {(): law_of([0.5, 0.5]), (1,): law_of([0.25, 0.75]), (0, 1, 0): law_of([0.0, 1.0])}
    chain = chain_of(np.array([0.5, 0.5]), laws)
    assert states_of(laws, 2) == [(0,), (1,), (0, 1), (0, 1, 0)]
    assert [chain.row(s)[0].tolist() for s in range(4)] == [[0, 2], [0, 1], [1, 3], [2]]
    assert chain.row(2)[1].tolist() == [0.75, 0.25]


def distance(one: Vector, other: Vector) -> float:
    """Hilbert's, where both are positive."""
    ratios = [log(p / q) for p, q in zip(one, other, strict=True) if p > 0 and q > 0]
    return max(ratios) - min(ratios)


@pytest.mark.parametrize("seed", range(30))
def test_no_two_beliefs_come_out_further_apart_than_the_contraction_allows(seed: int) -> None:
    """Over `span` predictions with releases in between; and sums over states are never further apart."""
    source, noise = random.Random(seed), np.random.default_rng(seed)
    symbols = source.randrange(2, 4)
    start, laws = random_contexts(source, symbols, 3, least=0.1)
    chain = chain_of(start, laws)
    matrix = np.zeros((chain.size, chain.size))
    matrix[np.repeat(np.arange(chain.size), np.diff(chain.indptr)), chain.indices] = chain.data
    assert chain.contraction < CONTRACTION_ONE
    for _ in range(20):
        one, other = noise.dirichlet(np.ones(chain.size)), noise.dirichlet(np.ones(chain.size))
        before = distance(one, other)
        by_symbol = [np.bincount(chain.symbol_of, weights=belief).astype(np.float64) for belief in (one, other)]
        assert distance(*by_symbol) <= before + 1e-9
        for _ in range(chain.span):
            likelihood = noise.random(symbols)[chain.symbol_of]
            one, other = (one @ matrix) * likelihood, (other @ matrix) * likelihood
        assert distance(one, other) <= before * chain.contraction / 2**32 + 1e-9


def test_a_value_that_is_impossible_after_some_states_contracts_nothing() -> None:
    chain = chain_of(np.array([0.5, 0.5]), {(): law_of([0.5, 0.5]), (0, 0): law_of([0.0, 1.0])})
    assert (chain.contraction, chain.span) == (CONTRACTION_ONE, 2)


def test_the_contraction_is_that_of_the_formula() -> None:
    laws = {(): law_of([0.5, 0.5]), (0, 0, 1): law_of([0.25, 0.75])}
    ratio = Fraction(2) ** 3
    scaled = CONTRACTION_ONE * (ratio - 1) / (ratio + 1)
    assert chain_of(np.array([1.0, 0.0]), laws).contraction == -(-scaled.numerator // scaled.denominator)


def test_too_many_states_are_refused() -> None:
    even = law_of([0.5, 0.5])
    laws: dict[Context, Row] = {(): even} | dict.fromkeys(itertools.product(range(2), repeat=15), even)
    assert chain_of(np.array([0.5, 0.5]), laws).size == 2**16 - 2
    laws[(0,) * 19] = even
    with pytest.raises(Invalid) as caught:
        chain_of(np.array([0.5, 0.5]), laws)
    assert caught.value.field == "contexts"
    assert f"{2**16 + 2} states" in caught.value.reason
    assert str(SIZE_MAX) in caught.value.reason


def test_too_many_transitions_are_refused_before_they_are_made() -> None:
    size = 5000
    with pytest.raises(Invalid, match="25000000 transitions"):
        chain_of(np.full(size, 1 / size), {(): law_of([1 / size] * size)})
