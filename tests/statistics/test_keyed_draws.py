"""A million keyed coins through every mechanism: they follow the claimed row, and a wrong one would be noticed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from beliefs.distance import equal
from beliefs.native import kernel
from beliefs.rounding import UNITS_PER_NAT
from mechanisms import registry
from mechanisms.coins import Coins, keystream, partition_key, pick
from mechanisms.contract import SHAVE_UNITS, TOTAL, Floats, Integers, constants_of, new_workspace
from mechanisms.sequence import forecast

DRAWS = 1_000_000
EPSILON = 1.0
BELIEF = np.array([0.35, 0.25, 0.15, 0.1, 0.1, 0.05])
TRUE_FROM = 1e-6
"""A true row is refused once in a million keys; the key is fixed, so the answer here is always the same."""

Counts = NDArray[np.int64]


@kernel
def _tally(weights: Integers, count: int, coins: Coins, counts: Counts) -> None:
    for coin in coins:
        counts[pick(weights, count, coin)] += 1


@kernel
def _biased_tally(weights: Integers, count: int, coins: Coins, counts: Counts) -> None:
    """The classical mistake: 32 bits, modulo a total that is no power of two."""
    scale = 3_000_000_000
    for coin in coins:
        point = np.int64(np.uint64(coin) >> np.uint64(32)) % scale
        for i in range(count):
            point -= np.int64(weights[i] / TOTAL * scale)
            if point < 0 or i == count - 1:
                counts[i] += 1
                break


@pytest.fixture(scope="module")
def coins() -> Coins:
    key = partition_key(bytes(range(32)), "statistics", bytes(16), 0)
    return np.ascontiguousarray(keystream(key, 10**9, DRAWS)[:, 0])


def row_of(name: str, belief: Floats, epsilon: float, x: int) -> tuple[list[int], list[int]]:
    """The released symbols and the integers of x's row."""
    code = registry.MECHANISMS[name].code
    work = new_workspace(belief.shape[0], equal() if name == "near" else None)
    work.size[forecast.DRAW] = 1
    registry.prepare(code, belief, np.array(constants_of(int(epsilon * UNITS_PER_NAT) - SHAVE_UNITS)), work)
    registry.row(code, x, belief, work)
    count = work.size[0]
    return work.head[:count].tolist(), work.row[:count].tolist()


def counts_of(weights: list[int], coins: Coins) -> Counts:
    counts = np.zeros(len(weights), dtype=np.int64)
    _tally(np.array(weights), len(weights), coins, counts)
    return counts


def fit(counts: dict[int, int], row: tuple[list[int], list[int]]) -> float:
    """The p-value of Pearson's goodness of fit; an observation where the row has nothing settles it."""
    claimed = {symbol: weight / TOTAL for symbol, weight in zip(*row, strict=True) if weight}
    if any(counts.get(symbol, 0) for symbol in set(counts) - set(claimed)):
        return 0.0
    observed = np.array([counts.get(symbol, 0) for symbol in claimed])
    expected = np.array(list(claimed.values())) * DRAWS
    if len(claimed) == 1:
        return 1.0
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(claimed) - 1))


def wrong_rows(name: str, x: int) -> list[tuple[list[int], list[int]]]:
    """The rows of 0.9 and 1.1 epsilon; where epsilon changes nothing, those of such powers of the belief; where neither
    does, those of the two likeliest values."""
    true = row_of(name, BELIEF, EPSILON, x)
    rows = [row_of(name, BELIEF, EPSILON * factor, x) for factor in (0.9, 1.1)]
    if true in rows:
        powers = [BELIEF**factor for factor in (0.9, 1.1)]
        rows = [row_of(name, power / power.sum(), EPSILON, x) for power in powers]
    if true in rows:
        rows = [row_of(name, BELIEF, EPSILON, other) for other in (0, 1)]
    return rows


@pytest.mark.parametrize("x", [0, 2, 5])
@pytest.mark.parametrize("name", registry.MECHANISMS)
def test_a_million_draws_fit_their_row_and_no_other(name: str, x: int, coins: Coins) -> None:
    released, weights = row_of(name, BELIEF, EPSILON, x)
    counts = dict(zip(released, counts_of(weights, coins).tolist(), strict=True))
    assert sum(counts.values()) == DRAWS
    assert fit(counts, (released, weights)) > TRUE_FROM
    for wrong in wrong_rows(name, x):
        assert fit(counts, wrong) < TRUE_FROM


def test_a_biased_pick_is_noticed(coins: Coins) -> None:
    released, weights = row_of("marginal_preserving", BELIEF, EPSILON, 2)
    counts = np.zeros(len(weights), dtype=np.int64)
    _biased_tally(np.array(weights), len(weights), coins, counts)
    assert fit(dict(zip(released, counts.tolist(), strict=True)), (released, weights)) < TRUE_FROM


def test_neighbouring_offsets_are_independent(coins: Coins) -> None:
    """Pairs of consecutive draws fit the product of the row with itself."""
    _, weights = row_of("optimal", BELIEF, EPSILON, 1)
    share = np.array(weights) / TOTAL
    edges = np.cumsum(weights)[:-1]
    places = np.searchsorted(edges, (coins >> np.uint64(2)).astype(np.int64), side="right")
    pairs = np.bincount(places[::2] * len(weights) + places[1::2], minlength=len(weights) ** 2)
    expected = np.outer(share, share).ravel() * (DRAWS // 2)
    possible = expected > 0
    assert stats.chi2.sf(((pairs - expected)[possible] ** 2 / expected[possible]).sum(), possible.sum() - 1) > TRUE_FROM
