"""How far windows are from the best that any mechanism could do under the same bound for the whole window.

The best is not known, but nothing is better than the certified bound of `distortion_value` on the sequences of the
window, so what is called a gap here is at least the true one. `dual` is measured against the certificate of its own
prices, except where the linear program says what the best is.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from oracles import cost_by_linear_program

from beliefs.chain import Chain
from beliefs.rounding import budget_units
from mechanisms.contract import design_units
from mechanisms.sequence.distortion_value import distortion_value
from mechanisms.sequence.dual_prices import new_rooms
from mechanisms.sequence.dual_value import DualValue, dual_value
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


def value_of(chain: Chain, length: int, epsilon: float) -> DualValue:
    law, _ = sequences(chain, length)
    units, room = design_units(budget_units(epsilon), 0), new_rooms(chain.size, length)[-1]
    return dual_value(law / law.sum(), units, epsilon, room)


@pytest.mark.parametrize("kind", ["sticky", "random", "iid", "skewed"])
def test_the_certified_gap_of_dual_is_a_percent(kind: str) -> None:
    """`skewed` values are independent, but not equally likely."""
    random, gaps = np.random.default_rng(2), []
    sizes = [(n, w) for n in range(2, 7) for w in range(2, 7) if n**w <= 256]
    for (size, length), epsilon in itertools.product(sizes, EPSILONS):
        chain = chain_of("random" if kind == "skewed" else kind, size, random)
        if kind == "skewed":
            chain = Chain.from_dense(chain.start, [chain.start] * size)
        value = value_of(chain, length, epsilon)
        gaps.append(value.gap)
    assert np.mean(gaps) <= 0.008
    assert max(gaps) <= 0.04


@pytest.mark.parametrize(("size", "length"), [(5, 4), (3, 6), (4, 5), (6, 4)])
@pytest.mark.parametrize("kind", ["sticky", "random", "iid"])
def test_the_certified_gap_of_dual_is_small_for_many_sequences(kind: str, size: int, length: int) -> None:
    value = value_of(chain_of(kind, size, np.random.default_rng(3)), length, 1.0)
    assert value.gap <= 0.03


@pytest.mark.parametrize("kind", ["sticky", "random", "iid"])
def test_the_gap_of_dual_to_the_linear_program(kind: str) -> None:
    random, gaps = np.random.default_rng(6), []
    for (size, length), epsilon in itertools.product(((2, 3), (2, 4), (3, 2), (4, 2), (5, 2)), EPSILONS):
        chain = chain_of(kind, size, random)
        law, costs = sequences(chain, length)
        best = 1.0 - cost_by_linear_program(law / law.sum(), costs, epsilon)
        value = value_of(chain, length, epsilon)
        assert value.agreement <= best + 1e-9 <= value.most + 2e-9
        gaps.append((best - value.agreement) / best)
    assert np.mean(gaps) <= 0.005
