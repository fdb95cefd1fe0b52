"""Windows of models with a longer memory, by the clock and with a tail, and of channels that look at a distance: every
window of values, every string and every prefix in fractions, and the sampled windows against them.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from context_models import random_contexts
from numpy.typing import NDArray
from tail_models import zipf_chain
from window_oracle import Oracle, Release, exp, of_drawn

from beliefs.chain import Chain
from beliefs.contexts import chain_of
from beliefs.distance import Distance, absolute, cost, equal, from_table, squared
from beliefs.forward import chain_arrays, reversed_arrays
from mechanisms.contract import DRIFT_UNKNOWN, TOTAL
from mechanisms.sequence.window import LEAST_CAP, NOTHING_DRAWN, Plan, coins_needed, mix, plan_of, release_window
from mechanisms.sequence.window_beliefs import Tools, new_room, new_tools, values_of
from mechanisms.sequence.window_order import bisected
from mechanisms.sequence.window_running import HIGHEST, LOWEST, ROUNDS, Running, new_running, release_next

ORDERS = pytest.mark.parametrize("natural", [False, True], ids=["bisect", "natural"])
MOST_STEPS = 9
Coins = NDArray[np.uint64]


class Kind(NamedTuple):
    chain: Chain
    steps: tuple[int, ...]
    distance: Distance | None = None

    @property
    def start(self) -> NDArray[np.float64]:
        """A belief in the middle of a stream."""
        return np.random.default_rng(self.chain.size).dirichlet(np.ones(self.chain.size))

    @property
    def oracle(self) -> Oracle:
        return Oracle(self.chain, self.start.tolist(), self.steps, self.distance)

    @property
    def tools(self) -> Tools:
        return new_tools(chain_arrays(self.chain), reversed_arrays(self.chain), self.distance)

    @property
    def most_steps(self) -> int:
        return 1 if set(self.steps) == {1} else MOST_STEPS


def contexts(seed: int, symbols: int, order: int, least: float) -> Chain:
    start, laws = random_contexts(random.Random(seed), symbols, order, least)
    laws.setdefault((0,) * order, laws[()])
    return chain_of(start, laws)


STICKY = Chain.from_dense([0.5, 0.3, 0.2], [[0.8, 0.15, 0.05], [0.3, 0.7, 0.0], [0.0, 0.1, 0.9]])
KINDS = {
    "order 1": Kind(STICKY, (1, 1, 1, 1)),
    "two values, order 2": Kind(contexts(1, 2, 2, 0.02), (1, 1, 1, 1, 1)),
    "two values, order 3": Kind(contexts(2, 2, 3, 0.0), (1, 1, 1, 1)),
    "three values, order 2": Kind(contexts(3, 3, 2, 0.02), (1, 1, 1)),
    "four values, order 2": Kind(contexts(4, 4, 2, 0.0), (1, 1, 1)),
    "clock": Kind(STICKY, (1, 0, 3, 1)),
    "late events": Kind(STICKY, (1, 0, 0, 2)),
    "a long silence": Kind(STICKY, (1, 9, 1)),
    "contexts by the clock": Kind(contexts(2, 2, 3, 0.0), (1, 2, 0, 1)),
    "tail": Kind(zipf_chain(3, left=0.6), (1, 1, 1, 1)),
    "tail by the clock": Kind(zipf_chain(4, left=0.3), (1, 0, 2)),
    "near": Kind(STICKY, (1, 1, 1, 1), absolute(range(3))),
    "near, of four": Kind(contexts(4, 4, 2, 0.0), (1, 1, 1), squared([0.0, 1.0, 3.0, 4.0])),
    "near, by a table": Kind(STICKY, (1, 0, 2), from_table([[0, 1, 5], [2, 0, 1], [4, 1, 0]], 3)),
    "near, all errors alike": Kind(STICKY, (1, 1, 1), equal()),
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def order_of(length: int, natural: bool) -> list[int]:
    return list(range(length)) if natural else list(bisected(length))


@ORDERS
@EVERY_KIND
@pytest.mark.parametrize("epsilon", [0.4, 1.5])
def test_every_string_and_prefix_keeps_the_bound(kind: str, epsilon: float, natural: bool) -> None:
    """e^-epsilon <= P(o|x)/P(o) = e + c K(o|x)/p(o) <= e^epsilon, p(o) being the sum over all paths of states."""
    chain, steps, _ = KINDS[kind]
    plan = plan_of(epsilon, len(steps), chain.size, KINDS[kind].most_steps)
    oracle, highest, seen = KINDS[kind].oracle, exp(epsilon), 0
    covered = 1 / highest
    for releases in oracle.strings(order_of(len(steps), natural), Fraction(plan.cap), LEAST_CAP):
        above, below = oracle.extremes(releases)
        assert 0 <= below <= 1 <= above
        assert covered + (1 - covered) * above <= highest
        seen += 1
    assert seen >= 3


def released(kind: Kind, plan: Plan, values: NDArray[np.int64], coins: Coins, natural: bool) -> tuple[list[int], ...]:
    """What is shown and drawn, by the kernels."""
    (chain, steps, _), length = kind, len(kind.steps)
    room = new_room(length, chain.size, chain.symbols)
    tools, shown = kind.tools, np.zeros(length, dtype=np.int64)
    if not natural:
        room.steps[:] = steps
        release_window(plan, tools, kind.start, values, coins, room, shown)
        return shown.tolist(), room.drawn.tolist()
    running, drawn = new_running(chain.size), []
    for i, value in enumerate(values):
        room.steps[0] = steps[i]
        words = coins[[0, 2 * i + 1, 2 * i + 2]]
        shown[i], told = release_next(plan, tools, kind.start, int(value), words, room, running)
        drawn.append(int(told))
    return shown.tolist(), drawn


def coins_of(source: np.random.Generator, count: int, length: int) -> Coins:
    return source.integers(0, 1 << 64, (count, coins_needed(length)), dtype=np.uint64)


@ORDERS
@EVERY_KIND
def test_what_is_sampled_is_what_the_definition_says(kind: str, natural: bool) -> None:
    """Extremes, beliefs and shown values of sampled windows, against the sum over all paths."""
    (chain, steps, distance), source, epsilon = KINDS[kind], np.random.default_rng(7), 1.5
    length, start = len(steps), KINDS[kind].start
    plan, oracle = plan_of(epsilon, length, chain.size, KINDS[kind].most_steps), KINDS[kind].oracle
    tools, room = KINDS[kind].tools, new_room(length, chain.size, chain.symbols)
    shown, covered = np.zeros(length, dtype=np.int64), plan.covered / TOTAL
    for coins in coins_of(source, 12, length):
        values = source.integers(chain.symbols, size=length)
        room.steps[:] = steps
        if natural:
            running, drawn = new_running(chain.size), []
            for i, value in enumerate(values):
                room.steps[0] = steps[i]
                words = coins[[0, 2 * i + 1, 2 * i + 2]]
                shown[i], told = release_next(plan, tools, start, int(value), words, room, running)
                drawn.append(int(told))
                releases = of_drawn(oracle, list(range(i + 1)), drawn, plan.cap)
                assert_best(distance, mixed(oracle, plan, running, releases, i), int(shown[i]))
            highest, lowest = running.amounts[HIGHEST], running.amounts[LOWEST]
            assert running.marks[ROUNDS] == 1 + sum(max(1, count) for count in steps[1:]) < DRIFT_UNKNOWN
        else:
            highest, lowest = release_window(plan, tools, start, values, coins, room, shown)
            drawn = room.drawn.tolist()
        releases = of_drawn(oracle, order_of(length, natural), drawn, plan.cap)
        above, below = oracle.extremes(releases)
        assert highest == pytest.approx(float(above), rel=1e-9)
        assert covered + (1 - covered) * lowest == pytest.approx(covered + (1 - covered) * float(below), rel=1e-9)
        if natural:
            continue
        for at in range(length):
            believed = [float(mass) for mass in oracle.states_at(at, releases, chain.size)]
            assert room.beliefs[at].tolist() == pytest.approx(believed, rel=1e-9, abs=1e-15)
            before = [float(mass) for mass in oracle.states_at(at, [], chain.size)]
            assert room.priors[at].tolist() == pytest.approx(before, rel=1e-9, abs=1e-15)
            mix(plan, np.array(before), np.array(believed), room.moved)
            law = values_of(room.moved, chain_arrays(chain).symbol_of, room.law)
            assert_best(distance, law.tolist(), int(shown[at]))


def mixed(oracle: Oracle, plan: Plan, running: Running, releases: list[Release], position: int) -> list[float]:
    """What is believed after this value, in the world of tails and before the window; the value's law from both."""
    count, covered = running.belief.shape[0], plan.covered / TOTAL
    believed, before = (oracle.states_at(position, told, count) for told in (releases, []))
    assert running.belief.tolist() == pytest.approx([float(mass) for mass in believed], rel=1e-9, abs=1e-15)
    assert running.prior.tolist() == pytest.approx([float(mass) for mass in before], rel=1e-9, abs=1e-15)
    law = [0.0] * oracle.symbols
    for own, blind, value in zip(believed, before, oracle.values, strict=True):
        law[value] += covered * float(blind) + (1 - covered) * float(own)
    return law


def assert_best(distance: Distance | None, law: list[float], shown: int) -> None:
    """The likeliest, or the one that is expected to be nearest; equals may differ in their last digits."""
    if distance is None:
        assert law[shown] == pytest.approx(max(law), rel=1e-9)
        return
    errors = [sum(mass * cost(distance, x, y) for x, mass in enumerate(law)) for y in range(len(law))]
    assert errors[shown] == pytest.approx(min(errors), rel=1e-6)


@ORDERS
@EVERY_KIND
def test_a_stranger_releases_what_the_model_expects(kind: str, natural: bool) -> None:
    """Where the coin shows heads the string has the law p(o), whatever the values: a stranger's path of states is the
    model's, over several steps and over none.
    """
    (chain, steps, _), source, count = KINDS[kind], np.random.default_rng(11), 4_000
    length = len(steps)
    plan, oracle = plan_of(1.0, length, chain.size, KINDS[kind].most_steps), KINDS[kind].oracle
    order, laws = order_of(length, natural), {}
    for releases in oracle.strings(order, Fraction(plan.cap), LEAST_CAP):
        drawn = {each.position: each.drawn for each in releases}
        chance = sum((mass * oracle.chance_of(releases, path) for mass, path in oracle.paths), Fraction(0))
        laws[tuple(drawn.get(at, NOTHING_DRAWN) for at in range(length))] = float(chance)
    coins = coins_of(source, count, length)
    coins[:, 0] = 0
    found: Counter[tuple[int, ...]] = Counter()
    for words in coins:
        found[tuple(released(KINDS[kind], plan, source.integers(chain.symbols, size=length), words, natural)[1])] += 1
    assert set(found) <= set(laws)
    for string, seen in found.items():
        expected = laws[string]
        assert abs(seen / count - expected) < 6 * math.sqrt(expected * (1 - expected) / count) + 2 / count
