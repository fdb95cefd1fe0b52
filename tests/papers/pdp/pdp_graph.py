"""The weighted hierarchical graph with assigned weights: both searches on weights that lie in an array.

weights[i, j, known] belongs to the edge on which j stops being known to who attacks i; bit m of `known` says that m
still is. Of 15 attributes there are 1.7 million edges, too many for a mapping of each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from beliefs.correlation.bound import Matrix
from beliefs.prior.published import Edge, Layers, fast_search

RANGE: Final = 1.0
"""Of each attribute, in scales: the paper's lambda and domain size are 1."""

EVEN: Final = 200.0
UNEVEN: Final = 10.0
"""How narrow the beta law is; the paper does not say."""


class Assigned(Mapping[Edge, float]):
    """The array as a mapping of edges, so that the search of the product can walk on it; counts what was asked for."""

    def __init__(self, weights: Matrix) -> None:
        self.weights, self.asked = weights, 0

    def __getitem__(self, edge: Edge) -> float:
        self.asked += 1
        return float(self.weights[edge[0], edge[1], sum(1 << each for each in edge[2])])

    def __len__(self) -> int:
        count = len(self.weights)
        return (count * (count - 1) << count) >> 2

    def __iter__(self) -> Iterator[Edge]:
        everyone = range(len(self.weights))
        for one, two in itertools.permutations(everyone, 2):
            others = [each for each in everyone if each not in (one, two)]
            for count in range(len(others) + 1):
                yield from ((one, two, frozenset(known)) for known in itertools.combinations(others, count))


def beta_weights(source: np.random.Generator, count: int, mean: float, narrow: float = EVEN) -> Matrix:
    """sign(mean) Beta(k |mean|, k (1 - |mean|)): mean `mean`, between -1 and 1 as Theorem 3 has it; 0 for a mean of 0.

    The paper says beta and names the mean, and nothing else.
    """
    shape = (count, count, 1 << count)
    if mean == 0.0:
        return np.zeros(shape)
    drawn: Matrix = math.copysign(1.0, mean) * source.beta(narrow * abs(mean), narrow * (1 - abs(mean)), shape)
    return drawn


def hybrid_weights(source: np.random.Generator, count: int) -> Matrix:
    """Both signs, which the paper names and does not try."""
    drawn: Matrix = source.uniform(-1.0, 1.0, (count, count, 1 << count))
    return drawn


def full(weights: Matrix) -> list[float]:
    """Algorithm 1: the largest value of each layer, from the strongest adversary on."""
    count = len(weights)
    everyone = (1 << count) - 1
    heights = np.full((count, 1 << count), math.inf)
    heights[range(count), [everyone & ~(1 << attacked) for attacked in range(count)]] = RANGE
    sizes = np.bitwise_count(np.arange(1 << count))
    layers = [RANGE]
    for size in range(count - 2, -1, -1):
        masks = np.flatnonzero(sizes == size)
        layers.append(max(_lowered(weights, heights, attacked, masks) for attacked in range(count)))
    return layers


def _lowered(weights: Matrix, heights: Matrix, attacked: int, masks: np.typing.NDArray[np.int64]) -> float:
    own = masks[(masks >> attacked) & 1 == 0]
    least = np.full(own.size, math.inf)
    for removed in range(len(weights)):
        if removed != attacked:
            free = own[(own >> removed) & 1 == 0]
            reached = np.abs(heights[attacked, free | (1 << removed)] + weights[attacked, removed, free])
            place = np.flatnonzero((own >> removed) & 1 == 0)
            least[place] = np.minimum(least[place], reached)
    heights[attacked, own] = least
    return float(least.max())


class Fast(NamedTuple):
    layers: list[float]
    edges: int


def fast(weights: Matrix) -> Fast:
    """Algorithm 2."""
    assigned = Assigned(weights)
    found: Layers = fast_search([RANGE] * len(weights), 1.0, assigned, 0.0)
    return Fast(found.layers, assigned.asked)


def least_over_paths(weights: Matrix, attacked: int) -> float:
    """Theorem 5 to the letter: the least end of all whole paths to the weakest adversary who attacks this one."""
    others = [each for each in range(len(weights)) if each != attacked]
    ends = []
    for order in itertools.permutations(others):
        value, known = RANGE, sum(1 << each for each in others)
        for removed in order:
            known &= ~(1 << removed)
            value = abs(value + float(weights[attacked, removed, known]))
        ends.append(value)
    return min(ends)


def least_by_layers(weights: Matrix, attacked: int) -> float:
    """The same node by Algorithm 1, which takes the least value in each layer."""
    others = sum(1 << each for each in range(len(weights)) if each != attacked)
    heights = {others: RANGE}
    for known in sorted(_subsets(others), key=int.bit_count, reverse=True)[1:]:
        freed = [each for each in range(len(weights)) if (others & ~known) >> each & 1]
        heights[known] = min(abs(heights[known | 1 << each] + float(weights[attacked, each, known])) for each in freed)
    return heights[0]


def _subsets(mask: int) -> list[int]:
    return [each for each in range(mask + 1) if each & ~mask == 0]
