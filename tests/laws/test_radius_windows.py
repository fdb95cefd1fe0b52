"""What a window is charged with a radius bounds what every reader learns whose law of the whole window is within it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from step_help import KEY, policy_of, sticky_chain

from beliefs.chain import Chain
from beliefs.distance import equal
from beliefs.forward import chain_arrays, reversed_arrays
from beliefs.leakage.robust import withheld_units
from beliefs.rounding import UNITS_PER_NAT
from mechanisms.coins import coins_of
from stream.audit import window_law
from stream.audit.book import new_desk
from stream.audit.law import law_of
from stream.audit.window_book import DRAWN, LONGEST, SHARE, Cut, new_strip
from stream.policy import RELEASED, new_bench
from stream.state import new_users
from stream.windows.step import Told, WindowStep

FLOAT = 0.01  # units, as in test_radius_laws.py


def released(chain: Chain, length: int, epsilon: float, shift: int, seed: int) -> Told:
    """The first window of a user, by the engine; so many units are withheld."""
    policy = policy_of("optimal", epsilon)._replace(shift=shift)
    step = WindowStep(policy, chain_arrays(chain), reversed_arrays(chain), new_bench(chain.size))
    head, codes = (rows[0] for rows in new_users(1, chain.size))
    values = np.random.default_rng(seed).integers(chain.size, size=length)
    told = step.close(head, codes, np.arange(length), values, coins_of(KEY, np.arange(length) + 100 * seed))
    assert told.outcome == RELEASED
    return told


def withheld(epsilon: float, radius: float) -> int:
    return withheld_units(policy_of("optimal", epsilon).epsilon, radius)


def windows_told(chain: Chain, length: int, epsilon: float, shift: int, told: Told) -> tuple[np.ndarray, np.ndarray]:
    """For every window of values: its chance under the model, and by how much the release changed it."""
    units = policy_of("optimal", epsilon).epsilon
    law, size = law_of(chain), chain.size
    windows = window_law.windows_of(Cut(length, 0, False), law, units, shift)
    desk, strip, events = new_desk(size, size, equal()), new_strip(size, size), np.zeros((length, 8), dtype=np.int64)
    strip.rows[:] = np.arange(LONGEST)
    desk.states[:] = law.start / law.start.sum()
    events[:, DRAWN] = told.drawn
    plan = windows.plans[0, length]
    window_law.replay(windows, plan, events, desk, strip, length)
    rows = np.zeros((size, size))
    rows[np.repeat(np.arange(size), np.diff(chain.indptr)), chain.indices] = chain.data
    chances, ratios = [], []
    for values in itertools.product(range(size), repeat=length):
        chances.append(desk.states[values[0]] * math.prod(rows[a, b] for a, b in itertools.pairwise(values)))
        evidence = math.prod(strip.told[at, value] for at, value in enumerate(values))
        ratios.append(plan[SHARE] + (1 - plan[SHARE]) * evidence)
    return np.array(chances), np.array(ratios)


def farthest(chances: np.ndarray, ratios: np.ndarray, radius: float, *, up: bool) -> float:
    """The lowest or the highest chance of the release for a reader within the radius: mass is moved to one window."""
    other, left = chances.copy(), radius
    order = np.argsort(ratios) if up else np.argsort(-ratios)
    for place in order[:-1]:
        moved = min(left, other[place])
        other[place] -= moved
        other[order[-1]] += moved
        left -= moved
    return float((other * ratios).sum())


@pytest.mark.parametrize("radius", [0.0, 0.01, 0.1, 0.6])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize(("size", "length"), [(2, 1), (2, 4), (3, 3), (5, 2)])
def test_nobody_within_the_radius_learns_more_than_the_window_is_charged(
    size: int, length: int, epsilon: float, radius: float
) -> None:
    for seed in range(4):
        chain = sticky_chain(size, 0.6, seed)
        told = released(chain, length, epsilon, withheld(epsilon, radius), seed)
        chances, ratios = windows_told(chain, length, epsilon, withheld(epsilon, radius), told)
        assert float((chances * ratios).sum()) == pytest.approx(1.0, abs=1e-9)
        upper = math.log(ratios.max() / farthest(chances, ratios, radius, up=False))
        lower = math.log(farthest(chances, ratios, radius, up=True) / ratios.min())
        assert upper * UNITS_PER_NAT <= told.upper + FLOAT
        assert lower * UNITS_PER_NAT <= told.lower + FLOAT
        assert max(told.upper, told.lower) <= epsilon * UNITS_PER_NAT


def test_without_a_radius_somebody_within_it_learns_more() -> None:
    chain, excess = sticky_chain(2, 0.6, 1), []
    for seed in range(10):
        told = released(chain, 4, 1.0, 0, seed)
        chances, ratios = windows_told(chain, 4, 1.0, 0, told)
        learnt = math.log(farthest(chances, ratios, 0.1, up=True) / ratios.min())
        excess.append(learnt * UNITS_PER_NAT - told.lower)
    assert max(excess) > 0.05 * UNITS_PER_NAT
