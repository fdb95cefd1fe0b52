"""Theorems 5 and 7: people who depend on each other, in blocks, in rows and by what two of them share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from kanon_crowds import Moments, equal_in, from_normal, moments, sum_of
from kanon_sums import Rounds, rounds_of

from beliefs.crowd import bounds, published
from beliefs.crowd.bounds import constant_of_tail
from beliefs.crowd.members import Block, kinds_of_blocks
from beliefs.crowd.worst import largest_delta
from beliefs.simplex import Vector

PAIR: Final = np.array([[0.5, 0.0], [0.0, 0.5]])


class Blocks(NamedTuple):
    """Equal fair bits in blocks: the theorem's epsilon, its delta with the neighbourhood as a fraction, and with the
    exact one.
    """

    epsilon: float
    printed: float
    centred: float
    exact: float


def in_blocks(blocks: int, size: int) -> Blocks:
    """Equation 36 with raw moments, as the theorem says, and with central ones."""
    users, deviation = blocks * size, 0.5 * size * math.sqrt(blocks)
    epsilon = constant_of_tail(1.0 / math.sqrt(users)) / deviation
    told = [published.theorem5(users, size / users, deviation, users * third, users * fourth, epsilon)
            for third, fourth in ((0.5, 0.5), (0.125, 0.0625))]  # fmt: skip
    return Blocks(epsilon, told[0], told[1], equal_in(blocks, size, epsilon))


def distance_of_pairs(pairs: int) -> tuple[float, float, float]:
    """How far the sum of so many pairs of equal fair bits is from the normal law; Equation 35 with a fraction, and with
    a count; by central moments.
    """
    exact = from_normal(sum_of([np.array([0.5, 0.0, 0.5])] * pairs))
    deviation, people = math.sqrt(pairs), 2 * pairs
    found = [published.theorem5_apart(each, deviation, people / 8, people / 16) for each in (1 / pairs, 2)]
    return exact, found[0], found[1]


def counted(rounds: int) -> tuple[int, float]:
    """Equation 35 with counts on random blocks: how often it is below the distance, and its least value."""
    source, wrong, least = np.random.default_rng(51), 0, math.inf
    for _ in range(rounds):
        size, blocks = int(source.integers(1, 4)), int(source.integers(1, 60))
        joint = source.dirichlet(np.ones(2**size)).reshape((2,) * size)
        one = _block_sum(joint)
        deviation = math.sqrt(blocks * moments(one).variance)
        members = [moments(joint.sum(axis=tuple(axis for axis in range(size) if axis != place)))
                   for place in range(size)]  # fmt: skip
        third = blocks * math.fsum(each.absolute for each in members)
        # Of a bit with the chance p the fourth central moment is pq(1 - 3pq).
        fourth = blocks * math.fsum(each.variance * (1.0 - 3.0 * each.variance) for each in members)
        bound = published.theorem5_apart(size, deviation, third, fourth)
        wrong, least = wrong + (from_normal(sum_of([one] * blocks)) > bound), min(least, bound)
    return wrong, least


def _block_sum(joint: Vector) -> Vector:
    mass = np.zeros(sum(joint.shape) - joint.ndim + 1)
    for cell in np.ndindex(joint.shape):
        mass[sum(cell)] += joint[cell]
    return mass


def users_for(delta: float, neighbours: int, variance: float, third: float, fourth: float) -> int:
    """The smallest crowd for which Equation 36, with a count, says this delta; moments a person."""

    def enough(users: int) -> bool:
        deviation = math.sqrt(variance * users)
        epsilon = constant_of_tail(1.0 / math.sqrt(users)) / deviation
        return published.theorem5(users, neighbours, deviation, third * users, fourth * users, epsilon) < delta

    low, high = 10, 10**12
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class Runs(NamedTuple):
    """Of b_i b_{i+1}, fair bits in a row: a person's variance of the sum, and his central moments."""

    variance: float
    third: float
    fourth: float


RUNS: Final = Runs(5 / 16, 0.25 * 0.75**3 + 0.75 * 0.25**3, 0.25 * 0.75**4 + 0.75 * 0.25**4)
"""3/16 by itself and 1/16 with each neighbour."""


def all_but_one_pair(pairs: int) -> tuple[float, float]:
    """Theorem 7 where one of each pair is known, but of the target's none: Equation 36 as printed, with raw moments,
    and the truth. Whoever knows a partner knows the other.
    """
    unknown, users = pairs + 1, 2 * pairs
    deviation = math.sqrt((pairs - 1) / 4 + 1)
    epsilon = constant_of_tail(1.0 / math.sqrt(unknown)) / deviation
    printed = published.theorem5(unknown, 2 / users, deviation, unknown / 2, unknown / 2, epsilon)
    known = tuple(range(1, pairs))
    return printed, largest_delta(kinds_of_blocks([Block(PAIR, pairs)], known), epsilon)


def by_blocks(rounds: int) -> Rounds:
    """The repair: blocks are the summands, those that hold anybody known are left out, the shift is a block's range."""
    source, told = np.random.default_rng(52), list[tuple[float, float]]()
    while len(told) < rounds:
        blocks = [_some_block(source) for _ in range(int(source.integers(1, 4)))]
        count = sum(block.count for block in blocks)
        known = tuple(place for place in range(count) if source.random() < 0.15)[: count - 1]
        epsilon = float(10.0 ** source.uniform(-2.5, -0.5))
        kinds = kinds_of_blocks(blocks, known)
        bound = 0.0
        for target, kind in enumerate(kinds):
            if kind.count:
                rest = [(moments(_block_sum(block.joint)), each.count - (place == target))
                        for place, (block, each) in enumerate(zip(blocks, kinds, strict=True))]  # fmt: skip
                bound = max(bound, _bound(rest, blocks[target].joint, epsilon))
        told.append((bound, largest_delta(kinds, epsilon, "intervals")))
    return rounds_of(told)


def _some_block(source: np.random.Generator) -> Block:
    size = int(source.integers(1, 4))
    joint: Vector = source.dirichlet(np.full(2**size, float(source.choice([0.3, 1.0, 5.0])))).reshape((2,) * size)
    return Block(joint, int(source.integers(20, 400)))


def _bound(rest: Sequence[tuple[Moments, int]], joint: Vector, epsilon: float) -> float:
    variance = math.fsum(each.variance * count for each, count in rest)
    third = math.fsum(each.absolute * count for each, count in rest)
    if variance <= 0.0:
        return 1.0
    return bounds.moments_bound(variance, third / variance**1.5, float(joint.ndim), 2, epsilon, None).delta


def linkages(rounds: int) -> float:
    """The most that Var(sum over i and N_i of X_i X_j) reaches of 8 D^3 times the sum of the fourth moments; by
    enumeration, of people who are functions of two hidden bits each and depend where they share one.
    """
    source, largest = np.random.default_rng(53), 0.0
    hidden = np.array(list(itertools.product((0, 1), repeat=6)))
    for _ in range(rounds):
        places = [sorted(source.choice(6, 2, replace=False).tolist()) for _ in range(int(source.integers(2, 7)))]
        people = np.array([_centred(source.normal(size=4)[2 * hidden[:, one] + hidden[:, two]]) for one, two in places])
        near = np.array([[bool(set(one) & set(two)) for two in places] for one in places])
        products = (people * (near @ people)).sum(axis=0)
        bound = 8.0 * float(near.sum(axis=1).max()) ** 3 * float((people**4).mean(axis=1).sum())
        largest = max(largest, float(products.var()) / bound)
    return largest


def _centred(values: Vector) -> Vector:
    moved: Vector = values - values.mean()
    return moved


def repaired_users(delta: float, epsilon: float) -> int:
    """The smallest crowd of fair bits for which the repaired bound says this delta."""

    def enough(users: int) -> bool:
        variance, third = 0.25 * (users - 1), 0.125 * (users - 1)
        return bounds.moments_bound(variance, third / variance**1.5, 1.0, 1, epsilon, None).delta <= delta

    low, high = 2, 10**8
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
