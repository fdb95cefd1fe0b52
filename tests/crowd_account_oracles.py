"""Slow answers about releases over the people of a window, right by definition: every combination of values, every
adversary, in fractions.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction

import crowd_oracles as oracles
import numpy as np
import numpy.typing as npt

Values = tuple[int, ...]
Release = Callable[[Values], Hashable]
Block = dict[Values, Fraction]
Law = dict[Hashable, Fraction]
Apart = Callable[[Law, Law], float | Fraction]


def single(mass: npt.NDArray[np.float64]) -> Block:
    return {(value,): chance for value, chance in enumerate(oracles.fractions_of(mass)) if chance}


def household(joint: npt.NDArray[np.float64], members: int) -> Block:
    """The law of so many of its members."""
    exact = oracles.fractions_of(joint.ravel().tolist())
    found: Block = defaultdict(Fraction)
    for cell, chance in zip(itertools.product(range(joint.shape[0]), repeat=joint.ndim), exact, strict=True):
        if chance:
            found[cell[:members]] += chance
    return found


def total_of(values: Values) -> Hashable:
    return sum(values)


def ends_of(values: Values) -> Hashable:
    return min(values), max(values)


def counts_of(values: Values) -> Hashable:
    return tuple(values.count(value) for value in range(4))


def apart(factor: Fraction) -> Apart:
    def told(one: Law, two: Law) -> Fraction:
        return sum(
            (max(chance - factor * two.get(out, Fraction(0)), Fraction(0)) for out, chance in one.items()), Fraction(0)
        )

    return told


def worst(blocks: Sequence[Block], release: Release, known: int, told: Apart) -> float | Fraction:
    """Over everybody who may be asked about, everybody else who may be known, and all that they may have."""
    joint = list(_joint(blocks))
    people = len(joint[0][0])
    found: float | Fraction = Fraction(0)
    for target in range(people):
        for those in itertools.combinations([each for each in range(people) if each != target], known):
            laws: dict[Values, dict[int, Law]] = defaultdict(lambda: defaultdict(lambda: defaultdict(Fraction)))
            for values, chance in joint:
                laws[tuple(values[each] for each in those)][values[target]][release(values)] += chance
            for cases in laws.values():
                normal = [_normal(law) for law in cases.values()]
                found = max([found, *(told(one, two) for one, two in itertools.permutations(normal, 2))])
    return found


def _joint(blocks: Sequence[Block]) -> Iterator[tuple[Values, Fraction]]:
    for cells in itertools.product(*(list(block.items()) for block in blocks)):
        yield tuple(itertools.chain(*(cell for cell, _ in cells))), math.prod((c for _, c in cells), start=Fraction(1))


def _normal(law: Law) -> Law:
    whole = sum(law.values(), Fraction(0))
    return {out: chance / whole for out, chance in law.items()}


def apart_with_noise(factor: float, scale: Fraction) -> Apart:
    """Of a sum with two-sided geometric noise: beyond both ends both laws fall alike, by q at each step."""
    q = math.exp(-1 / scale)

    def told(one: Law, two: Law) -> float:
        laws = [{int(str(out)): float(chance) for out, chance in law.items()} for law in (one, two)]
        low, high = min(map(min, laws)), max(map(max, laws))
        gains = []
        for place in range(low, high + 1):
            chances = [sum(chance * q ** abs(place - at) for at, chance in law.items()) for law in laws]
            gains.append(max(chances[0] - factor * chances[1], 0.0) * (1 - q) / (1 + q))
        return math.fsum(gains) + (gains[0] + gains[-1]) * q / (1 - q)

    return told


def apart_with_noise_in_cells(factor: float, scale: Fraction, far: int) -> Apart:
    """Of two counts, each with noise of its own, on all places up to so far away."""
    q = math.exp(-1 / scale)

    def told(one: Law, two: Law) -> float:
        chances = []
        places = np.arange(-far, far + 8)
        for law in (one, two):
            table = np.zeros((places.size, places.size))
            for out, chance in law.items():
                assert isinstance(out, tuple)
                first, second, *_ = out
                table += float(chance) * np.outer(q ** np.abs(places - first), q ** np.abs(places - second))
            chances.append(table * ((1 - q) / (1 + q)) ** 2)
        return float(np.maximum(chances[0] - factor * chances[1], 0.0).sum())

    return told
