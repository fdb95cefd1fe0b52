"""Readers whose model is a little different: how far apart beliefs come, and what charges cover."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from context_models import random_contexts
from step_help import Run, events_of, part, policy_of, sticky_chain
from test_radius_laws import FLOAT, Reader, paths
from test_radius_windows import released, windows_told

from beliefs.chain import Chain
from beliefs.contexts import chain_of
from beliefs.leakage.robust import chain_error_units, one_step_units
from beliefs.rounding import INFINITE, UNITS_PER_NAT
from mechanisms.contract import constants_table
from stream.policy import LOWER, UPPER, Policy

Law = np.ndarray


def law_within(law: Law, error: float, source: np.random.Generator) -> Law:
    """A corner: some entries by e^error more and the others less, or the other way round, within exp(+-error)."""
    up = bool(source.integers(2))
    most = 1 / (1 + math.exp(error if up else -error))
    chosen, mass = np.zeros(law.size, dtype=bool), 0.0
    for x in source.permutation(np.flatnonzero(law)):
        if mass + law[x] <= most:
            chosen[x] = True
            mass += law[x]
    factor = math.exp(error if up else -error)
    other = np.where(chosen, law * factor, law * (1 - mass * factor) / (1 - mass) if mass < 1 else law)
    positive = law > 0
    assert abs(other.sum() - 1) < 1e-12
    assert np.abs(np.log(other[positive] / law[positive])).max(initial=0) <= error + 1e-9
    return other


def matrix_of(chain: Chain) -> Law:
    rows = np.zeros((chain.size, chain.size))
    for state in range(chain.size):
        following, chances = chain.row(state)
        rows[state, following] = chances
    return rows


def apart(one: Law, other: Law) -> float:
    ratios = np.log(one[one > 0] / other[one > 0])
    return float(ratios.max() - ratios.min())


def farthest_apart(chain: Chain, error: float, seed: int, steps: int = 40) -> float:
    source = np.random.default_rng(seed)
    rows = matrix_of(chain)
    theirs = np.array([law_within(row, error, source) for row in rows])
    belief, reader = chain.start / chain.start.sum(), law_within(chain.start / chain.start.sum(), error, source)
    most = 0.0
    for _ in range(steps):
        most = max(most, apart(belief, reader))
        evidence = np.exp(source.uniform(-1, 1, chain.symbols))[chain.symbol_of]
        belief, reader = (belief * evidence) @ rows, (reader * evidence) @ theirs
        belief, reader = belief / belief.sum(), reader / reader.sum()
    return most


@pytest.mark.parametrize("error", [1e-6, 0.01, 0.2, 1.0])
@pytest.mark.parametrize("stay", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("size", [2, 4])
def test_beliefs_stay_as_near_as_is_said(size: int, stay: float, error: float) -> None:
    reached = 0.0
    for seed in range(12):
        chain = sticky_chain(size, stay, seed)
        bound = chain_error_units(error, chain.contraction, chain.span) / UNITS_PER_NAT
        found = farthest_apart(chain, error, seed)
        assert found <= bound + 1e-9
        reached = max(reached, found / bound)
    assert reached > 0.01


def test_the_bound_comes_close_where_a_chain_has_little_memory() -> None:
    chain = Chain.from_dense([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    bound = chain_error_units(0.1, chain.contraction, chain.span) / UNITS_PER_NAT
    assert max(farthest_apart(chain, 0.1, seed) for seed in range(8)) > 0.9 * bound


def test_beliefs_of_longer_memories_stay_as_near_as_is_said() -> None:
    longer = 0
    for seed in range(40):
        start, laws = random_contexts(random.Random(seed), 2, 3, least=0.1)
        chain = chain_of(start, laws)
        bound = chain_error_units(0.05, chain.contraction, chain.span) / UNITS_PER_NAT
        longer += chain.span > 1
        assert bound < INFINITE / UNITS_PER_NAT
        assert farthest_apart(chain, 0.05, seed) <= bound + 1e-9
    assert longer > 20


def policy_for(chain: Chain, error: float, values: int = 1) -> Policy:
    policy = policy_of("optimal", 1.0)
    apart_by = chain_error_units(error, chain.contraction, chain.span) + (values - 1) * one_step_units(error)
    shift = min(apart_by, policy.epsilon - policy.epsilon // 2)
    return policy._replace(constants=constants_table(policy.epsilon, shift), shift=shift)


def excess_of(error: float, charged_for: float, seed: int) -> float:
    """By how much four releases tell a reader with another model more than what is charged, in units."""
    source, chain = np.random.default_rng(seed), sticky_chain(3, 0.3, seed)
    reader = Reader(
        law_within(chain.start, error, source), np.array([law_within(r, error, source) for r in matrix_of(chain)])
    )
    run, columns, chance = Run(policy_for(chain, charged_for), chain, users=1), [], 1
    for place in range(4):
        run.block(part(events_of(4, 1, 3, seed), place, place + 1))
        columns.append(run.bench.work.likelihood.copy())
        chance *= reader.told(columns[-1])
    told = [math.prod(float(c[x]) for c, x in zip(columns, path, strict=True)) for path in paths(3, 4)]
    upper = math.log(max(told) / chance) * UNITS_PER_NAT - run.heads[0, UPPER]
    lower = math.log(chance / min(told)) * UNITS_PER_NAT - run.heads[0, LOWER]
    return float(max(upper, lower))


@pytest.mark.parametrize("error", [0.01, 0.05, 0.5])
def test_the_counters_bound_what_such_a_reader_learns(error: float) -> None:
    slack = 2.0**-44 * UNITS_PER_NAT  # the doubles of a reader whose rows add up to 1 only nearly
    assert max(excess_of(error, error, seed) for seed in range(30)) <= slack


def test_without_it_such_a_reader_learns_more() -> None:
    """So the law above can fail."""
    assert max(excess_of(0.05, 0.0, seed) for seed in range(30)) > 0.02 * UNITS_PER_NAT


def window_excess(error: float, charged_for: float, seed: int) -> float:
    source, chain, length = np.random.default_rng(seed), sticky_chain(3, 0.3, seed), 3
    start, rows = law_within(chain.start, error, source), matrix_of(chain)
    theirs = np.array([law_within(row, error, source) for row in rows])
    shift = policy_for(chain, charged_for, length).shift
    told = released(chain, length, 1.0, shift, seed)
    _, ratios = windows_told(chain, length, 1.0, shift, told)
    windows = itertools.product(range(3), repeat=length)
    chances = [start[w[0]] * math.prod(theirs[a, b] for a, b in itertools.pairwise(w)) for w in windows]
    chance = float((np.array(chances) * ratios).sum())
    upper, lower = math.log(ratios.max() / chance), math.log(chance / ratios.min())
    return max(upper * UNITS_PER_NAT - told.upper, lower * UNITS_PER_NAT - told.lower)


@pytest.mark.parametrize("error", [0.01, 0.05, 0.5])
def test_a_window_is_charged_what_such_a_reader_learns(error: float) -> None:
    assert max(window_excess(error, error, seed) for seed in range(20)) <= FLOAT


def test_a_window_without_it_tells_such_a_reader_more() -> None:
    assert max(window_excess(0.05, 0.0, seed) for seed in range(20)) > 0.01 * UNITS_PER_NAT
