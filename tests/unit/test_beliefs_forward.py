"""The compiled belief against its definition, and the dense against the sparse form."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefs import belief as definition
from beliefs.chain import Chain
from beliefs.forward import (
    ChainArrays,
    chain_arrays,
    condition_into,
    condition_states_into,
    marginal_into,
    normalise,
    predict_into,
)

SIZES = (1, 2, 5, 17)


def random_chain(size: int, zeros: float, seed: int) -> Chain:
    source = np.random.default_rng(seed)
    rows = source.dirichlet(np.ones(size), size=size)
    rows[source.random((size, size)) < zeros] = 0.0
    rows[np.arange(size), np.arange(size)] += 0.1
    return Chain.from_dense(np.full(size, 1 / size), rows / rows.sum(axis=1, keepdims=True))


def as_sparse(arrays: ChainArrays) -> ChainArrays:
    return arrays._replace(dense=np.zeros((0, 0)))


@pytest.mark.parametrize("size", SIZES)
@given(zeros=st.sampled_from([0.0, 0.3, 0.49]), seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_dense_and_sparse_chains_give_the_same_bits(size: int, zeros: float, seed: int) -> None:
    arrays = chain_arrays(random_chain(size, zeros, seed))
    belief = np.random.default_rng(seed + 1).dirichlet(np.ones(size))
    one, two = np.zeros(size), np.zeros(size)
    predict_into(belief, arrays, one)
    predict_into(belief, as_sparse(arrays), two)
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("size", SIZES)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=30)
def test_every_entry_has_the_relative_error_that_the_drift_is_charged_for(size: int, seed: int) -> None:
    """(n + 16) 2^-53 on either side, against the definition in fractions."""
    chain = random_chain(size, 0.3, seed)
    belief = np.random.default_rng(seed + 1).dirichlet(np.ones(size))
    likelihood = np.random.default_rng(seed + 2).random(size) + 1e-3
    rows = [[(y, Fraction(p)) for y, p in row] for row in definition.rows_of(chain)]
    exact = definition.predict([Fraction(b) for b in belief], rows)
    exact = definition.condition(exact, [Fraction(factor) for factor in likelihood])
    following, posterior = np.zeros(size), np.zeros(size)
    predict_into(belief, chain_arrays(chain), following)
    condition_into(following, likelihood, posterior)
    allowed = Fraction(2 * (size + 16), 2**53)
    for got, true in zip(posterior.tolist(), exact, strict=True):
        assert abs(Fraction(got) - true) <= allowed * true


def test_normalising_adds_from_the_left() -> None:
    belief = np.array([1e16, 1.0, -0.0, 1.0])
    total = ((1e16 + 1.0) + 0.0) + 1.0
    expected = [value / total for value in belief.tolist()]
    normalise(belief)
    assert belief.tolist() == expected


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_the_marginal_is_the_sum_over_states_divided_by_its_own_sum(seed: int) -> None:
    """A mechanism counts on entries whose exact sum is within n 2^-53 of 1; the plain sums alone need not keep that."""
    source = np.random.default_rng(seed)
    symbols = int(source.integers(1, 6))
    symbol_of = np.concatenate([np.arange(symbols), source.integers(0, symbols, 500)])
    belief = source.dirichlet(np.ones(symbol_of.size)) * (1 + 2.0**-40)
    expected, law = np.zeros(symbols), np.zeros(symbols)
    for state, mass in enumerate(belief.tolist()):
        expected[symbol_of[state]] += mass
    normalise(expected)
    marginal_into(belief, symbol_of, law)
    assert law.tobytes() == expected.tobytes()
    exact = sum((Fraction(mass) for mass in law.tolist()), Fraction(0))
    assert abs(exact - 1) <= Fraction(symbols, 2**53)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_a_state_has_the_likelihood_of_its_symbol(seed: int) -> None:
    source = np.random.default_rng(seed)
    symbol_of = source.integers(0, 3, 7)
    belief, likelihood, posterior = source.dirichlet(np.ones(7)), source.random(3), np.zeros(7)
    assert condition_states_into(belief, likelihood, symbol_of, posterior)
    exact = definition.condition(belief.tolist(), definition.lifted(likelihood.tolist(), symbol_of.tolist()))
    assert posterior == pytest.approx(exact, rel=1e-14)


def test_an_impossible_release_leaves_its_likelihood_to_the_states() -> None:
    posterior = np.zeros(3)
    symbol_of = np.array([0, 1, 1])
    assert not condition_states_into(np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.5]), symbol_of, posterior)
    assert posterior.tolist() == [0.0, 0.5, 0.5]
