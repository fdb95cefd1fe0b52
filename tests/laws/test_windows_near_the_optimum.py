"""How far windows are from the best that any mechanism could do under the same bound for the whole window.

The best is not known, but nothing is better than the certified bound of `distortion_value` on the sequences of the
window, so what is called a gap here is at least the true one.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from beliefs.chain import Chain
from mechanisms.sequence.distortion_value import distortion_value
from mechanisms.sequence.window_value import window_value

SIZES = ((2, 2), (2, 3), (2, 4), (2, 5), (3, 2), (3, 3), (4, 2), (5, 2), (6, 2))
EPSILONS = (0.5, 1.0, 2.0, 4.0)


def chain_of(kind: str, size: int, random: np.random.Generator) -> Chain:
    if kind == "random":
        return Chain.from_dense(random.dirichlet(np.ones(size)), random.dirichlet(np.ones(size), size=size))
    stay = 0.9 if kind == "sticky" else 1 / size
    rows = np.full((size, size), (1 - stay) / (size - 1))
    np.fill_diagonal(rows, stay)
    return Chain.from_dense([1 / size] * size, rows)


def sequences(chain: Chain, length: int) -> tuple[np.ndarray, np.ndarray]:
    """The chances of all sequences of values, and what it costs to release one for another: the share that is wrong."""
    rows = np.zeros((chain.size, chain.size))
    rows[np.repeat(np.arange(chain.size), np.diff(chain.indptr)), chain.indices] = chain.data
    values = np.array(list(itertools.product(range(chain.size), repeat=length)))
    chances = chain.start[values[:, 0]].copy()
    for i in range(1, length):
        chances *= rows[values[:, i - 1], values[:, i]]
    return chances, (values[:, None, :] != values[None, :, :]).mean(axis=2)


@pytest.mark.parametrize(
    ("kind", "bisect_mean", "natural_mean"), [("sticky", 0.01, 0.03), ("random", 0.03, 0.045), ("iid", 0.07, 0.07)]
)
def test_the_mean_gap(kind: str, bisect_mean: float, natural_mean: float) -> None:
    random, gaps = np.random.default_rng(1), []
    for (size, length), epsilon in itertools.product(SIZES, EPSILONS):
        chain = chain_of(kind, size, random)
        whole = distortion_value(*sequences(chain, length), epsilon)
        most = 1.0 - whole.lower_bound
        kept = [
            1.0 - whole.cost,
            *(window_value(chain, length, epsilon, delay=delay).agreement for delay in (True, False)),
        ]
        assert max(kept) <= most
        gaps.append([(most - share) / most for share in kept])
    all_at_once, bisect, natural = np.mean(gaps, axis=0)
    assert all_at_once <= 0.01
    assert bisect <= bisect_mean
    assert natural <= natural_mean
