"""Sampled windows: the agreement that enumeration promises, and nothing of the user where the coin says so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beliefs.chain import Chain
from beliefs.forward import chain_arrays, reversed_arrays
from mechanisms.contract import TOTAL
from mechanisms.sequence.window import Plan, coins_needed, plan_of, release_window
from mechanisms.sequence.window_beliefs import Tools, new_room, new_tools
from mechanisms.sequence.window_running import HIGHEST, LOWEST, new_running, release_next
from mechanisms.sequence.window_value import window_value


def sticky(symbols: int) -> Chain:
    rows = np.full((symbols, symbols), 0.1 / (symbols - 1))
    np.fill_diagonal(rows, 0.9)
    return Chain.from_dense(np.full(symbols, 1 / symbols), rows)


def tools_of(chain: Chain) -> Tools:
    return new_tools(chain_arrays(chain), reversed_arrays(chain))


def walks(chain: Chain, count: int, length: int, random: np.random.Generator) -> np.ndarray:
    rows = np.zeros((chain.size, chain.size))
    rows[np.repeat(np.arange(chain.size), np.diff(chain.indptr)), chain.indices] = chain.data
    values = np.empty((count, length), dtype=np.int64)
    values[:, 0] = random.choice(chain.size, count, p=chain.start)
    for i in range(1, length):
        points = random.random(count)
        values[:, i] = (rows.cumsum(axis=1)[values[:, i - 1]] < points[:, None]).sum(axis=1).clip(max=chain.size - 1)
    return values


def released(
    chain: Chain, plan: Plan, values: np.ndarray, coins: np.ndarray, *, delay: bool = True
) -> tuple[np.ndarray, list[tuple[float, float]]]:
    tools, room = tools_of(chain), new_room(values.shape[1], chain.size)
    shown, told = np.empty_like(values), []
    for own, coin, out in zip(values, coins, shown, strict=True):
        if delay:
            told.append(release_window(plan, tools, chain.start.copy(), own, coin, room, out))
            continue
        running = new_running(chain.size)
        for i, value in enumerate(own):
            words = coin[[0, 2 * i + 1, 2 * i + 2]]
            out[i], _ = release_next(plan, tools, chain.start.copy(), value, words, room, running)
        told.append((running.amounts[HIGHEST], running.amounts[LOWEST]))
    return shown, told


def coins_of(random: np.random.Generator, count: int, length: int) -> np.ndarray:
    return random.integers(0, 1 << 64, (count, coins_needed(length)), dtype=np.uint64)


@pytest.mark.parametrize(("symbols", "length", "epsilon"), [(2, 5, 1.0), (3, 3, 2.0), (4, 2, 0.5)])
@pytest.mark.parametrize("delay", [True, False])
def test_the_agreement_is_what_enumeration_promises(symbols: int, length: int, epsilon: float, delay: bool) -> None:
    random, chain, count = np.random.default_rng(1), sticky(symbols), 20_000
    values = walks(chain, count, length, random)
    plan = plan_of(epsilon, length, symbols)
    shown, told = released(chain, plan, values, coins_of(random, count, length), delay=delay)
    wanted = window_value(chain, length, epsilon, delay=delay).agreement
    shares = (shown == values).mean(axis=1)
    assert shares.mean() == pytest.approx(wanted, abs=5 * shares.std() / math.sqrt(count))
    covered = plan.covered / TOTAL
    assert max(math.log(covered + (1 - covered) * highest) for highest, _ in told) <= epsilon
    assert max(-math.log(covered + (1 - covered) * lowest) for _, lowest in told) <= epsilon


@pytest.mark.parametrize("delay", [True, False])
def test_where_the_coin_shows_heads_the_values_play_no_part(delay: bool) -> None:
    random, chain, count, length = np.random.default_rng(2), sticky(5), 300, 4
    plan = plan_of(1.0, length, 5)
    coins = coins_of(random, count, length)
    shown, told = released(chain, plan, walks(chain, count, length, random), coins, delay=delay)
    others, told_of_others = released(chain, plan, walks(chain, count, length, random), coins, delay=delay)
    heads = (coins[:, 0] >> np.uint64(2)).astype(np.int64) < plan.covered
    assert 0.25 < heads.mean() < 0.5
    assert (shown[heads] == others[heads]).all()
    assert [told[i] for i in np.flatnonzero(heads)] == [told_of_others[i] for i in np.flatnonzero(heads)]
    assert (shown[~heads] != others[~heads]).any()


def test_a_hundred_values_and_windows_of_ten() -> None:
    """Position by position the same budget would keep .26 at best."""
    random, chain, count, length, epsilon = np.random.default_rng(3), sticky(100), 3_000, 10, 5.0
    values = walks(chain, count, length, random)
    plan = plan_of(epsilon, length, 100)
    shown, told = released(chain, plan, values, coins_of(random, count, length))
    shares = (shown == values).mean(axis=1)
    assert shares.mean() - 2 * shares.std() / math.sqrt(count) >= 0.75
    covered = plan.covered / TOTAL
    assert max(math.log(covered + (1 - covered) * highest) for highest, _ in told) <= epsilon


def test_a_sparse_chain_is_the_same_as_a_dense_one() -> None:
    ring = 0.7 * np.eye(6) + 0.3 * np.roll(np.eye(6), 1, axis=1)
    sparse = Chain.from_dense([1 / 6] * 6, ring)
    assert not sparse.dense.size
    random, length = np.random.default_rng(4), 5
    values, coins = walks(sparse, 200, length, random), coins_of(random, 200, length)
    plan = plan_of(2.0, length, 6)
    dense = chain_arrays(sparse)._replace(dense=ring)
    back = reversed_arrays(sparse)._replace(dense=np.ascontiguousarray(ring.T))
    room, tools = new_room(length, 6), new_tools(dense, back)
    shown, told = released(sparse, plan, values, coins)
    for number, out in enumerate(np.empty_like(values)):
        assert (
            release_window(plan, tools, sparse.start.copy(), values[number], coins[number], room, out) == told[number]
        )
        assert (out == shown[number]).all()


def test_values_that_the_model_calls_impossible_are_covered() -> None:
    chain = Chain.from_dense([0.5, 0.5, 0.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    random, length, epsilon = np.random.default_rng(5), 4, 1.0
    plan = plan_of(epsilon, length, 3)
    values = np.full((500, length), 2, dtype=np.int64)
    _, told = released(chain, plan, values, coins_of(random, 500, length))
    covered = plan.covered / TOTAL
    for highest, lowest in told:
        assert math.log(covered + (1 - covered) * highest) <= epsilon
        assert -math.log(covered + (1 - covered) * lowest) <= epsilon
