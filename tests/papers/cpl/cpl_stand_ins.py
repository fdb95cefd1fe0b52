"""Seeded records that stand in for data sets which are not public or not to be had, with the shape the paper names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Kinds(NamedTuple):
    """Everybody is of one of a few hidden kinds, and given his kind his attributes are independent.

    An attribute has a law of its own, mixed with one for each kind: `reach` is how much the kinds count, the mean of a
    beta law with that `spread`; `even` is how even the laws are.
    """

    seed: int
    records: int
    kinds: int
    even: float
    reach: float
    spread: float


FACES: Final = Kinds(seed=3, records=100_000, kinds=3, even=0.3, reach=0.7, spread=2.0)
WELFARE: Final = Kinds(seed=7, records=38_000, kinds=6, even=0.4, reach=0.33, spread=1.0)
WELFARE_SIZES: Final = (2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6, 6, 7, 8, 9, 10, 12)
ELSEWHERE: Final = 13_143
MISREAD: Final = 0.01


def latent(how: Kinds, sizes: Sequence[int]) -> Integers:
    source = np.random.default_rng(how.seed)
    share_of_kinds = source.dirichlet(np.full(how.kinds, 2.0))
    laws = []
    for size in sizes:
        own, apart = source.dirichlet(np.full(size, how.even)), source.dirichlet(np.full(size, how.even), how.kinds)
        share = source.beta(how.spread * how.reach, how.spread * (1 - how.reach))
        laws.append((1 - share) * own + share * apart)
    kind = source.choice(how.kinds, how.records, p=share_of_kinds)
    return np.stack([drawn(source, each[kind]) for each in laws], axis=1)


def heart(cardio_by_cholesterol: Integers) -> Integers:
    """The public counts of two attributes, and five more whose laws are assumed: glucose follows cholesterol, smoking
    gender, drinking both."""
    source = np.random.default_rng(28)
    cells = np.repeat(np.arange(6), cardio_by_cholesterol.ravel())
    cardio, cholesterol = cells // 3, cells % 3
    gender = drawn(source, np.full((cells.size, 2), [0.65, 0.35]))
    glucose = np.array([[0.93, 0.05, 0.02], [0.75, 0.19, 0.06], [0.56, 0.08, 0.36]])
    smokes = np.array([0.02, 0.22])[gender]
    smoke = drawn(source, np.stack([1 - smokes, smokes], axis=1))
    drinks = np.array([[0.02, 0.1], [0.06, 0.25]])[gender, smoke]
    alcohol = drawn(source, np.stack([1 - drinks, drinks], axis=1))
    moves = np.array([0.82, 0.79])[cardio] + 0.04 * alcohol
    active = drawn(source, np.stack([1 - moves, moves], axis=1))
    return np.stack([gender, cholesterol, drawn(source, glucose[cholesterol]), smoke, alcohol, active, cardio], axis=1)


def elsewhere(records: Integers) -> Integers:
    """Fewer people of another mixture: the last attribute's second value counts twice; some bits are read wrongly."""
    source = np.random.default_rng(36)
    weights = 1.0 + records[:, -1]
    chosen = records[source.choice(len(records), ELSEWHERE, p=weights / weights.sum())]
    wrong: Integers = np.where(source.random(chosen.shape) < MISREAD, 1 - chosen, chosen)
    return wrong


def drawn(source: np.random.Generator, laws: Floats) -> Integers:
    """One value for each row of laws."""
    reached: Integers = (source.random((len(laws), 1)) > np.cumsum(laws, axis=1)[:, :-1]).sum(axis=1)
    return reached
