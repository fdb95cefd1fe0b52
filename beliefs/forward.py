"""The compiled twin of `beliefs.belief`: one prediction and one conditioning on doubles, in a fixed order of additions.

The order is part of the meaning: an auditor adds in the same order and gets the same bits.
* `predict_into`: for x ascending, for y ascending: following(y) += belief(x) C(x, y); then `normalise`.
  Where the chain has a tail, after all these: left, the sum for x ascending of belief(x) left(x), and for y ascending:
  following(y) += left tail(y); only then `normalise`.
* `normalise`: one sum over ascending indices, then one division an entry.
* `condition_into`: belief(x) * likelihood(x), or the likelihood alone if all of these are 0, then `normalise`.
* `marginal_into`: for states s ascending: marginal(symbol_of(s)) += belief(s); then `normalise`.
* `condition_states_into`: as `condition_into`, a state having the likelihood of its symbol.
A dense and a sparse chain give the same bits: they differ in added zeros only, and a sum of nonnegative doubles
ignores those.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefs.chain import Chain
from beliefs.checks import require
from beliefs.native import kernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class ChainArrays(NamedTuple):
    """A chain as the kernels read it. `dense` is 0 x 0 for a sparse chain, `tail` empty for one without.

    `symbol_of` is the identity where there are as many states as symbols. `contraction` speaks of `span` predictions.
    Of a chain in phases the rows of one phase follow those of another; `in_phase` is one of them.
    """

    start: Floats
    indptr: Integers
    indices: Integers
    data: Floats
    dense: Floats
    contraction: int
    symbol_of: Integers
    span: int
    tail: Floats
    left: Floats
    phases: int


def chain_arrays(chain: Chain) -> ChainArrays:
    # Copies, because a kernel compiled for writable arrays would be compiled again for read-only ones.
    return ChainArrays(
        start=chain.start.copy(),
        indptr=chain.indptr.copy(),
        indices=chain.indices.copy(),
        data=chain.data.copy(),
        dense=chain.dense.copy(),
        contraction=chain.contraction,
        symbol_of=chain.symbol_of.copy(),
        span=chain.span,
        tail=chain.tail.copy(),
        left=chain.left.copy(),
        phases=chain.phases,
    )


@kernel
def in_phase(chain: ChainArrays, step: int) -> ChainArrays:
    """The transitions of the step of this number: those of one phase, the same memory."""
    size = chain.start.shape[0]
    first = step % chain.phases * size
    return ChainArrays(
        chain.start,
        chain.indptr[first : first + size + 1],
        chain.indices,
        chain.data,
        chain.dense[first : first + size] if chain.dense.shape[0] > 0 else chain.dense,
        chain.contraction,
        chain.symbol_of,
        chain.span,
        chain.tail,
        chain.left,
        1,
    )


@kernel
def normalise(belief: Floats) -> None:
    total = 0.0
    for x in range(belief.shape[0]):
        total += belief[x]
    for x in range(belief.shape[0]):
        belief[x] /= total


@kernel
def start_into(chain: ChainArrays, following: Floats) -> None:
    for x in range(following.shape[0]):
        following[x] = chain.start[x]
    normalise(following)


def reversed_arrays(chain: Chain) -> ChainArrays:
    """The same transitions from their ends to their beginnings, for sums that run backward in time; no start.

    Turned round, left(x) tail(y) is tail(y) left(x): the two change places.
    """
    require(chain.phases == 1, "only a chain of one phase is turned round")
    size = chain.size
    order = np.argsort(chain.indices, kind="stable")
    indptr = np.zeros(size + 1, dtype=np.int64)
    indptr[1:] = np.cumsum(np.bincount(chain.indices, minlength=size))
    return ChainArrays(
        start=np.zeros(size),
        indptr=indptr,
        indices=np.repeat(np.arange(size), np.diff(chain.indptr))[order],
        data=chain.data[order],
        dense=np.ascontiguousarray(chain.dense.T),
        contraction=0,
        symbol_of=chain.symbol_of.copy(),
        span=1,
        tail=chain.left.copy(),
        left=chain.tail.copy(),
        phases=1,
    )


@kernel
def predict_into(belief: Floats, chain: ChainArrays, following: Floats) -> None:
    push_into(belief, chain, following)
    normalise(following)


@kernel
def predict_at(belief: Floats, chain: ChainArrays, step: int, following: Floats) -> None:
    """The prediction of the step of this number."""
    if chain.phases == 1:
        predict_into(belief, chain, following)
    else:
        predict_into(belief, in_phase(chain, step), following)


@kernel
def push_into(belief: Floats, chain: ChainArrays, following: Floats) -> None:
    """Masses one transition on, as they come."""
    symbols = belief.shape[0]
    for y in range(symbols):
        following[y] = 0.0
    if chain.dense.shape[0] > 0:
        _add_dense(belief, chain.dense, following)
    else:
        for x in range(symbols):
            mass = belief[x]
            for place in range(chain.indptr[x], chain.indptr[x + 1]):
                following[chain.indices[place]] += mass * chain.data[place]
    if chain.tail.shape[0] > 0:
        _add_tail(belief, chain, following)


@kernel
def _add_tail(belief: Floats, chain: ChainArrays, following: Floats) -> None:
    left = 0.0
    for x in range(belief.shape[0]):
        left += belief[x] * chain.left[x]
    for y in range(following.shape[0]):
        following[y] += left * chain.tail[y]


@kernel
def _add_dense(belief: Floats, dense: Floats, following: Floats) -> None:
    """Four rows at a time: the same additions in the same order, and a quarter of the reads and writes between them."""
    symbols = belief.shape[0]
    whole = symbols - symbols % 4
    for x in range(0, whole, 4):
        first, second, third, fourth = dense[x], dense[x + 1], dense[x + 2], dense[x + 3]
        for y in range(symbols):
            one = following[y] + belief[x] * first[y]
            two = one + belief[x + 1] * second[y]
            three = two + belief[x + 2] * third[y]
            following[y] = three + belief[x + 3] * fourth[y]
    for x in range(whole, symbols):
        for y in range(symbols):
            following[y] += belief[x] * dense[x, y]


@kernel
def condition_into(belief: Floats, likelihood: Floats, posterior: Floats) -> bool:
    """Bayes' rule; False if the model calls everything impossible that the release allows.

    Only a mechanism that does not hold its bound can release such a thing. The model was wrong then, and the
    likelihood alone is what is left to believe; how far that is from anybody's belief is unknown, which the caller must
    write down.
    """
    possible = False
    for x in range(belief.shape[0]):
        posterior[x] = belief[x] * likelihood[x]
        possible = possible or posterior[x] > 0.0
    if not possible:
        for x in range(belief.shape[0]):
            posterior[x] = likelihood[x]
    normalise(posterior)
    return possible


@kernel
def marginal_into(belief: Floats, symbol_of: Integers, marginal: Floats) -> None:
    """The law of the symbol, divided by its own sum: a mechanism may count on its entries adding up to 1."""
    for y in range(marginal.shape[0]):
        marginal[y] = 0.0
    for s in range(belief.shape[0]):
        marginal[symbol_of[s]] += belief[s]
    normalise(marginal)


@kernel
def condition_states_into(belief: Floats, likelihood: Floats, symbol_of: Integers, posterior: Floats) -> bool:
    """Bayes' rule for a belief over states; False as in `condition_into`."""
    possible = False
    for s in range(belief.shape[0]):
        posterior[s] = belief[s] * likelihood[symbol_of[s]]
        possible = possible or posterior[s] > 0.0
    if not possible:
        for s in range(belief.shape[0]):
            posterior[s] = likelihood[symbol_of[s]]
    normalise(posterior)
    return possible
