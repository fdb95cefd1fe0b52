"""Models with a longer memory for tests: random lists of contexts, and the law of the next value by its definition."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from beliefs.chain import Chain, Row
from beliefs.contexts import Context
from beliefs.simplex import Vector

DETOUR = Chain.from_sparse(
    [1.0, 0.0, 0.0, 0.0, 0.0],
    [([1, 2], [1e-100, 1.0]), ([3, 4], [1.0, 1e-100]), ([3], [1.0]), ([4], [1.0]), ([4], [1.0])],
)
"""From 0 everything ends in 4 with the third step, having been there with 1e-200, below 2^-512, after the second."""


def law_of(probabilities: Sequence[float]) -> Row:
    """A checked law as the readers make it; the numbers must add up to 1 as they are."""
    law = np.array(probabilities, dtype=np.float64)
    values = np.flatnonzero(law).astype(np.int64)
    return values, law[values]


def law_after(past: Context, laws: Mapping[Context, Row], symbols: int) -> list[Fraction]:
    """The definition: the law of the longest listed context that the past ends with."""
    ends = [past[begin:] for begin in range(len(past) + 1)]
    values, probabilities = laws[max((end for end in ends if end in laws), key=len)]
    law = [Fraction(0)] * symbols
    for value, probability in zip(values.tolist(), probabilities.tolist(), strict=True):
        law[value] = Fraction(probability)
    return law


def random_contexts(
    source: random.Random, symbols: int, order: int, least: float = 0.0
) -> tuple[Vector, dict[Context, Row]]:
    """A start law and a random list of contexts; laws with zeros unless `least` forbids them."""
    contexts = {()} | {
        tuple(source.randrange(symbols) for _ in range(source.randrange(1, order + 1)))
        for _ in range(source.randrange(0, 7))
    }
    laws = {context: law_of(random_law(source, symbols, least)) for context in sorted(contexts)}
    return np.array(random_law(source, symbols, max(least, 0.01))), laws


def random_law(source: random.Random, symbols: int, least: float) -> list[float]:
    weights = np.array([source.choice((0.0, 1.0, 2.0, 7.0)) for _ in range(symbols)])
    weights[source.randrange(symbols)] += 1.0
    law: list[float] = (weights / weights.sum() * (1 - symbols * least) + least).tolist()
    return law
