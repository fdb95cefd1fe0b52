"""The compiled belief against its definition, and the dense against the sparse form."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beliefs import belief as definition
from beliefs.chain import Chain
from beliefs.forward import ChainArrays, chain_arrays, condition_into, normalise, predict_into

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
