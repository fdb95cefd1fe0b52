"""What is charged with a radius bounds what every reader within it learns: all corners, and whole sequences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from step_help import Run, events_of, part, policy_of, sticky_chain

from beliefs.leakage.robust import withheld_units
from beliefs.rounding import UNITS_PER_NAT
from mechanisms.contract import DRIFT_UNKNOWN, constants_table
from stream import drift as drifts
from stream.policy import LOWER, RELEASED, STEPS, UPPER, WINDOW_AND_DRIFT, Policy

FLOAT = 0.01  # units: a hundred times what the doubles of this file may err
Law = np.ndarray


def policy_within(radius: float, mechanism: str = "optimal", epsilon: float = 1.0) -> Policy:
    policy = policy_of(mechanism, epsilon)
    shift = withheld_units(policy.epsilon, radius)
    return policy._replace(constants=constants_table(policy.epsilon, shift), shift=shift)


def around(belief: Law, radius: float) -> Iterator[Law]:
    """Every corner of the ball: mass that is taken from others, one after the other, goes to one value."""
    for order in itertools.permutations(range(belief.size)):
        other, left = belief.copy(), radius
        for x in order[:-1]:
            moved = min(left, other[x])
            other[x] -= moved
            other[order[-1]] += moved
            left -= moved
        yield other


def moved_by(belief: Law, drift: float) -> Iterator[Law]:
    """Every corner of the exact beliefs that are within this drift of the stored one."""
    for chosen in itertools.product((0.0, drift), repeat=belief.size):
        other = belief * np.exp(np.array(chosen))
        yield other / other.sum()


def worst(belief: Law, column: Law, drift: float, radius: float) -> tuple[float, float]:
    upper = lower = 0.0
    for exact in moved_by(belief, drift):
        for reader in around(exact, radius):
            chance = float((reader * column).sum())
            upper = max(upper, math.log(column.max() / chance))
            lower = max(lower, math.log(chance / column.min()))
    return upper * UNITS_PER_NAT, lower * UNITS_PER_NAT


def released_one(policy: Policy, size: int, drift: int, seed: int) -> tuple[Run, tuple[int, int], int]:
    """A user's second release, when the row after the first claims this drift."""
    run = Run(policy, sticky_chain(size, 0.7, seed), users=1)
    events = events_of(2, 1, size, seed)
    run.block(part(events, 0, 1))
    run.heads.view(np.uint32)[0, 2 * WINDOW_AND_DRIFT + 1] = drift
    releases = run.block(part(events, 1, 2))
    assert releases.outcome[0] == RELEASED
    ahead = drifts.after_an_event(drift, 1, run.arrays.contraction, run.arrays.span)
    return run, (int(releases.upper[0]), int(releases.lower[0])), int(ahead)


@pytest.mark.parametrize("mechanism", ["optimal", "marginal_preserving", "near"])
@pytest.mark.parametrize("radius", [1e-9, 0.01, 0.05, 0.3, 0.999])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("drift", [0, 2**20, 2**28, 2**30, 2**31, DRIFT_UNKNOWN])
def test_nobody_within_the_radius_learns_more_than_is_charged(
    mechanism: str, radius: float, epsilon: float, drift: int
) -> None:
    policy = policy_within(radius, mechanism, epsilon)
    for seed in range(3):
        run, charges, ahead = released_one(policy, 4, drift, seed)
        off = 8.0 if ahead == DRIFT_UNKNOWN else ahead / 2**32
        found = worst(run.bench.belief, run.bench.work.likelihood, off, radius)
        for learnt, charge in zip(found, charges, strict=True):
            assert learnt <= charge + FLOAT
            assert charge <= policy.epsilon


def test_without_a_radius_somebody_within_it_learns_more() -> None:
    """So the law above can fail."""
    excess = []
    for seed in range(10):
        run, charges, ahead = released_one(policy_of("optimal", 1.0), 4, 0, seed)
        found = worst(run.bench.belief, run.bench.work.likelihood, ahead / 2**32, 0.05)
        excess.append(max(learnt - charge for learnt, charge in zip(found, charges, strict=True)))
    assert max(excess) > 0.05 * UNITS_PER_NAT


def test_a_radius_of_zero_changes_no_bit() -> None:
    with_none, usual = policy_within(0.0), policy_of()
    assert with_none.shift == 0
    assert np.array_equal(with_none.constants, usual.constants)


class Reader:
    """The law of a reader with a model of their own, in fractions."""

    def __init__(self, start: Law, rows: Law) -> None:
        self._rows = [[Fraction(float(mass)) for mass in row] for row in rows]
        self.belief = [Fraction(float(mass)) for mass in start]

    def told(self, column: Law) -> Fraction:
        """The chance of this release for them, and then what they believe about the next value."""
        joint = [mass * Fraction(float(a)) for mass, a in zip(self.belief, column, strict=True)]
        chance = sum(joint, Fraction(0))
        ahead = [sum((joint[x] * row[y] for x, row in enumerate(self._rows)), Fraction(0)) for y in range(len(joint))]
        self.belief = [mass / sum(ahead) for mass in ahead]
        return chance


def test_the_counters_bound_a_whole_sequence_for_a_reader_with_another_model() -> None:
    """Three values, four releases: the reader is within the radius whenever something is released."""
    radius, within = 0.1, 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        chain = sticky_chain(3, 0.6, seed)
        rows = np.zeros((3, 3))
        for x in range(3):
            following, chances = chain.row(x)
            rows[x, following] = chances
        theirs = 0.9 * rows + 0.1 * random.dirichlet(np.ones(3), 3)
        model, reader = (
            Reader(chain.start, rows),
            Reader(0.9 * chain.start + 0.1 * random.dirichlet(np.ones(3)), theirs),
        )
        run, distances, columns, chance = Run(policy_within(radius), chain, users=1), [], [], Fraction(1)
        for place in range(4):
            distances.append(sum(abs(a - b) for a, b in zip(model.belief, reader.belief, strict=True)) / 2)
            run.block(part(events_of(4, 1, 3, seed), place, place + 1))
            columns.append(run.bench.work.likelihood.copy())
            chance *= reader.told(columns[-1])
            model.told(columns[-1])
        if max(distances) > radius:
            continue
        within += 1
        told = [math.prod(Fraction(float(c[x])) for c, x in zip(columns, path, strict=True)) for path in paths(3, 4)]
        assert run.heads[0, STEPS] == 4
        assert math.log(max(told) / chance) * UNITS_PER_NAT <= run.heads[0, UPPER] + FLOAT
        assert math.log(chance / min(told)) * UNITS_PER_NAT <= run.heads[0, LOWER] + FLOAT
    assert within > 10


def paths(values: int, length: int) -> Iterator[tuple[int, ...]]:
    return itertools.product(range(values), repeat=length)
