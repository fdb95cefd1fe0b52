"""Values of users who follow a known chain, drawn with a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beliefs.learning.choice import Chosen, choose
from beliefs.learning.counts import Counting, Counts
from beliefs.learning.levels import levels_of
from beliefs.learning.radius import Radii, radii_of
from beliefs.learning.written import Learnt, keepings_of, learn

Values = NDArray[np.int64]
GROUPS = 8


def drawn(cumulated: NDArray[np.float64], rng: Generator) -> Values:
    """One value for each row of cumulated probabilities."""
    at = (rng.random(len(cumulated))[:, None] > cumulated).sum(axis=1)
    return np.minimum(at, cumulated.shape[1] - 1).astype(np.int64)


def walk(law: Callable[[list[Values]], NDArray[np.float64]], users: int, length: int, rng: Generator) -> Values:
    """A row of values for each user; `law` gives each user's law of the next value from all values so far."""
    so_far: list[Values] = []
    for _ in range(length):
        so_far.append(drawn(np.cumsum(law(so_far), axis=1), rng))
    return np.array(so_far).T


def first_order(matrix: NDArray[np.float64], users: int, length: int, rng: Generator) -> Values:
    start = np.full((users, len(matrix)), 1.0 / len(matrix))
    return walk(lambda past: matrix[past[-1]] if past else start, users, length, rng)


def second_order(cube: NDArray[np.float64], users: int, length: int, rng: Generator) -> Values:
    start = np.full((users, cube.shape[2]), 1.0 / cube.shape[2])
    return walk(lambda past: cube[past[-2], past[-1]] if len(past) > 1 else start, users, length, rng)


def counted(values: Values, symbols: int, order: int, portion: int = 7) -> Counts:
    """Counted in portions, all users taking turns."""
    counting = Counting(symbols, order, GROUPS)
    users = np.arange(len(values))
    for begin in range(0, values.shape[1], portion):
        part = values[:, begin : begin + portion].T
        of_users = np.tile(users, len(part))
        counting.add(of_users, part.ravel(), of_users % GROUPS)
    return counting.counts()


def learnt(values: Values, symbols: int, order: int = 3, failure: float = 0.05) -> tuple[Chosen, Learnt, Radii, Counts]:
    counts = counted(values, symbols, order)
    levels, rows = levels_of(counts)
    keepings = keepings_of(levels, symbols, 2)
    chosen = choose(levels, rows, symbols, keepings)
    laws = learn(levels, chosen, keepings, symbols, counts.starts.sum(axis=0))
    level = levels[max(laws.order, 1)]
    return chosen, laws, radii_of(level, laws.deepest, counts, laws.start, failure), counts
